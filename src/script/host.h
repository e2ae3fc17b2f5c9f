// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace rhizome::script {

/// One question about a signature. Borrows everything for the time of the call.
struct SignatureQuestion {
    ByteView signature;    ///< as it stands on the stack: DER, then the hash type byte; never empty
    ByteView key;          ///< as it stands on the stack
    ByteView script_code;  ///< the running script from the last executed CODESEPARATOR on
    /// All signatures of the instruction that asks: one, or those of a CHECKMULTISIG. Bitcoin's old digest leaves them
    /// out of the script; ours has no use for it.
    std::span<const ByteView> together;
};

/// What a script may ask about the transaction it unlocks and the block that carries it. Declared here, implemented by
/// whoever has transactions. Every answer depends on nothing but its arguments and the transaction, its block's height
/// and time, and the parent's state; the default answer is no.
class Host {
public:
    virtual ~Host() = default;

    /// Whether `key` signed. With the chain's rules the encodings were checked before: strict DER, low S, hash type
    /// ALL, a compressed key.
    [[nodiscard]] virtual bool check_signature(const SignatureQuestion& question) const;

    /// CHECKLOCKTIMEVERIFY, `operand` ≥ 0: see `waits_for` in locks.h.
    [[nodiscard]] virtual bool check_lock_time(std::int64_t operand) const;
    /// CHECKSEQUENCEVERIFY, `operand` ≥ 0 without the bit that disables it: see `waits_as_long_as`.
    [[nodiscard]] virtual bool check_sequence(std::int64_t operand) const;
    /// CHECKEXPIRYVERIFY, `operand` ≥ 0: see `before_expiry`.
    [[nodiscard]] virtual bool check_expiry(std::int64_t operand) const;
    /// CHECKMEMBERSIG: whether `key` is the chain key of a member in the parent's state.
    [[nodiscard]] virtual bool is_member(ByteView key) const;

    /// Asked only under `Rules::constant_script_code`, before the signatures of one instruction are looked at: whether
    /// none of them occurs in the script code. For Bitcoin's digest; yes by default.
    [[nodiscard]] virtual bool keeps_script_code(ByteView script_code, std::span<const ByteView> signatures) const;
};

}  // namespace rhizome::script
