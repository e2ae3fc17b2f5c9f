// SPDX-License-Identifier: Apache-2.0
// Documents that prove themselves are created by nobody's authority, and nothing else is.
#include <gtest/gtest.h>

#include "ledger/chain_records.h"
#include "ledger/limits.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

/// Evidence proves itself when it is noted as good.
class Proving final : public Rules {
public:
    [[nodiscard]] std::optional<Proof> proves_itself(const GroupKind& type) const override {
        if (type.kind != "Evidence") return std::nullopt;
        return Proof{.checks = 2, .bytes_max = 200};
    }
    [[nodiscard]] bool wants(const GroupKind& type) const override { return type.kind == "Evidence"; }
    [[nodiscard]] Result<void, Reject> admit_store(const Resource&, const json::Value& document, const state::Entry*,
                                                   const WorkingState&) const override {
        if (document.text_at({"spec", "note"}) == "good") return {};
        return reject(RejectCode::BadVote, "it proves nothing");
    }
};

std::string evidence(std::string_view name, std::string_view note = "good") {
    return document("rhizome.dev/v1", "Evidence", "", name, note);
}

/// A cluster of `creator` with the namespace `web` of `nadia`.
class SelfProof : public ::testing::Test {
protected:
    SelfProof() {
        chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia"))});
    }

    /// With the Cluster's lock point named and not opened, unless `signer` opens it.
    Draft open(std::vector<Output> outputs, std::string_view signer = {}) {
        Draft draft{.outputs = std::move(outputs)};
        chain.by(draft, "/", signer);
        return draft;
    }
    Result<Effects, Reject> decide(const Draft& draft, const Rules& rules, std::size_t checks = kBlockChecksMax) {
        const WorkingState working{chain.state().view(), chain.state().index()};
        const NextBlock next = chain.next();
        SignatureCache cache;
        return ledger::decide(chain.sign(draft), working, place_of(chain.state(), next), rules, cache, checks);
    }
    std::string verdict(const Draft& draft, std::size_t checks = kBlockChecksMax) {
        const auto effects = decide(draft, proving, checks);
        return effects ? "OK" : std::string{name(effects.error().code)};
    }
    /// Writes evidence into the chain, by the creator.
    void write_evidence(std::string_view name) { chain.mine_all({chain.create("/", "creator", evidence(name))}); }

    TestChain chain;
    const Proving proving;
};

TEST_F(SelfProof, IsCreatedByNobodysAuthority) {
    const Draft draft = open({{.value = evidence("x")}});
    const auto effects = decide(draft, proving);
    ASSERT_TRUE(effects) << to_text(effects.error());
    EXPECT_TRUE(effects->consumed.empty());
    // Whoever changes the Cluster's lock comes after it.
    EXPECT_EQ(effects->locks_used, std::vector<Outpoint>{chain.get("/")->origin().lock.output});
    EXPECT_EQ(effects->checks, 2u);
    EXPECT_EQ(effects->creates.size(), 1u);
}

TEST_F(SelfProof, OnlyWhereTheRulesSaySo) {
    const auto effects = decide(open({{.value = evidence("x")}}), Rules{});
    ASSERT_FALSE(effects);
    EXPECT_EQ(effects.error().code, RejectCode::NotAuthorised);
    EXPECT_EQ(verdict(open({{.value = document("v1", "Namespace", "", "shop")}})), "NotAuthorised");
}

TEST_F(SelfProof, TheProofIsAskedFor) {
    EXPECT_EQ(verdict(open({{.value = evidence("x", "bad")}})), "BadVote");
    EXPECT_EQ(verdict(open({{.value = evidence("x", "bad")}}, "creator")), "BadVote");
}

TEST_F(SelfProof, HasNoLockOfItsOwn) {
    EXPECT_EQ(verdict(open({{.value = evidence("x"), .locking = lock_of("mallory")}})), "NotAuthorised");
    EXPECT_EQ(verdict(open({{.value = evidence("x"), .locking = lock_of("carol")}}, "creator")), "OK");
}

TEST_F(SelfProof, LendsItsInputToNothingElse) {
    EXPECT_EQ(verdict(open({{.value = evidence("x")}, {.value = document("v1", "Namespace", "", "shop")}})),
              "NotAuthorised");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}, {.value = document("v1", "Pod", "web", "p")}})), "NotAuthorised");
    const std::string deletion = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"},"deleted":true})";
    EXPECT_EQ(verdict(open({{.value = evidence("x")}, {.value = deletion}})), "NotAuthorised");
    Draft by_input = open({{.value = evidence("x")}, {}});
    chain.version(by_input, "/namespaces/web");
    EXPECT_EQ(verdict(by_input), "NotAuthorised");
    Draft update = open({{.value = evidence("x")},
                         {.value = document("v1", "Namespace", "", "web", "mine"), .locking = lock_of("mallory")}});
    chain.version(update, "/namespaces/web");
    EXPECT_EQ(verdict(update), "NotAuthorised");
    Draft takeover = open(
        {{.value = evidence("x")}, {.value = std::string{chain.get("/")->document()}, .locking = lock_of("mallory")}});
    EXPECT_EQ(verdict(takeover), "NotAuthorised");
}

TEST_F(SelfProof, GoesTogetherWithWhatSomebodySignedFor) {
    EXPECT_EQ(verdict(open({{.value = evidence("x")}, {.value = document("v1", "Namespace", "", "shop")}}, "creator")),
              "OK");
    // The Cluster is written by its own lock, and so the input is signed.
    Draft update{.outputs = {{.value = evidence("x")},
                             {.value = std::string{chain.get("/")->document()}, .locking = lock_of("creator")}}};
    chain.version(update, "/", "creator");
    EXPECT_EQ(verdict(update), "OK");
    // Two namespaces' worth of authority in one transaction: each asks its own lock.
    Draft pod = open({{.value = evidence("x")}, {.value = document("v1", "Pod", "web", "p")}});
    chain.by(pod, "/namespaces/web", "nadia");
    EXPECT_EQ(verdict(pod), "OK");
}

TEST_F(SelfProof, NamesTheClustersLockPoint) {
    Draft other{.outputs = {{.value = evidence("x")}}};
    chain.by(other, "/namespaces/web", "");
    EXPECT_EQ(verdict(other), "NotAuthorised");
    const Draft old = open({{.value = evidence("x")}});
    Draft lock{.outputs = {{.value = std::string{chain.get("/")->document()}, .locking = lock_of("heir")}}};
    chain.version(lock, "/", "creator");
    chain.mine_all({chain.sign(lock)});
    EXPECT_EQ(verdict(old), "MissingInput");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}})), "OK");
}

TEST_F(SelfProof, ExpiresAndIsNotPlayedAgain) {
    Draft draft = open({{.value = evidence("x")}});
    draft.expiry = static_cast<std::uint32_t>(chain.now().unix_seconds() + kExpirySecondsMax + 10);
    EXPECT_EQ(verdict(draft), "Expired");
    draft.expiry = static_cast<std::uint32_t>(chain.now().unix_seconds());
    EXPECT_EQ(verdict(draft), "Expired");
}

TEST_F(SelfProof, OneNameIsTakenOnce) {
    write_evidence("x");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}})), "AlreadyExists");
    EXPECT_EQ(verdict(open({{.value = evidence("x", "bad")}})), "AlreadyExists");
    EXPECT_EQ(verdict(open({{.value = evidence("y")}})), "OK");
}

TEST_F(SelfProof, IsChangedAndDeletedByTheClustersLockOnly) {
    write_evidence("x");
    const std::string path = "/global/rhizome.dev/Evidence/x";
    for (const std::string signer : {"", "nadia", "creator"}) {
        const std::string wanted = signer == "creator" ? "OK" : "NotAuthorised";
        Draft update = open({{.value = evidence("x")}}, signer);
        chain.version(update, path);
        EXPECT_EQ(verdict(update), wanted) << signer;
        Draft by_name = open(
            {{.value = R"({"apiVersion":"rhizome.dev/v1","kind":"Evidence","metadata":{"name":"x"},"deleted":true})"}},
            signer);
        EXPECT_EQ(verdict(by_name), wanted) << signer;
        Draft by_input = open({}, signer);
        chain.version(by_input, path);
        EXPECT_EQ(verdict(by_input), wanted) << signer;
    }
    Draft own{.outputs = {{.value = evidence("x")}}};
    chain.version(own, path, "mallory");
    EXPECT_EQ(verdict(own), "NotAuthorised");
}

TEST_F(SelfProof, ADeletionIsRememberedAsAPardon) {
    write_evidence("x");
    write_evidence("y");
    EXPECT_EQ(chain.get("/chain/pardons/x"), nullptr);
    Draft by_name =
        open({{.value = R"({"apiVersion":"rhizome.dev/v1","kind":"Evidence","metadata":{"name":"x"},"deleted":true})"}},
             "creator");
    chain.mine_all({chain.sign(by_name)});
    const state::Entry* pardon = chain.get("/chain/pardons/x");
    ASSERT_NE(pardon, nullptr);
    EXPECT_EQ(records::decode_number(pardon->bytes()), static_cast<std::uint64_t>(chain.now().unix_millis()));
    EXPECT_EQ(chain.get("/chain/pardons/y"), nullptr);
    Draft update = open({{.value = evidence("y")}}, "creator");
    chain.version(update, "/global/rhizome.dev/Evidence/y");
    chain.mine_all({chain.sign(update)});
    EXPECT_EQ(chain.get("/chain/pardons/y"), nullptr);
}

TEST_F(SelfProof, IsSmallAndItsChecksAreCounted) {
    EXPECT_EQ(verdict(open({{.value = evidence("x") + std::string(200, ' ')}})), "TooLarge");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}}), 1), "TooManyChecks");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}}), 2), "OK");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}, {.value = evidence("y")}}), 3), "TooManyChecks");
    EXPECT_EQ(verdict(open({{.value = evidence("x")}, {.value = evidence("y")}}), 4), "OK");
}

}  // namespace
}  // namespace rhizome::ledger
