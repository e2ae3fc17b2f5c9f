// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/safety_rule.h"
#include "core/detail/inside.h"

/// Two conflicting blocks that are final (docs/spec/chain.md section 5). Every status names what its sender takes for
/// final. One that our chain cannot have is a claim, which any liar may make: its sender is asked for the votes that
/// show it, and only a quorum's signatures stop this node. What a liar can cost is a question in
/// `Config::answer_timeout` (three, then one in `kAskAgain`) and one good signature check for
/// each vote of a member for its claim and from it; the first bad one is blamed as any other.
namespace rhizome::core {
namespace {

using consensus::Checkpoint;
using ledger::HeaderTree;

constexpr std::uint32_t kQuickQuestions = 3;
constexpr milliseconds kAskAgain{60'000};

}  // namespace

bool Node::Inside::contradicts_ours(const Checkpoint& one) const {
    const Checkpoint& ours = book.final_checkpoint();
    if (one == ours) return false;
    if (const HeaderNode* node = tree.find(one.block))
        return !HeaderTree::is_ancestor(node, final_node) && !HeaderTree::is_ancestor(final_node, node);
    // A later one may stand on what is final here; what is as old, or older, would be among its ancestors.
    if (one.epoch > ours.epoch || ports.history.height_of(one.block)) return false;
    // Unless those do not go back so far: nobody votes for a block that is older than this.
    const milliseconds oldest = parameters().heartbeat * (consensus::kVoteHeartbeatsMax + 1);
    return consensus::end_of(one.epoch, parameters().epoch) > tree.root().header.time + oldest;
}

void Node::Inside::note_final_claim(PeerId from, PeerState& peer, const Checkpoint& claimed) {
    if (book.conflicting_final() || !contradicts_ours(claimed)) return;
    if (peer.claim != claimed) {
        drop_claim(peer);
        peer.claim = claimed;
    }
    book.look_into(claimed);
    look_for_conflicts();
    if (book.conflicting_final()) return;
    const milliseconds again = peer.claim_asked < kQuickQuestions ? config.answer_timeout : kAskAgain;
    if (peer.asked_votes && now < *peer.asked_votes + again) return;
    ++peer.claim_asked;
    peer.asked_votes = now;
    send(from, WantVotes{claimed.epoch});
}

void Node::Inside::drop_claim(PeerState& peer) {
    const auto claim = std::exchange(peer.claim, std::nullopt);
    if (!claim) return;
    const bool others =
        std::any_of(peers.begin(), peers.end(), [&](const auto& one) { return one.second.claim == claim; });
    if (!others) book.leave(*claim);
}

void Node::Inside::look_for_conflicts() {
    if (book.claims().empty() || book.conflicting_final()) return;
    // By those who vote on this node's chain: who was a voter once may sign any history later, and risks nothing.
    const consensus::Electorate& electorate = *facts.at(final_node->hash).electorate;
    for (const auto& [claimed, votes] : book.claims()) {
        const bool is_shown = book.is_proven(claimed, electorate, trust()) || !holds(SafetyRule::ProvenConflicts);
        if (is_shown && contradicts_ours(claimed)) return note_conflict(claimed);
    }
}

void Node::Inside::note_conflict(const Checkpoint& other) {
    if (book.conflicting_final()) return;
    book.note_conflict(other);
    if (holds(SafetyRule::ConflictsStop)) set_condition(Condition::ConflictingFinals, true);
    for (auto& [id, peer] : peers) {
        drop_claim(peer);
        send_status(id);  // with what shows it: they may not be linked to anybody on the other side
    }
}

}  // namespace rhizome::core
