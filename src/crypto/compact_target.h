// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/u256.h"

/// Targets of proof of work in Bitcoin's compact form ("bits"): an exponent of base 256 in the high byte, below it a
/// sign bit (a legacy of the library it came from) and 23 bits of mantissa. A hash read as a number meets a target when
/// it is not above it.
namespace rhizome::crypto {

/// What a compact form says, sensible or not.
struct CompactTarget {
    U256 target;            ///< the magnitude; the lowest 256 bits of it on overflow
    bool negative = false;  ///< sign bit with a mantissa other than zero
    bool overflow = false;  ///< above 256 bits
};

CompactTarget decode_compact(std::uint32_t bits);
/// The compact form of `target` rounded down to what it can hold.
std::uint32_t encode_compact(const U256& target, bool negative = false);

/// Why a compact form is no target that a block may have.
enum class TargetFault : unsigned char { Negative, Overflow, Zero, AboveLimit };
std::string_view name(TargetFault fault);
Error to_error(TargetFault fault);

/// The target of a block header's bits: positive and at most `limit`.
Result<U256, TargetFault> work_target(std::uint32_t bits, const U256& limit);

/// ⌊2^256 / (target + 1)⌋, the hashes that meeting `target` takes on average; the weight of a block. The one value that
/// does not fit, that of target 0, is given as 2^256 − 1.
U256 work_of(const U256& target);

/// The bits after a period that took `actual` where `wanted` (> 0) was meant: old target × actual / wanted, floor, with
/// `actual` clamped to [wanted/4, 4 × wanted]; at most `limit_bits`. Never zero, which no hash would meet.
/// Fails when one of the two given bits is no target.
Result<std::uint32_t, TargetFault> retarget(std::uint32_t old_bits, std::chrono::milliseconds actual,
                                            std::chrono::milliseconds wanted, std::uint32_t limit_bits);

}  // namespace rhizome::crypto
