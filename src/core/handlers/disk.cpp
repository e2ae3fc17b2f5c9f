// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/safety_rule.h"
#include "core/detail/inside.h"

namespace rhizome::core {

Ticket Node::Inside::persist(Write what) {
    ++last_ticket;
    effects.emplace_back(Persist{last_ticket, std::move(what)});
    return last_ticket;
}

std::optional<Ticket> Node::Inside::held_until(const ledger::BlockHash& hash) const {
    const auto found =
        std::find_if(held.begin(), held.end(), [&](const Held& one) { return one.block && one.hash == hash; });
    if (found == held.end()) return std::nullopt;
    return found->needs;
}

std::optional<Ticket> Node::Inside::told_with(const ledger::BlockHash& hash) {
    if (const auto held_back = held_until(hash)) return held_back;
    const auto known = facts.find(hash);
    if (ports.signer == nullptr || known == facts.end() || known->second.proposer != ports.signer->key() ||
        known->second.from == PeerId{} || last_ticket <= stored)
        return std::nullopt;
    request_sync();
    return last_ticket;
}

bool Node::Inside::has_room() const {
    return !conditions.contains(Condition::DiskFull) || !holds(SafetyRule::NothingOnAFullDisk);
}

void Node::Inside::disk_low(bool low) {
    if (low == conditions.contains(Condition::DiskFull)) return;
    set_condition(Condition::DiskFull, low);
    if (low) return catch_up.end();  // the bodies at hand would have to be written
    // What came meanwhile was not taken: whoever has it is asked, and told where this node stands.
    next_status = now;
    for (const auto& [id, peer] : peers) ask_for_tip(id);
    follow_best();
}

void Node::Inside::request_sync() { sync_wanted = true; }

void Node::Inside::record_own_votes() {
    // Who does not know what it signed before votes for nothing, and seals on nothing that it knew before.
    if (own.is_complete()) persist(RecordVotes{own.encode()});
}

void Node::Inside::stored_up_to(Ticket ticket) {
    if (ticket <= stored) return;
    stored = ticket;
    tell_held_inclusions();  // first: with one voter they are final in the same step
    consensus::VoteBook::Outcome all;
    while (!held.empty() && held.front().needs <= stored) {
        const Held ready = std::move(held.front());
        held.pop_front();
        for (const consensus::Vote& vote : ready.votes) {
            const auto outcome = book.add(vote, *this);
            all.justified_more |= outcome.justified_more;
            all.final_more |= outcome.final_more;
            const consensus::VoteGroup::Signed own_vote{vote.voter, vote.signature};
            relay.add(vote.ballot, {&own_vote, 1}, {}, now);
            if (is_large()) {
                plan_flush();
            } else {
                next_flush = now;  // nobody else has it yet
            }
        }
        if (!ready.block) continue;
        const ledger::BlockHash& hash = ready.hash;
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
