// SPDX-License-Identifier: Apache-2.0
#include "base/u256.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/ensure.h"

namespace rhizome {
namespace {

__extension__ using Wide = unsigned __int128;  // both compilers we use have it; -Wpedantic wants the word in front

}  // namespace

U256 U256::from_little_endian(std::span<const std::uint8_t, 32> bytes) {
    U256 out;
    for (unsigned i = 0; i < 32; ++i) out.limbs_[i / 8] |= std::uint64_t{bytes[i]} << (i % 8 * 8);
    return out;
}

U256 U256::from_big_endian(std::span<const std::uint8_t, 32> bytes) {
    std::array<std::uint8_t, 32> turned;
    std::reverse_copy(bytes.begin(), bytes.end(), turned.begin());
    return from_little_endian(turned);
}

std::array<std::uint8_t, 32> U256::little_endian() const {
    std::array<std::uint8_t, 32> out;
    for (unsigned i = 0; i < 32; ++i) out[i] = static_cast<std::uint8_t>(limbs_[i / 8] >> (i % 8 * 8));
    return out;
}

std::array<std::uint8_t, 32> U256::big_endian() const {
    auto out = little_endian();
    std::reverse(out.begin(), out.end());
    return out;
}

std::optional<U256> U256::from_hex(std::string_view hex) {
    std::array<std::uint8_t, 32> bytes;
    if (!from_hex_into(hex, bytes)) return std::nullopt;
    return from_big_endian(bytes);
}

std::string U256::hex() const { return to_hex(big_endian()); }

unsigned U256::bit_length() const {
    for (unsigned i = 4; i-- > 0;) {
        if (limbs_[i] != 0) return i * 64 + static_cast<unsigned>(std::bit_width(limbs_[i]));
    }
    return 0;
}

U256::Checked add(const U256& left, const U256& right) {
    U256::Checked out;
    Wide carry = 0;
    for (unsigned i = 0; i < 4; ++i) {
        carry += Wide{left.limbs_[i]} + right.limbs_[i];
        out.value.limbs_[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    out.overflow = carry != 0;
    return out;
}

U256::Checked subtract(const U256& left, const U256& right) {
    U256::Checked out = add(left, ~right);  // left + (2^256 − 1 − right) + 1
    const U256::Checked plus_one = add(out.value, U256{1});
    return {plus_one.value, left < right};
}

U256::Checked multiply(const U256& left, std::uint64_t right) {
    U256::Checked out;
    Wide carry = 0;
    for (unsigned i = 0; i < 4; ++i) {
        carry += Wide{left.limbs_[i]} * right;
        out.value.limbs_[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    out.overflow = carry != 0;
    return out;
}

U256::Checked multiply_divide(const U256& number, std::uint64_t factor, std::uint64_t divisor) {
    ensure(divisor != 0, "nothing is divided by zero");
    std::array<std::uint64_t, 5> product;
    Wide carry = 0;
    for (unsigned i = 0; i < 4; ++i) {
        carry += Wide{number.limbs_[i]} * factor;
        product[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    product[4] = static_cast<std::uint64_t>(carry);

    U256::Checked out;
    out.overflow = product[4] >= divisor;  // the quotient's fifth limb
    Wide rest = product[4] % divisor;
    for (unsigned i = 4; i-- > 0;) {
        rest = rest << 64 | product[i];
        out.value.limbs_[i] = static_cast<std::uint64_t>(rest / divisor);
        rest %= divisor;
    }
    return out;
}

U256::Divided divide(const U256& number, const U256& divisor) {
    ensure(!divisor.is_zero(), "nothing is divided by zero");
    // By shifting and subtracting: one step per bit of the quotient is fast enough for one division per header, and
    // there is little in it to get wrong.
    U256::Divided out{{}, number};
    const unsigned digits = number.bit_length(), least = divisor.bit_length();
    if (digits < least) return out;
    U256 shifted = divisor << (digits - least);
    for (unsigned bit = digits - least + 1; bit-- > 0; shifted = shifted >> 1) {
        if (out.remainder < shifted) continue;
        out.remainder = subtract(out.remainder, shifted).value;
        out.quotient.limbs_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    return out;
}

}  // namespace rhizome
