// SPDX-License-Identifier: Apache-2.0
// Public script vectors, with the exact error of every case. They run on Bitcoin's transactions and digest, which exist
// in the tests only; the interpreter is the one of the chain with other rules switched on.
#include <gtest/gtest.h>

#include "script/assembler.h"
#include "script/interpreter.h"
#include "support/bitcoin.h"
#include "support/vectors.h"

namespace rhizome::script {
namespace {

void run_cases(const boost::json::value& file, std::size_t at_least) {
    const auto& cases = file.at("cases").as_array();
    EXPECT_GE(cases.size(), at_least);
    for (const auto& row : cases) {
        const std::string unlocking_text = test::text(row, "scriptSig");
        const std::string locking_text = test::text(row, "scriptPubKey");
        const auto where = [&] {
            return "row " + std::to_string(row.at("row").to_number<int>()) + ": " + unlocking_text + " | " +
                   locking_text;
        };
        const auto unlocking = assemble(unlocking_text);
        const auto locking = assemble(locking_text);
        EXPECT_TRUE(unlocking && locking) << where();
        const auto flags = test::bitcoin::parse_flags(test::text(row, "flags"));
        EXPECT_TRUE(flags) << where();
        if (!unlocking || !locking || !flags) continue;
        const auto credit = test::bitcoin::credit_tx(*locking);
        const auto spend = test::bitcoin::spend_tx(*unlocking, credit);
        const test::bitcoin::Host host{spend};
        const Verdict verdict = test::bitcoin::verify_script(*unlocking, *locking, *flags, host);
        EXPECT_EQ(name(verdict.error), test::text(row, "expect")) << where();
    }
}

TEST(InterpreterVectors, BitcoinScriptCases) {
    const auto file = test::shared_vectors("script_cases.json");
    if (!file) GTEST_SKIP() << test::absent_vectors("script_cases.json");
    run_cases(*file, 700);
}

TEST(InterpreterVectors, OwnScriptCasesUnderBitcoinsRules) {
    run_cases(test::own_vectors("script/bitcoin_cases.json"), 60);
}

void run_digests(const boost::json::array& rows, std::size_t at_least) {
    std::size_t count = 0;
    for (const auto& value : rows) {
        const auto& row = value.as_array();
        if (row.size() != 5) continue;  // the heading
        const auto bytes = from_hex(row[0].as_string());
        const auto script = from_hex(row[1].as_string());
        ASSERT_TRUE(bytes && script);
        const auto tx = test::bitcoin::parse_tx(*bytes);
        ASSERT_TRUE(tx);
        EXPECT_EQ(test::bitcoin::serialize(*tx), *bytes);
        auto digest = test::bitcoin::legacy_digest(*tx, *script, row[2].to_number<std::size_t>(),
                                                   row[3].to_number<std::int32_t>());
        std::reverse(digest.writable().begin(), digest.writable().end());  // Bitcoin prints hashes backwards
        EXPECT_EQ(digest.hex(), std::string{row[4].as_string()}) << "row " << count;
        ++count;
    }
    EXPECT_GE(count, at_least);
}

TEST(InterpreterVectors, BitcoinDigests) {
    const auto file = test::shared_vectors("sighash.json");
    if (!file) GTEST_SKIP() << test::absent_vectors("sighash.json");
    run_digests(file->as_array(), 300);
}

}  // namespace
}  // namespace rhizome::script
