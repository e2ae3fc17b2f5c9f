// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rhizome {

/// An unsigned integer of 256 bits. Nothing wraps around unseen: whatever may not fit says so beside its value.
/// The same everywhere, since it is made of 64-bit integers only. Not for secrets: its time depends on its values.
class U256 {
public:
    constexpr U256() = default;
    explicit constexpr U256(std::uint64_t low) : limbs_{low, 0, 0, 0} {}

    static constexpr U256 max() { return ~U256{}; }
    /// 2^exponent; `exponent` < 256.
    static constexpr U256 power_of_two(unsigned exponent) { return U256{1} << exponent; }

    static U256 from_big_endian(std::span<const std::uint8_t, 32> bytes);
    static U256 from_little_endian(std::span<const std::uint8_t, 32> bytes);
    [[nodiscard]] std::array<std::uint8_t, 32> big_endian() const;
    [[nodiscard]] std::array<std::uint8_t, 32> little_endian() const;

    /// Exactly 64 hexadecimal digits, the most significant first.
    static std::optional<U256> from_hex(std::string_view hex);
    [[nodiscard]] std::string hex() const;

    [[nodiscard]] constexpr bool is_zero() const { return *this == U256{}; }
    /// Digits in base two: 0 for 0, 256 for `max()`.
    [[nodiscard]] unsigned bit_length() const;
    /// The lowest 64 bits.
    [[nodiscard]] constexpr std::uint64_t low64() const { return limbs_[0]; }

    friend constexpr bool operator==(const U256&, const U256&) = default;
    friend constexpr std::strong_ordering operator<=>(const U256& left, const U256& right) {
        for (unsigned i = 4; i-- > 0;) {
            if (left.limbs_[i] != right.limbs_[i]) return left.limbs_[i] <=> right.limbs_[i];
        }
        return std::strong_ordering::equal;
    }

    friend constexpr U256 operator~(const U256& number) {
        U256 out;
        for (unsigned i = 0; i < 4; ++i) out.limbs_[i] = ~number.limbs_[i];
        return out;
    }
    /// Bits shifted out are lost; 256 and more give zero.
    friend constexpr U256 operator<<(const U256& number, unsigned bits) {
        U256 out;
        const unsigned limbs = bits / 64, rest = bits % 64;
        for (unsigned i = limbs; i < 4; ++i) {
            out.limbs_[i] = number.limbs_[i - limbs] << rest;
            if (rest > 0 && i > limbs) out.limbs_[i] |= number.limbs_[i - limbs - 1] >> (64 - rest);
        }
        return out;
    }
    friend constexpr U256 operator>>(const U256& number, unsigned bits) {
        U256 out;
        const unsigned limbs = bits / 64, rest = bits % 64;
        for (unsigned i = 0; i + limbs < 4; ++i) {
            out.limbs_[i] = number.limbs_[i + limbs] >> rest;
            if (rest > 0 && i + limbs + 1 < 4) out.limbs_[i] |= number.limbs_[i + limbs + 1] << (64 - rest);
        }
        return out;
    }

    struct Checked;
    struct Divided;

    /// The lowest 256 bits of the result, and whether the true result is another.
    friend Checked add(const U256& left, const U256& right);
    friend Checked subtract(const U256& left, const U256& right);
    friend Checked multiply(const U256& left, std::uint64_t right);
    /// ⌊number × factor / divisor⌋ with a product of full width in between; `divisor` is not 0.
    friend Checked multiply_divide(const U256& number, std::uint64_t factor, std::uint64_t divisor);
    /// Floor and remainder; `divisor` is not 0.
    friend Divided divide(const U256& number, const U256& divisor);

private:
    std::array<std::uint64_t, 4> limbs_{};  ///< the least significant first
};

struct U256::Checked {
    U256 value;
    bool overflow = false;
};

struct U256::Divided {
    U256 quotient;
    U256 remainder;
};

U256::Checked add(const U256& left, const U256& right);
U256::Checked subtract(const U256& left, const U256& right);
U256::Checked multiply(const U256& left, std::uint64_t right);
U256::Checked multiply_divide(const U256& number, std::uint64_t factor, std::uint64_t divisor);
U256::Divided divide(const U256& number, const U256& divisor);

}  // namespace rhizome
