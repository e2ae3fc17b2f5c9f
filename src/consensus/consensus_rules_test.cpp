// SPDX-License-Identifier: Apache-2.0
#include "consensus/consensus_rules.h"

#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "consensus/beacon.h"
#include "consensus/judge.h"
#include "ledger/draft.h"
#include "ledger/limits.h"
#include "ledger/pending_pool.h"
#include "ledger/signing.h"
#include "support/evidence_samples.h"

namespace rhizome::consensus {
namespace {

using namespace ledger;
using test::accuse;
using test::chain_key_of;

constexpr std::string_view kCluster =
    R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"demo"},"spec":{}})";
constexpr Time kStart = Time::from_unix_seconds(1'800'000'000);
/// Long enough after the parent for every rank and every newcomer to seal.
constexpr milliseconds kStep{10'000};

/// Takes whatever calls itself evidence: for blocks that ours must refuse.
class Credulous final : public Rules {
public:
    [[nodiscard]] std::optional<Proof> proves_itself(const GroupKind& type) const override {
        if (type.kind != kEvidenceKind) return std::nullopt;
        return Proof{.checks = 1, .bytes_max = kDocumentBytesMax};
    }
};

/// A chain sealed by its members in turn, from a genesis block of n1.
class EvidenceOnChain : public ::testing::Test {
protected:
    explicit EvidenceOnChain(Time start = kStart) {
        auto made = seal_genesis(std::string{kCluster}, test::lock_of("creator"), start, KeySigner{keys("n1")});
        ensure(made.has_value(), "a genesis block can be made");
        genesis = *std::move(made);
        state = std::make_unique<LedgerState>(genesis.commit.view);
        tip = genesis.block.header;
    }
    /// The chain with n1, n2 and n3 as members, all of whom have attested.
    void make_members() {
        move_to(block_by("n1", {join("n1"), join("n2"), join("n3")}));
        move_to(block_by("n1"));
        move_to(block_by("n1", {}, {vote_for_tip("n1"), vote_for_tip("n2"), vote_for_tip("n3")}));
        ASSERT_EQ(wanted().size(), 3u);
    }

    const crypto::NodeKeys& keys(const std::string& node) {
        return known_.try_emplace(node, test::node_keys_of(node)).first->second;
    }
    ChainId chain() const { return ChainId{hash_of(genesis.block.header).view()}; }
    NextBlock next() const {
        return {.parent = hash_of(tip), .height = tip.height + 1, .time = tip.time + kStep, .parent_time = tip.time};
    }

    // ---- blocks ----------------------------------------------------------------------------------------------------

    /// The next block of as many of `txs` as are good, as this node would seal it.
    Block block_of(const std::string& node, const std::vector<SharedTx>& txs, const std::vector<Vote>& votes,
                   const Rules& by) {
        const KeySigner signer{keys(node)};
        const NextBlock where = next();
        const auto sealing = judge.prepare(*state, tip, where.time, votes, signer);
        ensure(sealing.has_value(), "the node may seal");
        const std::size_t bytes = sealing->seal.proof.size() + sealing->seal.attestations.size();
        Block block = assemble(build_block(*state, where, txs, sealing->part, bytes, by, cache, parallel), *sealing);
        sign(block, signer);
        return block;
    }
    Block block_by(const std::string& node, const std::vector<SharedTx>& txs = {},
                   const std::vector<Vote>& votes = {}) {
        Block block = block_of(node, txs, votes, rules);
        EXPECT_EQ(block.txs.size(), txs.size());
        return block;
    }
    /// The block with another seal, signed again by the one it names.
    Block resealed(Block block, const std::string& node, Seal seal) {
        block.seal = std::move(seal);
        block.header.seal_root = seal_root_of(block.seal);
        sign(block, KeySigner{keys(node)});
        return block;
    }
    Result<Applied, Reject> apply(const Block& block) {
        SignatureCache cold;
        return judge_and_apply(*state, tip, block, {rules, judge}, cold, parallel);
    }
    void move_to(const Block& block) {
        const auto applied = apply(block);
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

    // ---- transactions ----------------------------------------------------------------------------------------------

    SharedTx signed_by(std::string_view person, std::string document) {
        const auto draft = make_draft({.changes = {{.document = std::move(document)}}, .now = tip.time}, state->view());
        ensure(draft.has_value(), "a draft can be made");
        Tx tx = *draft;
        const auto secret = test::key_of(person);
        const ledger::Signer signer{secret, secret.public_key()};
        for (std::size_t i = 0; i < tx.inputs.size(); ++i) {
            const auto checked = check_tx(tx).value();
            tx.inputs[i].unlocking =
                advance(*checked, i, uses_of_inputs(*checked, *state)[i], chain(), *state, &signer).unlocking;
        }
        return check_tx(tx).value();
    }
    SharedTx join(const std::string& name) {
        return signed_by(
            "creator",
            json::print(json::Object{
                {"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata",
                 json::Object{{"name", name}, {"annotations", member_annotations(keys(name), name, chain())}}}}));
    }
    SharedTx submit(const Evidence& evidence) { return check_tx(evidence_tx(evidence, *state, tip.time)).value(); }
    SharedTx pardon(std::string_view node, std::string_view signer = "creator") {
        const state::Entry* entry = state->view().get(evidence_path(chain_key_of(node)));
        ensure(entry != nullptr, "there is evidence to delete");
        return signed_by(signer, deletion_of(entry->document()));
    }
    Result<Effects, Reject> decide(const SharedTx& tx) {
        const WorkingState working{state->view(), state->index()};
        const NextBlock where = next();
        return ledger::decide(tx, working, place_of(*state, where), rules, cache, kBlockChecksMax);
    }
    std::string verdict(const Evidence& evidence) {
        const auto effects = decide(submit(evidence));
        return effects ? "OK" : to_text(effects.error());
    }

    // ---- what members sign -----------------------------------------------------------------------------------------

    Vote vote_for(std::string_view node, const BlockHash& block) {
        const milliseconds epoch = state->parameters().epoch;
        const Ballot ballot{.source = {Epoch{0}, hash_of(genesis.block.header)},
                            .target = {epoch_of(tip.time, epoch), block}};
        return test::vote_of(node, ballot, chain());
    }
    Vote vote_for_tip(std::string_view node) { return vote_for(node, hash_of(tip)); }
    /// A vote for the tip and one for something else, in one epoch.
    Evidence two_votes(std::string_view node) {
        return accuse(node, vote_for_tip(node), vote_for(node, test::id_of_name<BlockHash>("another block")));
    }
    /// Two blocks on the tip.
    Evidence two_headers(const std::string& node) {
        const Block block = block_by(node);
        Header other = block.header;
        other.merkle_root = test::id_of_name<crypto::Hash256>("other transactions");
        return accuse(node, SignedHeader{block.header, block.signature}, test::header_of(node, other));
    }

    Electorate electorate() const { return Electorate::of(state->view(), state->parameters()); }
    std::vector<MemberKey> wanted() const { return wanted_voters(electorate(), state->view()); }
    std::optional<std::size_t> rank(std::string_view node) const {
        return draw_order(state->view(), state->parameters(), electorate(), tip.height + 1).rank_of(chain_key_of(node));
    }

    std::map<std::string, crypto::NodeKeys> known_;
    CurveSignatures curves;
    RememberedSignatures signatures{curves};
    Rules kinds;
    ConsensusRules rules{signatures, kinds};
    Judge judge{signatures};
    GenesisBlock genesis;
    std::unique_ptr<LedgerState> state;
    Header tip;
    SignatureCache cache;
    Inline parallel;
};

TEST_F(EvidenceOnChain, TakesAwayTheRightsOfTheAccusedAndLeavesItsNode) {
    make_members();
    ASSERT_TRUE(rank("n2"));
    const Vote earlier = vote_for_tip("n2");
    move_to(block_by("n3", {submit(two_votes("n2"))}));
    EXPECT_TRUE(is_accused(chain_key_of("n2"), state->view()));

    const Block good = block_by("n1");
    expect_refused(resealed(good, "n2", {.proof = to_bytes(chain_key_of("n2"))}), RejectCode::BadSeal,
                   "the proposer is under evidence");
    const auto sealing = judge.prepare(*state, tip, next().time, {}, KeySigner{keys("n2")});
    ASSERT_FALSE(sealing);
    EXPECT_EQ(sealing.error().code, RejectCode::BadSeal);

    for (const Vote& vote : {vote_for_tip("n2"), earlier}) {
        Seal seal = good.seal;
        seal.attestations = encode_votes(std::array{vote});
        expect_refused(resealed(good, "n1", seal), RejectCode::BadVote, "is under evidence");
        EXPECT_TRUE(judge.choose_votes(*state, tip, next().time, std::array{vote}).empty());
    }
    EXPECT_FALSE(judge.choose_votes(*state, tip, next().time, std::array{vote_for_tip("n3")}).empty());

    EXPECT_FALSE(rank("n2"));
    EXPECT_TRUE(rank("n1") && rank("n3"));
    auto left = std::vector{chain_key_of("n1"), chain_key_of("n3")};
    std::sort(left.begin(), left.end());
    EXPECT_EQ(wanted(), left);
    EXPECT_NE(state->view().get(state::Path::node("n2").value()), nullptr);
    EXPECT_NE(state->view().get(ledger::records::member(chain_key_of("n2"))), nullptr);
    move_to(good);
    move_to(block_by("n3"));
}

TEST_F(EvidenceOnChain, TwoBlocksOnOneParentAccuse) {
    make_members();
    const Evidence evidence = two_headers("n2");
    move_to(block_by("n2", {submit(evidence)}));  // even by the accused itself, whose turn it still is
    EXPECT_TRUE(is_accused(chain_key_of("n2"), state->view()));
    EXPECT_FALSE(rank("n2"));
}

TEST_F(EvidenceOnChain, OneDocumentForEachAccused) {
    make_members();
    const SharedTx votes = submit(two_votes("n2"));
    const SharedTx headers = submit(two_headers("n2"));
    const SharedTx other = submit(two_votes("n3"));
    // Of two against one member in one block only one goes in; those against others do not mind.
    const Block block = block_of("n1", {votes, headers, other}, {}, rules);
    EXPECT_EQ(block.txs.size(), 2u);
    move_to(block);
    EXPECT_TRUE(is_accused(chain_key_of("n2"), state->view()));
    EXPECT_TRUE(is_accused(chain_key_of("n3"), state->view()));
    EXPECT_TRUE(verdict(two_votes("n2")).starts_with("AlreadyExists"));
}

TEST_F(EvidenceOnChain, ThePoolTakesOneOfManyCopies) {
    make_members();
    PendingPool pool{{}, rules, cache};
    pool.set_tip(*state, next());
    const Evidence evidence = two_votes("n2");
    ASSERT_TRUE(pool.admit(submit(evidence), {}, TxClass::Relayed));
    for (int minutes_later = 1; minutes_later < 4; ++minutes_later) {
        const auto copy = check_tx(evidence_tx(evidence, *state, tip.time + minutes{minutes_later})).value();
        const auto taken = pool.admit(copy, {}, TxClass::Relayed);
        ASSERT_FALSE(taken);
        EXPECT_EQ(taken.error().code, RejectCode::AlreadyExists);
    }
    EXPECT_EQ(pool.size(), 1u);
}

TEST_F(EvidenceOnChain, WhoIsNotKnownIsNotAccused) {
    make_members();
    EXPECT_TRUE(verdict(two_votes("n9")).starts_with("NotFound"));
    move_to(block_by("n1", {join("n9")}));
    EXPECT_EQ(verdict(two_votes("n9")), "OK");
}

TEST_F(EvidenceOnChain, WhoWasAMemberIsAccusedStill) {
    make_members();
    for (const char* node : {"n2", "n3"}) {
        const auto document = state->view().get(state::Path::node(node).value())->document();
        move_to(block_by("n1", {signed_by("creator", deletion_of(document))}));
    }
    EXPECT_EQ(state->view().get(ledger::records::member(chain_key_of("n2"))), nullptr);
    // It attested while it was one. But nobody else is left here to seal.
    EXPECT_EQ(verdict(two_votes("n2")), "OK");
    move_to(block_by("n1", {submit(two_votes("n2"))}));
    EXPECT_TRUE(verdict(two_votes("n1")).find("nobody else is left") != std::string::npos);
}

TEST_F(EvidenceOnChain, TheLastOneThatSealsIsNotAccused) {
    move_to(block_by("n1"));
    EXPECT_NE(verdict(two_votes("n1")).find("nobody else is left"), std::string::npos);
    move_to(block_by("n1", {join("n1"), join("n2")}));
    move_to(block_by("n1", {submit(two_votes("n1"))}));
    EXPECT_NE(verdict(two_votes("n2")).find("nobody else is left"), std::string::npos);
    move_to(block_by("n2"));
}

TEST_F(EvidenceOnChain, TheFirstVoterIsKnownBeforeItsNodeIsWritten) {
    move_to(block_by("n1", {join("n2")}));
    move_to(block_by("n1", {submit(two_votes("n1"))}));
    EXPECT_FALSE(rank("n1"));
    move_to(block_by("n2"));
}

TEST_F(EvidenceOnChain, WaitsForTheChainsId) {
    EXPECT_NE(verdict(two_votes("n1")).find("does not know its chain id yet"), std::string::npos);
}

/// The same machines founded another cluster.
class EvidenceElsewhere : public EvidenceOnChain {
protected:
    EvidenceElsewhere() : EvidenceOnChain(kStart + seconds{1}) {}
};

TEST_F(EvidenceElsewhere, VotesOfAnotherChainProveNothing) {
    make_members();
    const ChainId other = test::sample_chain();
    const auto votes = std::get<0>(two_votes("n2").proof);
    const auto elsewhere =
        accuse("n2", test::vote_of("n2", votes[0].ballot, other), test::vote_of("n2", votes[1].ballot, other));
    EXPECT_TRUE(check_evidence(elsewhere, other, curves));
    EXPECT_TRUE(verdict(elsewhere).starts_with("BadVote"));
}

TEST_F(EvidenceElsewhere, WhoFoundedTwoClustersIsNotAccused) {
    make_members();
    const auto other = seal_genesis(std::string{kCluster}, test::lock_of("creator"), kStart, KeySigner{keys("n1")});
    ASSERT_TRUE(other);
    const auto evidence = accuse("n1", SignedHeader{genesis.block.header, genesis.block.signature},
                                 SignedHeader{other->block.header, other->block.signature});
    EXPECT_NE(verdict(evidence).find("founds two clusters"), std::string::npos);
}

TEST_F(EvidenceOnChain, ABlockWithBadEvidenceIsRefused) {
    make_members();
    const Credulous credulous;
    const auto refused = [&](const Evidence& evidence, RejectCode code, std::string_view why) {
        const Block block = block_of("n1", {submit(evidence)}, {}, credulous);
        ASSERT_EQ(block.txs.size(), 1u);
        expect_refused(block, code, why);
    };
    refused(accuse("n2", vote_for_tip("n2"), vote_for_tip("n2")), RejectCode::BadVote, "say the same");
    refused(two_votes("n9"), RejectCode::NotFound, "no member and no voter");
    Evidence forged = two_votes("n2");
    std::get<0>(forged.proof)[1].signature[7] ^= 1;
    refused(forged, RejectCode::BadVote, "did not sign");

    Tx padded = evidence_tx(two_votes("n2"), *state, tip.time);
    padded.outputs[0].value.insert(1, std::string(kEvidenceBytesMax, ' '));
    expect_refused(block_of("n1", {check_tx(padded).value()}, {}, credulous), RejectCode::TooLarge, "2048 bytes");
    Tx locked = evidence_tx(two_votes("n2"), *state, tip.time);
    locked.outputs[0].locking = test::lock_of("n2");
    EXPECT_EQ(decide(check_tx(locked).value()).error().code, RejectCode::NotAuthorised);
}

TEST_F(EvidenceOnChain, EveryBadEvidenceIsRefusedByTheLedgerToo) {
    make_members();
    for (const auto& row : test::bad_evidence()) {
        const auto effects = decide(submit(row.evidence));
        ASSERT_FALSE(effects) << row.name;
        EXPECT_EQ(effects.error().code, row.name == "no key" ? RejectCode::NotFound : RejectCode::BadVote) << row.name;
    }
}

TEST_F(EvidenceOnChain, ItsChecksAreCounted) {
    make_members();
    const auto effects = decide(submit(two_votes("n2")));
    ASSERT_TRUE(effects);
    EXPECT_EQ(effects->checks, kEvidenceChecks);
    const WorkingState working{state->view(), state->index()};
    const NextBlock where = next();
    const auto full = ledger::decide(submit(two_votes("n2")), working, place_of(*state, where), rules, cache, 1);
    EXPECT_EQ(full.error().code, RejectCode::TooManyChecks);
}

TEST_F(EvidenceOnChain, TheClustersLockGivesTheRightsBack) {
    make_members();
    const Evidence evidence = two_votes("n2");
    move_to(block_by("n1", {submit(evidence)}));
    const auto by_nobody = [&] {
        const state::Entry* entry = state->view().get(evidence_path(chain_key_of("n2")));
        return check_tx(Tx{.inputs = {{.previous = state->view().get(state::Path::cluster())->origin().lock.output}},
                           .outputs = {{.value = deletion_of(entry->document())}},
                           .expiry = submit(evidence)->tx.expiry})
            .value();
    };
    EXPECT_EQ(decide(by_nobody()).error().code, RejectCode::NotAuthorised);
    EXPECT_EQ(decide(pardon("n2", "mallory")).error().code, RejectCode::NotAuthorised);

    move_to(block_by("n1", {pardon("n2")}));
    EXPECT_FALSE(is_accused(chain_key_of("n2"), state->view()));
    EXPECT_TRUE(rank("n2"));
    EXPECT_EQ(wanted().size(), 3u);
    move_to(block_by("n2"));
    move_to(block_by("n1", {}, {vote_for_tip("n2")}));
}

TEST_F(EvidenceOnChain, WhatWasForgivenIsNotBroughtAgain) {
    make_members();
    const Evidence votes = two_votes("n2");
    const Evidence headers = two_headers("n2");  // of the block that carries the votes
    move_to(block_by("n1", {submit(votes)}));
    move_to(block_by("n1", {pardon("n2")}));
    EXPECT_NE(verdict(votes).find("is forgiven"), std::string::npos);
    EXPECT_NE(verdict(headers).find("is forgiven"), std::string::npos);
    // In the block of the pardon itself, the vote's epoch has not ended: it is signed later.
    const Evidence again = two_votes("n2");
    EXPECT_EQ(verdict(again), "OK");
    move_to(block_by("n1"));
    move_to(block_by("n1", {submit(two_headers("n2"))}));
    EXPECT_TRUE(is_accused(chain_key_of("n2"), state->view()));
    move_to(block_by("n3", {pardon("n2")}));
    EXPECT_NE(verdict(again).find("is forgiven"), std::string::npos);
}

TEST_F(EvidenceOnChain, AForgivenOneIsNotAccusedAgainInTheBlockThatForgives) {
    make_members();
    const Evidence votes = two_votes("n2");
    move_to(block_by("n1", {submit(votes)}));
    const Block block = block_of("n1", {pardon("n2"), submit(votes)}, {}, rules);
    EXPECT_EQ(block.txs.size(), 1u);
    move_to(block);
    EXPECT_FALSE(is_accused(chain_key_of("n2"), state->view()));
}

TEST_F(EvidenceOnChain, OthersDecideAboutOtherKinds) {
    make_members();
    const std::string name_space = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"}})";
    move_to(block_by("n1", {signed_by("creator", name_space)}));
    const std::string definition =
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"},)"
        R"("spec":{"group":"rhizome.dev","names":{"kind":"Evidence"},"scope":"Cluster"}})";
    EXPECT_EQ(decide(signed_by("creator", definition)).error().code, RejectCode::AlreadyExists);
    EXPECT_FALSE(rules.wants({"example.com", "Evidence"}));
    EXPECT_FALSE(rules.proves_itself({"example.com", "Evidence"}));
    EXPECT_FALSE(rules.proves_itself({"", "Node"}));
}

}  // namespace
}  // namespace rhizome::consensus
