// SPDX-License-Identifier: Apache-2.0
#include "consensus/evidence.h"

#include <functional>

#include <gtest/gtest.h>

#include "ledger/check.h"
#include "ledger/limits.h"
#include "support/evidence_samples.h"

namespace rhizome::consensus {
namespace {

using ledger::RejectCode;
using test::EvidenceRow;

const CurveSignatures kCurves;

/// Says yes to every signature and counts how often it was asked.
class Counting final : public Signatures {
public:
    [[nodiscard]] bool is_good(const MemberKey&, const crypto::Digest&, const CompactSignature&) const override {
        ++asked;
        return true;
    }
    [[nodiscard]] std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32>, ByteView,
                                                              const crypto::VrfProof&) const override {
        return std::nullopt;
    }
    mutable std::size_t asked = 0;
};

TEST(Evidence, NamesTheAccused) {
    for (const EvidenceRow& row : test::good_evidence()) {
        const auto accused = check_evidence(row.evidence, test::sample_chain(), kCurves);
        ASSERT_TRUE(accused) << row.name << ": " << to_text(accused.error());
        EXPECT_EQ(*accused, row.evidence.accused) << row.name;
    }
}

TEST(Evidence, IsRefusedWithTheReason) {
    for (const EvidenceRow& row : test::bad_evidence()) {
        const auto accused = check_evidence(row.evidence, test::sample_chain(), kCurves);
        ASSERT_FALSE(accused) << row.name;
        EXPECT_EQ(accused.error().code, RejectCode::BadVote) << row.name;
        EXPECT_NE(accused.error().why.find(row.why), std::string::npos) << row.name << ": " << accused.error().why;
    }
}

TEST(Evidence, CostsTwoSignatureChecksAtMost) {
    for (const EvidenceRow& row : test::good_evidence()) {
        const Counting counting;
        EXPECT_TRUE(check_evidence(row.evidence, test::sample_chain(), counting));
        EXPECT_EQ(counting.asked, kEvidenceChecks) << row.name;
    }
    for (const EvidenceRow& row : test::bad_evidence()) {
        const Counting counting;
        const bool taken = check_evidence(row.evidence, test::sample_chain(), counting).has_value();
        // What contradicts nothing costs nothing.
        EXPECT_EQ(counting.asked, taken ? kEvidenceChecks : 0) << row.name;
        EXPECT_EQ(taken, row.why.find("did not sign") == 0 || row.why == "on this chain") << row.name;
    }
}

TEST(Evidence, IsDatedByTheLaterOfTheTwo) {
    const auto votes = test::accuse("n1", test::vote_of("n1", test::ballot_of(3, 9, "a")),
                                    test::vote_of("n1", test::ballot_of(4, 8, "b")));
    EXPECT_EQ(time_of(votes, milliseconds{250}), Time::from_unix_millis(2'500));
    auto late = test::sample_header("p", "b");
    late.time = late.time + seconds{3};
    const auto headers =
        test::accuse("n1", test::header_of("n1", late), test::header_of("n1", test::sample_header("p", "a")));
    EXPECT_EQ(time_of(headers, milliseconds{250}), late.time);
}

TEST(EvidenceDocument, ReadsBackAndStandsWhereItIsLookedFor) {
    auto rows = test::good_evidence();
    for (auto& bad : test::bad_evidence()) rows.push_back(std::move(bad));
    for (const EvidenceRow& row : rows) {
        const std::string text = json::print(to_document(row.evidence));
        EXPECT_LE(text.size(), kEvidenceBytesMax / 3 * 2) << row.name;
        const auto read = from_document(json::parse(text).value());
        ASSERT_TRUE(read) << row.name << ": " << to_text(read.error());
        EXPECT_EQ(*read, row.evidence) << row.name;
        const auto named = ledger::name_output(text);
        ASSERT_TRUE(named) << row.name << ": " << to_text(named.error());
        EXPECT_TRUE(named->resource.builtin);
        EXPECT_EQ(named->resource.path, evidence_path(row.evidence.accused)) << row.name;
    }
}

TEST(EvidenceDocument, EveryMemberIsKnownAndInItsForm) {
    const Evidence votes = test::good_evidence().front().evidence;
    const Evidence headers = test::good_evidence().back().evidence;
    struct Row {
        const char* name;
        const Evidence& of;
        std::function<void(json::Value&)> change;
        const char* why;
    };
    const auto first_header = [](json::Value& d) -> json::Value& { return (*d["spec"]["headers"].if_array())[0]; };
    const auto first_vote = [](json::Value& d) -> json::Value& { return (*d["spec"]["votes"].if_array())[0]; };
    const auto upper = [](const json::Value& value) {
        std::string digits = *value.if_string();
        for (char& c : digits) c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
        return digits;
    };
    const Row rows[] = {
        {"no object", votes, [](json::Value& d) { d = json::Array{}; }, "the evidence is no object"},
        {"another member", votes, [](json::Value& d) { d["status"] = json::Object{}; }, "not known: \"status\""},
        {"no spec", votes, [](json::Value& d) { d.if_object()->erase("spec"); }, "has no \"spec\""},
        {"another version", votes, [](json::Value& d) { d["apiVersion"] = "rhizome.dev/v2"; }, "apiVersion is not"},
        {"another kind", votes, [](json::Value& d) { d["kind"] = "Rumour"; }, "kind is not"},
        {"a kind that is no text", votes, [](json::Value& d) { d["kind"] = 1; }, "kind is not"},
        {"labels", votes, [](json::Value& d) { d["metadata"]["labels"] = json::Object{}; }, "not known: \"labels\""},
        {"a namespace", votes, [](json::Value& d) { d["metadata"]["namespace"] = "web"; }, "not known: \"namespace\""},
        {"no name", votes, [](json::Value& d) { d["metadata"] = json::Object{}; }, "metadata has no \"name\""},
        {"metadata that is no object", votes, [](json::Value& d) { d["metadata"] = "x"; }, "metadata is no object"},
        {"a name that is no key", votes, [](json::Value& d) { d["metadata"]["name"] = "n1"; }, "metadata.name is not"},
        {"a name in capitals", votes, [&](json::Value& d) { d["metadata"]["name"] = upper(d["metadata"]["name"]); },
         "metadata.name is not"},
        {"a spec that is no object", votes, [](json::Value& d) { d["spec"] = 1; }, "spec is no object"},
        {"an empty spec", votes, [](json::Value& d) { d["spec"] = json::Object{}; }, "spec has no \"headers\""},
        {"votes and headers", votes,
         [&](json::Value& d) {
             d["spec"]["headers"] = *json::Value{to_document(headers)}.find_path({"spec", "headers"});
         },
         "not known: \"headers\""},
        {"votes that are no array", votes, [](json::Value& d) { d["spec"]["votes"] = "x"; }, "an array of two"},
        {"one vote", votes, [](json::Value& d) { d["spec"]["votes"].if_array()->pop_back(); }, "an array of two"},
        {"three votes", votes,
         [&](json::Value& d) { d["spec"]["votes"].if_array()->push_back(json::Value{first_vote(d)}); },
         "an array of two"},
        {"a vote that is no text", votes, [&](json::Value& d) { first_vote(d) = 5; }, "spec.votes is not 217 bytes"},
        {"a shorter vote", votes, [&](json::Value& d) { first_vote(d).if_string()->resize(2 * kVoteBytes - 2); },
         "spec.votes is not 217 bytes"},
        {"a longer vote", votes, [&](json::Value& d) { *first_vote(d).if_string() += "00"; },
         "spec.votes is not 217 bytes"},
        {"a vote in capitals", votes, [&](json::Value& d) { first_vote(d) = upper(first_vote(d)); },
         "spec.votes is not 217 bytes"},
        {"a vote into the past", votes,
         [&](json::Value& d) { first_vote(d).if_string()->replace(2 * (33 + 8 + 7), 2, "ff"); }, "what is no vote"},
        {"one header", headers, [](json::Value& d) { d["spec"]["headers"].if_array()->pop_back(); }, "an array of two"},
        {"a header that is a text", headers, [&](json::Value& d) { first_header(d) = "00"; },
         "spec.headers is no object"},
        {"a header without its signature", headers,
         [&](json::Value& d) { first_header(d).if_object()->erase("signature"); }, "has no \"signature\""},
        {"a header with a seal", headers, [&](json::Value& d) { first_header(d)["seal"] = ""; }, "not known: \"seal\""},
        {"a short signature", headers, [&](json::Value& d) { first_header(d)["signature"] = "00"; },
         "spec.headers.signature is not 64 bytes"},
        {"a short header", headers, [&](json::Value& d) { first_header(d)["header"] = "00"; },
         "spec.headers.header is not 161 bytes"},
        {"a header of another version", headers,
         [&](json::Value& d) { first_header(d)["header"].if_string()->replace(0, 2, "02"); },
         "spec.headers.header is no header"},
    };
    for (const Row& row : rows) {
        json::Value document = to_document(row.of);
        row.change(document);
        const auto read = from_document(document);
        ASSERT_FALSE(read) << row.name;
        EXPECT_EQ(read.error().code, RejectCode::BadEncoding) << row.name;
        EXPECT_NE(read.error().why.find(row.why), std::string::npos) << row.name << ": " << read.error().why;
    }
}

TEST(EvidenceTx, IsCompleteAndSignedByNobody) {
    test::TestChain chain;
    const Evidence evidence = test::good_evidence().front().evidence;
    const ledger::Tx tx = evidence_tx(evidence, chain.state(), chain.now());
    const auto checked = ledger::check_tx(tx);
    ASSERT_TRUE(checked) << to_text(checked.error());
    EXPECT_EQ((*checked)->outputs[0].resource.path, evidence_path(evidence.accused));
    ASSERT_EQ(tx.inputs.size(), 1u);
    EXPECT_TRUE(tx.inputs[0].unlocking.empty());
    EXPECT_TRUE(tx.outputs[0].locking.empty());
    EXPECT_EQ(tx.expiry, chain.now().unix_seconds() + ledger::kExpirySecondsDefault);
    // Where nobody proves anything to the ledger, it is a transaction that nobody has signed.
    EXPECT_EQ(chain.verdict(*checked), "NotAuthorised");
}

}  // namespace
}  // namespace rhizome::consensus
