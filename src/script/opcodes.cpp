// SPDX-License-Identifier: Apache-2.0
#include "script/opcodes.h"

#include <algorithm>
#include <array>

#include "script/detail/similar.h"

namespace rhizome::script {
namespace {

constexpr std::string_view kAlias6E[] = {"OP2_DUP"};
constexpr std::string_view kAlias92[] = {"ONOTEQUAL"};
constexpr std::string_view kAliasA1[] = {"LESSTHANOEQUAL"};
constexpr std::string_view kAliasA2[] = {"GREATERTHANOEQUAL"};
constexpr std::string_view kAliasB1[] = {"NOP2", "CLTV"};
constexpr std::string_view kAliasB2[] = {"NOP3", "CSV"};
constexpr std::string_view kAliasB3[] = {"NOP4", "CEV"};
constexpr std::string_view kAliasB4[] = {"NOP5"};

/// Everything but the pushes of a size or a small number, which follow a rule.
constexpr Opcode kRows[] = {
    {0x4c,
     "OP_PUSHDATA1",
     {},
     "→ x",
     "Pushes the bytes whose number stands in the next byte.",
     OpCategory::Constant,
     0,
     false},
    {0x4d,
     "OP_PUSHDATA2",
     {},
     "→ x",
     "Pushes the bytes whose number stands in the next two bytes, little-endian.",
     OpCategory::Constant,
     0,
     false},
    {0x4e,
     "OP_PUSHDATA4",
     {},
     "→ x",
     "Pushes the bytes whose number stands in the next four bytes, little-endian.",
     OpCategory::Constant,
     0,
     false},
    {0x4f, "OP_1NEGATE", {}, "→ -1", "Pushes the number -1.", OpCategory::Constant, 0, false},
    {0x50, "OP_RESERVED", {}, "", "Fails when executed.", OpCategory::Reserved, 0, false},
    {0x61, "OP_NOP", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
    {0x62, "OP_VER", {}, "", "Fails when executed.", OpCategory::Reserved, 0, true},
    {0x63,
     "OP_IF",
     {},
     "x →",
     "Runs what follows up to ELSE or ENDIF when the item is 1, skips it when the item is empty.",
     OpCategory::Flow,
     0,
     true},
    {0x64,
     "OP_NOTIF",
     {},
     "x →",
     "Runs what follows up to ELSE or ENDIF when the item is empty, skips it when the item is 1.",
     OpCategory::Flow,
     0,
     true},
    {0x65, "OP_VERIF", {}, "", "Fails even where it is not executed.", OpCategory::Reserved, 0, true},
    {0x66, "OP_VERNOTIF", {}, "", "Fails even where it is not executed.", OpCategory::Reserved, 0, true},
    {0x67,
     "OP_ELSE",
     {},
     "→",
     "Turns around whether what follows up to ELSE or ENDIF runs.",
     OpCategory::Flow,
     0,
     true},
    {0x68, "OP_ENDIF", {}, "→", "Ends what IF or NOTIF began.", OpCategory::Flow, 0, true},
    {0x69, "OP_VERIFY", {}, "x →", "Takes an item and fails unless it is true.", OpCategory::Flow, 0, true},
    {0x6a, "OP_RETURN", {}, "→", "Fails.", OpCategory::Flow, 0, true},
    {0x6b, "OP_TOALTSTACK", {}, "x →", "Moves the top item to the alternative stack.", OpCategory::Stack, 0, true},
    {0x6c,
     "OP_FROMALTSTACK",
     {},
     "→ x",
     "Moves the top item of the alternative stack back.",
     OpCategory::Stack,
     0,
     true},
    {0x6d, "OP_2DROP", {}, "a b →", "Removes the two top items.", OpCategory::Stack, 0, true},
    {0x6e, "OP_2DUP", kAlias6E, "a b → a b a b", "Copies the two top items.", OpCategory::Stack, 0, true},
    {0x6f, "OP_3DUP", {}, "a b c → a b c a b c", "Copies the three top items.", OpCategory::Stack, 0, true},
    {0x70,
     "OP_2OVER",
     {},
     "a b c d → a b c d a b",
     "Copies the third and fourth item to the top.",
     OpCategory::Stack,
     0,
     true},
    {0x71,
     "OP_2ROT",
     {},
     "a b c d e f → c d e f a b",
     "Moves the fifth and sixth item to the top.",
     OpCategory::Stack,
     0,
     true},
    {0x72, "OP_2SWAP", {}, "a b c d → c d a b", "Swaps the two top pairs.", OpCategory::Stack, 0, true},
    {0x73, "OP_IFDUP", {}, "x → x x, or x", "Copies the top item if it is true.", OpCategory::Stack, 0, true},
    {0x74, "OP_DEPTH", {}, "→ n", "Pushes the number of items on the stack.", OpCategory::Stack, 0, true},
    {0x75, "OP_DROP", {}, "x →", "Removes the top item.", OpCategory::Stack, 0, true},
    {0x76, "OP_DUP", {}, "x → x x", "Copies the top item.", OpCategory::Stack, 0, true},
    {0x77, "OP_NIP", {}, "a b → b", "Removes the item below the top.", OpCategory::Stack, 0, true},
    {0x78, "OP_OVER", {}, "a b → a b a", "Copies the item below the top to the top.", OpCategory::Stack, 0, true},
    {0x79,
     "OP_PICK",
     {},
     "xn … x0 n → xn … x0 xn",
     "Copies the item n places below the top to the top.",
     OpCategory::Stack,
     0,
     true},
    {0x7a,
     "OP_ROLL",
     {},
     "xn … x0 n → … x0 xn",
     "Moves the item n places below the top to the top.",
     OpCategory::Stack,
     0,
     true},
    {0x7b, "OP_ROT", {}, "a b c → b c a", "Moves the third item to the top.", OpCategory::Stack, 0, true},
    {0x7c, "OP_SWAP", {}, "a b → b a", "Swaps the two top items.", OpCategory::Stack, 0, true},
    {0x7d, "OP_TUCK", {}, "a b → b a b", "Copies the top item below the one under it.", OpCategory::Stack, 0, true},
    {0x7e, "OP_CAT", {}, "", "Joined two items; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x7f,
     "OP_SUBSTR",
     {},
     "",
     "Took part of an item; fails even where it is not executed.",
     OpCategory::Disabled,
     0,
     true},
    {0x80,
     "OP_LEFT",
     {},
     "",
     "Took the front of an item; fails even where it is not executed.",
     OpCategory::Disabled,
     0,
     true},
    {0x81,
     "OP_RIGHT",
     {},
     "",
     "Took the end of an item; fails even where it is not executed.",
     OpCategory::Disabled,
     0,
     true},
    {0x82,
     "OP_SIZE",
     {},
     "x → x n",
     "Pushes the size of the top item in bytes and keeps the item.",
     OpCategory::Splice,
     0,
     true},
    {0x83,
     "OP_INVERT",
     {},
     "",
     "Flipped all bits; fails even where it is not executed.",
     OpCategory::Disabled,
     0,
     true},
    {0x84, "OP_AND", {}, "", "Joined bits by and; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x85, "OP_OR", {}, "", "Joined bits by or; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x86,
     "OP_XOR",
     {},
     "",
     "Joined bits by exclusive or; fails even where it is not executed.",
     OpCategory::Disabled,
     0,
     true},
    {0x87,
     "OP_EQUAL",
     {},
     "a b → true or false",
     "Says whether two items are the same bytes.",
     OpCategory::Bitwise,
     0,
     true},
    {0x88,
     "OP_EQUALVERIFY",
     {},
     "a b →",
     "Takes two items and fails unless they are the same bytes.",
     OpCategory::Bitwise,
     0,
     true},
    {0x89, "OP_RESERVED1", {}, "", "Fails when executed.", OpCategory::Reserved, 0, true},
    {0x8a, "OP_RESERVED2", {}, "", "Fails when executed.", OpCategory::Reserved, 0, true},
    {0x8b, "OP_1ADD", {}, "a → a+1", "Adds 1.", OpCategory::Arithmetic, 0, true},
    {0x8c, "OP_1SUB", {}, "a → a-1", "Subtracts 1.", OpCategory::Arithmetic, 0, true},
    {0x8d, "OP_2MUL", {}, "", "Multiplied by 2; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x8e, "OP_2DIV", {}, "", "Divided by 2; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x8f, "OP_NEGATE", {}, "a → -a", "Changes the sign.", OpCategory::Arithmetic, 0, true},
    {0x90, "OP_ABS", {}, "a → |a|", "Makes the number positive.", OpCategory::Arithmetic, 0, true},
    {0x91, "OP_NOT", {}, "a → true or false", "Says whether the number is 0.", OpCategory::Arithmetic, 0, true},
    {0x92, "OP_0NOTEQUAL", kAlias92, "a → true or false", "Says whether the number is not 0.", OpCategory::Arithmetic,
     0, true},
    {0x93, "OP_ADD", {}, "a b → a+b", "Adds two numbers.", OpCategory::Arithmetic, 0, true},
    {0x94, "OP_SUB", {}, "a b → a-b", "Subtracts the top number from the one below.", OpCategory::Arithmetic, 0, true},
    {0x95, "OP_MUL", {}, "", "Multiplied; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x96, "OP_DIV", {}, "", "Divided; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x97, "OP_MOD", {}, "", "Gave the remainder; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x98, "OP_LSHIFT", {}, "", "Shifted left; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x99, "OP_RSHIFT", {}, "", "Shifted right; fails even where it is not executed.", OpCategory::Disabled, 0, true},
    {0x9a,
     "OP_BOOLAND",
     {},
     "a b → true or false",
     "Says whether both numbers are not 0.",
     OpCategory::Arithmetic,
     0,
     true},
    {0x9b,
     "OP_BOOLOR",
     {},
     "a b → true or false",
     "Says whether a number of the two is not 0.",
     OpCategory::Arithmetic,
     0,
     true},
    {0x9c,
     "OP_NUMEQUAL",
     {},
     "a b → true or false",
     "Says whether two numbers are equal.",
     OpCategory::Arithmetic,
     0,
     true},
    {0x9d,
     "OP_NUMEQUALVERIFY",
     {},
     "a b →",
     "Takes two numbers and fails unless they are equal.",
     OpCategory::Arithmetic,
     0,
     true},
    {0x9e,
     "OP_NUMNOTEQUAL",
     {},
     "a b → true or false",
     "Says whether two numbers differ.",
     OpCategory::Arithmetic,
     0,
     true},
    {0x9f, "OP_LESSTHAN", {}, "a b → true or false", "Says whether a is less than b.", OpCategory::Arithmetic, 0, true},
    {0xa0,
     "OP_GREATERTHAN",
     {},
     "a b → true or false",
     "Says whether a is greater than b.",
     OpCategory::Arithmetic,
     0,
     true},
    {0xa1, "OP_LESSTHANOREQUAL", kAliasA1, "a b → true or false", "Says whether a is at most b.",
     OpCategory::Arithmetic, 0, true},
    {0xa2, "OP_GREATERTHANOREQUAL", kAliasA2, "a b → true or false", "Says whether a is at least b.",
     OpCategory::Arithmetic, 0, true},
    {0xa3, "OP_MIN", {}, "a b → n", "Keeps the smaller of two numbers.", OpCategory::Arithmetic, 0, true},
    {0xa4, "OP_MAX", {}, "a b → n", "Keeps the larger of two numbers.", OpCategory::Arithmetic, 0, true},
    {0xa5,
     "OP_WITHIN",
     {},
     "x min max → true or false",
     "Says whether min ≤ x < max.",
     OpCategory::Arithmetic,
     0,
     true},
    {0xa6, "OP_RIPEMD160", {}, "x → hash", "Hashes the item with RIPEMD-160.", OpCategory::Crypto, 2, true},
    {0xa7, "OP_SHA1", {}, "x → hash", "Hashes the item with SHA-1.", OpCategory::Crypto, 1, true},
    {0xa8, "OP_SHA256", {}, "x → hash", "Hashes the item with SHA-256.", OpCategory::Crypto, 1, true},
    {0xa9,
     "OP_HASH160",
     {},
     "x → hash",
     "Hashes the item with SHA-256, then with RIPEMD-160.",
     OpCategory::Crypto,
     3,
     true},
    {0xaa, "OP_HASH256", {}, "x → hash", "Hashes the item twice with SHA-256.", OpCategory::Crypto, 2, true},
    {0xab,
     "OP_CODESEPARATOR",
     {},
     "→",
     "Signatures checked from here on cover the script from here on.",
     OpCategory::Crypto,
     0,
     true},
    {0xac,
     "OP_CHECKSIG",
     {},
     "sig key → true or false",
     "Says whether the key signed this transaction.",
     OpCategory::Crypto,
     40,
     true},
    {0xad,
     "OP_CHECKSIGVERIFY",
     {},
     "sig key →",
     "Fails unless the key signed this transaction.",
     OpCategory::Crypto,
     40,
     true},
    {0xae,
     "OP_CHECKMULTISIG",
     {},
     "0 sig… m key… n → true or false",
     "Says whether m of the n keys signed this transaction, in the order of the keys.",
     OpCategory::Crypto,
     40,
     true},
    {0xaf,
     "OP_CHECKMULTISIGVERIFY",
     {},
     "0 sig… m key… n →",
     "Fails unless m of the n keys signed this transaction, in the order of the keys.",
     OpCategory::Crypto,
     40,
     true},
    {0xb0, "OP_NOP1", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
    {0xb1, "OP_CHECKLOCKTIMEVERIFY", kAliasB1, "n → n",
     "Fails unless the transaction waits for block height or Unix time n. Keeps n.", OpCategory::Lock, 0, true},
    {0xb2, "OP_CHECKSEQUENCEVERIFY", kAliasB2, "n → n",
     "Fails unless this input waits for n blocks or units of 512 s after the output. Keeps n.", OpCategory::Lock, 0,
     true},
    {0xb3, "OP_CHECKEXPIRYVERIFY", kAliasB3, "n → n", "Fails from block height or Unix time n on. Keeps n.",
     OpCategory::Lock, 0, true, true},
    {0xb4, "OP_CHECKMEMBERSIG", kAliasB4, "sig key → true or false",
     "Says whether the key is a member's and signed this transaction.", OpCategory::Crypto, 40, true, true},
    {0xb5, "OP_NOP6", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
    {0xb6, "OP_NOP7", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
    {0xb7, "OP_NOP8", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
    {0xb8, "OP_NOP9", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
    {0xb9, "OP_NOP10", {}, "→", "Does nothing.", OpCategory::Nothing, 0, true},
};

/// `OP_DATA_1` … `OP_DATA_75` and `OP_0` … `OP_16`, made while compiling.
struct NumberedName {
    std::array<char, 12> letters{};
    std::size_t size = 0;

    constexpr NumberedName() = default;
    constexpr NumberedName(std::string_view front, unsigned number) {
        for (const char letter : front) letters[size++] = letter;
        if (number >= 10) letters[size++] = static_cast<char>('0' + number / 10);
        letters[size++] = static_cast<char>('0' + number % 10);
    }
    [[nodiscard]] constexpr std::string_view text() const { return {letters.data(), size}; }
};

template <std::size_t N>
constexpr std::array<NumberedName, N> numbered_names(std::string_view front) {
    std::array<NumberedName, N> made{};
    for (std::size_t i = 0; i < N; ++i) made[i] = NumberedName{front, static_cast<unsigned>(i)};
    return made;
}
constexpr auto kDataNames = numbered_names<76>("OP_DATA_");
constexpr auto kNumberNames = numbered_names<17>("OP_");
constexpr auto kNumberEffects = numbered_names<17>("\u2192 ");  // → n

constexpr std::string_view kFalse[] = {"FALSE"};
constexpr std::string_view kTrue[] = {"TRUE"};

constexpr std::array<Opcode, 256> make_table() {
    std::array<Opcode, 256> table{};
    for (std::size_t code = 0; code < table.size(); ++code) {
        Opcode& row = table[code];
        row.code = static_cast<std::uint8_t>(code);
        row.help = "Is no instruction: fails when executed.";
        row.counted = code > OP_16;
    }
    for (std::size_t size = 1; size <= 75; ++size) {
        table[size].name = kDataNames[size].text();
        table[size].effect = "→ x";
        table[size].help = "Pushes as many of the next bytes as its code says.";
        table[size].category = OpCategory::Constant;
    }
    for (std::size_t number = 0; number <= 16; ++number) {
        Opcode& row = table[number == 0 ? 0 : OP_1 + number - 1];
        row.name = kNumberNames[number].text();
        row.effect = kNumberEffects[number].text();
        row.help = number == 0 ? "Pushes an empty item: the number 0, false." : "Pushes the number in its name.";
        row.category = OpCategory::Constant;
        row.aliases = {};
    }
    table[OP_0].aliases = kFalse;
    table[OP_1].aliases = kTrue;
    for (const Opcode& row : kRows) table[row.code] = row;
    return table;
}
constexpr std::array<Opcode, 256> kTable = make_table();

constexpr char upper(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter; }

bool same_word(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return upper(a) == upper(b); });
}

std::string_view without_prefix(std::string_view name) {
    return name.size() > 3 && same_word(name.substr(0, 3), "OP_") ? name.substr(3) : name;
}

}  // namespace

std::string_view name(OpCategory category) {
    switch (category) {
        case OpCategory::Constant: return "constant";
        case OpCategory::Flow: return "flow";
        case OpCategory::Stack: return "stack";
        case OpCategory::Splice: return "splice";
        case OpCategory::Bitwise: return "bitwise";
        case OpCategory::Arithmetic: return "arithmetic";
        case OpCategory::Crypto: return "crypto";
        case OpCategory::Lock: return "lock";
        case OpCategory::Nothing: return "nothing";
        case OpCategory::Reserved: return "reserved";
        case OpCategory::Disabled: return "disabled";
        case OpCategory::Unknown: return "unknown";
    }
    return "unknown";
}

const Opcode& opcode(std::uint8_t code) { return kTable[code]; }

const Opcode* find_opcode(std::string_view name) {
    const std::string_view bare = without_prefix(name);
    if (bare.empty()) return nullptr;
    for (const Opcode& row : kTable) {
        if (row.name.empty()) continue;
        if (same_word(row.name.substr(3), bare)) return &row;
        for (const std::string_view alias : row.aliases) {
            if (same_word(alias, bare) || same_word(alias, name)) return &row;
        }
    }
    return nullptr;
}

std::vector<std::string> similar_opcodes(std::string_view name) {
    const std::string_view bare = without_prefix(name);
    std::vector<std::string_view> names;
    for (const Opcode& row : kTable) {
        if (!row.name.empty() && (row.code > OP_16 || row.code == OP_1NEGATE)) names.push_back(row.name.substr(3));
    }
    std::vector<std::string> found = detail::similar_words(bare, names);
    for (std::string& word : found) word.insert(0, "OP_");
    return found;
}

}  // namespace rhizome::script
