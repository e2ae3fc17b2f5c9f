// SPDX-License-Identifier: Apache-2.0
#include "script/script.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace rhizome::script {
namespace {

TEST(Opcodes, EveryNameAndAliasFindsItsCode) {
    std::set<std::string> seen;
    for (unsigned code = 0; code < 256; ++code) {
        const Opcode& row = opcode(static_cast<std::uint8_t>(code));
        EXPECT_EQ(row.code, code);
        EXPECT_FALSE(row.help.empty()) << code;
        EXPECT_EQ(row.counted, code > OP_16) << code;
        if (row.name.empty()) {
            EXPECT_GE(code, 0xbau);
            EXPECT_EQ(row.category, OpCategory::Unknown);
            continue;
        }
        EXPECT_TRUE(seen.insert(std::string{row.name}).second) << row.name;
        EXPECT_EQ(find_opcode(row.name), &row);
        EXPECT_EQ(find_opcode(row.name.substr(3)), &row) << row.name;
        for (const std::string_view alias : row.aliases) {
            EXPECT_EQ(find_opcode(alias), &row) << alias;
            EXPECT_EQ(find_opcode("OP_" + std::string{alias}), &row) << alias;
            EXPECT_TRUE(seen.insert("OP_" + std::string{alias}).second) << alias;
        }
    }
    EXPECT_EQ(seen.count("OP_DATA_75"), 1u);
}

TEST(Opcodes, TheThesissSpellingsAreUnderstood) {
    const struct {
        const char* name;
        unsigned code;
    } rows[] = {
        {"OP_FALSE", 0x00},
        {"OP_TRUE", 0x51},
        {"OP_DATA_1", 0x01},
        {"OP_DATA_75", 0x4b},
        {"OP_PUSHDATA4", 0x4e},
        {"OP2_DUP", 0x6e},
        {"OP_ONOTEQUAL", 0x92},
        {"OP_LESSTHANOEQUAL", 0xa1},
        {"OP_GREATERTHANOEQUAL", 0xa2},
        {"OP_RIPEMD160", 0xa6},
        {"OP_SHA1", 0xa7},
        {"OP_CHECKLOCKTIMEVERIFY", 0xb1},
        {"OP_CHECKSEQUENCEVERIFY", 0xb2},
        {"op_checkexpiryverify", 0xb3},
        {"checkmembersig", 0xb4},
        {"OP_16", 0x60},
    };
    for (const auto& row : rows) {
        const Opcode* found = find_opcode(row.name);
        ASSERT_NE(found, nullptr) << row.name;
        EXPECT_EQ(found->code, row.code) << row.name;
    }
    EXPECT_EQ(find_opcode(""), nullptr);
    EXPECT_EQ(find_opcode("OP_"), nullptr);
    EXPECT_EQ(find_opcode("OP_DATA_76"), nullptr);
    EXPECT_EQ(find_opcode("OP_17"), nullptr);
}

TEST(Opcodes, AMistypedNameHasASuggestion) {
    EXPECT_EQ(similar_opcodes("OP_CHEKSIG").at(0), "OP_CHECKSIG");
    EXPECT_EQ(similar_opcodes("hash161").at(0), "OP_HASH160");
    EXPECT_TRUE(similar_opcodes("completely_different").empty());
}

TEST(Opcodes, FifteenAreDisabled) {
    int disabled = 0;
    for (unsigned code = 0; code < 256; ++code) {
        disabled += opcode(static_cast<std::uint8_t>(code)).category == OpCategory::Disabled ? 1 : 0;
    }
    EXPECT_EQ(disabled, 15);
}

TEST(Script, ReadsEveryKindOfPush) {
    const Bytes script{0x00, 0x02, 0xaa, 0xbb, 0x4c, 0x01, 0xcc, 0x4d, 0x01, 0x00,
                       0xdd, 0x4e, 0x01, 0x00, 0x00, 0x00, 0xee, 0x51, 0xac};
    const struct {
        unsigned code, offset, size;
        Bytes data;
    } rows[] = {{0x00, 0, 1, {}},      {0x02, 1, 3, {0xaa, 0xbb}}, {0x4c, 4, 3, {0xcc}}, {0x4d, 7, 4, {0xdd}},
                {0x4e, 11, 6, {0xee}}, {0x51, 17, 1, {}},          {0xac, 18, 1, {}}};
    InstructionReader reader{script};
    for (const auto& row : rows) {
        const auto instruction = reader.next();
        ASSERT_TRUE(instruction);
        EXPECT_FALSE(instruction->broken);
        EXPECT_EQ(instruction->code, row.code);
        EXPECT_EQ(instruction->offset, row.offset);
        EXPECT_EQ(instruction->size, row.size);
        EXPECT_EQ(to_bytes(instruction->data), row.data);
    }
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.next());
}

TEST(Script, ACutOffPushIsAValue) {
    for (const char* hex :
         {"01", "4b00", "4c", "4c01", "4d", "4d01", "4d0100", "4e", "4e000000", "4effffffff00", "4e01000000"}) {
        const Bytes script = *from_hex(hex);
        InstructionReader reader{script};
        const auto instruction = reader.next();
        ASSERT_TRUE(instruction) << hex;
        EXPECT_TRUE(instruction->broken) << hex;
        EXPECT_EQ(instruction->size, script.size()) << hex;
        EXPECT_TRUE(instruction->data.empty()) << hex;
        EXPECT_FALSE(reader.next()) << hex;
        EXPECT_FALSE(is_push_only(script)) << hex;
    }
}

TEST(Script, TellsPushesFromTheRest) {
    EXPECT_TRUE(is_push_only({}));
    EXPECT_TRUE(is_push_only(Bytes{0x00, 0x4f, 0x51, 0x60, 0x01, 0xac}));
    EXPECT_FALSE(is_push_only(Bytes{0x51, 0x61}));
    const struct {
        const char* hex;
        bool minimal;
    } rows[] = {{"00", true},      {"0100", true}, {"0101", false},      {"0110", false},   {"0111", true},
                {"0181", false},   {"0180", true}, {"020100", true},     {"4c0111", false}, {"4c00", false},
                {"4d0000", false}, {"51", true},   {"4e00000000", false}};
    for (const auto& row : rows) {
        const Bytes script = *from_hex(row.hex);
        EXPECT_EQ(is_minimal_push(*InstructionReader{script}.next()), row.minimal) << row.hex;
    }
}

TEST(Script, TheBuilderTakesTheShortestPush) {
    const struct {
        std::size_t size;
        const char* front;
    } rows[] = {{0, "00"},     {1, "01"},       {75, "4b"},        {76, "4c4c"},
                {255, "4cff"}, {256, "4d0001"}, {65535, "4dffff"}, {65536, "4e00000100"}};
    for (const auto& row : rows) {
        const Bytes item(row.size, 0xab);
        const Bytes script = to_bytes(ScriptBuilder{}.data(item).view());
        EXPECT_TRUE(to_hex(script).starts_with(row.front)) << row.size;
        const auto instruction = InstructionReader{script}.next();
        EXPECT_EQ(to_bytes(instruction->data), item);
        EXPECT_TRUE(is_minimal_push(*instruction)) << row.size;
    }
    EXPECT_EQ(to_hex(ScriptBuilder{}.number(0).number(1).number(16).number(-1).number(17).number(-2).view()),
              "0051604f01110182");
}

TEST(Script, NumbersHaveOneForm) {
    const struct {
        std::int64_t number;
        const char* hex;
    } rows[] = {{0, ""},
                {1, "01"},
                {-1, "81"},
                {127, "7f"},
                {128, "8000"},
                {-128, "8080"},
                {255, "ff00"},
                {256, "0001"},
                {-32768, "008080"},
                {2147483647, "ffffff7f"},
                {-2147483647, "ffffffff"},
                {2147483648, "0000008000"},
                {std::numeric_limits<std::int64_t>::min(), "000000000000008080"}};
    for (const auto& row : rows) {
        const NumberItem item{row.number};
        EXPECT_EQ(to_hex(item.view()), row.hex);
        if (item.view().size() <= 8) {
            EXPECT_EQ(read_number(item.view(), 8, true), row.number);
        }
    }
    for (const char* longer : {"00", "80", "0100", "0180", "ff0000", "7f80"}) {
        const bool loose = read_number(*from_hex(longer), 4, false).has_value();
        EXPECT_TRUE(loose) << longer;
        EXPECT_EQ(read_number(*from_hex(longer), 4, true), std::nullopt) << longer;
    }
    EXPECT_EQ(read_number(Bytes(5, 1), 4, false), std::nullopt);
    EXPECT_EQ(read_number(Bytes(5, 1), 5, true), 0x0101010101);
}

TEST(Script, TruthIsAnyByteButASign) {
    for (const char* no : {"", "00", "0000", "80", "000080"}) EXPECT_FALSE(is_true(*from_hex(no))) << no;
    for (const char* yes : {"01", "81", "8000", "0001", "800080", "0100"}) EXPECT_TRUE(is_true(*from_hex(yes))) << yes;
}

}  // namespace
}  // namespace rhizome::script
