// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/node/nodes.h"

/// What a recovery would do, told before it is done.
namespace rhizome::cli {

struct RecoveryPlan {
    std::uint64_t generation = 0;        ///< the new one
    std::vector<std::string> voters{};   ///< the new ones, sorted
    std::string story{};                 ///< for the person who decides: what is, what stays, what may be lost
    std::optional<std::string> doubt{};  ///< why this is probably not what is wanted
};

/// `wanted`: names; none: all members that are linked or heard of, this one too, and not accused. Errors name a machine
/// that cannot vote.
Result<RecoveryPlan> plan_recovery(const std::vector<NodeRow>& rows, const json::Value& status,
                                   std::vector<std::string> wanted);

}  // namespace rhizome::cli
