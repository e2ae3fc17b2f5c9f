// SPDX-License-Identifier: Apache-2.0
// Golden evidence, good and bad: tests/vectors/consensus/evidence.json.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/evidence_samples.h"
#include "support/golden.h"

namespace rhizome::consensus {
namespace {

using test::text;

constexpr std::string_view kFile = "consensus/evidence.json";

std::string rows_of(const std::vector<test::EvidenceRow>& rows, bool with_why) {
    std::string list;
    for (const auto& row : rows) {
        list += fmt::format("{}\n  {{\"name\": {}, \"document\": {}", list.empty() ? "" : ",", json::quote(row.name),
                            json::quote(json::print(to_document(row.evidence))));
        if (with_why)
            list += fmt::format(
                ", \"why\": {}",
                json::quote(check_evidence(row.evidence, test::sample_chain(), CurveSignatures{}).error().why));
        list += "}";
    }
    return "[" + list + "\n ]";
}

TEST(EvidenceVectors, AreAsReviewed) {
    test::expect_golden(kFile,
                        fmt::format("{{\n \"about\": \"docs/spec/chain.md section 5, Evidence. The documents as they "
                                    "stand in transactions; bad ones are BadVote on this chain.\",\n"
                                    " \"chain\": \"{}\",\n \"good\": {},\n \"bad\": {}\n}}\n",
                                    test::sample_chain().hex(), rows_of(test::good_evidence(), false),
                                    rows_of(test::bad_evidence(), true)));
}

TEST(EvidenceVectors, FilesAreJudgedAsTheySay) {
    const auto file = test::own_vectors(kFile);
    const auto chain = ledger::ChainId::from_hex(text(file, "chain")).value();
    const CurveSignatures curves;
    for (const auto& row : file.at("good").as_array()) {
        const auto evidence = from_document(json::parse(text(row, "document")).value());
        ASSERT_TRUE(evidence) << text(row, "name");
        EXPECT_EQ(json::print(to_document(*evidence)), text(row, "document"));
        EXPECT_TRUE(check_evidence(*evidence, chain, curves)) << text(row, "name");
    }
    for (const auto& row : file.at("bad").as_array()) {
        const auto evidence = from_document(json::parse(text(row, "document")).value());
        ASSERT_TRUE(evidence) << text(row, "name");
        const auto accused = check_evidence(*evidence, chain, curves);
        ASSERT_FALSE(accused) << text(row, "name");
        EXPECT_EQ(accused.error().code, ledger::RejectCode::BadVote);
        EXPECT_EQ(accused.error().why, text(row, "why")) << text(row, "name");
    }
    EXPECT_GE(file.at("good").as_array().size(), 6u);
    EXPECT_GE(file.at("bad").as_array().size(), 24u);
}

}  // namespace
}  // namespace rhizome::consensus
