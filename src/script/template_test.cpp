// SPDX-License-Identifier: Apache-2.0
#include "script/template.h"

#include <gtest/gtest.h>

#include "script/assembler.h"
#include "script/explain.h"
#include "script/script.h"
#include "script/tracer.h"
#include "support/signing_host.h"

namespace rhizome::script {
namespace {

class Template : public testing::Test {
protected:
    test::Person alice{"alice"}, bob{"bob"}, carol{"carol"}, tower{"tower"};
    test::People people{{&alice, &bob, &carol, &tower}};
};

TEST_F(Template, IsTheScriptItStandsFor) {
    const struct {
        std::string text, assembly, sentence;
    } rows[] = {
        {"p2pkh alice", "DUP HASH160 <alice> EQUALVERIFY CHECKSIG",
         "the key with address " + alice.key.address().hex()},
        {"p2pkh " + alice.key.hex(), "DUP HASH160 <alice> EQUALVERIFY CHECKSIG",
         "the key with address " + alice.key.address().hex()},
        {"p2pkh " + alice.key.address().hex(), "DUP HASH160 <alice> EQUALVERIFY CHECKSIG",
         "the key with address " + alice.key.address().hex()},
        {"p2pk alice", "<alice> CHECKSIG", "the key " + alice.key.hex()},
        {"multisig 2 alice bob carol", "2 <alice> <bob> <carol> 3 CHECKMULTISIG", "any 2 of 3 keys"},
        {"multisig 2 <hash_public_key_alice> <bob>", "2 <alice> <bob> 2 CHECKMULTISIG", "all 2 keys together"},
        {"member", "CHECKMEMBERSIG", "any node of this cluster"},
        {"after 5d p2pkh bob", "5d CSV DROP DUP HASH160 <bob> EQUALVERIFY CHECKSIG",
         "after 5 days, the key with address " + bob.key.address().hex()},
        {"after 90m member", "90m CSV DROP CHECKMEMBERSIG", "after 1 hour 33 minutes, any node of this cluster"},
        {"after 10 blocks member", "10 CSV DROP CHECKMEMBERSIG", "after 10 blocks, any node of this cluster"},
        {"after 1 block member", "1 CSV DROP CHECKMEMBERSIG", "after 1 block, any node of this cluster"},
        {"after 2027-01-01 member", "2027-01-01 CLTV DROP CHECKMEMBERSIG",
         "from 2027-01-01T00:00:00Z on, any node of this cluster"},
        {"after height 1000 member", "1000 CLTV DROP CHECKMEMBERSIG", "from block 1000 on, any node of this cluster"},
        {"after 1000 member", "1000 CLTV DROP CHECKMEMBERSIG", "from block 1000 on, any node of this cluster"},
        {"until 2027-01-01T12:00:00Z member", "2027-01-01T12:00:00Z CHECKEXPIRYVERIFY DROP CHECKMEMBERSIG",
         "before 2027-01-01T12:00:00Z, any node of this cluster"},
        {"until 1000 member", "1000 CHECKEXPIRYVERIFY DROP CHECKMEMBERSIG",
         "before block 1000, any node of this cluster"},
        {"either multisig 2 alice bob carol or after 5d multisig 1 alice bob carol",
         "IF 2 <alice> <bob> <carol> 3 CHECKMULTISIG ELSE 5d CSV DROP 1 <alice> <bob> <carol> 3 CHECKMULTISIG ENDIF",
         "any 2 of 3 keys; or, after 5 days, any 1 of 3 keys"},
        {"either member or p2pk alice or p2pk bob",
         "IF CHECKMEMBERSIG ELSE IF <alice> CHECKSIG ELSE <bob> CHECKSIG ENDIF ENDIF",
         "any node of this cluster; or, the key " + alice.key.hex() + "; or, the key " + bob.key.hex()},
        {"either (either member or p2pk alice) or p2pk bob",
         "IF IF CHECKMEMBERSIG ELSE <alice> CHECKSIG ENDIF ELSE <bob> CHECKSIG ENDIF",
         "(any node of this cluster; or, the key " + alice.key.hex() + "); or, the key " + bob.key.hex()},
        {"cosigned tower p2pk alice", "<tower> CHECKSIGVERIFY <alice> CHECKSIG",
         "the key " + alice.key.hex() + ", together with the key " + tower.key.hex()},
        {"cosigned " + tower.key.address().hex() + " member",
         "DUP HASH160 <tower> EQUALVERIFY CHECKSIGVERIFY CHECKMEMBERSIG",
         "any node of this cluster, together with the key with address " + tower.key.address().hex()},
    };
    for (const auto& row : rows) {
        const auto made = compile(row.text, &people);
        ASSERT_TRUE(made) << row.text << ": " << to_error(made.error()).message;
        EXPECT_EQ(disassemble(*made), disassemble(assemble(row.assembly, &people).value())) << row.text;
        EXPECT_EQ(explain(*made).sentence, row.sentence);
        EXPECT_EQ(parse_template(explain(*made).as_template).value(), parse_template(row.text, &people).value());
    }
}

TEST_F(Template, RefusesWithAPlaceAndAnIdea) {
    const struct {
        std::string text;
        std::size_t column;
        std::string message, hint;
    } rows[] = {
        {"p2pkh", 6, "a key is missing", "its name, or the key in hexadecimal"},
        {"p2pkh alcie", 7, "no key is named \"alcie\"", "did you mean alice?"},
        {"p2pkh alice bob", 13, "\"bob\" does not belong to the template before it", ""},
        {"multisig 3 alice bob", 10, "3 signatures of 2 keys cannot be asked for", ""},
        {"multisig 0 alice bob", 10, "0 signatures of 2 keys cannot be asked for", ""},
        {"multisig alice bob", 10, "\"alice\" stands where a number of signatures is missing",
         "for example: multisig 2 alice bob carol"},
        {"multisig 1 alice alice", 18, "this key is there twice", "one person would count as two"},
        {"multisig 1 " + alice.key.address().hex(), 12, "this is the hash of a key; the key itself is needed here",
         "66 hexadecimal digits"},
        {"p2pk 02" + std::string(64, 'f'), 6, "these 33 bytes are no public key", ""},
        {"after p2pkh alice", 7, "\"p2pkh\" is no time",
         "a time such as 5d, a date such as 2027-01-01, 10 blocks, or a block height"},
        {"after 400d member", 7, "this is longer than a relative lock can be", "at most 388 days; use a date"},
        {"after 70000 blocks member", 7, "at most 65535 blocks", ""},
        {"after 5000000000 member", 7, "this is too far in the future for a lock", ""},
        {"until 5d member", 7,
         "\"until\" needs a date or a height: the chain knows when a block is, not when you wrote this",
         "a date such as 2027-01-01, or a block height"},
        {"until 10 blocks member", 7, "\"until\" takes no number of blocks",
         "a date such as 2027-01-01, or a block height"},
        {"either member", 14, "\"or\" is missing", "write either … or …"},
        {"member or member", 8, "\"or\" without \"either\"", "write either … or …"},
        {"(member", 8, "\")\" is missing", ""},
        {"member)", 7, "\")\" without \"(\"", ""},
        {"either membr or member", 8, "\"membr\" is no template", "did you mean member?"},
        {"cosigned tower", 15, "a template is missing",
         "templates are p2pkh, p2pk, multisig, member, after, until, either, cosigned"},
    };
    for (const auto& row : rows) {
        const auto made = compile(row.text, &people);
        ASSERT_FALSE(made) << row.text;
        EXPECT_EQ(made.error().column, row.column) << row.text;
        EXPECT_EQ(made.error().message, row.message) << row.text;
        EXPECT_EQ(made.error().hint, row.hint) << row.text;
    }
}

TEST_F(Template, StaysInsideTheLimitsOfAScript) {
    std::string deep;
    for (int i = 0; i < 150; ++i) deep += "after 5d ";
    EXPECT_EQ(parse_template(deep + "member").error().message, "templates are nested too deeply");
    std::string wide = "either member";
    for (int i = 0; i < 80; ++i) wide += " or member";
    const auto made = compile(wide);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("at most 10000 and 201 are allowed"), std::string::npos)
        << made.error().message;
    EXPECT_FALSE(parse_template(std::string(100'000, '(')));
}

TEST(Explain, AdmitsWhatItDoesNotKnow) {
    const struct {
        const char *script, *sentence;
    } rows[] = {
        {"1 ADD 3 EQUAL", "this script is not of a known form: 4 instructions, none of which checks a signature"},
        {"DUP IF 1 ELSE CHECKSIG ENDIF",
         "this script is not of a known form: 6 instructions, 1 of which check signatures"},
        {"0x05ab",
         "this script is not of a known form: 1 instruction, none of which checks a signature; its end is cut off, so "
         "nobody can unlock it"},
        {"RETURN 'note'", "nobody: the script begins with OP_RETURN"},
        {"", "nobody directly: only who may change an ancestor of the resource"},
        {"2147483648 CSV DROP CHECKMEMBERSIG",
         "this script is not of a known form: 4 instructions, 1 of which check signatures"},
        {"CHECKMEMBERSIG NOP", "this script is not of a known form: 2 instructions, 1 of which check signatures"},
        {"0 CSV VERIFY CHECKMEMBERSIG",
         "this script is not of a known form: 4 instructions, 1 of which check signatures"},
    };
    for (const auto& row : rows) EXPECT_EQ(explain(assemble(row.script).value()).sentence, row.sentence) << row.script;
}

TEST_F(Template, TheWaysToUnlockAreWhatOpensIt) {
    const Bytes script = compile("cosigned tower either multisig 2 alice bob or p2pkh carol", &people).value();
    EXPECT_EQ(explain(script).ways, (std::vector<std::string>{
                                        "0, 2 signatures in the order of the keys, 1, the cosigner's signature",
                                        "a signature, its key, 0, the cosigner's signature",
                                    }));
}

// ---- the thesis's figure 19 --------------------------------------------------------------------------------------

TEST_F(Template, ATraceIsFigure19) {
    const Bytes locking = compile("p2pkh alice", &people).value();
    const Bytes signature = test::SigningHost::sign(alice, locking);
    const Bytes key = to_bytes(alice.key.bytes());
    const Bytes hash = to_bytes(alice.key.address().view());
    const Trace made = trace(ScriptBuilder{}.data(signature).data(key).view(), locking, test::SigningHost{});
    EXPECT_TRUE(made.verdict.ok());
    ASSERT_EQ(made.steps.size(), 7u);
    const struct {
        std::string instruction;
        std::vector<Bytes> stack;
        std::string rest;
    } rows[] = {
        {"<" + to_hex(signature) + ">", {signature}, "<" + to_hex(key) + ">"},
        {"<" + to_hex(key) + ">", {signature, key}, ""},
        {"OP_DUP", {signature, key, key}, "OP_HASH160 <" + to_hex(hash) + "> OP_EQUALVERIFY OP_CHECKSIG"},
        {"OP_HASH160", {signature, key, hash}, "<" + to_hex(hash) + "> OP_EQUALVERIFY OP_CHECKSIG"},
        {"<" + to_hex(hash) + ">", {signature, key, hash, hash}, "OP_EQUALVERIFY OP_CHECKSIG"},
        {"OP_EQUALVERIFY", {signature, key}, "OP_CHECKSIG"},
        {"OP_CHECKSIG", {Bytes{1}}, ""},
    };
    for (std::size_t i = 0; i < made.steps.size(); ++i) {
        EXPECT_EQ(made.steps[i].instruction, rows[i].instruction);
        EXPECT_EQ(made.steps[i].stack, rows[i].stack);
        EXPECT_EQ(made.steps[i].rest, rows[i].rest);
        if (i > 0 && made.steps[i].part == made.steps[i - 1].part) {
            EXPECT_EQ(made.steps[i].stack_before, made.steps[i - 1].stack);
        }
    }
    EXPECT_EQ(made.steps[6].what, "Says whether the key signed this transaction. Here: yes.");
    EXPECT_EQ(made.steps[5].part, ScriptPart::Locking);
}

TEST(Trace, ShowsBranchesAndWhereItFails) {
    const Trace made = trace(assemble("0").value(), assemble("IF 1 ELSE 7 TOALTSTACK RETURN ENDIF").value(), Host{});
    ASSERT_EQ(made.steps.size(), 7u);
    EXPECT_FALSE(made.steps[2].executed);
    EXPECT_EQ(made.steps[2].what, "Skipped: this branch is not taken.");
    EXPECT_EQ(made.steps[3].open_branches, 1u);
    EXPECT_EQ(made.steps[5].alt_stack, std::vector<Bytes>{Bytes{7}});
    EXPECT_EQ(made.steps[6].error, ScriptError::OpReturn);
    EXPECT_EQ(made.steps[6].what, "Fails with OP_RETURN: OP_RETURN always fails.");
    EXPECT_EQ(made.verdict.error, ScriptError::OpReturn);
}

TEST(Trace, KeepsABoundedPart) {
    ScriptBuilder many;
    for (int i = 0; i < 900; ++i) many.number(1);
    const Trace few = trace(many.view(), {}, Host{}, kChainRules, {}, {.steps = 10});
    EXPECT_EQ(few.steps.size(), 10u);
    EXPECT_EQ(few.left_out, 890u);
    EXPECT_EQ(few.verdict, verify(many.view(), {}, Host{}));
    const Trace small = trace(many.view(), {}, Host{}, kChainRules, {}, {.bytes = 100'000});
    EXPECT_GT(small.left_out, 0u);
    EXPECT_EQ(small.steps.size() + small.left_out, 900u);
}

}  // namespace
}  // namespace rhizome::script
