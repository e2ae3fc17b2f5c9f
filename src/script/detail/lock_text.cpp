// SPDX-License-Identifier: Apache-2.0
#include "script/detail/lock_text.h"

#include "base/time.h"
#include "script/assembler.h"
#include "script/locks.h"

namespace rhizome::script::detail {

std::optional<std::string> duration_text(std::int64_t operand) {
    if ((operand & ~std::int64_t{kSequenceCountsTime | kSequenceMask}) != 0 || (operand & kSequenceCountsTime) == 0) {
        return std::nullopt;
    }
    const seconds exact{(operand & kSequenceMask) * kSequenceUnitSeconds};
    for (const seconds step : {seconds{86400}, seconds{3600}, seconds{60}, seconds{1}}) {
        const seconds rough = exact - exact % step;
        if (relative_lock(rough) == operand) return to_text(rough);
    }
    return std::nullopt;
}

std::optional<std::string> moment_text(std::int64_t unix_seconds) {
    constexpr std::int64_t kYear10000 = 253'402'300'800;
    if (unix_seconds < kTimeThreshold || unix_seconds >= kYear10000) return std::nullopt;
    return to_rfc3339(Time::from_unix_seconds(unix_seconds));
}

}  // namespace rhizome::script::detail
