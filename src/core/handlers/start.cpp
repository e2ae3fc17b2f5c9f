// SPDX-License-Identifier: Apache-2.0
#include "core/detail/inside.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

/// How far back the facts of blocks are found again at the start: forks from deeper are judged by what they claim.
constexpr std::size_t kFactsRestored = 1'024;

consensus::Checkpoint genesis_checkpoint(const ledger::ChainId& chain) {
    return {.block = ledger::BlockHash{chain.view()}};
}

}  // namespace

Node::Inside::Inside(const Config& config_in, const Start& start, const Ports& ports_in, Time now_in)
    : config(config_in),
      ports(ports_in),
      signatures(ports_in.signatures),
      judge(signatures),
      block_rules{ports_in.rules, judge, ports_in.memory},
      blocks(ports_in.blocks, config_in.recent_bytes, config_in.recent_changes),
      tree(start.root),
      state(start.tip_view),
      at(&tree.root()),
      settled(&tree.root()),
      final_node(&tree.root()),
      book(0, genesis_checkpoint(start.chain)),
      pool(config_in.pool, ports_in.rules, ports_in.cache),
      random(start.seed),
      chain(start.chain),
      catch_up(config_in),
      recent_txs(config_in.recent_txs_bytes),
      now(now_in),
      started(now_in) {
    pool.dropped = [this](const ledger::SharedTx& tx, const ledger::Reject& why) { note_dropped(tx, why); };
}

Result<void, ledger::Reject> Node::Inside::restore(const Start& start) {
    for (const ledger::Header& header : start.chain_headers) {
        TRY(at, tree.insert(header));
    }
    if (at->header.state_root != state.view().root())
        return ledger::reject(RejectCode::BadStateRoot, "the state is not that of the tip");
    settled = at;
    settled_since = now;
    settled_view = state.view();
    const HeaderNode* last_final = tree.find(start.final_block);
    if (last_final == nullptr || !ledger::HeaderTree::is_ancestor(last_final, at))
        return ledger::reject(RejectCode::BadEncoding, "the final block is not on the chain");
    final_node = last_final;
    tips.emplace(at->hash, at);

    // Going back over what each block changed shows every state on the way, and with it who voted and what it weighed.
    state::StateView view = start.tip_view;
    std::shared_ptr<const consensus::Electorate> newer;
    std::size_t left = kFactsRestored;
    // At least down to what is final: a node that was killed under load may have noted that long before its tip.
    for (const HeaderNode* node = at; node != nullptr && (left > 0 || node->header.height >= final_node->header.height);
         node = node->parent, left -= left > 0 ? 1 : 0) {
        auto electorate = consensus::Electorate::of(view, ledger::parameters_of(view));
        if (newer == nullptr || *newer != electorate)
            newer = std::make_shared<const consensus::Electorate>(std::move(electorate));
        facts[node->hash] = {.electorate = newer, .weight = consensus::records::weight_of(view), .judged = true};
        if (node == final_node) kept = ledger::Reorganisation::Kept{view, node};
        // Who sealed matters where that alone makes a block final, and only above what is final anyway.
        if (node->header.height > final_node->header.height && newer->voters.size() == 1)
            if (const auto block = blocks.shared(node->hash))
                if (const auto proposer = consensus::proposer_in((*block)->seal))
                    facts[node->hash].proposer = *proposer;
        const auto change = blocks.change(node->hash);
        if (!change) break;  // not kept so far back
        auto before = state::undo(view, *change);
        if (!before) break;
        view = *std::move(before);
    }

    // From old to new: each begins with what its parent has.
    const std::size_t restored = facts.size();
    if (!facts.contains(final_node->hash)) {
        // Where a recovery took back what was final the fork may lie deeper than changes are kept.
        if (facts.at(at->hash).electorate->generation == 0)
            return ledger::reject(RejectCode::BadEncoding,
                                  "what the blocks above the final one changed is not on the disk");
        note_deep(final_node);
    }
    for (std::size_t back = restored; back-- > 0;) {
        const HeaderNode* node = ledger::HeaderTree::ancestor(at, at->header.height - back);
        facts.at(node->hash).sealed_final = sealed_final_of(node, facts.at(node->hash));
    }

    const consensus::Electorate& now_voting = *facts.at(at->hash).electorate;
    if (now_voting.generation > 0) book.begin_generation(now_voting.generation, genesis_checkpoint(chain));
    const auto shown = consensus::records::shown_final_of(state.view());
    if (!shown.checkpoint.block.is_zero()) book.trust_final(shown.checkpoint);
    auto votes = consensus::OwnVotes::decode(start.vote_record, start.votes_complete);
    if (!votes) return Fail{ledger::to_reject(votes.error())};
    own = *std::move(votes);
    for (const consensus::VoteGroup& group : own.justification()) (void)book.add_row(group, *this);
    seals_unknown = !own.is_complete();
    set_condition(Condition::VotesLost, !own.is_complete());
    pool.set_tip(state, next_block());
    votes_after = consensus::epoch_of(now, parameters().epoch);
    next_status = now;
    update_final();
    return {};
}

}  // namespace rhizome::core
