// SPDX-License-Identifier: Apache-2.0
#include "consensus/work.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/ensure.h"
#include "consensus/authority.h"
#include "consensus/evidence.h"
#include "consensus/judge.h"
#include "consensus/miner.h"
#include "crypto/compact_target.h"
#include "crypto/derive.h"
#include "ledger/codec.h"
#include "state/tree.h"
#include "support/test_chain.h"

namespace rhizome::consensus {
namespace {

using namespace ledger;

constexpr Time kMiningStart = Time::from_unix_seconds(1'800'000'000);

std::string cluster_of(std::string_view work) {
    return fmt::format(
        R"({{"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{{"name":"demo"}},"spec":{{"consensus":"work","work":{}}}}})",
        work);
}

/// A chain of work that began with node n1's seal: about 100 hashes for each block at first, a retarget every 4.
class WorkTest : public ::testing::Test {
protected:
    WorkTest() {
        auto made = seal_genesis(cluster_of(R"({"hashRate":100,"blockTime":"1s","period":4})"),
                                 test::lock_of("creator"), kMiningStart, KeySigner{first});
        ensure(made.has_value(), "a genesis block can be made");
        genesis = *std::move(made);
        state = std::make_unique<LedgerState>(genesis.commit.view);
        tip = genesis.block.header;
    }

    /// A block ready to be mined.
    Block unmined_by(const crypto::NodeKeys& node, milliseconds after, const std::vector<SharedTx>& txs = {}) {
        const KeySigner signer{node};
        const Time time = tip.time + after;
        auto sealing = judge.prepare(*state, tip, time, {}, signer);
        ensure(sealing.has_value(), "it may seal");
        const NextBlock next{.parent = hash_of(tip), .height = tip.height + 1, .time = time, .parent_time = tip.time};
        BlockDraft draft = build_block(*state, next, txs, sealing->part, 1'000, rules, cache, parallel);
        EXPECT_EQ(draft.txs.size(), txs.size());
        return assemble(std::move(draft), *sealing);
    }
    /// Finds a nonce, going on from where the last block left off, and signs.
    Block mined(Block block, const crypto::NodeKeys& node) {
        Miner miner{block.header, nonce};
        std::optional<std::uint64_t> found;
        while (!found) found = miner.step(1'000).found;
        nonce = miner.nonce();
        block.header.nonce = *found;
        sign(block, KeySigner{node});
        return block;
    }
    Block block_by(const crypto::NodeKeys& node, milliseconds after, const std::vector<SharedTx>& txs = {}) {
        return mined(unmined_by(node, after, txs), node);
    }
    Result<Applied, Reject> apply(const Block& block) {
        return judge_and_apply(*state, tip, block, {rules, judge}, cache, parallel);
    }
    void move_to(const Block& block) {
        // As it comes from elsewhere.
        const auto decoded = decode_block(encode(block));
        ASSERT_TRUE(decoded);
        const auto applied = apply(*decoded);
        ASSERT_TRUE(applied) << to_text(applied.error());
        state->advance(applied->commit);
        tip = block.header;
    }
    void expect_refused(const Block& block, RejectCode code, std::string_view why) {
        const auto applied = apply(block);
        ASSERT_FALSE(applied) << why;
        EXPECT_EQ(applied.error().code, code) << to_text(applied.error());
        EXPECT_NE(applied.error().why.find(why), std::string::npos) << applied.error().why;
    }
    records::WorkPeriod period() const { return records::work_period_of(state->view()).value(); }

    /// A Node with its keys, written by the creator.
    SharedTx join(std::string_view name) {
        json::Object node{
            {"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata", json::Object{{"name", name},
                                      {"annotations", member_annotations(test::node_keys_of(name), name, chain())}}}};
        Tx tx{.inputs = {{.previous = {id_of(genesis.block.txs[0]), 0}}},
              .outputs = {{.value = json::print(std::move(node))}},
              .expiry = static_cast<std::uint32_t>(tip.time.unix_seconds() + 3600)};
        return signed_by_creator(std::move(tx), SpentValue::of_authority());
    }
    /// Another version of the Cluster.
    SharedTx change(const std::string& cluster) {
        const state::Entry* entry = state->view().get(state::Path::parse("/").value());
        Tx tx{.inputs = {{.previous = entry->origin().latest.output}},
              .outputs = {{.value = cluster, .locking = test::lock_of("creator")}}};
        return signed_by_creator(std::move(tx), SpentValue::of_document(entry->document_hash()));
    }
    SharedTx signed_by_creator(Tx tx, const SpentValue& spent) {
        const auto draft = check_tx(tx).value();
        const auto digest = signature_digest(*draft, chain(), 0, test::lock_of("creator"), spent);
        Bytes signature = crypto::sign(test::key_of("creator"), digest).to_der();
        signature.push_back(kHashTypeAll);
        Bytes& unlocking = tx.inputs[0].unlocking;
        const auto push = [&](ByteView bytes) {
            unlocking.push_back(static_cast<std::uint8_t>(bytes.size()));
            unlocking.insert(unlocking.end(), bytes.begin(), bytes.end());
        };
        push(signature);
        push(test::key_of("creator").public_key().bytes());
        return check_tx(tx).value();
    }
    ChainId chain() const { return ChainId{hash_of(genesis.block.header).view()}; }

    crypto::NodeKeys first = test::node_keys_of("n1");
    crypto::NodeKeys second = test::node_keys_of("n2");
    CurveSignatures signatures;
    Judge judge{signatures};
    GenesisBlock genesis;
    std::unique_ptr<LedgerState> state;
    Header tip;
    Rules rules;
    SignatureCache cache;
    Inline parallel;
    std::uint64_t nonce = 7;
};

TEST_F(WorkTest, AChainOfRealBlocks) {
    EXPECT_EQ(period(),
              (records::WorkPeriod{0x20028f5c, Height{0}, kMiningStart}));  // 2^256 / 100, as the vectors have it
    move_to(block_by(first, milliseconds{1'000}, {join("n2")}));
    move_to(block_by(second, milliseconds{500}));  // a member may seal at once
    move_to(block_by(first, milliseconds{2}));     // min_interval after the parent
    EXPECT_EQ(tip.bits, 0x20028f5cu);
    EXPECT_EQ(period().height, Height{0});
    // The fourth block ends the period: 4 intervals in 2,002 ms where 4,000 were wanted.
    move_to(block_by(second, milliseconds{500}));
    EXPECT_EQ(tip.bits, 0x20028f5cu) << "bits follow from the parent's state";
    const std::uint32_t harder = crypto::retarget(0x20028f5c, milliseconds{2'002}, seconds{4}, kEasiestBits).value();
    EXPECT_EQ(period(), (records::WorkPeriod{harder, Height{4}, kMiningStart + milliseconds{2'002}}));
    for (int i = 0; i < 4; ++i) {
        move_to(block_by(i % 2 == 0 ? first : second, milliseconds{4'000}));
        EXPECT_EQ(tip.bits, harder);
    }
    EXPECT_EQ(period().bits, crypto::retarget(harder, seconds{16}, seconds{4}, kEasiestBits).value());
    EXPECT_EQ(period().height, Height{8});

    // Weight is work: 4 blocks of about 100 hashes, 4 of about 200.
    const U256 easy = crypto::work_of(crypto::decode_compact(0x20028f5c).target);
    const U256 hard = crypto::work_of(crypto::decode_compact(harder).target);
    EXPECT_EQ(records::weight_of(state->view()), add(multiply(easy, 4).value, multiply(hard, 4).value).value);
}

TEST_F(WorkTest, OtherBitsAreRefused) {
    for (const std::uint32_t bits : {0u, kEasiestBits, 0x20028f5bu, 0x1f028f5cu, 0xffffffffu}) {
        Block block = unmined_by(first, seconds{1});
        block.header.bits = bits;
        sign(block, KeySigner{first});
        expect_refused(block, RejectCode::BadSeal, "the chain asks for 20028f5c");
    }
}

TEST_F(WorkTest, AHashAboveTheTargetIsRefused) {
    Block block = block_by(first, seconds{1});
    const U256 target = crypto::decode_compact(block.header.bits).target;
    do ++block.header.nonce;
    while (meets(hash_of(block.header), target));
    sign(block, KeySigner{first});
    expect_refused(block, RejectCode::BadSeal, "does not meet the target of bits 20028f5c");
}

TEST_F(WorkTest, ABlockRightBehindItsParentIsRefused) {
    // Somebody who goes by another clock: the header says less than min_interval.
    Block block = unmined_by(first, milliseconds{2});
    block.header.time = tip.time + milliseconds{1};
    expect_refused(mined(block, first), RejectCode::NotYourTurn, "at least 2 ms after its parent");
    EXPECT_EQ(judge.prepare(*state, tip, tip.time + milliseconds{1}, {}, KeySigner{first}).error().code,
              RejectCode::NotYourTurn);
}

TEST_F(WorkTest, WorkOfStrangersAndOfTheAccusedIsRefused) {
    Block block = unmined_by(first, seconds{1});
    block.seal.proof = to_bytes(second.chain.public_key().bytes());
    block.header.seal_root = seal_root_of(block.seal);
    expect_refused(mined(block, second), RejectCode::BadSeal, "neither a member nor a voter");

    block = block_by(first, seconds{1});
    state::Batch batch{state->view()};
    batch.put(state::Entry::plain(evidence_path(first.chain.public_key().bytes()), as_bytes("{}")).value());
    state = std::make_unique<LedgerState>(std::move(batch).finish().view);
    expect_refused(block, RejectCode::BadSeal, "under evidence");
    const auto electorate = Electorate::of(state->view(), state->parameters());
    EXPECT_EQ(Work{}.earliest({*state, tip, electorate, first.chain.public_key().bytes(), tip.time}), std::nullopt);
}

TEST_F(WorkTest, ASealHasTheKeyAlone) {
    Block block = unmined_by(first, seconds{1});
    block.seal.proof.push_back(0);
    block.header.seal_root = seal_root_of(block.seal);
    expect_refused(mined(block, first), RejectCode::BadSeal, "the proposer's key and nothing else");
}

TEST_F(WorkTest, WorkDoneForOneProposerIsOfNoUseToAnother) {
    move_to(block_by(first, seconds{1}, {join("n2")}));
    Block stolen = block_by(first, seconds{1});
    sign(stolen, KeySigner{second});
    expect_refused(stolen, RejectCode::BadSeal, "did not sign");
    stolen.seal.proof = to_bytes(second.chain.public_key().bytes());
    sign(stolen, KeySigner{second});
    expect_refused(stolen, RejectCode::BadSeal, "changed on the way");
    // With the header made to fit the work is gone (at 1 in 100, so the nonce is moved to one that surely fails).
    stolen.header.seal_root = seal_root_of(stolen.seal);
    while (meets(hash_of(stolen.header), crypto::decode_compact(stolen.header.bits).target)) ++stolen.header.nonce;
    sign(stolen, KeySigner{second});
    expect_refused(stolen, RejectCode::BadSeal, "does not meet the target");
}

TEST_F(WorkTest, AStateThatSaysNothingOfWorkTakesNoBlock) {
    const Block block = block_by(first, seconds{1});
    const auto bytes_of = [](const records::WorkPeriod& period) { return records::encode(period); };
    const records::WorkPeriod good = period();
    const struct {
        const char* what;
        Bytes record;
    } rows[] = {
        {"none", {}},
        {"one byte short", Bytes(19)},
        {"one byte more", Bytes(21)},
        {"no target", bytes_of({0x01800000, Height{0}, kMiningStart})},
        {"a height above the block's", bytes_of({good.bits, Height{1}, kMiningStart})},
        {"a time after the block's", bytes_of({good.bits, Height{0}, kMiningStart + milliseconds{1}})},
        {"a time beyond all", bytes_of({good.bits, Height{0}, Time::from_unix_millis(253'402'300'800'000)})},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        state::Batch batch{genesis.commit.view};
        batch.erase(records::work());
        if (!row.record.empty()) batch.put(state::Entry::plain(records::work(), row.record).value());
        state = std::make_unique<LedgerState>(std::move(batch).finish().view);
        expect_refused(block, RejectCode::BadSeal, "does not say what work is asked for");
        EXPECT_EQ(judge.prepare(*state, tip, tip.time + seconds{1}, {}, KeySigner{first}).error().code,
                  RejectCode::BadSeal);
    }
}

TEST_F(WorkTest, BlockTimeAndPeriodMayChangeTheHashRateNot) {
    const auto verdict = [&](std::string_view work) {
        const NextBlock next{
            .parent = hash_of(tip), .height = tip.height + 1, .time = tip.time + seconds{1}, .parent_time = tip.time};
        const SharedTx tx = change(cluster_of(work));
        const auto done = execute(*state, next, std::span{&tx, 1}, {}, rules, cache, parallel);
        return done ? "OK" : done.error().why;
    };
    EXPECT_NE(verdict(R"({"hashRate":101,"blockTime":"1s","period":4})").find("hashRate is fixed"), std::string::npos);
    EXPECT_EQ(verdict(R"({"hashRate":100,"blockTime":"9s","period":4})"), "OK");

    // Twice the block time from the second block on: the first retarget, over 4 blocks at the old target, is right.
    move_to(block_by(first, seconds{1}));
    move_to(block_by(first, seconds{1}, {change(cluster_of(R"({"hashRate":100,"blockTime":"2s","period":4})"))}));
    move_to(block_by(first, seconds{1}));
    move_to(block_by(first, seconds{1}));
    EXPECT_EQ(period().bits, crypto::retarget(0x20028f5c, seconds{4}, seconds{8}, kEasiestBits).value());
}

// ---- without a chain ----------------------------------------------------------------------------------------------

TEST(Work, MayBeTenSecondsAheadWhereTurnsMayBeHalfASecond) {
    EXPECT_EQ(engine_of(ConsensusId::Work)->future_tolerance(), seconds{10});
    EXPECT_EQ(engine_of(ConsensusId::Authority)->future_tolerance(), milliseconds{500});
    EXPECT_EQ(engine_of(ConsensusId::Work)->id(), ConsensusId::Work);
    EXPECT_FALSE(engine_of(ConsensusId::Work)->attestations_weigh());
    EXPECT_TRUE(engine_of(ConsensusId::Authority)->attestations_weigh());
    EXPECT_EQ(engine_of(ConsensusId::Space), nullptr);
    EXPECT_EQ(engine_of(ConsensusId::Stake), nullptr);
}

/// Blocks that take exactly as long as `hash_rate` needs on average.
class VirtualMine {
public:
    explicit VirtualMine(const WorkRules& rules) : rules_(rules), period_{first_bits(rules), Height{0}, kMiningStart} {}

    [[nodiscard]] milliseconds interval(std::uint64_t hash_rate) const {
        const U256 hashes = crypto::work_of(crypto::decode_compact(period_.bits).target);
        return milliseconds{static_cast<std::int64_t>(multiply_divide(hashes, 1'000, hash_rate).value.low64())};
    }
    void mine(std::uint64_t blocks, std::uint64_t hash_rate) {
        for (; blocks > 0; --blocks) {
            ++height_;
            time_ += interval(hash_rate);
            period_ = period_after(period_, height_, time_, rules_);
        }
    }

private:
    WorkRules rules_;
    records::WorkPeriod period_;
    Height height_{0};
    Time time_ = kMiningStart;
};

TEST(Work, DifficultyFollowsASixteenfoldChangeWithinTwoPeriods) {
    const WorkRules rules{};
    constexpr std::uint64_t kLittle = 100'000, kMuch = 1'600'000;
    const auto near = [&](milliseconds interval) {
        // What compact form and whole milliseconds round away is far below a hundredth.
        return std::abs((interval - rules.block_time).count()) <= rules.block_time.count() / 100;
    };
    VirtualMine mine{rules};
    mine.mine(2 * rules.period, kLittle);
    EXPECT_TRUE(near(mine.interval(kLittle))) << mine.interval(kLittle).count();

    EXPECT_LT(mine.interval(kMuch), rules.block_time / 15);
    mine.mine(rules.period, kMuch);
    EXPECT_LT(mine.interval(kMuch), rules.block_time / 3) << "no more than four times at once";
    mine.mine(rules.period, kMuch);
    EXPECT_TRUE(near(mine.interval(kMuch))) << mine.interval(kMuch).count();

    mine.mine(rules.period, kLittle);
    EXPECT_GT(mine.interval(kLittle), rules.block_time * 3);
    mine.mine(rules.period, kLittle);
    EXPECT_TRUE(near(mine.interval(kLittle))) << mine.interval(kLittle).count();

    // In the middle of a period: the period it falls into does not count.
    mine.mine(rules.period / 2, kLittle);
    mine.mine(rules.period / 2, kMuch);
    mine.mine(2 * rules.period, kMuch);
    EXPECT_TRUE(near(mine.interval(kMuch))) << mine.interval(kMuch).count();
}

TEST(Miner, FindsNothingForBitsThatAreNoTarget) {
    for (const std::uint32_t bits : {0u, 0x01800000u, 0xffffffffu}) {
        Miner miner{Header{.consensus = ConsensusId::Work, .bits = bits}, 5};
        const auto progress = miner.step(1'000);
        EXPECT_FALSE(progress.found);
        EXPECT_EQ(progress.tried, 1'000u);
        EXPECT_EQ(miner.nonce(), 1'005u);
    }
}

TEST(Miner, ANoStepTriesNothing) {
    Miner miner{Header{.bits = kEasiestBits}, 5};
    EXPECT_EQ(miner.step(0).tried, 0u);
    EXPECT_EQ(miner.nonce(), 5u);
}

TEST(MiningShare, IsThatPartOfTheRate) {
    MiningShare fifth{20, 100'000};
    EXPECT_EQ(fifth.hashes_for(seconds{1}), 20'000u);
    EXPECT_EQ(fifth.hashes_for(milliseconds{100}), 2'000u);
    EXPECT_EQ(fifth.hashes_for(microseconds{0}), 0u);
    EXPECT_EQ(fifth.hashes_for(microseconds{-1}), 0u);
    EXPECT_EQ((MiningShare{0, 100'000}.hashes_for(seconds{1})), 0u);
    EXPECT_EQ((MiningShare{300, 100'000}.hashes_for(seconds{1})), 100'000u);
    // 20 % of 7 hashes per second in tenths: 0.14 each, so one in about seven slices.
    MiningShare slow{20, 7};
    std::uint64_t hashes = 0;
    for (int i = 0; i < 50; ++i) hashes += slow.hashes_for(milliseconds{100});
    EXPECT_EQ(hashes, 7u);
    // Nonsense stays in its bounds.
    EXPECT_GT((MiningShare{100, UINT64_MAX}.hashes_for(microseconds::max())), 0u);
}

TEST(MiningShare, FollowsWhatIsMeasured) {
    MiningShare share{20, 100'000};
    share.measured(50'000, milliseconds{0});
    share.measured(50'000, milliseconds{-5});
    EXPECT_EQ(share.hash_rate(), 100'000u);
    share.measured(90'000, milliseconds{100});  // 900,000 a second
    EXPECT_EQ(share.hash_rate(), 200'000u);
    for (int i = 0; i < 100; ++i) share.measured(90'000, milliseconds{100});
    EXPECT_NEAR(static_cast<double>(share.hash_rate()), 900'000, 10);
    for (int i = 0; i < 400; ++i) share.measured(UINT64_MAX, microseconds{1});
    EXPECT_GT(share.hashes_for(seconds{1}), 0u);
}

}  // namespace
}  // namespace rhizome::consensus
