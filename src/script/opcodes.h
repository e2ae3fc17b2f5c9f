// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The instruction set as data: Bitcoin Script before segregated witness, with the thesis's spellings as aliases and
/// two instructions of our own in places that Bitcoin left free (0xb3, 0xb4). The assembler, the interpreter's limits,
/// the tracer and the help all read this one table.
namespace rhizome::script {

/// The codes that code names. Pushes of 1 to 75 bytes are their own size and have no name here.
enum Op : std::uint8_t {
    OP_0 = 0x00,
    OP_PUSHDATA1 = 0x4c,
    OP_PUSHDATA2 = 0x4d,
    OP_PUSHDATA4 = 0x4e,
    OP_1NEGATE = 0x4f,
    OP_RESERVED = 0x50,
    OP_1 = 0x51,
    OP_2 = 0x52,
    OP_3 = 0x53,
    OP_16 = 0x60,

    OP_NOP = 0x61,
    OP_VER = 0x62,
    OP_IF = 0x63,
    OP_NOTIF = 0x64,
    OP_VERIF = 0x65,
    OP_VERNOTIF = 0x66,
    OP_ELSE = 0x67,
    OP_ENDIF = 0x68,
    OP_VERIFY = 0x69,
    OP_RETURN = 0x6a,

    OP_TOALTSTACK = 0x6b,
    OP_FROMALTSTACK = 0x6c,
    OP_2DROP = 0x6d,
    OP_2DUP = 0x6e,
    OP_3DUP = 0x6f,
    OP_2OVER = 0x70,
    OP_2ROT = 0x71,
    OP_2SWAP = 0x72,
    OP_IFDUP = 0x73,
    OP_DEPTH = 0x74,
    OP_DROP = 0x75,
    OP_DUP = 0x76,
    OP_NIP = 0x77,
    OP_OVER = 0x78,
    OP_PICK = 0x79,
    OP_ROLL = 0x7a,
    OP_ROT = 0x7b,
    OP_SWAP = 0x7c,
    OP_TUCK = 0x7d,

    OP_CAT = 0x7e,
    OP_SUBSTR = 0x7f,
    OP_LEFT = 0x80,
    OP_RIGHT = 0x81,
    OP_SIZE = 0x82,

    OP_INVERT = 0x83,
    OP_AND = 0x84,
    OP_OR = 0x85,
    OP_XOR = 0x86,
    OP_EQUAL = 0x87,
    OP_EQUALVERIFY = 0x88,
    OP_RESERVED1 = 0x89,
    OP_RESERVED2 = 0x8a,

    OP_1ADD = 0x8b,
    OP_1SUB = 0x8c,
    OP_2MUL = 0x8d,
    OP_2DIV = 0x8e,
    OP_NEGATE = 0x8f,
    OP_ABS = 0x90,
    OP_NOT = 0x91,
    OP_0NOTEQUAL = 0x92,
    OP_ADD = 0x93,
    OP_SUB = 0x94,
    OP_MUL = 0x95,
    OP_DIV = 0x96,
    OP_MOD = 0x97,
    OP_LSHIFT = 0x98,
    OP_RSHIFT = 0x99,
    OP_BOOLAND = 0x9a,
    OP_BOOLOR = 0x9b,
    OP_NUMEQUAL = 0x9c,
    OP_NUMEQUALVERIFY = 0x9d,
    OP_NUMNOTEQUAL = 0x9e,
    OP_LESSTHAN = 0x9f,
    OP_GREATERTHAN = 0xa0,
    OP_LESSTHANOREQUAL = 0xa1,
    OP_GREATERTHANOREQUAL = 0xa2,
    OP_MIN = 0xa3,
    OP_MAX = 0xa4,
    OP_WITHIN = 0xa5,

    OP_RIPEMD160 = 0xa6,
    OP_SHA1 = 0xa7,
    OP_SHA256 = 0xa8,
    OP_HASH160 = 0xa9,
    OP_HASH256 = 0xaa,
    OP_CODESEPARATOR = 0xab,
    OP_CHECKSIG = 0xac,
    OP_CHECKSIGVERIFY = 0xad,
    OP_CHECKMULTISIG = 0xae,
    OP_CHECKMULTISIGVERIFY = 0xaf,

    OP_NOP1 = 0xb0,
    OP_CHECKLOCKTIMEVERIFY = 0xb1,
    OP_CHECKSEQUENCEVERIFY = 0xb2,
    OP_CHECKEXPIRYVERIFY = 0xb3,  ///< ours; Bitcoin's NOP4
    OP_CHECKMEMBERSIG = 0xb4,     ///< ours; Bitcoin's NOP5
    OP_NOP6 = 0xb5,
    OP_NOP7 = 0xb6,
    OP_NOP8 = 0xb7,
    OP_NOP9 = 0xb8,
    OP_NOP10 = 0xb9,
};

enum class OpCategory : unsigned char {
    Constant,    ///< pushes data or a number
    Flow,        ///< decides what runs
    Stack,       ///< moves items
    Splice,      ///< looks into items
    Bitwise,     ///< compares items byte for byte
    Arithmetic,  ///< numbers of at most four bytes
    Crypto,      ///< hashes and signatures
    Lock,        ///< time, height and expiry
    Nothing,     ///< does nothing
    Reserved,    ///< fails when executed
    Disabled,    ///< fails even where it is not executed
    Unknown,     ///< no instruction; fails when executed
};
std::string_view name(OpCategory category);

/// One instruction. Everything it refers to lives as long as the program.
struct Opcode {
    std::uint8_t code = 0;
    std::string_view name{};                      ///< `OP_DUP`; empty for codes that have none
    std::span<const std::string_view> aliases{};  ///< other spellings, without `OP_` in front
    std::string_view effect{};                    ///< items before → after, the top at the right
    std::string_view help{};                      ///< what it does, in a sentence for people
    OpCategory category = OpCategory::Unknown;
    /// What it costs in units of about a hash of a short item: 0 moves bytes, 40 is a signature. For people who compare
    /// scripts; limits count operations and signature checks instead.
    std::uint8_t cost = 0;
    bool counted = false;  ///< counts towards the 201 operations of a script
    bool ours = false;     ///< not an instruction of Bitcoin
};

const Opcode& opcode(std::uint8_t code);

/// The instruction of that name or alias, with or without `OP_`, in any case; null when there is none.
const Opcode* find_opcode(std::string_view name);

/// At most three names that a typing mistake may have turned into `name`, best first.
std::vector<std::string> similar_opcodes(std::string_view name);

}  // namespace rhizome::script
