// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which of the live nodes does what one node should do: rendezvous hashing (docs/DESIGN.md section 9). Every node that
/// sees the same live nodes gives the same answer; when one goes, only what was its own moves.
namespace rhizome::cluster {

/// The nodes in the order in which the object is theirs: the first one does the work, the next when that one does not.
std::vector<std::string> order_of(std::string_view object_uid, std::span<const std::string> nodes);

/// The place of `node` in that order; nothing when it is not among them.
std::optional<std::size_t> rank_of(std::string_view object_uid, std::span<const std::string> nodes,
                                   std::string_view node);

}  // namespace rhizome::cluster
