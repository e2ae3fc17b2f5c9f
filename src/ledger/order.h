// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ledger/validator.h"

/// The order of transactions inside a block: given the same set, one body.
namespace rhizome::ledger {

/// What ordering one set of transactions gave, as positions in the set: each is in one of the two, once. Left out are
/// those that create what one before them in the set creates, for a block has one creation of a path at most. And where
/// some wait for each other in a circle (a namespace deleted, made again and filled) no order suits them all: the last
/// of them by priority are left out until the rest can go on. What needed one that was left out is in the order all the
/// same; whoever builds a block sees it fail.
struct Ordering {
    std::vector<std::size_t> order{};
    std::vector<std::size_t> left_out{};
};

/// Kahn's sort over what the transactions need of each other, and among those that are free (depth in the hierarchy,
/// deletions first, id). A transaction comes after another when it
/// - names an output of it,
/// - writes below a resource that it creates, or a kind that it defines,
/// - creates again what it deletes (unless it made itself what that one deletes),
/// - ends a lock whose authority the other takes,
/// - deletes an ancestor of what the other touches, or the definition of its kind.
Ordering canonical_order(std::span<const Effects> effects);
Ordering canonical_order(std::span<const Effects* const> effects);

}  // namespace rhizome::ledger
