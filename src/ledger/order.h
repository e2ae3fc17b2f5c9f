// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ledger/validator.h"

/// The order of transactions inside a block: given the same set, one body.
namespace rhizome::ledger {

/// What ordering one set of transactions gave. `order` has positions in the set; `cyclic` those that no order suits,
/// each of them waiting for another of them (a namespace deleted, made again and filled in one block).
struct Ordering {
    std::vector<std::size_t> order{};
    std::vector<std::size_t> cyclic{};
};

/// Kahn's sort over what the transactions need of each other, and among those that are free (depth in the hierarchy,
/// deletions first, id). A transaction comes after another when it
/// - names an output of it,
/// - writes below a resource that it creates, or a kind that it defines,
/// - creates again what it deletes,
/// - ends a lock whose authority the other takes,
/// - deletes an ancestor of what the other touches, or the definition of its kind.
Ordering canonical_order(std::span<const Effects> effects);

}  // namespace rhizome::ledger
