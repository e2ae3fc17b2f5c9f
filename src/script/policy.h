// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "crypto/keys.h"

/// Who may unlock, and when: the locking scripts that have a name, as a tree. Templates are read into it, scripts are
/// recognised as it, sentences are made of it.
namespace rhizome::script {

enum class PolicyKind : unsigned char {
    KeyHash,   ///< DUP HASH160 <address> EQUALVERIFY CHECKSIG
    Key,       ///< <key> CHECKSIG
    Multisig,  ///< m <key>… n CHECKMULTISIG
    Member,    ///< CHECKMEMBERSIG
    After,     ///< <n> CHECKSEQUENCEVERIFY or CHECKLOCKTIMEVERIFY, DROP, then the inner one
    Until,     ///< <n> CHECKEXPIRYVERIFY DROP, then the inner one
    Either,    ///< IF the first ELSE the second ENDIF
    Cosigned,  ///< <key> CHECKSIGVERIFY, or its hash, then the inner one
};

/// What the number of `After` and `Until` counts.
enum class WaitKind : unsigned char {
    None,
    RelativeBlocks,  ///< blocks since the output
    RelativeTime,    ///< units of 512 s since the output
    Height,          ///< a block height
    Time,            ///< Unix seconds
};

struct Policy {
    PolicyKind kind = PolicyKind::Member;
    crypto::Hash160 address{};                     ///< KeyHash; Cosigned when `keys` is empty
    std::vector<crypto::PublicKey::Array> keys{};  ///< Key, Cosigned: one; Multisig: all
    std::uint32_t needed = 0;                      ///< Multisig: how many must sign
    WaitKind wait = WaitKind::None;                ///< After, Until
    std::int64_t number = 0;                       ///< After, Until
    std::vector<Policy> inner{};                   ///< After, Until, Cosigned: one; Either: two

    friend bool operator==(const Policy&, const Policy&) = default;
};

/// The locking script.
Bytes compile(const Policy& policy);

/// The policy that a locking script spells out; nothing when it is of another form. `recognise(compile(p)) == p`.
std::optional<Policy> recognise(ByteView locking);

}  // namespace rhizome::script
