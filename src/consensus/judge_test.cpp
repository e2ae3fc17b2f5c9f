// SPDX-License-Identifier: Apache-2.0
#include "consensus/judge.h"

#include <gtest/gtest.h>

#include "crypto/derive.h"
#include "ledger/chain_records.h"
#include "ledger/codec.h"
#include "support/test_chain.h"

namespace rhizome::consensus {
namespace {

using namespace ledger;

constexpr std::string_view kJudgedCluster =
    R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"demo"},"spec":{}})";
constexpr Time kJudgedStart = Time::from_unix_seconds(1'800'000'000);

/// A chain that began with node n1's seal.
class JudgeTest : public ::testing::Test {
protected:
    JudgeTest() {
        auto made = seal_genesis(std::string{kJudgedCluster}, test::lock_of("creator"), kJudgedStart, KeySigner{first});
        ensure(made.has_value(), "a genesis block can be made");
        genesis = *std::move(made);
        state = std::make_unique<LedgerState>(genesis.commit.view);
        tip = genesis.block.header;
    }

    /// The next block of `txs` as this node would seal it, when its turn has certainly come. A stranger's seal names it
    /// all the same.
    Block block_by(const crypto::NodeKeys& node, const std::vector<SharedTx>& txs = {}) {
        const KeySigner signer{node};
        const NextBlock next{
            .parent = hash_of(tip), .height = tip.height + 1, .time = tip.time + seconds{30}, .parent_time = tip.time};
        auto sealing = judge.prepare(*state, tip, next.time, {}, signer);
        if (!sealing) sealing = Sealing{.seal = {.proof = to_bytes(signer.key())}};
        BlockDraft draft =
            build_block(*state, next, txs, sealing->part,
                        sealing->seal.proof.size() + sealing->seal.attestations.size(), rules, cache, parallel);
        EXPECT_EQ(draft.txs.size(), txs.size());
        Block block = assemble(std::move(draft), *sealing);
        sign(block, signer);
        return block;
    }
    Result<Applied, Reject> apply(const Block& block) {
        return judge_and_apply(*state, tip, block, {rules, judge}, cache, parallel);
    }
    void move_to(const Block& block) {
        const auto applied = apply(block);
        ASSERT_TRUE(applied) << to_text(applied.error());
        state->advance(applied->commit);
        tip = block.header;
    }
    void expect_bad_seal(const Block& block, std::string_view why) {
        const auto applied = apply(block);
        ASSERT_FALSE(applied) << why;
        EXPECT_EQ(applied.error().code, RejectCode::BadSeal) << to_text(applied.error());
        EXPECT_NE(applied.error().why.find(why), std::string::npos) << applied.error().why;
    }
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
        const auto draft = check_tx(tx).value();
        const auto digest = signature_digest(*draft, chain(), 0, test::lock_of("creator"), SpentValue::of_authority());
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
    GenesisBlock genesis;
    std::unique_ptr<LedgerState> state;
    Header tip;
    Rules rules;
    CurveSignatures signatures;
    Judge judge{signatures};
    SignatureCache cache;
    Inline parallel;
};

TEST_F(JudgeTest, GenesisNamesTheFirstVoter) {
    const auto decoded = decode_block(encode(genesis.block));
    ASSERT_TRUE(decoded);
    const auto part = judge.judge_genesis(*decoded);
    ASSERT_TRUE(part) << to_text(part.error());
    const auto commit = apply_genesis(*decoded, *part);
    ASSERT_TRUE(commit) << to_text(commit.error());
    EXPECT_EQ(commit->view.root(), genesis.commit.view.root());
    const state::Entry* record = commit->view.get(ledger::records::voters());
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(ledger::records::decode_voters(record->bytes()).value(),
              std::vector<MemberKey>{first.chain.public_key().bytes()});
    const auto electorate = Electorate::of(commit->view, {});
    EXPECT_TRUE(electorate.is_only_voter(first.chain.public_key().bytes()));
    EXPECT_FALSE(electorate.is_only_voter(second.chain.public_key().bytes()));
    EXPECT_FALSE(Electorate::of({}, {}).is_only_voter(first.chain.public_key().bytes()));
}

TEST_F(JudgeTest, AGenesisBlockThatNobodySignedIsRefused) {
    Block unsigned_block = genesis.block;
    unsigned_block.signature = {};
    EXPECT_EQ(judge.judge_genesis(unsigned_block).error().code, RejectCode::BadSeal);
    Block renamed = genesis.block;  // another voter, and the header made to fit
    renamed.seal.proof = to_bytes(second.chain.public_key().bytes());
    renamed.header.seal_root = seal_root_of(renamed.seal);
    EXPECT_EQ(judge.judge_genesis(renamed).error().code, RejectCode::BadSeal);
    Block nameless = genesis.block;
    nameless.seal.proof.pop_back();
    nameless.header.seal_root = seal_root_of(nameless.seal);
    EXPECT_EQ(judge.judge_genesis(nameless).error().code, RejectCode::BadSeal);
    Block worked = genesis.block;
    worked.header.nonce = 1;
    sign(worked, KeySigner{first});
    EXPECT_NE(judge.judge_genesis(worked).error().why.find("shows no work"), std::string::npos);
}

TEST_F(JudgeTest, TheFirstVoterSealsBeforeItsNodeIsWritten) {
    move_to(block_by(first));
    move_to(block_by(first, {join("n1")}));
    EXPECT_NE(state->view().get(ledger::records::member(first.chain.public_key().bytes())), nullptr);
    move_to(block_by(first));
}

TEST_F(JudgeTest, StrangersAreRefusedUntilTheyAreMembers) {
    expect_bad_seal(block_by(second), "neither a member nor a voter");
    move_to(block_by(first, {join("n2")}));
    move_to(block_by(second));
    expect_bad_seal(block_by(test::node_keys_of("n3")), "neither a member nor a voter");
}

TEST_F(JudgeTest, TheProposerIsHeardOf) {
    move_to(block_by(first, {join("n2")}));
    const auto part = judge.judge(*state, tip, block_by(second));
    ASSERT_TRUE(part);
    EXPECT_EQ(part->heard, std::vector<MemberKey>{second.chain.public_key().bytes()});
    const auto lease = [&] {
        return ledger::records::decode_number(
            state->view().get(ledger::records::lease(second.chain.public_key().bytes()))->bytes());
    };
    const auto before = lease();
    move_to(block_by(second));
    EXPECT_GT(lease(), before);
}

TEST_F(JudgeTest, AWrongSignatureIsRefused) {
    Block block = block_by(first);
    block.signature[10] ^= 1;
    expect_bad_seal(block, "did not sign the block");
    block.signature = {};
    expect_bad_seal(block, "did not sign the block");
    // The proposer's own, but of another block.
    block.signature = genesis.block.signature;
    expect_bad_seal(block, "did not sign the block");
    // A second signature that fits as well: high S.
    block = block_by(first);
    const auto order = from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").value();
    int borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {
        const int digit = order[i] - block.signature[32 + i] - borrow;
        borrow = digit < 0 ? 1 : 0;
        block.signature[32 + i] = static_cast<std::uint8_t>(digit + (borrow << 8));
    }
    expect_bad_seal(block, "did not sign the block");
}

TEST_F(JudgeTest, AStrippedOrChangedSealIsRefused) {
    Block block = block_by(first);
    block.seal = {};
    expect_bad_seal(block, "names no proposer");
    block = block_by(first);
    block.seal.attestations = {1, 2, 3};
    expect_bad_seal(block, "changed on the way");
    block = block_by(first);
    block.seal.proof.push_back(0);
    expect_bad_seal(block, "changed on the way");
    block = block_by(first);
    block.seal.proof[0] = 4;
    expect_bad_seal(block, "neither a member nor a voter");
}

TEST_F(JudgeTest, BitsAndNonceAreForWork) {
    Block block = block_by(first);
    block.header.nonce = 1;
    sign(block, KeySigner{first});
    expect_bad_seal(block, "bits and nonce");
}

TEST(VotersRecord, HasOneForm) {
    const auto a = test::node_keys_of("n1").chain.public_key().bytes();
    const auto b = test::node_keys_of("n2").chain.public_key().bytes();
    EXPECT_EQ(ledger::records::encode_voters({a, b}), ledger::records::encode_voters({b, a, b}));
    EXPECT_EQ(ledger::records::decode_voters(ledger::records::encode_voters({a, b}))->size(), 2u);
    Bytes swapped = to_bytes(std::max(a, b));
    const auto low = std::min(a, b);
    swapped.insert(swapped.end(), low.begin(), low.end());
    EXPECT_EQ(ledger::records::decode_voters(swapped).error(), DecodeFault::NotCanonical);
    swapped.pop_back();
    EXPECT_EQ(ledger::records::decode_voters(swapped).error(), DecodeFault::Truncated);
    EXPECT_EQ(ledger::records::decode_voters(Bytes(33 * (ledger::records::kVotersMax + 1))).error(),
              DecodeFault::TooLong);
    EXPECT_TRUE(ledger::records::decode_voters({})->empty());
}

}  // namespace
}  // namespace rhizome::consensus
