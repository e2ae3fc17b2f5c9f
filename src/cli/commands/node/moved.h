// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/node/nodes.h"

/// What the owner says with `recover --moved`: the directories that wait are the only ones. Told before it is done.
namespace rhizome::cli {

struct MovedPlan {
    /// Nothing is left to do: nobody waits, or a recovery names all who do.
    bool is_done = false;
    std::uint64_t generation = 0;                  ///< the new one
    std::vector<std::string> voters{};             ///< those of now, without those that are lost as well
    std::map<std::string, std::string> records{};  ///< by name of the node: what begins anew
    std::string story{};                           ///< for the person who decides
    std::optional<std::string> doubt{};            ///< why this is probably not what is wanted
};

/// `cluster` is the Cluster's document, `wanted` names of voters; none: those there are now.
Result<MovedPlan> plan_moved(const std::vector<NodeRow>& rows, const json::Value& status, const json::Value& cluster,
                             std::vector<std::string> wanted);

}  // namespace rhizome::cli
