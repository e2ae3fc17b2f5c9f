// SPDX-License-Identifier: Apache-2.0
#include "crypto/compact_target.h"

#include <algorithm>

#include "base/ensure.h"

namespace rhizome::crypto {
namespace {

constexpr std::uint32_t kSign = 0x00800000;
constexpr std::uint32_t kMantissa = 0x007fffff;

}  // namespace

CompactTarget decode_compact(std::uint32_t bits) {
    const unsigned size = bits >> 24;
    std::uint32_t word = bits & kMantissa;
    CompactTarget out;
    if (size <= 3) {
        word >>= 8 * (3 - size);
        out.target = U256{word};
    } else {
        out.target = U256{word} << (8 * (size - 3));
    }
    out.negative = word != 0 && (bits & kSign) != 0;
    out.overflow = word != 0 && (size > 34 || (word > 0xff && size > 33) || (word > 0xffff && size > 32));
    return out;
}

std::uint32_t encode_compact(const U256& target, bool negative) {
    unsigned size = (target.bit_length() + 7) / 8;
    auto word = static_cast<std::uint32_t>(size <= 3 ? target.low64() << (8 * (3 - size))
                                                     : (target >> (8 * (size - 3))).low64());
    // A mantissa that would reach into the sign bit moves down by one byte.
    if ((word & kSign) != 0) {
        word >>= 8;
        ++size;
    }
    return word | size << 24 | (negative && word != 0 ? kSign : 0);
}

std::string_view name(TargetFault fault) {
    switch (fault) {
        case TargetFault::Negative: return "Negative";
        case TargetFault::Overflow: return "Overflow";
        case TargetFault::Zero: return "Zero";
        case TargetFault::AboveLimit: return "AboveLimit";
    }
    unreachable("a TargetFault has a name");
}

Error to_error(TargetFault fault) {
    switch (fault) {
        case TargetFault::Negative: return {ErrorKind::Invalid, "the target of the work is negative"};
        case TargetFault::Overflow: return {ErrorKind::Invalid, "the target of the work has more than 256 bits"};
        case TargetFault::Zero: return {ErrorKind::Invalid, "the target of the work is zero, which no hash meets"};
        case TargetFault::AboveLimit: return {ErrorKind::Invalid, "the target of the work is easier than the limit"};
    }
    unreachable("a TargetFault has a sentence");
}

Result<U256, TargetFault> work_target(std::uint32_t bits, const U256& limit) {
    const CompactTarget decoded = decode_compact(bits);
    if (decoded.negative) return Fail{TargetFault::Negative};
    if (decoded.overflow) return Fail{TargetFault::Overflow};
    if (decoded.target.is_zero()) return Fail{TargetFault::Zero};
    if (decoded.target > limit) return Fail{TargetFault::AboveLimit};
    return decoded.target;
}

U256 work_of(const U256& target) {
    if (target.is_zero()) return U256::max();
    const auto [divisor, overflow] = add(target, U256{1});
    if (overflow) return U256{1};  // 2^256 / 2^256
    // 2^256 itself has no place in 256 bits: ⌊2^256/d⌋ = ⌊(2^256 − d)/d⌋ + 1, and 2^256 − d = ~target.
    return add(divide(~target, divisor).quotient, U256{1}).value;
}

Result<std::uint32_t, TargetFault> retarget(std::uint32_t old_bits, std::chrono::milliseconds actual,
                                            std::chrono::milliseconds wanted, std::uint32_t limit_bits) {
    using std::chrono::milliseconds;
    ensure(wanted > milliseconds{0}, "a period has a length");
    TRY(const U256 limit, work_target(limit_bits, U256::max()));
    TRY(const U256 old, work_target(old_bits, limit));
    const milliseconds longest = wanted > milliseconds::max() / 4 ? milliseconds::max() : wanted * 4;
    actual = std::clamp(actual, wanted / 4, longest);
    const auto [scaled, overflow] =
        multiply_divide(old, static_cast<std::uint64_t>(actual.count()), static_cast<std::uint64_t>(wanted.count()));
    const U256 target = overflow ? limit : std::clamp(scaled, U256{1}, limit);
    return encode_compact(target);
}

}  // namespace rhizome::crypto
