// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace rhizome::script {

/// Why a script did not succeed. The names are those of Bitcoin's test data, so that its vectors apply as they are; the
/// last three are ours.
enum class ScriptError : unsigned char {
    Ok,
    EvalFalse,
    OpReturn,
    ScriptSize,
    PushSize,
    OpCount,
    StackSize,
    SigCount,
    PubkeyCount,
    Verify,
    EqualVerify,
    CheckMultisigVerify,
    CheckSigVerify,
    NumEqualVerify,
    BadOpcode,
    DisabledOpcode,
    InvalidStackOperation,
    InvalidAltstackOperation,
    UnbalancedConditional,
    NegativeLocktime,
    UnsatisfiedLocktime,
    SigHashtype,
    SigDer,
    MinimalData,
    SigPushOnly,
    SigHighS,
    SigNullDummy,
    PubkeyType,
    CleanStack,
    MinimalIf,
    NullFail,
    DiscourageUpgradableNops,
    OpCodeSeparator,
    SigFindAndDelete,
    ScriptNum,
    SigChecks,  ///< more signature checks than the transaction may ask for
    Expired,    ///< CHECKEXPIRYVERIFY: too late
};

/// `EVAL_FALSE`, `SIG_DER`, …
std::string_view name(ScriptError error);
/// A sentence for people.
std::string_view explain(ScriptError error);

/// Which of the scripts that run in turn.
enum class ScriptPart : unsigned char { Unlocking, Locking };
std::string_view name(ScriptPart part);

/// How a run ended.
struct [[nodiscard]] Verdict {
    ScriptError error = ScriptError::Ok;
    /// Where it failed: the instruction's script and offset, or that script's size for what is only known at its end.
    ScriptPart part = ScriptPart::Locking;
    std::uint32_t offset = 0;
    /// Signatures that the host was asked about: what `Limits::signature_checks` counts.
    std::uint32_t signature_checks = 0;
    /// CHECKEXPIRYVERIFY or CHECKMEMBERSIG was executed: the verdict holds for this parent and this block's place only
    /// and must not be kept for another.
    bool depends_on_block = false;

    [[nodiscard]] bool ok() const { return error == ScriptError::Ok; }
    friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// `CHECKSIGVERIFY at byte 27 of the locking script: a signature does not match its key`.
Error to_error(const Verdict& verdict);

}  // namespace rhizome::script
