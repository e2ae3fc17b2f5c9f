// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Heights, dates and waiting times as the lock instructions read them (BIP 65, 68, 112), for hosts and the assembler.
namespace rhizome::script {

/// Operands below are block heights, those from here on Unix seconds (1985).
inline constexpr std::int64_t kTimeThreshold = 500'000'000;

inline constexpr std::uint32_t kSequenceFinal = 0xffff'ffff;       ///< no lock of any kind is looked at
inline constexpr std::uint32_t kSequenceDisabled = 0x8000'0000;    ///< no relative lock
inline constexpr std::uint32_t kSequenceCountsTime = 0x0040'0000;  ///< bit 22: units of 512 s, otherwise blocks
inline constexpr std::uint32_t kSequenceMask = 0x0000'ffff;
inline constexpr std::int64_t kSequenceUnitSeconds = 512;

/// CHECKLOCKTIMEVERIFY: whether a transaction with that lock time, through an input with that sequence, waits at least
/// for `operand`. Heights and dates do not compare.
[[nodiscard]] constexpr bool waits_for(std::int64_t operand, std::uint32_t lock_time, std::uint32_t sequence) {
    const bool both_heights = operand < kTimeThreshold && lock_time < kTimeThreshold;
    const bool both_times = operand >= kTimeThreshold && lock_time >= kTimeThreshold;
    return (both_heights || both_times) && operand <= lock_time && sequence != kSequenceFinal;
}

/// CHECKSEQUENCEVERIFY: whether an input with that sequence waits at least as long as `operand` says. Blocks and time
/// do not compare. (Bitcoin also asks for transaction version 2; ours have no such past.)
[[nodiscard]] constexpr bool waits_as_long_as(std::int64_t operand, std::uint32_t sequence) {
    if ((sequence & kSequenceDisabled) != 0) return false;
    const std::int64_t mask = kSequenceCountsTime | kSequenceMask;
    const std::int64_t asked = operand & mask;
    const std::int64_t given = sequence & mask;
    const bool both_blocks = asked < kSequenceCountsTime && given < kSequenceCountsTime;
    const bool both_times = asked >= kSequenceCountsTime && given >= kSequenceCountsTime;
    return (both_blocks || both_times) && asked <= given;
}

/// CHECKEXPIRYVERIFY: whether a block of that height and time (Unix seconds) still comes before `operand`.
[[nodiscard]] constexpr bool before_expiry(std::int64_t operand, std::int64_t height, std::int64_t unix_seconds) {
    return operand < kTimeThreshold ? height < operand : unix_seconds < operand;
}

}  // namespace rhizome::script
