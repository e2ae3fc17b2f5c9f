// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "consensus/attestations.h"
#include "consensus/consensus_rules.h"
#include "core/node.h"
#include "ledger/block_factory.h"
#include "sim/disk.h"
#include "sim/founding.h"

/// What a peer may send that no honest one does: each is refused by name, at a cost that is stated in signature checks,
/// the dearest thing a message can ask for.
namespace rhizome::sim {
namespace {

using consensus::Vote;
using core::PeerId;
using ledger::RejectCode;

constexpr Time kStart = Time::from_unix_seconds(1'800'000'000);
constexpr PeerId kPeer{7};

class CountedSignatures final : public consensus::Signatures {
public:
    [[nodiscard]] bool is_good(const consensus::MemberKey& key, const crypto::Digest& digest,
                               const consensus::CompactSignature& signature) const override {
        ++checks;
        return fast_.is_good(key, digest, signature);
    }
    [[nodiscard]] std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                              const crypto::VrfProof& proof) const override {
        ++checks;
        return fast_.vrf_output(key, alpha, proof);
    }
    mutable std::size_t checks = 0;

private:
    FastSignatures fast_;
};

FastSigner signer_of(std::size_t machine) {
    const auto keys = keys_of(machine).public_keys();
    std::array<std::uint8_t, 32> vrf{};
    std::copy(keys.vrf.view().begin(), keys.vrf.view().end(), vrf.begin());
    return FastSigner{keys.chain.bytes(), vrf};
}

/// Machine 0 of a cluster of four, with one peer, five seconds after the founding.
class BadInput : public ::testing::Test {
protected:
    static constexpr std::size_t kMachines = 4;

    BadInput() {
        const auto genesis = std::make_shared<const ledger::Block>(founding.genesis.block);
        archive.put(genesis);
        archive.put(founding.members);
        const FirstStates states = first_states(founding);
        archive.keep(hash_of(genesis->header), states.genesis);
        archive.keep(hash_of(founding.members->header), states.members);
        start_anew();
    }
    /// A node that has heard nothing yet.
    void start_anew() {
        disk = Disk{archive};
        disk.begin(ledger::BlockHash{founding.chain.view()}, hash_of(founding.members->header));
        auto made = core::Node::start({}, disk.start(founding.chain, 1),
                                      {.blocks = disk,
                                       .history = disk,
                                       .rules = rules,
                                       .signatures = signatures,
                                       .signer = &own,
                                       .cache = cache,
                                       .parallel = parallel},
                                      now);
        ensure(made.has_value(), "the node starts");
        node = *std::move(made);
        step(core::PeerUp{kPeer});
    }

    /// Everything the host is asked to check is checked, and counted.
    void step(core::EventKind kind) {
        for (core::Effect& effect : node->step({now, std::move(kind)})) {
            if (const auto* persist = std::get_if<core::Persist>(&effect)) {
                EXPECT_EQ(disk.write(persist->ticket, persist->what), std::nullopt);
            } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
                blamed.push_back(blame->why);
            } else if (const auto* send = std::get_if<core::Send>(&effect)) {
                votes_sent += std::holds_alternative<core::Votes>(*send->message) ? 1 : 0;
                if (const auto* told = std::get_if<core::Transactions>(send->message.get()))
                    txs_sent += told->txs.size();
            } else if (const auto* verify = std::get_if<core::Verify>(&effect)) {
                core::Verified answer{.batch = verify->batch};
                for (const auto& job : verify->jobs)
                    answer.good.push_back(signatures.is_good(job.key, job.digest, job.signature));
                step(std::move(answer));
            }
        }
    }
    void hear(core::Message message) {
        step(core::Heard{kPeer, std::make_shared<const core::Message>(std::move(message))});
    }
    void expect(core::Message message, RejectCode code, std::size_t checks_max) {
        signatures.checks = 0;
        blamed.clear();
        hear(std::move(message));
        ASSERT_EQ(blamed.size(), 1u);
        EXPECT_EQ(name(blamed[0].code), name(code)) << blamed[0].why;
        EXPECT_FALSE(blamed[0].why.empty());
        EXPECT_LE(signatures.checks, checks_max);
        EXPECT_EQ(node->tip_hash(), hash_of(founding.members->header)) << "nothing of it was taken";
    }
    void expect_nobody_blamed(core::Message message, std::size_t checks_max) {
        signatures.checks = 0;
        blamed.clear();
        hear(std::move(message));
        EXPECT_TRUE(blamed.empty()) << blamed[0].why;
        EXPECT_LE(signatures.checks, checks_max);
        EXPECT_EQ(node->tip_hash(), hash_of(founding.members->header));
    }

    Vote vote_by(std::size_t machine, std::uint64_t epochs_back = 1) {
        const auto signer = signer_of(machine);
        Vote vote{.voter = signer.key()};
        vote.ballot.target = {consensus::epoch_of(now, node->state().parameters().epoch) - epochs_back,
                              hash_of(founding.members->header)};
        vote.ballot.source = {.block = ledger::BlockHash{founding.chain.view()}};
        vote.signature = signer.sign(digest_of(vote.ballot, founding.chain));
        return vote;
    }
    static Vote forged(Vote vote) {
        vote.signature[5] ^= 1;
        return vote;
    }
    /// What `machine` would seal on the tip at this time, before it is signed.
    ledger::Block draft_by(std::size_t machine, Time time, const std::vector<ledger::SharedTx>& txs = {}) {
        const auto signer = signer_of(machine);
        const ledger::Header& parent = founding.members->header;
        const FastSignatures fast;
        const consensus::Judge judge{fast};
        auto sealing = judge.prepare(node->state(), parent, time, {}, signer);
        if (!sealing) sealing = consensus::Sealing{.seal = {.proof = to_bytes(signer.key())}};
        const ledger::NextBlock next{
            .parent = hash_of(parent), .height = parent.height + 1, .time = time, .parent_time = parent.time};
        return consensus::assemble(
            build_block(node->state(), next, txs, sealing->part, sealing->seal.proof.size(), rules, cache, parallel),
            *sealing);
    }
    core::NewBlock signed_by(std::size_t machine, ledger::Block block) {
        consensus::sign(block, signer_of(machine));
        return {std::make_shared<const ledger::Block>(std::move(block))};
    }

    Time now = kStart + seconds{5};
    const Founding& founding = found(kMachines, "{}", kStart);
    CountedSignatures signatures;
    ledger::Rules kinds;
    consensus::ConsensusRules rules{signatures, kinds};
    ledger::SignatureCache cache;
    Inline parallel;
    Archive archive;
    Disk disk{archive};
    FastSigner own = signer_of(0);
    std::unique_ptr<core::Node> node;
    std::vector<ledger::Reject> blamed;
    std::size_t votes_sent = 0;
    std::size_t txs_sent = 0;
};

TEST_F(BadInput, MessagesWithTooMuchInThemCostNothing) {
    const core::Config limits;
    core::Votes votes{consensus::grouped(std::vector{vote_by(1)})};
    votes.groups[0].votes.resize(limits.message_votes_max + 1);
    expect(votes, RejectCode::TooLarge, 0);
    expect(core::HaveVotes{std::vector<core::VoteName>(limits.message_votes_max + 1)}, RejectCode::TooLarge, 0);
    expect(core::AskVotes{std::vector<core::VoteName>(limits.message_votes_max + 1)}, RejectCode::TooLarge, 0);
    expect(core::WantBlocks{.locator = std::vector<ledger::BlockHash>(129)}, RejectCode::TooLarge, 0);
    expect(core::Blocks{std::vector<core::SharedBlock>(limits.answer_blocks_max + 1, founding.members)},
           RejectCode::TooLarge, 0);
    const auto tx = create_map(node->state(), "m", "x", now);
    expect(core::Transactions{std::vector<ledger::SharedTx>(limits.message_txs_max + 1, tx)}, RejectCode::TooLarge, 0);
    expect(core::HaveTxs{std::vector<ledger::WireId>(limits.message_txs_max + 1)}, RejectCode::TooLarge, 0);
    expect(core::WantTxs{std::vector<ledger::WireId>(limits.message_txs_max + 1)}, RejectCode::TooLarge, 0);
    expect(core::WantHeaders{.locator = std::vector<ledger::BlockHash>(129)}, RejectCode::TooLarge, 0);
    expect(core::WantBodies{}, RejectCode::TooLarge, 0);
    expect(core::WantBodies{std::vector<ledger::BlockHash>(limits.ask_bodies_max + 1)}, RejectCode::TooLarge, 0);
    const core::Body body{{}, std::make_shared<const std::vector<ledger::Tx>>()};
    expect(core::Bodies{.bodies = std::vector<core::Body>(limits.ask_bodies_max + 1, body)}, RejectCode::TooLarge, 0);
}

TEST_F(BadInput, StatesThatNobodyAskedForAreRefusedUnread) {
    expect(core::StateManifest{{}, Bytes(100, 1)}, RejectCode::BadEncoding, 0);
    expect(core::StatePart{{}, 0, Bytes(100, 1)}, RejectCode::BadEncoding, 0);
}

TEST_F(BadInput, WhoAsksForMoreOfAStateThanIsLookedUpAtATimeGetsNoAnswerToTheRest) {
    const core::Config limits;
    std::size_t looked_up = 0;
    for (std::size_t i = 0; i < 3 * limits.states_open_per_peer; ++i)
        for (const core::Effect& effect :
             node->step({now, core::Heard{kPeer, std::make_shared<const core::Message>(core::WantManifest{})}}))
            looked_up += std::holds_alternative<core::LookUpState>(effect) ? 1 : 0;
    EXPECT_EQ(looked_up, limits.states_open_per_peer);
    // Once one is answered there is room for another.
    std::size_t sent = 0;
    for (const core::Effect& effect :
         node->step({now, core::StateFound{kPeer, std::make_shared<const core::Message>(core::StateManifest{})}}))
        if (const auto* send = std::get_if<core::Send>(&effect))
            sent += std::holds_alternative<core::StateManifest>(*send->message) ? 1 : 0;
    EXPECT_EQ(sent, 1u);
    const auto effects =
        node->step({now, core::Heard{kPeer, std::make_shared<const core::Message>(core::WantManifest{})}});
    EXPECT_TRUE(std::any_of(effects.begin(), effects.end(), [](const core::Effect& effect) {
        return std::holds_alternative<core::LookUpState>(effect);
    }));
}

TEST_F(BadInput, HeadersThatNobodyAskedForCostNothing) {
    const ledger::Block block = draft_by(1, now);
    expect_nobody_blamed(core::Headers{.headers = std::vector<core::SealedHeader>(
                                           100, core::SealedHeader{block.header, block.signature, block.seal})},
                         0);
    EXPECT_EQ(node->usage().headers_ahead, 0u);
}

TEST_F(BadInput, HeadersOfAFarTipThatNobodySignedOrThatDoNotFollowAreRefused) {
    const auto boast = [&] {
        start_anew();
        core::Status status{.clock = now, .height = ledger::Height{1'000}};
        status.tip = ledger::BlockHash{crypto::sha256(as_bytes("far")).view()};
        hear(status);
    };
    const ledger::Block loose = draft_by(1, now);
    const auto good = signed_by(1, draft_by(1, now)).block;
    boast();
    expect(core::Headers{.headers = {{loose.header, loose.signature, loose.seal}}}, RejectCode::BadSeal, 1);
    boast();
    const core::SealedHeader one{good->header, good->signature, good->seal};
    expect(core::Headers{.headers = {one, one}}, RejectCode::BadEncoding, 1);
    EXPECT_EQ(node->usage().headers_ahead, 0u) << "nothing of it is kept";
}

TEST_F(BadInput, ACompactBlockThatNobodySignedCostsOneCheckAndPlacesBeyondABlockNone) {
    const ledger::Block loose = draft_by(1, now, {create_map(node->state(), "m", "x", now)});
    expect(core::CompactBlock{.sealed = {loose.header, loose.signature, loose.seal}, .short_ids = {1}},
           RejectCode::BadSeal, 1);
    expect(core::WantBlockTxs{hash_of(founding.members->header), {100'000}}, RejectCode::BadEncoding, 0);
}

TEST_F(BadInput, AVoteThatNobodySignedCostsOneCheckMoreThanTheMessageHasVotes) {
    expect(core::Votes{consensus::grouped(std::vector{forged(vote_by(1))})}, RejectCode::BadVote, 2);
    std::vector<Vote> many;
    for (std::uint64_t i = 1; i <= 10; ++i)
        for (std::size_t machine = 1; machine < kMachines; ++machine) many.push_back(forged(vote_by(machine, i)));
    expect(core::Votes{consensus::grouped(many)}, RejectCode::BadVote, many.size() + 1);
    EXPECT_EQ(node->usage().votes, 0u);
}

TEST_F(BadInput, VotesOfStrangersAndOfTheFutureCostNothingAndNobodyIsBlamed) {
    // It may be a member where the peer is; its clock may be right and ours wrong.
    expect_nobody_blamed(core::Votes{consensus::grouped(std::vector{vote_by(kMachines + 3)})}, 0);
    Vote early = vote_by(1);
    early.ballot.target.epoch = early.ballot.target.epoch + 1'000;
    expect_nobody_blamed(core::Votes{consensus::grouped(std::vector{early})}, 1);
    EXPECT_EQ(node->usage().votes, 0u);
}

TEST_F(BadInput, AStatusMaySayAnyNumber) {
    const consensus::Checkpoint last{.epoch = consensus::Epoch{UINT64_MAX},
                                     .block = ledger::BlockHash{crypto::sha256(as_bytes("x")).view()}};
    core::Status status{.clock = now,
                        .tip = last.block,
                        .height = ledger::Height{UINT64_MAX},
                        .justified = last,
                        .final_checkpoint = last};
    for (auto& one : status.votes) one = {consensus::Epoch{UINT64_MAX}, 1};
    expect_nobody_blamed(status, 0);
    hear(core::WantVotes{consensus::Epoch{UINT64_MAX}});
    EXPECT_TRUE(blamed.empty());
}

TEST_F(BadInput, WhoAsksForAllVotesAgainAndAgainIsAnsweredOnceASecond) {
    hear(core::Votes{consensus::grouped(std::vector{vote_by(1)})});
    votes_sent = 0;
    for (int i = 0; i < 1'000; ++i) hear(core::WantVotes{});
    EXPECT_EQ(votes_sent, 1u);
    now += core::Config{}.answer_timeout;
    hear(core::WantVotes{});
    EXPECT_EQ(votes_sent, 2u);
}

TEST_F(BadInput, AThousandContradictionsAreOneAccusation) {
    // A block is sealed at this moment, so the accusation waits for the next one.
    hear(core::Transactions{{create_map(node->state(), "m", "x", now)}});
    ASSERT_NE(node->tip_hash(), hash_of(founding.members->header));
    hear(core::Votes{consensus::grouped(std::vector{vote_by(1)})});
    signatures.checks = 0;
    for (int i = 0; i < 1'000; ++i) {
        Vote vote = vote_by(1);
        vote.ballot.target.block = ledger::BlockHash{crypto::sha256(as_bytes(std::to_string(i))).view()};
        vote.signature = signer_of(1).sign(digest_of(vote.ballot, founding.chain));
        hear(core::Votes{consensus::grouped(std::vector{vote})});
    }
    EXPECT_LE(signatures.checks, 1'002u) << "one of each vote, two of the accusation";
    EXPECT_EQ(node->pending(), 1u);
    EXPECT_EQ(txs_sent, 1u);
}

TEST_F(BadInput, BlocksThatNobodySignedCostOneCheck) {
    ledger::Block block = draft_by(1, now);
    core::NewBlock unsigned_block{std::make_shared<const ledger::Block>(block)};
    expect(unsigned_block, RejectCode::BadSeal, 1);
    block = draft_by(1, now);
    block.seal.attestations = {1, 2, 3};
    expect(signed_by(1, block), RejectCode::BadSeal, 0);
    block = draft_by(1, now);
    block.seal.proof.resize(5);
    block.header.seal_root = seal_root_of(block.seal);
    expect(signed_by(1, block), RejectCode::BadSeal, 0);
    expect(signed_by(kMachines + 3, draft_by(kMachines + 3, now)), RejectCode::BadSeal, 2);
}

TEST_F(BadInput, ABlockThatBreaksARuleIsRefusedByItsNameForAFewChecks) {
    // The proposer's signature, and the proof that a seal of turns has.
    constexpr std::size_t kChecks = 4;
    const auto map = create_map(node->state(), "m", "x", now);
    const struct {
        RejectCode code;
        std::function<void(ledger::Block&)> spoil;
    } rows[] = {
        {RejectCode::BadMerkle, [](ledger::Block& block) { block.txs.clear(); }},
        {RejectCode::BadStateRoot,
         [](ledger::Block& block) { block.header.state_root = crypto::sha256(as_bytes("another state")); }},
        {RejectCode::BadSeal, [](ledger::Block& block) { block.header.consensus = ledger::ConsensusId::Work; }},
        {RejectCode::BadSeal, [](ledger::Block& block) { block.header.nonce = 1; }},
        {RejectCode::BadVote,
         [](ledger::Block& block) {
             block.seal.attestations = {9, 9, 9};
             block.header.seal_root = seal_root_of(block.seal);
         }},
    };
    for (const auto& row : rows) {
        start_anew();  // two blocks of one member on one parent are another matter: evidence
        ledger::Block block = draft_by(1, now, {map});
        row.spoil(block);
        expect(signed_by(1, std::move(block)), row.code, kChecks);
    }
}

TEST_F(BadInput, OutOfTurnIsRefused) {
    // Two milliseconds after its parent it is one member's turn only.
    std::size_t out_of_turn = 0;
    for (std::size_t machine = 1; machine < kMachines; ++machine) {
        start_anew();
        blamed.clear();
        hear(signed_by(machine, draft_by(machine, founding.members->header.time + milliseconds{2})));
        for (const ledger::Reject& why : blamed) out_of_turn += why.code == RejectCode::NotYourTurn ? 1 : 0;
    }
    EXPECT_GE(out_of_turn, kMachines - 2);
}

TEST_F(BadInput, ABlockOfTheFutureWaitsAndIsBounded) {
    for (int i = 0; i < 100; ++i) expect_nobody_blamed(signed_by(1, draft_by(1, now + seconds{60 + i})), 1);
    EXPECT_LE(node->usage().future, core::Config{}.future_max);
}

TEST_F(BadInput, BlocksWithoutParentsAreBounded) {
    for (int i = 0; i < 300; ++i) {
        ledger::Block block = draft_by(1, now);
        block.header.previous = ledger::BlockHash{crypto::sha256(as_bytes(std::to_string(i))).view()};
        expect_nobody_blamed(signed_by(1, std::move(block)), 1);
    }
    EXPECT_LE(node->usage().orphans, core::Config{}.orphans_max);
}

}  // namespace
}  // namespace rhizome::sim
