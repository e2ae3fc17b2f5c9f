// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "state/path.h"

/// What is hashed. Private to state and its tests.
namespace rhizome::state::detail {

/// The first byte of every hashed message tells leaves and inner nodes apart, so none can be passed off as another.
inline constexpr std::uint8_t kWrittenTag = 0x00;
inline constexpr std::uint8_t kInnerTag = 0x01;
inline constexpr std::uint8_t kPlainTag = 0x02;

/// tag ‖ bit position ‖ left ‖ right
inline constexpr std::size_t kInnerBytes = 1 + 2 + 32 + 32;

/// A leaf's message, put together on the stack: hashing one piece is faster than feeding a hasher ten.
class LeafBytes {
public:
    void add(ByteView part) {
        std::memcpy(bytes_.data() + size_, part.data(), part.size());
        size_ += part.size();
    }
    void add_u8(std::uint8_t value) { add({&value, 1}); }
    void add_u16(std::uint16_t value) { add_number(value); }
    void add_u64(std::uint64_t value) { add_number(value); }
    [[nodiscard]] ByteView view() const { return {bytes_.data(), size_}; }

private:
    template <class Number>
    void add_number(Number value) {  // little-endian, like everything
        for (std::size_t i = 0; i < sizeof value; ++i)
            bytes_[size_++] = static_cast<std::uint8_t>(value >> (8 * i) & 0xff);
    }

    static constexpr std::size_t kFixed = 1 + 2 + 3 * (34 + 8 + 8) + 32 + 32;
    std::array<std::uint8_t, kFixed + kPathBytesMax> bytes_;  // NOLINT: never read before it is written
    std::size_t size_ = 0;
};

}  // namespace rhizome::state::detail
