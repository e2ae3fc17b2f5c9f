// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rhizome {

/// Owned bytes, and bytes that somebody else owns and that outlive the call.
using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

/// The bytes of a text, without copying.
inline ByteView as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
/// The text of bytes, without copying and without looking at them.
inline std::string_view as_text(ByteView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline Bytes to_bytes(ByteView view) { return {view.begin(), view.end()}; }

/// Lower-case hexadecimal, two digits a byte.
std::string to_hex(ByteView bytes);
/// The bytes of hexadecimal digits of either case; nothing on an odd length or another character.
std::optional<Bytes> from_hex(std::string_view hex);
/// The same into `out`, whose size must be exactly what `hex` gives. On failure `out` is unspecified.
[[nodiscard]] bool from_hex_into(std::string_view hex, std::span<std::uint8_t> out);

/// Equality in time that depends on the sizes only. For secrets, and whatever is compared with one.
[[nodiscard]] bool equal_in_constant_time(ByteView left, ByteView right);

/// Overwrites with zeros in a way the optimiser keeps.
void wipe(std::span<std::uint8_t> bytes) noexcept;

/// Secret bytes of a fixed size: wiped when they go, never printed, compared in constant time, copied only by `clone()`
/// so that every copy is one somebody asked for.
template <std::size_t N>
class SecretArray {
public:
    SecretArray() = default;
    explicit SecretArray(std::span<const std::uint8_t, N> from) {
        for (std::size_t i = 0; i < N; ++i) bytes_[i] = from[i];
    }
    SecretArray(SecretArray&& other) noexcept : bytes_(other.bytes_) { wipe(other.bytes_); }
    SecretArray& operator=(SecretArray&& other) noexcept {
        if (this != &other) {
            bytes_ = other.bytes_;
            wipe(other.bytes_);
        }
        return *this;
    }
    SecretArray(const SecretArray&) = delete;
    SecretArray& operator=(const SecretArray&) = delete;
    ~SecretArray() { wipe(bytes_); }

    [[nodiscard]] SecretArray clone() const { return SecretArray{bytes_}; }
    [[nodiscard]] std::span<const std::uint8_t, N> view() const { return bytes_; }
    [[nodiscard]] std::span<std::uint8_t, N> writable() { return bytes_; }
    static constexpr std::size_t size() { return N; }

    friend bool operator==(const SecretArray& left, const SecretArray& right) {
        return equal_in_constant_time(left.bytes_, right.bytes_);
    }

private:
    std::array<std::uint8_t, N> bytes_{};
};

/// Secret bytes of any size (passphrases, decrypted documents), with the same promises. The size is fixed when made:
/// growing would leave an unwiped copy behind.
class SecretBytes {
public:
    SecretBytes() = default;
    explicit SecretBytes(std::size_t size) : bytes_(size) {}
    explicit SecretBytes(ByteView from) : bytes_(from.begin(), from.end()) {}
    SecretBytes(SecretBytes&& other) noexcept : bytes_(std::move(other.bytes_)) { other.bytes_.clear(); }
    SecretBytes& operator=(SecretBytes&& other) noexcept {
        if (this != &other) {
            wipe(bytes_);
            bytes_ = std::move(other.bytes_);
            other.bytes_.clear();
        }
        return *this;
    }
    SecretBytes(const SecretBytes&) = delete;
    SecretBytes& operator=(const SecretBytes&) = delete;
    ~SecretBytes() { wipe(bytes_); }

    [[nodiscard]] SecretBytes clone() const { return SecretBytes{view()}; }
    [[nodiscard]] ByteView view() const { return bytes_; }
    [[nodiscard]] std::span<std::uint8_t> writable() { return bytes_; }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] bool empty() const { return bytes_.empty(); }

    friend bool operator==(const SecretBytes& left, const SecretBytes& right) {
        return equal_in_constant_time(left.bytes_, right.bytes_);
    }

private:
    Bytes bytes_;
};

}  // namespace rhizome
