// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace rhizome {

/// Why bytes are not what they should be.
enum class DecodeFault : unsigned char {
    Truncated,     ///< the input ends inside a value
    TooLong,       ///< a length or count exceeds what its reader allows
    NotCanonical,  ///< a second encoding of a value that has one
    Trailing,      ///< bytes are left after the last value
    BadValue,      ///< well formed, but not a value of its type
};

std::string_view name(DecodeFault fault);
Error to_error(DecodeFault fault);

/// Reads values from somebody else's bytes, front to back. Never reads past the end, never allocates more than the
/// input could fill, and accepts exactly one encoding of each value. Integers are little-endian.
///
/// Borrows the bytes; views it returns live as long as they do. After a failure the position is unspecified.
class Reader {
public:
    explicit Reader(ByteView bytes) : rest_(bytes), size_(bytes.size()) {}

    template <std::unsigned_integral Number>
    Result<Number, DecodeFault> number() {
        if (rest_.size() < sizeof(Number)) return Fail{DecodeFault::Truncated};
        Number value;
        std::memcpy(&value, rest_.data(), sizeof value);  // the hosts we build for are little-endian: see codec.cpp
        rest_ = rest_.subspan(sizeof value);
        return value;
    }
    Result<std::uint8_t, DecodeFault> u8() { return number<std::uint8_t>(); }
    Result<std::uint16_t, DecodeFault> u16() { return number<std::uint16_t>(); }
    Result<std::uint32_t, DecodeFault> u32() { return number<std::uint32_t>(); }
    Result<std::uint64_t, DecodeFault> u64() { return number<std::uint64_t>(); }

    /// One byte, 0 or 1.
    Result<bool, DecodeFault> boolean();

    /// LEB128, at most ten bytes, in its shortest form.
    Result<std::uint64_t, DecodeFault> varint();

    /// Exactly `size` bytes, as a view.
    Result<ByteView, DecodeFault> raw(std::size_t size);

    template <std::size_t N>
    Result<std::array<std::uint8_t, N>, DecodeFault> array() {
        TRY(const ByteView view, raw(N));
        std::array<std::uint8_t, N> out;
        std::memcpy(out.data(), view.data(), N);
        return out;
    }

    template <class SomeId>
    Result<SomeId, DecodeFault> id() {
        TRY(const ByteView view, raw(SomeId::kSize));
        return SomeId{view.first<SomeId::kSize>()};
    }

    /// Bytes after a four-byte length of at most `max`.
    Result<ByteView, DecodeFault> blob(std::size_t max);
    /// Bytes after a varint length of at most `max`.
    Result<ByteView, DecodeFault> short_blob(std::size_t max);

    /// A count of things that take at least `least_bytes_each` of the input: a stranger cannot make us reserve
    /// memory for more of them than the bytes that are left could hold.
    Result<std::size_t, DecodeFault> bounded_count(std::uint64_t count, std::size_t max, std::size_t least_bytes_each);

    [[nodiscard]] bool empty() const { return rest_.empty(); }
    [[nodiscard]] std::size_t left() const { return rest_.size(); }
    [[nodiscard]] std::size_t position() const { return size_ - rest_.size(); }
    [[nodiscard]] ByteView rest() const { return rest_; }

    /// Fails when bytes are left: the last thing a decoder of a whole message asks.
    Result<void, DecodeFault> finish() const;

private:
    ByteView rest_;
    std::size_t size_;
};

/// Appends values to bytes it owns. The inverse of `Reader`: what it writes, `Reader` reads back to the same value.
class Writer {
public:
    Writer() = default;
    explicit Writer(std::size_t reserve) { bytes_.reserve(reserve); }

    template <std::unsigned_integral Number>
    Writer& number(Number value) {
        // Not `insert`: GCC 12 takes its inlined copy for an overflow of its own new buffer.
        const std::size_t end = bytes_.size();
        bytes_.resize(end + sizeof value);
        std::memcpy(bytes_.data() + end, &value, sizeof value);
        return *this;
    }
    Writer& u8(std::uint8_t value) { return number(value); }
    Writer& u16(std::uint16_t value) { return number(value); }
    Writer& u32(std::uint32_t value) { return number(value); }
    Writer& u64(std::uint64_t value) { return number(value); }
    Writer& boolean(bool value) { return u8(value ? 1 : 0); }
    Writer& varint(std::uint64_t value);
    Writer& raw(ByteView bytes);
    template <class Tag, std::size_t N>
    Writer& id(const Id<Tag, N>& value) {
        return raw(value.view());
    }
    /// A four-byte length, then the bytes.
    Writer& blob(ByteView bytes);
    /// A varint length, then the bytes.
    Writer& short_blob(ByteView bytes);

    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] ByteView view() const { return bytes_; }
    [[nodiscard]] Bytes take() && { return std::move(bytes_); }

private:
    Bytes bytes_;
};

}  // namespace rhizome
