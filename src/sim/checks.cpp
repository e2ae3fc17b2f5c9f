// SPDX-License-Identifier: Apache-2.0
#include "sim/checks.h"

#include <fmt/core.h>

#include "consensus/consensus_rules.h"
#include "consensus/judge.h"
#include "ledger/seal_judge.h"
#include "sim/fast_signatures.h"
#include "sim/timeline.h"

namespace rhizome::sim {
namespace {

constexpr std::size_t kFaultsKept = 16;

}  // namespace

void Checks::fault(std::string what) {
    if (faults_.size() < kFaultsKept) faults_.push_back(std::move(what));
}

void Checks::note_honest(const consensus::MemberKey& key, bool honest) {
    if (honest) {
        honest_.insert(key);
    } else {
        honest_.erase(key);
    }
}

void Checks::final_moved(std::size_t machine, const ledger::BlockHash& block, std::uint64_t generation) {
    auto& finals = finals_[generation];
    auto at = archive_.block(block);
    if (!at) return fault(fmt::format("machine {} finalised a block that nobody has", machine));
    const std::uint64_t height = at->header.height.number();
    auto& own = final_height_[{machine, generation}];
    if (height < own) fault(fmt::format("machine {}'s final height went from {} back to {}", machine, own, height));
    own = height;
    highest_final_ = std::max(highest_final_, height);
    if (conflicting_.contains(generation)) return;
    // Down to what is known to be final: the ancestors of a final block are final.
    for (auto hash = block; at;) {
        const auto [known, fresh] = finals.emplace(at->header.height.number(), hash);
        if (!fresh) {
            if (known->second != hash)
                fault(fmt::format("two final blocks at height {} of generation {}: {} and, by machine {}, {}",
                                  at->header.height, generation, short_hash(known->second), machine, short_hash(hash)));
            break;
        }
        hash = at->header.previous;
        at = archive_.block(hash);
    }
}

void Checks::finals_taken_back(std::size_t machine, std::uint64_t generation) {
    const auto same = final_height_.lower_bound({machine, generation});
    if (same != final_height_.end() && same->first.first == machine)
        fault(fmt::format("machine {} took back what was final in generation {} for generation {}", machine,
                          same->first.second, generation));
}

void Checks::lease_clock(std::size_t machine, microseconds leases, microseconds real) {
    if (leases > real + lease_leap_)
        fault(fmt::format("the lease clock is {} at machine {}, faster than time: {} have passed",
                          rhizome::to_text(leases), machine, rhizome::to_text(real)));
}

void Checks::started(std::size_t machine) {
    std::erase_if(final_height_, [&](const auto& one) { return one.first.first == machine; });
}

void Checks::tip_moved(std::size_t machine, const core::TipMoved& moved) {
    static constexpr std::string_view kPrefix{"cluster\0global\0rhizome.dev\0Evidence\0", 36};
    for (const state::Change& change : moved.change.changes()) {
        if (!change.key().starts_with(kPrefix) || !change.after) continue;
        const std::string_view name = change.key().substr(kPrefix.size(), 66);
        consensus::MemberKey key{};
        if (from_hex_into(name, key) && honest_.contains(key))
            fault(fmt::format("machine {} has evidence against honest member {}", machine, name.substr(0, 10)));
    }
}

void Checks::vote_sent(const consensus::Vote& vote) {
    if (!honest_.contains(vote.voter)) return;
    auto& line = votes_[vote.voter];
    const std::pair key{vote.ballot.generation, vote.ballot.target.epoch};
    const auto known = line.find(key);
    if (known != line.end() && known->second.ballot == vote.ballot) return;
    // Enough to look at those whose targets lie between this one's source and target, and at the later ones.
    for (auto other = line.lower_bound({vote.ballot.generation, vote.ballot.source.epoch}); other != line.end();
         ++other)
        if (const auto how = contradiction(vote, other->second)) {
            fault(fmt::format(
                "honest member {} contradicted itself ({}): {} -> {} and {} -> {}", to_hex(vote.voter).substr(0, 10),
                *how == consensus::Contradiction::SameEpoch ? "one epoch" : "surround", vote.ballot.source.epoch,
                vote.ballot.target.epoch, other->second.ballot.source.epoch, other->second.ballot.target.epoch));
            break;
        }
    line.emplace(key, vote);
}

void Checks::block_sent(const ledger::Block& block) {
    const auto proposer = consensus::proposer_in(block.seal);
    if (!proposer || !honest_.contains(*proposer)) return;
    const auto hash = hash_of(block.header);
    const auto [known, fresh] = sealed_.emplace(std::pair{*proposer, block.header.previous}, hash);
    if (!fresh && known->second != hash)
        fault(fmt::format("honest member {} sealed two blocks on {} at height {}", to_hex(*proposer).substr(0, 10),
                          short_hash(block.header.previous), block.header.height));
}

void Checks::forget_seals(const std::function<bool(const ledger::BlockHash&)>& is_gone) {
    std::erase_if(sealed_, [&](const auto& one) { return is_gone(one.second); });
}

void Checks::replay(const ledger::BlockHash& genesis, const ledger::BlockHash& tip) {
    const FastSignatures signatures;
    const ledger::Rules kinds;
    const consensus::ConsensusRules rules{signatures, kinds};
    std::vector<core::SharedBlock> way;
    for (auto at = archive_.block(tip); at && hash_of(at->header) != genesis; at = archive_.block(at->header.previous))
        way.push_back(at);
    const auto first = archive_.block(genesis);
    if (!first) return fault("there is no genesis block to replay from");
    const consensus::Judge judge{signatures};
    const auto part = judge.judge_genesis(*first);
    const auto begun =
        part ? ledger::apply_genesis(*first, *part) : Result<state::Commit, ledger::Reject>{Fail{part.error()}};
    if (!begun) return fault("genesis is refused when replayed: " + to_text(begun.error()));
    ledger::LedgerState state{begun->view};
    ledger::SignatureCache cache;
    Inline parallel;
    ledger::Header parent = first->header;
    for (auto block = way.rbegin(); block != way.rend(); ++block) {
        const auto applied =
            ledger::judge_and_apply(state, parent, **block, {.rules = rules, .judge = judge}, cache, parallel);
        if (!applied)
            return fault(fmt::format("block {} is refused when replayed: {}", (*block)->header.height,
                                     to_text(applied.error())));
        state.advance(applied->commit);
        parent = (*block)->header;
    }
}

}  // namespace rhizome::sim
