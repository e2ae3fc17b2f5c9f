// SPDX-License-Identifier: Apache-2.0
// A recovery may lead the chain away from a block that is older than what a running node has at hand: its header is on
// the disk only, and what came after it cannot be undone block by block. The header comes back, and the host finds the
// state; from there the branch is judged like any other, before anything is left for it.
#include "core/detail/inside.h"

namespace rhizome::core {

using ledger::HeaderTree;

bool Node::Inside::is_ahead_by_recovery(PeerId from) const {
    const auto peer = peers.find(from);
    return peer != peers.end() && peer->second.generation > generation();
}

bool Node::Inside::deepen_to(const ledger::BlockHash& block) {
    if (tree.find(block) != nullptr) return true;
    const auto height = ports.history.height_of(block);
    const ledger::Height root = tree.root().header.height;
    if (!height || *height >= root || tree.size() > 2 * config.headers_kept + config.headers_deepened_max ||
        root - *height > config.headers_deepened_max)
        return false;
    std::vector<ledger::Header> older;
    for (ledger::BlockHash next = tree.root().header.previous; older.size() < root - *height;) {
        const auto header = ports.history.header(next);
        if (!header) return false;
        next = header->previous;
        older.push_back(*header);
    }
    return tree.deepen(older) && tree.find(block) != nullptr;
}

void Node::Inside::add_old_blocks(std::vector<ledger::BlockHash>& locator) const {
    const std::uint64_t root = tree.root().header.height.number();
    for (std::uint64_t step = 1; step <= root; step *= 2)
        if (const auto hash = ports.history.hash_at(ledger::Height{root - step})) locator.push_back(*hash);
    if (const auto first = ports.history.hash_at(ledger::Height{0}); first && root > 0) locator.push_back(*first);
}

bool Node::Inside::is_out_of_reach(const HeaderNode* node) const {
    return lacking && HeaderTree::common_ancestor(node, settled)->header.height <= lacking->height;
}

void Node::Inside::ask_for_state(const HeaderNode* fork) {
    if (lacking && lacking->block == fork->hash) return;
    lacking = Lacking{.block = fork->hash, .height = fork->header.height};
    effects.emplace_back(FindState{fork->hash});
}

void Node::Inside::old_state(const OldState& event) {
    if (!lacking || lacking->block != event.block) return;
    const HeaderNode* node = tree.find(event.block);
    if (node == nullptr || !event.view || event.view->root() != node->header.state_root) {
        lacking->again = now + config.state_again;
        set_condition(Condition::OutOfReach, true);
        return;
    }
    lacking.reset();
    set_condition(Condition::OutOfReach, false);
    kept = ledger::Reorganisation::Kept{*event.view, node};
    follow_best();
}

}  // namespace rhizome::core
