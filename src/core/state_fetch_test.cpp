// SPDX-License-Identifier: Apache-2.0
#include "core/state_fetch.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "consensus/judge.h"
#include "crypto/derive.h"
#include "support/sample_state.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

constexpr Time kFetchTime = Time::from_unix_seconds(1'800'000'000);
constexpr PeerId kFirst{1};
constexpr PeerId kSecond{2};

/// A state in a dozen parts, and a newcomer that fetches it.
class StateFetchTest : public ::testing::Test {
protected:
    StateFetchTest() {
        test::fill_sample(chain);
        for (int i = 0; i < 6; ++i)
            chain.mine_all({chain.create(
                "/namespaces/web", "alice",
                test::document("v1", "ConfigMap", "web", "m" + std::to_string(i), std::string(400, 'x')))});
        // Sealed and signed, which blocks of a test chain are not.
        ledger::Block block = chain.blocks().back();
        const crypto::NodeKeys keys = crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes("proposer")).view()});
        const consensus::KeySigner signer{keys};
        block.seal.proof.assign(signer.key().begin(), signer.key().end());
        block.header.seal_root = seal_root_of(block.seal);
        consensus::sign(block, signer);
        manifest = ledger::make_manifest(chain.chain_id(), block, chain.state().view(), {}, 600).value();
        trusted = {chain.chain_id(), hash_of(block.header)};
        config.state_asks_per_peer = 2;
        fetch.emplace(config, trusted, signatures, parallel);
    }

    /// What a peer that has the state says to a question.
    Message answer(const Message& question) const {
        if (std::holds_alternative<WantManifest>(question))
            return StateManifest{trusted.block, ledger::encode(manifest)};
        const auto& want = std::get<WantPart>(question);
        EXPECT_EQ(manifest.partition.parts.at(want.part).hash, want.hash);
        return StatePart{want.block, want.part, ledger::encode_part(chain.state().view(), manifest, want.part)};
    }
    /// Questions wait in `asked` until somebody answers them.
    void step(EventKind kind) {
        for (Effect& effect : fetch->step({now, std::move(kind)})) {
            if (const auto* sent = std::get_if<Send>(&effect)) asked.emplace_back(sent->to, *sent->message);
            if (const auto* blame = std::get_if<Blame>(&effect)) blamed.emplace_back(blame->peer, blame->why);
            if (const auto* wanted = std::get_if<Wake>(&effect)) wake = wanted->at;
        }
    }
    void hear(PeerId from, Message message) { step(Heard{from, std::make_shared<const Message>(std::move(message))}); }
    /// Answers all there is to answer; `say` gives another answer for some peers, nothing for silence.
    template <class Say>
    void answer_all(const Say& say) {
        while (!asked.empty()) {
            const auto [peer, question] = asked.front();
            asked.erase(asked.begin());
            if (const std::optional<Message> said = say(peer, question)) hear(peer, *said);
        }
    }
    void answer_all() {
        answer_all([this](PeerId, const Message& question) { return std::optional{answer(question)}; });
    }
    void expect_whole() {
        ASSERT_TRUE(fetch->is_done());
        const auto whole = fetch->take();
        ASSERT_TRUE(whole) << to_text(whole.error());
        EXPECT_EQ(whole->view.root(), chain.state().view().root());
        EXPECT_EQ(whole->manifest.header, manifest.header);
        EXPECT_EQ(whole->manifest.signature, manifest.signature);
    }
    void expect_blamed(PeerId peer, RejectCode code, std::string_view word) {
        ASSERT_EQ(blamed.size(), 1u);
        EXPECT_EQ(blamed[0].first, peer);
        EXPECT_EQ(name(blamed[0].second.code), name(code));
        EXPECT_NE(blamed[0].second.why.find(word), std::string::npos) << blamed[0].second.why;
    }

    test::TestChain chain;
    Inline parallel;
    consensus::CurveSignatures signatures;
    Config config;
    ledger::SnapshotManifest manifest;
    TrustedBlock trusted;
    std::optional<StateFetch> fetch;
    Time now = kFetchTime;
    Time wake{};
    std::vector<std::pair<PeerId, Message>> asked;
    std::vector<std::pair<PeerId, ledger::Reject>> blamed;
};

TEST_F(StateFetchTest, PartsComeFromAllWhoHaveThemWithinTheirShares) {
    step(PeerUp{kFirst});
    step(PeerUp{kSecond});
    std::map<PeerId, std::size_t> parts;
    answer_all([&](PeerId peer, const Message& question) {
        if (std::holds_alternative<WantPart>(question)) ++parts[peer];
        EXPECT_LE(asked.size(), 2 * config.state_asks_per_peer);
        return std::optional{answer(question)};
    });
    EXPECT_GE(parts[kFirst], 2u);
    EXPECT_GE(parts[kSecond], 2u);
    EXPECT_EQ(parts[kFirst] + parts[kSecond], manifest.partition.parts.size()) << "each of them once";
    EXPECT_EQ(fetch->progress().here, manifest.partition.parts.size());
    EXPECT_TRUE(blamed.empty());
    expect_whole();
}

TEST_F(StateFetchTest, WhoSendsAnotherPartIsBlamedByNameAndAskedNoMore) {
    step(PeerUp{kFirst});
    step(PeerUp{kSecond});
    std::size_t lies = 0;
    answer_all([&](PeerId peer, const Message& question) {
        Message said = answer(question);
        if (auto* part = std::get_if<StatePart>(&said); part != nullptr && peer == kSecond) {
            part->bytes.back() ^= 1;
            ++lies;
        }
        return std::optional{said};
    });
    EXPECT_EQ(lies, config.state_asks_per_peer) << "what was asked at once, and nothing after it";
    expect_blamed(kSecond, RejectCode::BadMerkle, "WrongHash: part ");
    expect_whole();
}

TEST_F(StateFetchTest, AManifestOfAnotherBlockOrAnotherStateIsRefused) {
    ledger::SnapshotManifest other = manifest;
    other.header.time = other.header.time + milliseconds{1};
    step(PeerUp{kFirst});
    asked.clear();
    hear(kFirst, StateManifest{trusted.block, ledger::encode(other)});
    expect_blamed(kFirst, RejectCode::BadMerkle, "another block");

    blamed.clear();
    other = manifest;
    other.partition.parts[0].hash = crypto::sha256(as_bytes("forged"));
    step(PeerUp{kSecond});
    asked.clear();
    hear(kSecond, StateManifest{trusted.block, ledger::encode(other)});
    expect_blamed(kSecond, RejectCode::BadMerkle, "WrongRoot");

    blamed.clear();
    step(PeerUp{PeerId{3}});
    asked.clear();
    hear(PeerId{3}, StateManifest{trusted.block, Bytes(40, 1)});
    expect_blamed(PeerId{3}, RejectCode::BadEncoding, "no snapshot");
    EXPECT_TRUE(fetch->nobody_has_it());

    // One who has it is all it takes.
    step(PeerUp{PeerId{4}});
    EXPECT_FALSE(fetch->nobody_has_it());
    answer_all();
    expect_whole();
}

TEST_F(StateFetchTest, ASignatureThatIsNotTheProposersIsNeitherKeptNorHandedOn) {
    ledger::SnapshotManifest other = manifest;
    other.signature[7] ^= 1;
    step(PeerUp{kFirst});
    asked.clear();
    hear(kFirst, StateManifest{trusted.block, ledger::encode(other)});
    expect_blamed(kFirst, RejectCode::BadSeal, "did not sign");
    EXPECT_EQ(fetch->progress().parts, 0u);
    step(PeerUp{kSecond});
    answer_all();
    expect_whole();
}

TEST_F(StateFetchTest, WhatIsNotAnsweredInTimeGoesToAnother) {
    step(PeerUp{kFirst});
    answer_all([&](PeerId, const Message& question) {
        return std::holds_alternative<WantManifest>(question) ? std::optional{answer(question)} : std::nullopt;
    });
    step(PeerUp{kSecond});
    EXPECT_EQ(wake, kFetchTime + config.state_timeout);
    const auto answer_of_second = [&](PeerId peer, const Message& question) {
        return peer == kSecond ? std::optional{answer(question)} : std::nullopt;
    };
    answer_all(answer_of_second);
    EXPECT_FALSE(fetch->is_done());
    EXPECT_EQ(fetch->progress().lacking, 0u);
    now = wake;
    step(Tick{});
    answer_all(answer_of_second);
    EXPECT_EQ(fetch->progress().asked_again, config.state_asks_per_peer);
    EXPECT_EQ(fetch->progress().lacking, 0u) << "it may be slow";
    EXPECT_TRUE(blamed.empty()) << "and nobody is blamed for it";
    expect_whole();
}

TEST_F(StateFetchTest, WhoIsSilentIsAskedAgainAndThenLeft) {
    step(PeerUp{kFirst});
    asked.clear();
    const auto wait = [&] {
        now = wake;
        step(Tick{});
    };
    wait();
    EXPECT_TRUE(asked.empty()) << "it may be sending";
    wait();
    EXPECT_EQ(asked.size(), 1u) << "the question may have been lost";
    EXPECT_FALSE(fetch->nobody_has_it());
    wait();
    EXPECT_TRUE(fetch->nobody_has_it());
    EXPECT_TRUE(blamed.empty());
    // It was there after all.
    answer_all();
    EXPECT_FALSE(fetch->nobody_has_it());
    expect_whole();
}

/// One helper, whose answers come one after the other.
class StateFetchSlowly : public StateFetchTest, public ::testing::WithParamInterface<milliseconds> {};

TEST_P(StateFetchSlowly, AllOfItComesOverASlowLinkAndNothingTwice) {
    config.state_asks_per_peer = 4;
    fetch.emplace(config, trusted, signatures, parallel);
    step(PeerUp{kFirst});
    std::map<std::size_t, std::size_t> times;
    while (!asked.empty()) {
        const auto [peer, question] = asked.front();
        asked.erase(asked.begin());
        if (const auto* want = std::get_if<WantPart>(&question)) ++times[want->part];
        const Time comes = now + GetParam();
        while (wake > now && wake < comes) {
            now = wake;
            step(Tick{});
        }
        now = comes;
        hear(peer, answer(question));
    }
    EXPECT_EQ(times.size(), manifest.partition.parts.size());
    for (const auto& [part, count] : times) EXPECT_EQ(count, 1u) << part;
    expect_whole();
}

// A part of 1 MiB at 1 Mbit/s, which fits the time to answer, and at half of that, which does not.
INSTANTIATE_TEST_SUITE_P(Links, StateFetchSlowly, ::testing::Values(milliseconds{8'400}, milliseconds{16'800}));

TEST_F(StateFetchTest, WhatComesLateIsTakenAndALateLieIsOneToo) {
    step(PeerUp{kFirst});
    answer_all([&](PeerId, const Message& question) {
        return std::holds_alternative<WantManifest>(question) ? std::optional{answer(question)} : std::nullopt;
    });
    for (int i = 0; i < 3; ++i) {
        now = wake;
        step(Tick{});
    }
    asked.clear();
    ASSERT_TRUE(fetch->nobody_has_it());
    hear(kFirst, answer(WantPart{trusted.block, 1, manifest.partition.parts[1].hash}));
    EXPECT_EQ(fetch->progress().here, 1u);
    EXPECT_FALSE(fetch->nobody_has_it()) << "it answers";
    hear(kFirst, StatePart{trusted.block, 4'000'000'000, Bytes(3, 1)});
    expect_blamed(kFirst, RejectCode::BadMerkle, "no such part");
    hear(kFirst, answer(WantPart{trusted.block, 2, manifest.partition.parts[2].hash}));
    EXPECT_EQ(fetch->progress().here, 1u) << "nobody listens to it any more";
}

TEST_F(StateFetchTest, WhatAPeerThatDiedWasAskedGoesToAnother) {
    step(PeerUp{kFirst});
    std::size_t answered = 0;
    answer_all([&](PeerId, const Message& question) {
        return answered++ < 4 ? std::optional{answer(question)} : std::nullopt;
    });
    ASSERT_FALSE(fetch->is_done());
    const std::size_t here = fetch->progress().here;
    ASSERT_GT(here, 0u);
    step(PeerUp{kSecond});
    step(PeerDown{kFirst});
    answer_all();
    EXPECT_EQ(fetch->progress().peers, 1u);
    expect_whole();
}

TEST_F(StateFetchTest, WhoHasNothingSaysSoAndIsNotBlamed) {
    step(PeerUp{kFirst});
    answer_all([&](PeerId, const Message&) { return std::optional<Message>{StateManifest{trusted.block, {}}}; });
    EXPECT_TRUE(fetch->nobody_has_it());
    step(PeerUp{kSecond});
    // It has another part under that number, or none any more.
    answer_all([&](PeerId, const Message& question) {
        if (const auto* want = std::get_if<WantPart>(&question))
            return std::optional<Message>{StatePart{want->block, want->part, {}}};
        return std::optional{answer(question)};
    });
    EXPECT_TRUE(fetch->nobody_has_it());
    EXPECT_TRUE(blamed.empty());
    EXPECT_FALSE(fetch->is_done());
}

TEST_F(StateFetchTest, WhatNobodyAskedForChangesNothing) {
    step(PeerUp{kFirst});
    const auto question = asked.front().second;
    hear(kSecond, answer(question));
    EXPECT_EQ(fetch->progress().parts, 0u);
    answer_all([&](PeerId, const Message& want) {
        Message said = answer(want);
        if (auto* part = std::get_if<StatePart>(&said)) {
            hear(kSecond, *part);
            StatePart elsewhere = *part;
            elsewhere.block = {};
            hear(kFirst, elsewhere);
        }
        return std::optional{said};
    });
    EXPECT_TRUE(blamed.empty());
    expect_whole();
}

}  // namespace
}  // namespace rhizome::core
