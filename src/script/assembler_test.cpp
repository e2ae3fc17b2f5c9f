// SPDX-License-Identifier: Apache-2.0
#include "script/assembler.h"

#include <gtest/gtest.h>

#include "script/detail/words.h"
#include "script/script.h"
#include "support/signing_host.h"

namespace rhizome::script {
namespace {

std::string hex_of(std::string_view text, const KeyResolver* keys = nullptr) {
    const auto made = assemble(text, keys);
    return made ? to_hex(*made) : to_error(made.error()).message;
}

TEST(Assembler, ReadsEveryKindOfWord) {
    const struct {
        const char *text, *hex;
    } rows[] = {
        {"", ""},
        {"OP_1 OP_2\nOP_3", "515253"},
        {"1 2 16 17 0 -1 -2", "5152600111004f0182"},
        {"dup Hash160 op_EqualVerify", "76a988"},
        {"<abcd> <01> <> < ff >", "02abcd510001ff"},
        {"'Az' '' 'two words'", "02417a000974776f20776f726473"},
        {"0x4c 0x0107 0XFF", "4c0107ff"},
        {"1 # one\n// two is left out\n3", "5153"},
        {"1#one", "51"},
        {"5d CSV", "034c0340b2"},
        {"12h30m CHECKSEQUENCEVERIFY", "03580040b2"},
        {"1s", "03010040"},
        {"513s", "03020040"},
        {"2027-01-01 CLTV", "0480ec366bb1"},
        {"2027-01-01T01:00:00+01:00", "0480ec366b"},
        {"OP_PUSHDATA1 1 1 OP_PUSHDATA1 1 2 OP_PUSHDATA1 1 3", "4c01014c01024c0103"},  // as the thesis writes it
        {"OP_PUSHDATA2 3 0x0102 <03>", "4d0300010203"},
        {"OP_PUSHDATA4 0", "4e00000000"},
        {"OP_DATA_2 'ab' DATA_1 255", "02616201ff"},
        {"OP_FALSE OP_TRUE OP2_DUP OP_ONOTEQUAL", "00516e92"},
        {"2147483648 549755813887",
         "050000008000"
         "05ffffffff7f"},
    };
    for (const auto& row : rows) EXPECT_EQ(hex_of(row.text), row.hex) << row.text;
}

TEST(Assembler, RefusesWithAPlaceAndAnIdea) {
    const struct {
        const char* text;
        std::size_t line, column, length;
        const char *message, *hint;
    } rows[] = {
        {"OP_DUP\n  OP_HAHS160", 2, 3, 10, "\"OP_HAHS160\" is no instruction, number or time",
         "did you mean OP_HASH160?"},
        {"1 <xyz>", 1, 3, 5, "no key is named \"xyz\"", "write the public key itself, 66 hexadecimal digits"},
        {"'abc", 1, 1, 4, "a quote is not closed on this line", ""},
        {"1 <ab\ncd>", 1, 3, 3, "\"<\" without \">\" on this line", ""},
        {"0xabc", 1, 1, 5, "\"0xabc\" is not an even number of hexadecimal digits", ""},
        {"400d", 1, 1, 4, "400d is too long for a relative lock",
         "at most 65535 units of 512 s, about 388 days; use a date for more"},
        {"5h5d", 1, 1, 4, "\"5h5d\" is no time", "times look like 5d, 12h30m or 90s"},
        {"2027-02-30", 1, 1, 10, "\"2027-02-30\" is no date from 1985 on",
         "dates look like 2027-01-01 or 2027-01-01T12:00:00Z"},
        {"549755813888", 1, 1, 12, "549755813888 does not fit into the five bytes of a script's longest number", ""},
        {"99999999999999999999", 1, 1, 20,
         "99999999999999999999 does not fit into the five bytes of a script's longest number", ""},
        {"OP_PUSHDATA1 256 1", 1, 14, 3, "OP_PUSHDATA1 wants a size from 0 to 255 here",
         "or write <…> and leave the form of the push to the assembler"},
        {"OP_DATA_2 1", 1, 1, 9, "OP_DATA_2 wants 1 more byte here", "as numbers from 0 to 255, 0x…, <…> or 'text'"},
        {"OP_DATA_2 0x010203", 1, 11, 8, "OP_DATA_2 wants 2 more bytes here",
         "as numbers from 0 to 255, 0x…, <…> or 'text'"},
        {"1 (2)", 1, 3, 1, "parentheses have no meaning here", "they group templates, such as either (…) or (…)"},
        {"'ä' DUPP", 1, 5, 4, "\"DUPP\" is no instruction, number or time", "did you mean OP_DUP, OP_2DUP or OP_3DUP?"},
        {"02abff03", 1, 1, 8, "\"02abff03\" is no instruction, number or time",
         "write <…> around bytes to push them, or 0x before bytes of the script itself"},
    };
    for (const auto& row : rows) {
        const auto made = assemble(row.text);
        ASSERT_FALSE(made) << row.text;
        EXPECT_EQ(made.error().line, row.line) << row.text;
        EXPECT_EQ(made.error().column, row.column) << row.text;
        EXPECT_EQ(made.error().length, row.length) << row.text;
        EXPECT_EQ(made.error().message, row.message) << row.text;
        EXPECT_EQ(made.error().hint, row.hint) << row.text;
    }
}

TEST(Assembler, RefusesTextWithoutEnd) {
    const auto made = assemble(std::string(detail::kTextBytesMax + 1, ' '));
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("at most"), std::string::npos);
}

TEST(Assembler, PointsAtTheFault) {
    const std::string text = "OP_DUP\n\tOP_HASH160 OP_EQALVERIFY";
    EXPECT_EQ(point_at(text, assemble(text).error()), " OP_HASH160 OP_EQALVERIFY\n            ^^^^^^^^^^^^^");
    std::string wide(200, ' ');
    wide += "nope";
    const std::string shown = point_at(wide, assemble(wide).error());
    EXPECT_LT(shown.size(), 250u);
    EXPECT_NE(shown.find("nope"), std::string::npos);
    EXPECT_EQ(point_at("1 \x1b[31m", assemble("1 \x1b[31m").error()), "1 ?[31m\n  ^^^^^");
}

TEST(Assembler, NamesStandForKeysAndTheirHashes) {
    const test::Person alice{"alice"};
    const test::People people{{&alice}};
    const std::string key = alice.key.hex();
    const std::string hash = alice.key.address().hex();
    EXPECT_EQ(hex_of("<alice> CHECKSIG", &people), "21" + key + "ac");
    EXPECT_EQ(hex_of("DUP HASH160 <alice> EQUALVERIFY CHECKSIG", &people), "76a914" + hash + "88ac");
    EXPECT_EQ(hex_of("HASH160 <hash_public_key_from_alice>", &people), "a914" + hash);
    EXPECT_EQ(hex_of("1 <hash_public_key_alice> 1 CHECKMULTISIG", &people), "5121" + key + "51ae");
    const auto unknown = assemble("<alcie>", &people);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().hint, "did you mean alice?");
}

TEST(Disassembler, PrintsWhatPeopleRead) {
    const struct {
        const char *hex, *text;
    } rows[] = {
        {"", ""},
        {"00514f60", "0 1 -1 16"},
        {"76a9020102"
         "88ac",
         "OP_DUP OP_HASH160 <0102> OP_EQUALVERIFY OP_CHECKSIG"},
        {"4c0107", "0x4c0107"},
        {"0107", "0x0107"},
        {"05abcd", "0x05abcd"},
        {"ba", "0xba"},
        {"50626566ff", "OP_RESERVED OP_VER OP_VERIF OP_VERNOTIF 0xff"},
        {"034c0340b275", "5d OP_CHECKSEQUENCEVERIFY OP_DROP"},
        {"5ab2", "10 OP_CHECKSEQUENCEVERIFY"},
        {"0480ec366bb3", "2027-01-01T00:00:00Z OP_CHECKEXPIRYVERIFY"},
        {"02e803b1", "1000 OP_CHECKLOCKTIMEVERIFY"},
        {"0480ec366b75", "<80ec366b> OP_DROP"},
        {"020100b1", "<0100> OP_CHECKLOCKTIMEVERIFY"},
    };
    for (const auto& row : rows) EXPECT_EQ(disassemble(*from_hex(row.hex)), row.text) << row.hex;
}

}  // namespace
}  // namespace rhizome::script
