// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/detail/inside.h"

namespace rhizome::core {

Ticket Node::Inside::persist(Write what) {
    ++last_ticket;
    effects.emplace_back(Persist{last_ticket, std::move(what)});
    return last_ticket;
}

bool Node::Inside::is_held(const ledger::BlockHash& hash) const {
    return std::any_of(held.begin(), held.end(),
                       [&](const Held& one) { return one.block && hash_of(one.block->header) == hash; });
}

void Node::Inside::request_sync() { sync_wanted = true; }

void Node::Inside::record_own_votes() { persist(RecordVotes{own.encode(), own.is_complete() && !seals_unknown}); }

void Node::Inside::stored_up_to(Ticket ticket) {
    if (ticket <= stored) return;
    stored = ticket;
    consensus::VoteBook::Outcome all;
    while (!held.empty() && held.front().needs <= stored) {
        const Held ready = std::move(held.front());
        held.pop_front();
        for (const consensus::Vote& vote : ready.votes) {
            const auto outcome = book.add(vote, *this);
            all.justified_more |= outcome.justified_more;
            all.final_more |= outcome.final_more;
            relay(vote, {});
            next_flush = now;  // nobody else has it yet
        }
        if (!ready.block) continue;
        const auto hash = hash_of(ready.block->header);
        tell_block(ready.block, hash);
        // With one voter its seal is its vote.
        const HeaderNode* node = tree.find(hash);
        if (node == nullptr || !ledger::HeaderTree::is_ancestor(node, settled)) continue;
        const auto& electorate = facts.at(hash).electorate;
        if (electorate->is_only_voter(ports.signer->key()) && ledger::HeaderTree::is_ancestor(final_node, node) &&
            node != final_node)
            set_final(node);
    }
    after_votes(all);
}

}  // namespace rhizome::core
