// SPDX-License-Identifier: Apache-2.0
// Those who follow a chain without taking part: a light node that is lied to, a watchtower over a proposer that censors
// and one that says two things.
#include <gtest/gtest.h>

#include "consensus/evidence.h"
#include "follow/light_chain.h"
#include "follow/watchtower.h"
#include "sim/liars.h"
#include "sim/sim.h"
#include "sim/testing.h"

namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using follow::LightChain;
using follow::LightFault;

/// What a full node shows of a block: with the votes, or without them to somebody who trusts it anyway.
follow::FinalityProof shown(Sim& sim, const ledger::BlockHash& hash, const core::Node::FinalVotes& votes = {}) {
    const auto block = sim.archive().block(hash);
    const state::StateView* view = sim.archive().view(hash);
    ensure(block != nullptr && view != nullptr, "the archive has every block of the chain");
    return follow::prove_finality(sim.chain(), block->header, block->signature, block->seal, *view,
                                  votes.checkpoint.epoch, votes.votes);
}

class LightSim : public ::testing::Test {
protected:
    LightSim() {
        auto began = LightChain::begin(sim.chain(), shown(sim, genesis()), genesis(), signatures);
        EXPECT_TRUE(began) << to_text(began.error());
        light = std::make_unique<LightChain>(*std::move(began));
    }
    [[nodiscard]] ledger::BlockHash genesis() const { return ledger::BlockHash{sim.chain().view()}; }

    /// Asks machine 1 for the newest final block every 20 ms, as a light node would.
    void follow_for(microseconds duration) {
        const Time end = sim.now() + duration;
        while (sim.now() < end) {
            sim.run(20ms);
            const auto votes = sim.node(1).final_votes();
            if (votes.votes.empty() || votes.checkpoint.block == light->hash()) continue;
            if (newest.header.height >= sim.archive().block(votes.checkpoint.block)->header.height) continue;
            older = newest;
            newest = shown(sim, votes.checkpoint.block, votes);
            const auto taken = light->take(newest);
            EXPECT_TRUE(taken) << to_text(taken.error());
        }
    }
    [[nodiscard]] follow::SubtreeProof subtree(const ledger::BlockHash& hash,
                                               std::optional<ledger::Height> written_after = {}) {
        const auto prefix = state::Prefix::in_namespace("work").value();
        auto made = follow::prove_subtree(sim.chain(), sim.archive().block(hash)->header, *sim.archive().view(hash),
                                          prefix, written_after);
        ensure(made.has_value(), "a small sub-tree has a proof");
        return *std::move(made);
    }
    template <class Proof>
    void expect_refused(const Proof& proof, LightFault fault) {
        const auto hash = light->hash();
        const auto root = light->state().root();
        const auto taken = light->take(proof);
        ASSERT_FALSE(taken) << name(fault);
        EXPECT_EQ(taken.error().fault, fault) << to_text(taken.error());
        EXPECT_EQ(light->hash(), hash) << "a refusal leaves everything as it was";
        EXPECT_EQ(light->state().root(), root);
    }

    Sim sim{{.seed = 11, .machines = 4}};
    FastSignatures signatures;
    std::unique_ptr<LightChain> light;
    follow::FinalityProof newest;  ///< the last one that was taken
    follow::FinalityProof older;   ///< and the one before it
};

TEST_F(LightSim, FollowsFromGenesisOverAChangeOfVotersAndReadsItsSubTree) {
    sim.load(5, {0, 1, 2, 3});
    follow_for(40s);
    EXPECT_EQ(light->electorate().voters.size(), 4u) << "one at genesis, four in the end";
    EXPECT_GT(light->header().height.number(), 20u);
    EXPECT_FALSE(light->trusts_first_peer());

    ASSERT_TRUE(light->take(subtree(light->hash())));
    const auto prefix = state::Prefix::in_namespace("work").value();
    const state::StateView& there = *sim.archive().view(light->hash());
    EXPECT_EQ(light->state().totals(prefix), there.totals(prefix));
    EXPECT_GT(light->state().size(), 20u);
    EXPECT_EQ(light->shown_at(prefix), light->header().height);

    // Later only what changed has to come.
    const auto before = light->header().height;
    follow_for(10s);
    const auto changed = subtree(light->hash(), before);
    EXPECT_LT(changed.entries.size(), changed.proof.leaves.size());
    ASSERT_TRUE(light->take(changed));
    EXPECT_EQ(light->state().totals(prefix), sim.archive().view(light->hash())->totals(prefix));
    // What it is shown travels as bytes.
    const auto again = follow::decode_subtree_proof(follow::encode(changed));
    ASSERT_TRUE(again);
    EXPECT_EQ(follow::encode(*again), follow::encode(changed));
    EXPECT_EQ(follow::decode_finality_proof(follow::encode(newest)).value(), newest);
}

TEST_F(LightSim, RefusesByNameWhatDoesNotProve) {
    sim.load(5, {0, 1, 2, 3});
    follow_for(30s);
    const auto known = light->hash();
    ASSERT_TRUE(light->take(subtree(known)));

    // A forged document: the proof is right, what comes with it is not.
    auto forged = subtree(known);
    const state::Entry& real = *forged.entries.back();
    forged.entries.back() =
        state::Entry::written(real.path(), real.origin(), real.script(), R"({"forged":true})").value();
    expect_refused(forged, LightFault::ForgedDocument);
    auto invented = subtree(known);
    invented.entries.push_back(state::Entry::written(state::Path::parse("/namespaces/work/core/ConfigMap/zzz").value(),
                                                     real.origin(), real.script(), "{}")
                                   .value());
    expect_refused(invented, LightFault::ForgedDocument);
    // A proof that hides an entry, or leaves its document out though it is not known here.
    auto hidden = subtree(known);
    hidden.proof.leaves.pop_back();
    hidden.entries.pop_back();
    expect_refused(hidden, LightFault::WrongProof);

    // A stale proof: true once.
    ASSERT_LT(older.header.height, light->header().height);
    expect_refused(subtree(hash_of(older.header)), LightFault::Stale);
    expect_refused(older, LightFault::Stale);

    // Newer ones, each with one thing wrong.
    sim.run(3s);
    const auto votes = sim.node(1).final_votes();
    const auto good = shown(sim, votes.checkpoint.block, votes);
    ASSERT_GT(good.header.height, light->header().height);
    expect_refused(subtree(votes.checkpoint.block), LightFault::NotFinal);
    auto unsigned_header = good;
    unsigned_header.signature[5] ^= 1;
    expect_refused(unsigned_header, LightFault::WrongSignature);
    auto other_header = good;
    other_header.header.state_root = crypto::sha256(as_bytes("another state"));
    expect_refused(other_header, LightFault::WrongSignature);
    auto other_seal = good;
    other_seal.seal.attestations.push_back(0);
    expect_refused(other_seal, LightFault::WrongSeal);
    auto unsigned_vote = good;
    for (auto& vote : unsigned_vote.votes) vote.signature[5] ^= 1;
    expect_refused(unsigned_vote, LightFault::WrongSignature);
    auto few_votes = good;
    few_votes.votes.resize(2);
    expect_refused(few_votes, LightFault::NotFinal);
    auto no_votes = good;
    no_votes.votes.clear();
    expect_refused(no_votes, LightFault::NotFinal);
    auto other_voters = good;
    other_voters.records[0].bytes.resize(33);
    expect_refused(other_voters, LightFault::ForgedDocument);
    auto other_record = good;
    other_record.records[0] = other_record.records[3];
    expect_refused(other_record, LightFault::WrongProof);
    auto other_chain = good;
    other_chain.chain = ledger::ChainId{crypto::sha256(as_bytes("another chain")).view()};
    expect_refused(other_chain, LightFault::WrongChain);

    // Who was away for a change of voters does not believe strangers.
    auto asleep = LightChain::begin(sim.chain(), shown(sim, genesis()), genesis(), signatures).value();
    const auto jumped = asleep.take(good);
    ASSERT_FALSE(jumped);
    EXPECT_EQ(jumped.error().fault, LightFault::UnknownVoters) << to_text(jumped.error());
    const auto wrong_start = LightChain::begin(sim.chain(), good, genesis(), signatures);
    ASSERT_FALSE(wrong_start);
    EXPECT_EQ(wrong_start.error().fault, LightFault::WrongBlock);
    // Without anybody's word the first one asked is believed, if the votes are whole; and it says so.
    EXPECT_FALSE(LightChain::begin(sim.chain(), no_votes, std::nullopt, signatures));
    EXPECT_TRUE(LightChain::begin(sim.chain(), good, std::nullopt, signatures).value().trusts_first_peer());

    EXPECT_TRUE(light->take(good).value()) << "nothing of all this got in the way";
}

TEST_F(LightSim, ARecoveryIsForAPersonToJudge) {
    follow_for(20s);
    ASSERT_EQ(light->electorate().voters.size(), 4u);
    sim.submit(1, recover(sim.node(1).state(), 1, {0, 1}));
    sim.run(20s);
    const auto votes = sim.node(1).final_votes();
    ASSERT_FALSE(votes.votes.empty());
    expect_refused(shown(sim, votes.checkpoint.block, votes), LightFault::Recovered);
}

/// A watchtower at machine 3, which looks every 10 ms.
class WatchSim {
public:
    explicit WatchSim(Sim& sim, follow::WatchRules rules) : sim_(sim), tower_(rules), last_(sim.node(3).tip_hash()) {
        look();
    }
    [[nodiscard]] const std::vector<follow::Alert>& alerts() const { return alerts_; }
    [[nodiscard]] follow::Watchtower::Counts counts() const { return tower_.counts(); }

private:
    void step(decltype(follow::WatchEvent::kind) kind) {
        for (auto& alert : tower_.step({sim_.now(), std::move(kind)})) alerts_.push_back(std::move(alert));
    }
    void look() {
        const core::Node& node = sim_.node(3);
        std::vector<ledger::TxId> pending;
        for (const auto& tx : node.pending_txs()) pending.push_back(tx->id);
        std::vector<core::SharedBlock> fresh;
        for (auto hash = node.tip_hash(); hash != last_ && fresh.size() < 64;) {
            fresh.push_back(sim_.archive().block(hash));
            hash = fresh.back()->header.previous;
        }
        last_ = node.tip_hash();
        for (auto block = fresh.rbegin(); block != fresh.rend(); ++block) {
            follow::BlockSeen seen{.hash = hash_of((*block)->header),
                                   .header = (*block)->header,
                                   .proposer = consensus::proposer_in((*block)->seal).value(),
                                   .pending = pending,
                                   .bytes = 1,
                                   .bytes_max = 4u << 20};
            for (const ledger::Tx& tx : (*block)->txs) seen.txs.push_back(id_of(tx));
            step(std::move(seen));
        }
        step(follow::PendingSeen{std::move(pending)});
        for (std::size_t i = 0; i < sim_.size(); ++i)
            if (consensus::is_accused(sim_.key(i), node.state().view()) && told_.insert(i).second)
                step(follow::AccusedSeen{sim_.key(i)});
        sim_.after(10ms, [this] { look(); });
    }

    Sim& sim_;
    follow::Watchtower tower_;
    ledger::BlockHash last_;
    std::vector<follow::Alert> alerts_{};
    std::set<std::size_t> told_{};
};

/// Orders all the time, at machine 0 and at the others.
void keep_ordering(Sim& sim, microseconds every, std::vector<std::size_t> machines) {
    const auto number = std::make_shared<std::size_t>(0);
    const auto again = std::make_shared<std::function<void()>>();
    *again = [&sim, every, machines = std::move(machines), number, weak = std::weak_ptr{again}] {
        const std::size_t at = machines[*number % machines.size()];
        sim.submit_new(at, "order-" + std::to_string(every.count()) + "-" + std::to_string((*number)++));
        if (const auto self = weak.lock()) sim.after(every, *self);
    };
    sim.after(every, [again] { (*again)(); });
    // The function lives as long as the simulation's events do.
    sim.after(std::chrono::hours{1}, [again] {});
}

TEST(WatchtowerSim, FindsAProposerThatTakesNobodyElsesTransactions) {
    Sim sim{{.seed = 21, .machines = 4}};
    ASSERT_TRUE(testing::grow_up(sim, 4));
    WatchSim tower{sim, {.bound = 100ms}};
    // It hears no transactions and so seals only its own: the same blocks as of one that drops them.
    sim.hold_up = [](std::size_t, std::size_t to, const core::Message& message) -> microseconds {
        const bool brings =
            std::holds_alternative<core::Transactions>(message) || std::holds_alternative<core::HaveTxs>(message);
        return to == 0 && brings ? std::chrono::hours{24} : 0us;
    };
    keep_ordering(sim, 230ms, {0});
    keep_ordering(sim, 310ms, {1, 2});
    ASSERT_TRUE(sim.run_until([&] { return !tower.alerts().empty(); }, 120s));
    sim.run(30s);
    ASSERT_EQ(tower.alerts().size(), 1u) << "told once";
    EXPECT_EQ(tower.alerts()[0].kind, follow::AlertKind::Censorship);
    EXPECT_EQ(tower.alerts()[0].who, sim.key(0));
}

TEST(WatchtowerSim, SaysNothingWhileAllAreHonestAlsoThroughACut) {
    for (const std::uint64_t seed : {31u, 32u, 33u}) {
        Sim sim{{.seed = seed, .machines = 4, .link = {.delay = 5ms, .jitter = 20ms, .loss = 10}}};
        ASSERT_TRUE(testing::grow_up(sim, 4));
        WatchSim tower{sim, {.bound = 1'000ms}};
        keep_ordering(sim, 70ms, {0, 1, 2, 3});
        sim.run(20s);
        sim.split({{0}, {1, 2, 3}});
        sim.run(10s);
        sim.heal();
        sim.run(20s);
        EXPECT_TRUE(tower.alerts().empty()) << seed << ": " << tower.alerts()[0].what;
        EXPECT_GT(tower.counts().blocks, 50u);
    }
}

TEST(WatchtowerSim, TellsOfAMemberThatSaysTwoThings) {
    Sim sim{{.seed = 41, .machines = 4}};
    ASSERT_TRUE(testing::grow_up(sim, 4));
    WatchSim tower{sim, {}};
    sim.corrupt(1, make_liar(Lie::Equivocate, 41));
    ASSERT_TRUE(sim.run_until([&] { return !tower.alerts().empty(); }, 60s));
    EXPECT_EQ(tower.alerts()[0].kind, follow::AlertKind::Equivocation);
    EXPECT_EQ(tower.alerts()[0].who, sim.key(1));
}

}  // namespace
}  // namespace rhizome::sim
