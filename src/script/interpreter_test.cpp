// SPDX-License-Identifier: Apache-2.0
#include "script/interpreter.h"

#include <gtest/gtest.h>

#include "script/assembler.h"
#include "support/signing_host.h"

namespace rhizome::script {
namespace {

Bytes code(std::string_view text) { return assemble(text).value(); }

/// Says yes to every signature and counts how often it was asked.
class Yes final : public Host {
public:
    mutable std::size_t asked = 0;
    [[nodiscard]] bool check_signature(const SignatureQuestion& /*question*/) const override {
        ++asked;
        return true;
    }
};

TEST(Interpreter, SaysWhereItFailed) {
    const struct {
        const char *unlocking, *locking;
        ScriptError error;
        ScriptPart part;
        unsigned offset;
    } rows[] = {
        {"1 NOP", "1", ScriptError::SigPushOnly, ScriptPart::Unlocking, 0},
        {"1 0x0101", "1", ScriptError::MinimalData, ScriptPart::Unlocking, 1},
        {"1", "1 <aabb> EQUALVERIFY 1", ScriptError::EqualVerify, ScriptPart::Locking, 4},
        {"1", "IF 1", ScriptError::UnbalancedConditional, ScriptPart::Locking, 2},
        {"0", "NOP", ScriptError::EvalFalse, ScriptPart::Locking, 1},
        {"1", "1", ScriptError::CleanStack, ScriptPart::Locking, 1},
        {"1", "", ScriptError::Ok, ScriptPart::Locking, 0},
    };
    for (const auto& row : rows) {
        const Verdict verdict = verify(code(row.unlocking), code(row.locking), Host{});
        EXPECT_EQ(name(verdict.error), name(row.error)) << row.locking;
        EXPECT_EQ(verdict.part, row.part) << row.locking;
        EXPECT_EQ(verdict.offset, row.offset) << row.locking;
    }
    EXPECT_EQ(to_error(verify(code("1"), code("2 EQUALVERIFY"), Host{})).message,
              "EQUALVERIFY at byte 1 of the locking script: two items that must be equal are not");
}

TEST(Interpreter, AHostSaysNoUnlessItKnowsBetter) {
    const Bytes key = to_bytes(test::Person{"a"}.key.bytes());
    const Bytes signature = test::SigningHost::sign(test::Person{"a"}, {});
    const auto run_with = [&](const char* locking) {
        return verify(ScriptBuilder{}.data(signature).data(key).view(), code(locking), Host{}).error;
    };
    EXPECT_EQ(run_with("CHECKSIG"), ScriptError::NullFail);
    EXPECT_EQ(run_with("CHECKMEMBERSIG"), ScriptError::NullFail);
    EXPECT_EQ(run_with("2DROP 1 CHECKLOCKTIMEVERIFY"), ScriptError::UnsatisfiedLocktime);
    EXPECT_EQ(run_with("2DROP 1 CHECKSEQUENCEVERIFY"), ScriptError::UnsatisfiedLocktime);
    EXPECT_EQ(run_with("2DROP 1 CHECKEXPIRYVERIFY"), ScriptError::Expired);
}

TEST(Interpreter, TheExtensionsAreNopsUnderBitcoinsRules) {
    const Verdict verdict = verify(code("1"), code("NOP4 NOP5"), Host{}, Rules{});
    EXPECT_TRUE(verdict.ok());
    EXPECT_FALSE(verdict.depends_on_block);
}

TEST(Interpreter, ALockOperandIsANumberOfFiveBytesAtMost) {
    const struct {
        const char* locking;
        ScriptError error;
    } rows[] = {
        {"CHECKEXPIRYVERIFY", ScriptError::InvalidStackOperation},
        {"-1 CHECKEXPIRYVERIFY", ScriptError::NegativeLocktime},
        {"<010000000000> CHECKEXPIRYVERIFY", ScriptError::ScriptNum},
        {"<0100> CHECKEXPIRYVERIFY", ScriptError::ScriptNum},
        {"549755813887 CHECKEXPIRYVERIFY DROP 1", ScriptError::Ok},
        {"2147483648 CHECKSEQUENCEVERIFY DROP 1", ScriptError::Ok},  // the bit that disables it
    };
    test::SigningHost host;
    for (const auto& row : rows) EXPECT_EQ(verify({}, code(row.locking), host).error, row.error) << row.locking;
}

TEST(Interpreter, ChecksBeyondTheBudgetAreRefusedBeforeTheyAreMade) {
    const Bytes key = to_bytes(test::Person{"a"}.key.bytes());
    const Bytes signature = test::SigningHost::sign(test::Person{"a"}, {});
    // Ten multisigs of twenty keys fill the limit of operations: 200 checks asked of a script of under 700 bytes.
    ScriptBuilder bomb;
    for (int i = 0; i < 9; ++i) {
        bomb.number(0);
        bomb.data(signature).number(1);
        for (int k = 0; k < 20; ++k) bomb.data(key);
        bomb.number(20).op(OP_CHECKMULTISIG).op(OP_DROP);
    }
    bomb.number(1);
    class No final : public Host {
    public:
        mutable std::size_t asked = 0;
        [[nodiscard]] bool check_signature(const SignatureQuestion& /*question*/) const override {
            ++asked;
            return false;
        }
    } no;
    Rules without_null_fail = kChainRules;
    without_null_fail.null_fail = false;
    for (const std::uint32_t budget : {0u, 1u, 30u, 179u}) {
        no.asked = 0;
        const Verdict verdict = verify({}, bomb.view(), no, without_null_fail, {.signature_checks = budget});
        EXPECT_EQ(verdict.error, ScriptError::SigChecks);
        EXPECT_EQ(verdict.signature_checks, budget);
        EXPECT_EQ(no.asked, budget);
    }
    EXPECT_TRUE(verify({}, bomb.view(), no, without_null_fail, {.signature_checks = 180}).ok());
    no.asked = 0;
    EXPECT_EQ(verify({}, bomb.view(), no).error, ScriptError::NullFail);
    EXPECT_EQ(no.asked, 20u) << "under the chain's rules the first instruction that fails is the last";
}

TEST(Interpreter, ChecksigIsCountedOnceEach) {
    const Bytes key = to_bytes(test::Person{"a"}.key.bytes());
    ScriptBuilder locking;
    const Bytes signature = test::SigningHost::sign(test::Person{"a"}, {});
    for (int i = 0; i < 200; ++i) locking.data(signature).data(key).op(OP_CHECKSIGVERIFY);
    locking.number(1);
    const Yes yes;
    const Bytes script = to_bytes(locking.view());
    EXPECT_EQ(verify({}, script, yes).error, ScriptError::ScriptSize);
    ScriptBuilder fewer;
    for (int i = 0; i < 80; ++i) fewer.data(signature).data(key).op(OP_CHECKSIGVERIFY);
    fewer.number(1);
    const Verdict verdict = verify({}, fewer.view(), yes);
    EXPECT_TRUE(verdict.ok());
    EXPECT_EQ(verdict.signature_checks, 80u);
    EXPECT_EQ(yes.asked, 80u);
    EXPECT_EQ(verify({}, fewer.view(), yes, kChainRules, {.signature_checks = 4}).error, ScriptError::SigChecks);
}

TEST(Interpreter, TheCodeOfASignatureBeginsBehindTheLastExecutedSeparator) {
    class Codes final : public Host {
    public:
        mutable std::vector<std::string> seen;
        [[nodiscard]] bool check_signature(const SignatureQuestion& question) const override {
            seen.push_back(to_hex(question.script_code));
            return true;
        }
    } host;
    Rules loose{};
    const Bytes unlocking = code("CODESEPARATOR 1 1 1 1 1 1");
    EXPECT_TRUE(verify(unlocking, code("CHECKSIGVERIFY 0 IF CODESEPARATOR ENDIF CHECKSIGVERIFY CODESEPARATOR CHECKSIG"),
                       host, loose)
                    .ok());
    EXPECT_EQ(host.seen, (std::vector<std::string>{"ad0063ab68adabac", "ad0063ab68adabac", "ac"}));
}

TEST(Interpreter, NestedBranchesThatAreNotTakenOnlyCountTheirEnds) {
    Rules loose{};
    EXPECT_TRUE(verify(code("1 0"), code("IF IF RETURN ELSE RETURN ENDIF ELSE NOP ENDIF"), Host{}, loose).ok());
    EXPECT_EQ(verify(code("0"), code("IF IF ENDIF 1"), Host{}, loose).error, ScriptError::UnbalancedConditional);
    EXPECT_TRUE(verify(code("7 0 1"), code("IF NOTIF DUP ENDIF ENDIF 7 EQUALVERIFY 7 EQUAL"), Host{}, loose).ok());
}

TEST(Stack, HoldsTheLimitAndThreeMore) {
    Stack stack;
    const Bytes item{1};
    for (std::size_t i = 0; i < kStackItemsMax; ++i) stack.push(item);
    for (int i = 0; i < 3; ++i) stack.to_alt();
    EXPECT_EQ(stack.total(), kStackItemsMax);
    for (int i = 0; i < 3; ++i) stack.push(item);
    EXPECT_EQ(stack.total(), kStackItemsMax + 3);
    stack.from_alt();
    EXPECT_EQ(stack.alt_size(), 2u);
    stack.clear_alt();
    EXPECT_EQ(stack.total(), kStackItemsMax + 1);
}

}  // namespace
}  // namespace rhizome::script
