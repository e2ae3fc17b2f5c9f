// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/ensure.h"
#include "base/safety_rule.h"
#include "core/detail/inside.h"
#include "ledger/block_row.h"

namespace rhizome::core {
namespace {

using consensus::Checkpoint;
using ledger::HeaderTree;
using ledger::Reorganisation;

}  // namespace

const consensus::Electorate* Node::Inside::electorate_of(const ledger::BlockHash& block) const {
    const auto known = facts.find(block);
    return known == facts.end() || !known->second.judged ? nullptr : known->second.electorate.get();
}

bool Node::Inside::is_member(const consensus::MemberKey& key) const {
    // Most are voters, who are found without making a path.
    return voting().is_voter(key) || state.view().get(ledger::records::member(key)) != nullptr;
}

const consensus::Electorate& Node::Inside::voting() const {
    if (voting_found.first != settled) voting_found = {settled, facts.at(settled->hash).electorate.get()};
    return *voting_found.second;
}

ledger::Height Node::Inside::sealed_final_of(const HeaderNode* node, const BlockFacts& known) const {
    if (known.electorate && known.electorate->is_only_voter(known.proposer)) return node->header.height;
    const auto parent = node->parent == nullptr ? facts.end() : facts.find(node->parent->hash);
    return parent == facts.end() ? ledger::Height{} : parent->second.sealed_final;
}

consensus::ChainRank Node::Inside::rank_of(const HeaderNode* node) const {
    const BlockFacts& known = facts.at(node->hash);
    consensus::ChainRank rank{.generation = known.electorate->generation, .weight = known.weight};
    if (rank.generation != book.generation()) return rank;
    const auto block_on_chain = [&](const ledger::BlockHash& hash) {
        const HeaderNode* block = tree.find(hash);
        return block != nullptr && HeaderTree::is_ancestor(block, node) ? block : nullptr;
    };
    const auto on_chain = [&](const Checkpoint& one) { return block_on_chain(one.block) != nullptr; };
    rank.final_height = known.sealed_final;
    if (const HeaderNode* block = block_on_chain(book.final_checkpoint().block))
        rank.final_height = std::max(rank.final_height, block->header.height);
    const auto& justified = book.justified();
    const auto highest = std::find_if(justified.rbegin(), justified.rend(), on_chain);
    if (highest != justified.rend()) rank.justified_epoch = highest->epoch;
    if (known.judged) return rank;
    // Votes for blocks that were not judged yet count as their branch claims they do: else a branch that others have
    // justified would never be looked at by one who has justified something on its own. And since the voters may be
    // others on that branch than where it left ours, what a member says is justified there is a reason to look as well.
    for (const auto& [id, peer] : peers) {
        if (!peer.is_member || peer.justified.epoch <= rank.justified_epoch) continue;
        if (on_chain(peer.justified)) rank.justified_epoch = peer.justified.epoch;
    }
    for (const auto& [block, targets] : book.unsettled()) {
        if (targets.rbegin()->epoch <= rank.justified_epoch || block_on_chain(block) == nullptr) continue;
        const auto claims = facts.find(block);
        if (claims == facts.end()) continue;
        for (const Checkpoint& checkpoint : targets)
            if (checkpoint.epoch > rank.justified_epoch &&
                book.looks_justified(checkpoint, *claims->second.electorate, trust()))
                rank.justified_epoch = checkpoint.epoch;
    }
    return rank;
}

bool Node::Inside::may_follow(const HeaderNode* node) const {
    return HeaderTree::is_ancestor(final_node, node) || !holds(SafetyRule::FinalsStay) ||
           facts.at(node->hash).electorate->generation > facts.at(final_node->hash).electorate->generation;
}

bool Node::Inside::is_better(const HeaderNode* left, const HeaderNode* right) const {
    const auto order = rank_of(left) <=> rank_of(right);
    return order != std::strong_ordering::equal ? order == std::strong_ordering::greater
                                                : consensus::wins_tie(left, right);
}

const HeaderNode* Node::Inside::best_tip() const {
    const HeaderNode* best = nullptr;
    for (const auto& [hash, node] : tips)
        if (may_follow(node) && !is_out_of_reach(node) && (best == nullptr || is_better(node, best))) best = node;
    return best == nullptr ? settled : best;
}

U256 Node::Inside::weight_of_our_own(const HeaderNode* fork) {
    if (is_moving()) return own_weight.block == settled->hash ? own_weight.weight : U256{};
    auto votes = votes_to_carry(now);
    // What others could carry as well says nothing for our branch.
    std::erase_if(votes, [&](const consensus::Vote& vote) {
        const HeaderNode* target = tree.find(vote.ballot.target.block);
        return target == nullptr || target->header.height <= fork->header.height ||
               !HeaderTree::is_ancestor(target, settled);
    });
    own_weight = {.block = settled->hash,
                  .weight = judge.weight_to_carry(state, settled->header, next_block().time, votes)};
    return own_weight.weight;
}

const HeaderNode* Node::Inside::tip_to_follow() {
    const HeaderNode* best = best_tip();
    if (HeaderTree::is_ancestor(settled, best)) return best;
    const HeaderNode* ours = settled;
    for (const auto& [hash, node] : tips)
        if (HeaderTree::is_ancestor(settled, node) && is_better(node, ours)) ours = node;
    const consensus::ChainRank theirs = rank_of(best);
    consensus::ChainRank rank = rank_of(ours);
    if (!may_follow(ours) || rank.weight >= theirs.weight) return best;  // something dearer than weight decides
    const auto sum = add(rank.weight, weight_of_our_own(HeaderTree::common_ancestor(ours, best)));
    rank.weight = sum.overflow ? U256::max() : sum.value;
    const auto order = rank <=> theirs;
    const bool stay =
        order == std::strong_ordering::equal ? consensus::wins_tie(ours, best) : order == std::strong_ordering::greater;
    return stay ? ours : best;
}

void Node::Inside::follow_best() {
    go_on_following();
    keep_rest();
}

void Node::Inside::go_on_following() {
    std::size_t budget = config.blocks_per_slice;
    while (budget > 0) {
        --budget;
        if (mover) {
            step_mover();
            continue;
        }
        const HeaderNode* best = tip_to_follow();
        if (best == at) {
            settle();
            return;
        }
        if (at == settled && HeaderTree::is_ancestor(at, best)) {
            // The common case: the chain grows. Where others remember what blocks do there is nothing to prepare.
            if (ports.memory == nullptr && best->header.height > at->header.height + 1) {
                budget -= std::min(budget, apply_row(best, budget + 1));
                continue;
            }
            const HeaderNode* child = HeaderTree::ancestor(best, at->header.height + 1);
            if (apply_child(child, best)) settle();
            continue;
        }
        keep_rest();
        mover_goal = best;
        mover =
            std::make_unique<Reorganisation>(state, at, best, blocks, block_rules, ports.cache, ports.parallel, kept);
    }
    if (is_moving() || tip_to_follow() != at) resume_wanted = true;
}

bool Node::Inside::apply_child(const HeaderNode* node, const HeaderNode* goal) {
    const auto block = blocks.shared(node->hash);
    if (!block) {
        note_unreadable(node, goal);
        return false;
    }
    std::optional<ledger::BodyAhead> ahead;
    if (const auto* checked = blocks.checked(node->hash)) {
        ahead = ledger::BodyAhead{.txs = *checked};
        // What the pool has decided was verified for that.
        for (const ledger::SharedTx& tx : *checked)
            if (pool.find(tx->id) == nullptr) ahead->unverified.push_back(tx);
    }
    return adopt_child(node, *block,
                       judge_and_apply(state, at->header, **block, block_rules, ports.cache, ports.parallel,
                                       ahead ? &*ahead : nullptr));
}

bool Node::Inside::adopt_child(const HeaderNode* node, const SharedBlock& block,
                               Result<ledger::Applied, ledger::Reject> applied) {
    if (!applied) {
        mark_invalid(node, applied.error());
        return false;
    }
    state.advance(applied->commit);
    at = node;
    appended = node->hash;
    unkept.erase(node->hash);
    blocks.put_change(node->hash, applied->commit.delta);
    std::vector<ledger::TxId> ids;
    ids.reserve(block->txs.size());
    for (const ledger::Effects& effect : applied->effects) ids.push_back(effect.tx->id);
    if (ids.size() == block->txs.size()) facts[node->hash].ids = ids;  // who remembers a block may not remember these
    const bool far_behind = catch_up.headers() > config.catch_up_from;
    persist(AppendBlock{block, std::move(ids), std::move(applied->commit), far_behind});
    if (const auto known = facts.find(node->hash); known != facts.end()) praise(known->second.from);
    note_judged(node, *block);
    return true;
}

std::size_t Node::Inside::apply_row(const HeaderNode* goal, std::size_t most) {
    ledger::BlockRow row{block_rules, ports.cache, ports.parallel};
    std::deque<std::pair<const HeaderNode*, SharedBlock>> waiting;  // as many as are in the row
    ledger::Height next = at->header.height + 1;
    std::size_t done = 0;
    while (done < most) {
        for (; row.size() < ledger::BlockRow::kDepth && next <= goal->header.height; ++next) {
            const HeaderNode* node = HeaderTree::ancestor(goal, next);
            const auto block = blocks.shared(node->hash);
            if (!block) {
                if (row.empty()) note_unreadable(node, goal);
                break;
            }
            waiting.emplace_back(node, *block);
            row.push(*block);
        }
        if (row.empty()) break;
        ++done;
        bool good = false;
        const HeaderNode* const node = waiting.front().first;
        const SharedBlock block = std::move(waiting.front().second);
        row.step(state, at->header, [&](const ledger::Block&, Result<ledger::Applied, ledger::Reject> applied) {
            good = adopt_child(node, block, std::move(applied));
        });
        waiting.pop_front();
        if (!good) break;
        settle();
        // A block may say that another chain is the better one.
        if (tip_to_follow() != goal) break;
    }
    return done;
}

void Node::Inside::step_mover() {
    const auto progress = mover->step(1);
    for (auto& judged : mover->take_judged()) {
        blocks.put_change(judged.node->hash, judged.change);
        moved_over[judged.node->hash] = std::move(judged.change);
    }
    const HeaderNode* here = mover->at();
    // Of blocks below what was final nothing is known any more but what their state says.
    const auto known = facts.find(here->hash);
    if (here != at && (known == facts.end() || !known->second.judged)) {
        if (const auto block = blocks.shared(here->hash)) note_judged(here, **block);
    }
    at = here;
    if (progress == Reorganisation::Progress::Moving) return;
    const auto finished = std::move(mover);
    if (const auto& refused = finished->report().refused) mark_invalid(refused->node, refused->why);
    if (const auto& failed = finished->report().failed) {
        // What the blocks of our own chain changed is not kept so far back, and no other state to begin from either.
        if (HeaderTree::is_ancestor(failed->node, at)) {
            ask_for_state(HeaderTree::common_ancestor(at, mover_goal));
        } else {
            note_unreadable(failed->node, mover_goal);
        }
    }
}

void Node::Inside::note_unreadable(const HeaderNode* node, const HeaderNode* goal) {
    unreadable[node->hash].insert(goal->hash);
    tips.erase(goal->hash);
    const bool leads_on = std::any_of(tips.begin(), tips.end(),
                                      [&](const auto& tip) { return HeaderTree::is_ancestor(settled, tip.second); });
    if (!leads_on) tips.emplace(settled->hash, settled);
}

void Node::Inside::note_readable(const ledger::BlockHash& hash) {
    const auto waiting = unreadable.extract(hash);
    if (waiting.empty()) return;
    for (const ledger::BlockHash& goal : waiting.mapped()) {
        const HeaderNode* node = tree.find(goal);
        if (node == nullptr || invalid.contains(goal)) continue;
        std::erase_if(tips, [&](const auto& tip) { return HeaderTree::is_ancestor(tip.second, node); });
        tips.emplace(goal, node);
    }
}

void Node::Inside::note_judged(const HeaderNode* node, const ledger::Block& block) {
    BlockFacts& known = facts[node->hash];
    auto electorate = consensus::Electorate::of(state.view(), state.parameters());
    const auto parent = node->parent == nullptr ? facts.end() : facts.find(node->parent->hash);
    if (parent != facts.end() && parent->second.electorate && *parent->second.electorate == electorate) {
        known.electorate = parent->second.electorate;
    } else {
        known.electorate = std::make_shared<const consensus::Electorate>(std::move(electorate));
    }
    known.weight = consensus::records::weight_of(state.view());
    known.judged = true;
    if (const auto proposer = consensus::proposer_in(block.seal)) known.proposer = *proposer;
    known.sealed_final = sealed_final_of(node, known);
    if (known.electorate->generation > book.generation())
        book.begin_generation(known.electorate->generation, {.block = ledger::BlockHash{chain.view()}});
    // The judge has looked at the votes it carries: they count here too, should gossip have missed them.
    if (const auto groups = consensus::decode_groups(block.seal.attestations, consensus::kCarriedVotesMax))
        for (const consensus::VoteGroup& group : *groups) (void)book.add_row(group, *this);
    (void)book.block_known(node->hash, *this);
}

void Node::Inside::mark_invalid(const HeaderNode* node, const ledger::Reject& why) {
    const PeerId from = facts.at(node->hash).from;
    invalid.insert(node->hash);
    // All that stands on it goes with it.
    for (auto tip = tips.begin(); tip != tips.end();) {
        if (HeaderTree::is_ancestor(node, tip->second)) {
            tip = tips.erase(tip);
        } else {
            ++tip;
        }
    }
    if (node->parent != nullptr) {
        const bool leads_on = std::any_of(tips.begin(), tips.end(), [&](const auto& tip) {
            return HeaderTree::is_ancestor(node->parent, tip.second);
        });
        if (!leads_on) tips.emplace(node->parent->hash, node->parent);
    }
    if (from != PeerId{}) blame(from, why);
}

ledger::NextBlock Node::Inside::next_block() const {
    return {.parent = at->hash,
            .height = at->header.height + 1,
            // Blocks have whole milliseconds.
            .time = Time::from_unix_millis(std::max(now, at->header.time + parameters().min_interval).unix_millis()),
            .parent_time = at->header.time};
}

void Node::Inside::settle() {
    if (at == settled) {
        update_final();
        return;
    }
    const HeaderNode* before = settled;
    const auto route = HeaderTree::route(before, at);
    TipMoved moved{.from = before->hash, .to = at->hash};
    std::vector<ledger::TxId> now_in;
    std::vector<MoveTip::Adopted> branch;
    // Not when the state came to the tip's child by way of another branch: then the disk has not heard of it.
    const bool grew = route.undo.empty() && route.apply.size() == 1 && at->hash == appended;
    SharedBlock newest;
    for (const HeaderNode* node : route.undo) moved.undone.push_back(node->hash);
    // What was undone is no longer in; what is in both comes in again below.
    std::vector<ledger::SharedTx> undone_txs;
    for (auto node = route.undo.rbegin(); node != route.undo.rend(); ++node) {
        const auto block = blocks.shared((*node)->hash);
        if (!block) {
            // The disk has lost it. What this node's own people wait for is still at hand.
            std::erase_if(included, [&](const auto& one) { return one.second == (*node)->hash; });
            for (const auto& [id, one] : awaited)
                if (one.block == (*node)->hash) undone_txs.push_back(one.tx);
            continue;
        }
        for (const ledger::Tx& tx : (*block)->txs)
            if (auto checked = ledger::check_tx(tx)) {
                included.erase((*checked)->id);
                finals.erase((*checked)->id);
                undone_txs.push_back(*std::move(checked));
            }
    }
    std::vector<std::pair<std::vector<ledger::TxId>, ledger::BlockHash>> entered;
    for (const HeaderNode* node : route.apply) {
        moved.applied.push_back(node->hash);
        const auto block = blocks.shared(node->hash);
        if (!block) continue;
        newest = *block;
        const auto& [ids, hash] = entered.emplace_back(ids_in(**block, node->hash), node->hash);
        now_in.insert(now_in.end(), ids.begin(), ids.end());
        if (grew) continue;
        if (auto judged = moved_over.extract(node->hash)) {
            branch.push_back({node->hash, std::move(judged.mapped())});
        } else if (auto change = blocks.change(node->hash)) {
            branch.push_back({node->hash, *std::move(change)});
        }
    }
    moved_over.clear();
    if (!grew) {
        const bool takes_back = !HeaderTree::is_ancestor(final_node, at);
        persist(MoveTip{at->hash, std::move(branch), state.view(), takes_back});
        if (takes_back) take_back_finals();
    }
    for (const auto& [ids, hash] : entered) note_included(ids, hash);
    std::vector<ledger::SharedTx> returned;
    for (ledger::SharedTx& tx : undone_txs) {
        if (included.contains(tx->id)) continue;
        moved.returned.push_back(tx->id);
        note_returned(tx->id);
        returned.push_back(std::move(tx));
    }
    if (grew) {
        auto change = blocks.change(at->hash);
        moved.change = change ? *std::move(change) : state::diff(settled_view, state.view());
    } else {
        moved.change = state::diff(settled_view, state.view());
    }
    settled = at;
    settled_since = now;
    settled_view = state.view();
    voting_found = {};
    // Of two histories of one generation the owner has chosen, or written a third.
    if (!book.conflicting_final()) set_condition(Condition::ConflictingFinals, false);
    turn_wait.reset();
    pending_since.reset();
    pool.set_tip(state, next_block(), now_in, returned);
    note_pending();
    if (!route.undo.empty()) {
        retry_refused();
        // Everybody announces what came back, in chain order. Most have it from the same blocks.
        announce(returned, {}, Telling::Named);
    }
    effects.emplace_back(Publish{std::move(moved)});
    if (newest) tell_block(newest, settled->hash);
    update_final();
}

void Node::Inside::update_final() {
    // Its own blocks are final when they are on its disk: until then what those below them made final.
    const HeaderNode* newest = settled;
    for (;;) {
        const auto height = facts.at(newest->hash).sealed_final;
        if (height <= final_node->header.height) break;
        newest = HeaderTree::ancestor(newest, height);
        if (!is_held(newest->hash)) {
            if (HeaderTree::is_ancestor(final_node, newest)) set_final(newest);
            break;
        }
        newest = newest->parent;
    }
    const Checkpoint& checkpoint = book.final_checkpoint();
    const HeaderNode* node = tree.find(checkpoint.block);
    if (node == nullptr || node == final_node) return;
    const auto& generations = facts.at(final_node->hash).electorate->generation;
    if (HeaderTree::is_ancestor(final_node, node)) {
        if (HeaderTree::is_ancestor(node, settled)) set_final(node);
    } else if (!HeaderTree::is_ancestor(node, final_node) &&
               facts.at(node->hash).electorate->generation <= generations) {
        // Of a higher generation: `settle` has taken back what was final, or will on the way there.
        book.note_conflict(checkpoint);
        set_condition(Condition::ConflictingFinals, true);
    }
}

void Node::Inside::take_back_finals() {
    const HeaderNode* fork = HeaderTree::common_ancestor(final_node, at);
    const std::uint64_t generation = facts.at(at->hash).electorate->generation;
    ensure(generation > facts.at(final_node->hash).electorate->generation || !holds(SafetyRule::FinalsStay),
           "within a recovery generation nothing final is taken back");
    effects.emplace_back(Publish{FinalsTakenBack{final_node->header.height, fork->header.height, generation}});
    // The kept state is of the chain that is left.
    if (kept && !HeaderTree::is_ancestor(kept->node, fork)) kept.reset();
    note_deep(fork);
    final_node = fork;
}

void Node::Inside::note_deep(const HeaderNode* node) {
    if (facts.contains(node->hash)) return;
    consensus::Electorate unknown{.generation = facts.at(at->hash).electorate->generation};
    facts[node->hash] = {.electorate = std::make_shared<const consensus::Electorate>(std::move(unknown))};
}

void Node::Inside::set_final(const HeaderNode* node) {
    std::vector<ledger::BlockHash> now_final;
    for (const HeaderNode* one = node; one != nullptr && one != final_node; one = one->parent)
        now_final.push_back(one->hash);
    note_deep(node);
    final_node = node;
    // The state there is needed to move away from a chain whose changes are not kept.
    if (node == at) kept = Reorganisation::Kept{state.view(), node};
    persist(MarkFinal{node->hash});
    for (auto hash = now_final.rbegin(); hash != now_final.rend(); ++hash) note_final(*hash);
    retry_refused();
    effects.emplace_back(Publish{FinalMoved{node->hash, node->header.height}});
    forget_old();
}

void Node::Inside::forget_old() {
    for (auto tip = tips.begin(); tip != tips.end();) {
        if (!may_follow(tip->second)) {
            tip = tips.erase(tip);
        } else {
            ++tip;
        }
    }
    book.tidy();
    std::erase_if(sealed, [&](const auto& one) {
        const HeaderNode* parent = tree.find(one.first.first);
        return parent == nullptr || parent->header.height < final_node->header.height;
    });
    // Headers go in large pieces, and not while somebody is on the way between them.
    const auto depth = final_node->header.height - tree.root().header.height;
    if (mover || depth < 2 * config.headers_kept) return;
    const HeaderNode* root = HeaderTree::ancestor(final_node, final_node->header.height - config.headers_kept);
    std::vector<ledger::BlockHash> gone;
    if (kept && kept->node->header.height < root->header.height) kept.reset();
    tree.prune_to(root);
    std::erase_if(facts, [&](const auto& one) { return tree.find(one.first) == nullptr; });
    std::erase_if(tips, [&](const auto& one) { return tree.find(one.first) == nullptr; });
    std::erase_if(unreadable, [&](const auto& one) { return tree.find(one.first) == nullptr; });
    invalid.clear();
}

}  // namespace rhizome::core
