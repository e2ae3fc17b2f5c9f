// SPDX-License-Identifier: Apache-2.0
#include "script/verdict.h"

#include <fmt/core.h>

namespace rhizome::script {

std::string_view name(ScriptError error) {
    switch (error) {
        case ScriptError::Ok: return "OK";
        case ScriptError::EvalFalse: return "EVAL_FALSE";
        case ScriptError::OpReturn: return "OP_RETURN";
        case ScriptError::ScriptSize: return "SCRIPT_SIZE";
        case ScriptError::PushSize: return "PUSH_SIZE";
        case ScriptError::OpCount: return "OP_COUNT";
        case ScriptError::StackSize: return "STACK_SIZE";
        case ScriptError::SigCount: return "SIG_COUNT";
        case ScriptError::PubkeyCount: return "PUBKEY_COUNT";
        case ScriptError::Verify: return "VERIFY";
        case ScriptError::EqualVerify: return "EQUALVERIFY";
        case ScriptError::CheckMultisigVerify: return "CHECKMULTISIGVERIFY";
        case ScriptError::CheckSigVerify: return "CHECKSIGVERIFY";
        case ScriptError::NumEqualVerify: return "NUMEQUALVERIFY";
        case ScriptError::BadOpcode: return "BAD_OPCODE";
        case ScriptError::DisabledOpcode: return "DISABLED_OPCODE";
        case ScriptError::InvalidStackOperation: return "INVALID_STACK_OPERATION";
        case ScriptError::InvalidAltstackOperation: return "INVALID_ALTSTACK_OPERATION";
        case ScriptError::UnbalancedConditional: return "UNBALANCED_CONDITIONAL";
        case ScriptError::NegativeLocktime: return "NEGATIVE_LOCKTIME";
        case ScriptError::UnsatisfiedLocktime: return "UNSATISFIED_LOCKTIME";
        case ScriptError::SigHashtype: return "SIG_HASHTYPE";
        case ScriptError::SigDer: return "SIG_DER";
        case ScriptError::MinimalData: return "MINIMALDATA";
        case ScriptError::SigPushOnly: return "SIG_PUSHONLY";
        case ScriptError::SigHighS: return "SIG_HIGH_S";
        case ScriptError::SigNullDummy: return "SIG_NULLDUMMY";
        case ScriptError::PubkeyType: return "PUBKEYTYPE";
        case ScriptError::CleanStack: return "CLEANSTACK";
        case ScriptError::MinimalIf: return "MINIMALIF";
        case ScriptError::NullFail: return "NULLFAIL";
        case ScriptError::DiscourageUpgradableNops: return "DISCOURAGE_UPGRADABLE_NOPS";
        case ScriptError::OpCodeSeparator: return "OP_CODESEPARATOR";
        case ScriptError::SigFindAndDelete: return "SIG_FINDANDDELETE";
        case ScriptError::ScriptNum: return "SCRIPTNUM";
        case ScriptError::SigChecks: return "SIG_CHECKS";
        case ScriptError::Expired: return "EXPIRED";
    }
    unreachable("a ScriptError has a name");
}

std::string_view explain(ScriptError error) {
    switch (error) {
        case ScriptError::Ok: return "it succeeds";
        case ScriptError::EvalFalse: return "it ended without true on top of the stack";
        case ScriptError::OpReturn: return "OP_RETURN always fails";
        case ScriptError::ScriptSize: return "a script has more than 10,000 bytes";
        case ScriptError::PushSize: return "an item has more than 520 bytes";
        case ScriptError::OpCount: return "a script has more than 201 operations";
        case ScriptError::StackSize: return "there are more than 1,000 items on the stacks";
        case ScriptError::SigCount:
            return "CHECKMULTISIG asks for a negative number of signatures, or for more than it has keys";
        case ScriptError::PubkeyCount: return "CHECKMULTISIG has a negative number of keys, or more than 20";
        case ScriptError::Verify: return "OP_VERIFY found false";
        case ScriptError::EqualVerify: return "two items that must be equal are not";
        case ScriptError::CheckMultisigVerify: return "not enough signatures match the keys";
        case ScriptError::CheckSigVerify: return "a signature does not match its key";
        case ScriptError::NumEqualVerify: return "two numbers that must be equal are not";
        case ScriptError::BadOpcode: return "there is no such instruction, it is reserved, or a push is cut off";
        case ScriptError::DisabledOpcode: return "this instruction is disabled, even where it is not executed";
        case ScriptError::InvalidStackOperation: return "an instruction needs more items than the stack has";
        case ScriptError::InvalidAltstackOperation: return "OP_FROMALTSTACK found the alternative stack empty";
        case ScriptError::UnbalancedConditional: return "OP_IF, OP_ELSE and OP_ENDIF do not match";
        case ScriptError::NegativeLocktime: return "a lock has a negative number";
        case ScriptError::UnsatisfiedLocktime: return "the transaction does not wait as long as the lock says";
        case ScriptError::SigHashtype: return "a signature has a hash type that is not allowed";
        case ScriptError::SigDer: return "a signature is not strict DER";
        case ScriptError::MinimalData: return "a push has a shorter form";
        case ScriptError::SigPushOnly: return "the unlocking script does more than push data";
        case ScriptError::SigHighS: return "a signature has a high S; only the low one is valid";
        case ScriptError::SigNullDummy: return "the extra item that CHECKMULTISIG takes is not empty";
        case ScriptError::PubkeyType: return "a public key has a form that is not allowed";
        case ScriptError::CleanStack: return "items are left on the stack below the result";
        case ScriptError::MinimalIf: return "OP_IF takes exactly an empty item or 1";
        case ScriptError::NullFail: return "a signature that does not match must be empty";
        case ScriptError::DiscourageUpgradableNops: return "this instruction is kept for later use";
        case ScriptError::OpCodeSeparator: return "OP_CODESEPARATOR is not allowed here";
        case ScriptError::SigFindAndDelete: return "a signature occurs in the script that it signs";
        case ScriptError::ScriptNum: return "a number has too many bytes or a shorter form";
        case ScriptError::SigChecks: return "there are more signature checks than a transaction of this size may have";
        case ScriptError::Expired: return "the time that this was granted for is over";
    }
    unreachable("a ScriptError has a sentence");
}

std::string_view name(ScriptPart part) { return part == ScriptPart::Unlocking ? "unlocking" : "locking"; }

Error to_error(const Verdict& verdict) {
    return {ErrorKind::Denied, fmt::format("{} at byte {} of the {} script: {}", name(verdict.error), verdict.offset,
                                           name(verdict.part), explain(verdict.error))};
}

}  // namespace rhizome::script
