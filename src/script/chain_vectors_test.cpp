// SPDX-License-Identifier: Apache-2.0
// The chain's own rules and instructions, with real signatures: tests/vectors/script/chain_cases.json.
#include <gtest/gtest.h>

#include "script/assembler.h"
#include "script/explain.h"
#include "script/interpreter.h"
#include "script/template.h"
#include "support/signing_host.h"
#include "support/vectors.h"

namespace rhizome::script {
namespace {

template <class Number>
Number number_or(const boost::json::object& object, std::string_view key, Number fallback) {
    const auto* found = object.if_contains(key);
    return found == nullptr ? fallback : found->to_number<Number>();
}

TEST(ChainVectors, CasesUnderTheChainsRules) {
    const auto file = test::own_vectors("script/chain_cases.json");
    const auto& cases = file.at("cases").as_array();
    EXPECT_GE(cases.size(), 30u);
    for (const auto& value : cases) {
        const auto& row = value.as_object();
        const std::string label = test::text(value, "name");
        test::SigningHost host;
        if (const auto* world = row.if_contains("world")) {
            const auto& given = world->as_object();
            host.lock_time = number_or<std::uint32_t>(given, "lockTime", 0);
            host.sequence = number_or<std::uint32_t>(given, "sequence", kSequenceFinal);
            host.height = number_or<std::int64_t>(given, "height", 0);
            host.time = number_or<std::int64_t>(given, "time", 0);
            if (const auto* members = given.if_contains("members")) {
                for (const auto& key : members->as_array()) host.members.push_back(*from_hex(key.as_string()));
            }
        }
        const auto unlocking = assemble(test::text(value, "unlocking"));
        const auto locking = assemble(test::text(value, "locking"));
        ASSERT_TRUE(unlocking && locking) << label;
        const Limits limits{.signature_checks = number_or<std::uint32_t>(row, "budget", 20'000)};
        const Verdict verdict = verify(*unlocking, *locking, host, kChainRules, limits);
        EXPECT_EQ(name(verdict.error), test::text(value, "expect")) << label;
        EXPECT_EQ(verdict.signature_checks, row.at("checks").to_number<std::uint32_t>()) << label;
        EXPECT_EQ(verdict.depends_on_block, row.at("dependsOnBlock").as_bool()) << label;
        if (!verdict.ok()) {
            EXPECT_EQ(name(verdict.part), test::text(value, "part")) << label;
            EXPECT_EQ(verdict.offset, row.at("offset").to_number<std::uint32_t>()) << label;
        }
    }
}

TEST(ChainVectors, TemplatesAndTheirScripts) {
    const auto file = test::own_vectors("script/templates.json");
    EXPECT_GE(file.at("good").as_array().size(), 12u);
    for (const auto& row : file.at("good").as_array()) {
        const auto made = compile(test::text(row, "template"));
        ASSERT_TRUE(made) << test::text(row, "template");
        EXPECT_EQ(to_hex(*made), test::text(row, "hex")) << test::text(row, "template");
        EXPECT_EQ(disassemble(*made), test::text(row, "assembly"));
        EXPECT_EQ(explain(*made).sentence, test::text(row, "meaning"));
    }
    EXPECT_GE(file.at("bad").as_array().size(), 8u);
    for (const auto& row : file.at("bad").as_array()) {
        const auto made = compile(test::text(row, "template"));
        ASSERT_FALSE(made) << test::text(row, "template");
        EXPECT_EQ(made.error().column, row.at("column").to_number<std::size_t>()) << test::text(row, "template");
        EXPECT_EQ(made.error().message, test::text(row, "message"));
    }
}

}  // namespace
}  // namespace rhizome::script
