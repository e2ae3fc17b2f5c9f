// SPDX-License-Identifier: Apache-2.0
#include "consensus/fork_choice.h"

namespace rhizome::consensus {

using ledger::HeaderTree;

bool wins_tie(const HeaderTree::Node* left, const HeaderTree::Node* right) {
    if (left == right) return false;
    const HeaderTree::Node* fork = HeaderTree::common_ancestor(left, right);
    if (fork == right) return true;
    if (fork == left) return false;
    const auto first = [&](const HeaderTree::Node* tip) {
        return HeaderTree::ancestor(tip, fork->header.height + 1)->hash;
    };
    return first(left) < first(right);
}

}  // namespace rhizome::consensus
