// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

/// Cuts between the nodes of a playground, as people say them. Nodes are numbers from 1.
namespace rhizome::cli::playground {

/// From a node to another: what the first sends does not reach the second.
using Way = std::pair<unsigned, unsigned>;

/// One cut that stands.
struct Cut {
    std::string text{};    ///< as it is said: `1,2` or `1>3`
    std::set<Way> ways{};  ///< that it breaks
    bool one_way = false;  ///< some way back is open
};

/// `1,2`: these from all the others, both ways. `1>3` or `1,2>3,4`: what the left ones send to the right ones. Usage
/// with what is wanted for everything else.
Result<Cut> parse_cut(std::string_view text, unsigned nodes);

/// Every way that one of the cuts breaks.
std::set<Way> broken_ways(const std::vector<Cut>& cuts);
/// Who can talk with `node` both ways, directly or through others that can; itself too. Only nodes of `up` count.
std::set<unsigned> side_of(unsigned node, const std::set<unsigned>& up, const std::set<Way>& broken);

/// `n1, n2`.
std::string node_names(const std::set<unsigned>& nodes);

}  // namespace rhizome::cli::playground
