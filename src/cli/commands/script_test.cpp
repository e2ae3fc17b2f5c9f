// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/testing.h"
#include "cli/tree.h"
#include "crypto/keys.h"
#include "runtime/files.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace rhizome::cli {
namespace {

using testing::Harness;
using testing::Ran;

class ScriptCommand : public ::testing::Test {
protected:
    Ran script(std::vector<std::string> words) {
        words.insert(words.begin(), "script");
        return harness.run(command_tree(), words);
    }
    static crypto::SecretKey secret(std::string_view name) {
        return *crypto::SecretKey::from_bytes(crypto::sha256(as_bytes(name)).view());
    }
    static std::string named(std::string_view name) {
        return std::string{name} + "=" + secret(name).public_key().hex();
    }

    Harness harness;
};

TEST_F(ScriptCommand, AssemblesFromArgumentsAFileOrStdin) {
    EXPECT_EQ(script({"asm", "OP_1", "OP_2", "ADD"}).out, "515293\n");
    EXPECT_EQ(script({"asm", "OP_1 OP_2 ADD"}).out, "515293\n");
    harness.in.str("OP_1 # one\nOP_2\n");
    EXPECT_EQ(script({"asm"}).out, "5152\n");
    test::TempFolder folder;
    ASSERT_TRUE(runtime::write_new_file(folder / "lock", "after 5d member\n", 0600));
    EXPECT_EQ(script({"asm", "-f", (folder / "lock").native()}).out, "034c0340b275b4\n");
    EXPECT_EQ(script({"asm", "-f", (folder / "lock").native(), "1"}).code, 2);
    EXPECT_EQ(script({"asm", "-f", (folder / "absent").native()}).code, 3);
    const auto data = json::parse(script({"asm", "-o", "json", "member"}).out);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->text_at({"hex"}), "b4");
    EXPECT_EQ(data->text_at({"assembly"}), "OP_CHECKMEMBERSIG");
}

TEST_F(ScriptCommand, TakesBackTheBytesThatItPrinted) {
    const std::string printed = script({"asm", "after", "5d", "member"}).out;
    harness.in.str(printed);
    EXPECT_EQ(script({"explain"}).out, script({"explain", "after", "5d", "member"}).out);
    EXPECT_EQ(script({"asm", "b4"}).out, "b4\n");
    EXPECT_NE(script({"asm", "5152"}).out, "5152\n");  // a number
    EXPECT_EQ(script({"asm", "b4b"}).code, 1);
}

TEST_F(ScriptCommand, PointsAtAMistake) {
    const Ran ran = script({"asm", "OP_DUP OP_HAHS160"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err,
              "OP_DUP OP_HAHS160\n"
              "       ^^^^^^^^^^\n"
              "error: script: line 1, column 8: \"OP_HAHS160\" is no instruction, number or time\n"
              "hint: did you mean OP_HASH160?\n");
    EXPECT_EQ(script({"explain", "p2pkh", "alcie", "-k", named("alice")}).err,
              "p2pkh alcie\n"
              "      ^^^^^\n"
              "error: script: line 1, column 7: no key is named \"alcie\"\n"
              "hint: did you mean alice?\n");
    EXPECT_EQ(script({"asm", "-k", "alice", "1"}).code, 2);
    EXPECT_EQ(script({"asm", "-k", "alice=02", "1"}).code, 2);
}

TEST_F(ScriptCommand, DisassemblesAnyBytes) {
    EXPECT_EQ(script({"disasm", "0x5152", "93"}).out, "1 2 OP_ADD\n");
    EXPECT_EQ(script({"disasm", "4c0107ff"}).out, "0x4c0107 0xff\n");
    EXPECT_EQ(script({"disasm", "515"}).err, "error: the script has 3 hexadecimal digits; two make a byte\n");
    EXPECT_EQ(script({"disasm", "51x2"}).err, "error: digit 3 of the script is not hexadecimal\n");
}

TEST_F(ScriptCommand, ExplainsWhoCanUnlock) {
    const Ran ran = script({"explain", "-k", named("a"), "-k", named("b"), "-k", named("c"),
                            "either multisig 2 a b c or after 5d multisig 1 a b c"});
    EXPECT_EQ(ran.out,
              "any 2 of 3 keys; or, after 5 days, any 1 of 3 keys\n"
              "unlock with: 0, 2 signatures in the order of the keys, 1\n"
              "unlock with: 0, 1 signature, 0\n");
    EXPECT_EQ(script({"explain", "1 ADD"}).out,
              "this script is not of a known form: 2 instructions, none of which checks a signature\n");
}

TEST_F(ScriptCommand, RunsToAVerdict) {
    EXPECT_EQ(script({"run", "--unlock", "1 2", "ADD 3 EQUAL"}).out, "OK, 0 signature checks\n");
    const Ran failed = script({"run", "--unlock", "1 3", "ADD 3 EQUALVERIFY 1"});
    EXPECT_EQ(failed.code, 4);
    EXPECT_EQ(failed.out, "EQUALVERIFY\n");
    EXPECT_EQ(failed.err, "error: EQUALVERIFY at byte 2 of the locking script: two items that must be equal are not\n");
    const auto data = json::parse(script({"run", "-o", "json", "--unlock", "1", "2 EQUAL"}).out);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->text_at({"error"}), "EVAL_FALSE");
}

TEST_F(ScriptCommand, TriesLocksWithAssumedOrRealSignatures) {
    const std::vector<std::string> delay{"run",           "-k",
                                         named("alice"),  "--unlock",
                                         "'sig' <alice>", "--assume-signatures",
                                         "valid",         "after 5d p2pkh alice"};
    EXPECT_EQ(script(delay).code, 4);
    auto waited = delay;
    waited.insert(waited.end(), {"--sequence", "5d"});
    EXPECT_EQ(script(waited).out, "OK, 1 signature check\n");

    harness.console.now = [] { return Time::from_unix_seconds(1'800'000'000); };
    const std::vector<std::string> grant{"run",           "-k",
                                         named("alice"),  "--member",
                                         "alice",         "--unlock",
                                         "'sig' <alice>", "--assume-signatures",
                                         "valid",         "until 2027-01-01 member"};
    EXPECT_EQ(script(grant).out, "EXPIRED\n") << "it is 2027-01-15";
    auto earlier = grant;
    earlier.insert(earlier.end(), {"--time", "2026-12-31"});
    EXPECT_EQ(script(earlier).out, "OK, 1 signature check, for this block only\n");

    const auto digest = crypto::sha256(as_bytes("a transaction"));
    Bytes signature = crypto::sign(secret("alice"), digest).to_der();
    signature.push_back(1);
    const std::vector<std::string> real{
        "run", "-k", named("alice"), "--unlock", "<" + to_hex(signature) + "> <alice>", "p2pkh alice", "--digest"};
    auto right = real;
    right.push_back(digest.hex());
    EXPECT_EQ(script(right).out, "OK, 1 signature check\n");
    auto wrong = real;
    wrong.push_back(crypto::Digest{}.hex());
    EXPECT_EQ(script(wrong).out, "NULLFAIL\n");
    EXPECT_EQ(script({"run", "1", "--digest", "12"}).code, 2);
    EXPECT_EQ(script({"run", "1", "--time", "soon"}).code, 2);
    EXPECT_EQ(script({"run", "1", "--height", "-1"}).code, 2);
    EXPECT_EQ(script({"run", "1", "--member", "xx"}).code, 2);
}

// The thesis's figure 19, with what its steps leave on the stack.
TEST_F(ScriptCommand, TracesFigure19) {
    const Ran ran = script({"trace", "-k", named("alice"), "--unlock", "'script_sig' <alice>", "--assume-signatures",
                            "valid", "OP_DUP OP_HASH160 <alice> OP_EQUALVERIFY OP_CHECKSIG"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    test::expect_golden("cli/script-trace.txt", ran.out);
    const auto data = json::parse(script({"trace", "-o", "json", "--unlock", "1", "1 EQUAL"}).out);
    ASSERT_TRUE(data);
    ASSERT_EQ(data->find("steps")->if_array()->size(), 3u);
    EXPECT_EQ(data->find("steps")->if_array()->at(1).text_at({"rest"}), "OP_EQUAL");
}

}  // namespace
}  // namespace rhizome::cli
