// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/u256.h"

namespace rhizome {
namespace {

__extension__ using Wide = unsigned __int128;

U256 from_wide(Wide wide) {
    return add(U256{static_cast<std::uint64_t>(wide >> 64)} << 64, U256{static_cast<std::uint64_t>(wide)}).value;
}

/// Numbers of all lengths: plain random ones are nearly always 256 bits long, which hides the cases between limbs.
U256 any_number() {
    std::array<std::uint8_t, 32> bytes;
    for (auto& byte : bytes) byte = *rc::gen::arbitrary<std::uint8_t>();
    for (unsigned i = 0; i < 4; ++i) {  // whole limbs of ones or zeros make carries run through
        const int shape = *rc::gen::inRange(0, 6);
        if (shape < 2) std::fill_n(bytes.begin() + i * 8, 8, shape == 0 ? 0x00 : 0xff);
    }
    return U256::from_little_endian(bytes) >> *rc::gen::inRange(0u, 257u);
}

Wide any_wide() {
    const auto high = *rc::gen::arbitrary<std::uint64_t>(), low = *rc::gen::arbitrary<std::uint64_t>();
    return (Wide{high} << 64 | low) >> *rc::gen::inRange(0, 128);
}

RC_GTEST_PROP(U256Property, AgreesWithTheCompilersOwn128Bits, ()) {
    const Wide left = any_wide(), right = any_wide();
    const U256 a = from_wide(left), b = from_wide(right);
    RC_ASSERT((a < b) == (left < right));
    RC_ASSERT((a == b) == (left == right));
    const Wide halves = (left >> 1) + (right >> 1);
    RC_ASSERT(add(a >> 1, b >> 1).value == from_wide(halves));
    if (left >= right) RC_ASSERT(subtract(a, b).value == from_wide(left - right));
    if (right != 0) {
        RC_ASSERT(divide(a, b).quotient == from_wide(left / right));
        RC_ASSERT(divide(a, b).remainder == from_wide(left % right));
    }
    const auto low_left = static_cast<std::uint64_t>(left), low_right = static_cast<std::uint64_t>(right);
    RC_ASSERT(multiply(U256{low_left}, low_right).value == from_wide(Wide{low_left} * low_right));
}

RC_GTEST_PROP(U256Property, SubtractingUndoesAdding, ()) {
    const U256 a = any_number(), b = any_number();
    const auto sum = add(a, b);
    RC_ASSERT(sum.overflow == (sum.value < a));
    RC_ASSERT(subtract(sum.value, b).value == a);
    RC_ASSERT(subtract(a, b).overflow == (a < b));
}

RC_GTEST_PROP(U256Property, DividingUndoesMultiplying, (std::uint64_t factor)) {
    RC_PRE(factor != 0u);
    const U256 a = any_number();
    const auto product = multiply(a, factor);
    RC_ASSERT(product.overflow == (divide(U256::max(), U256{factor}).quotient < a));
    if (!product.overflow) RC_ASSERT(divide(product.value, U256{factor}).quotient == a);
    const auto back = multiply_divide(a, factor, factor);
    RC_ASSERT(back.value == a && !back.overflow);
}

RC_GTEST_PROP(U256Property, QuotientTimesDivisorPlusRemainderIsTheNumber, ()) {
    const U256 a = any_number(), b = any_number();
    RC_PRE(!b.is_zero());
    const auto [quotient, remainder] = divide(a, b);
    RC_ASSERT(remainder < b);
    // The product by the schoolbook, one limb of the quotient at a time.
    U256 sum = remainder;
    for (unsigned limb = 0; limb < 4; ++limb) {
        const auto part = multiply(b, (quotient >> (64 * limb)).low64());
        RC_ASSERT(!part.overflow);
        RC_ASSERT(((part.value << (64 * limb)) >> (64 * limb)) == part.value);
        const auto more = add(sum, part.value << (64 * limb));
        RC_ASSERT(!more.overflow);
        sum = more.value;
    }
    RC_ASSERT(sum == a);
}

RC_GTEST_PROP(U256Property, MultiplyDivideIsTheFloorOfTheTrueProduct, (std::uint64_t factor, std::uint64_t divisor)) {
    RC_PRE(divisor != 0u);
    const U256 a = any_number();
    const auto product = multiply(a, factor);
    const auto scaled = multiply_divide(a, factor, divisor);
    if (!product.overflow) {
        RC_ASSERT(!scaled.overflow);
        RC_ASSERT(scaled.value == divide(product.value, U256{divisor}).quotient);
    } else if (!scaled.overflow) {
        // ⌊a·f/d⌋ = q·f + ⌊r·f/d⌋ with a = q·d + r; the last term fits 64 × 64 bits.
        const auto [quotient, remainder] = divide(a, U256{divisor});
        const auto whole = multiply(quotient, factor);
        const auto rest = divide(multiply(remainder, factor).value, U256{divisor}).quotient;
        RC_ASSERT(!whole.overflow);
        RC_ASSERT(add(whole.value, rest).value == scaled.value);
    }
}

RC_GTEST_PROP(U256Property, BytesAndHexComeBack, ()) {
    const U256 a = any_number();
    RC_ASSERT(U256::from_big_endian(a.big_endian()) == a);
    RC_ASSERT(U256::from_little_endian(a.little_endian()) == a);
    RC_ASSERT(U256::from_hex(a.hex()) == a);
    RC_ASSERT(a.is_zero() || (a >> (a.bit_length() - 1)) == U256{1});
}

}  // namespace
}  // namespace rhizome
