// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "script/host.h"
#include "script/script.h"
#include "script/stack.h"
#include "script/verdict.h"

/// Runs scripts to a verdict. A plain function of its arguments: no script loops, every list has a bound, nothing is
/// allocated, and the same arguments give the same verdict everywhere. May be called from several threads at once if
/// the host may.
namespace rhizome::script {

/// What is checked beyond the instructions themselves. All off is Bitcoin's behaviour in 2009; the chain uses
/// `kChainRules` and nothing else, the rest is there because the public vectors switch each rule by itself.
struct Rules {
    bool push_only_unlocking = false;   ///< SIGPUSHONLY
    bool minimal_data = false;          ///< MINIMALDATA: pushes and numbers have one form
    bool minimal_if = false;            ///< IF and NOTIF take exactly an empty item or 01
    bool strict_der = false;            ///< DERSIG (BIP 66)
    bool low_s = false;                 ///< LOW_S; implies strict DER
    bool strict_encoding = false;       ///< STRICTENC: strict DER, a defined hash type, a key of 33 or 65 bytes
    bool hash_type_all = false;         ///< only hash type 01
    bool compressed_keys = false;       ///< only keys of 33 bytes
    bool null_dummy = false;            ///< NULLDUMMY: the extra item of CHECKMULTISIG is empty
    bool null_fail = false;             ///< NULLFAIL: a signature that fails is empty
    bool clean_stack = false;           ///< CLEANSTACK: exactly one item is left
    bool lock_time = false;             ///< CHECKLOCKTIMEVERIFY is not a NOP
    bool sequence = false;              ///< CHECKSEQUENCEVERIFY is not a NOP
    bool discourage_nops = false;       ///< DISCOURAGE_UPGRADABLE_NOPS
    bool constant_script_code = false;  ///< CONST_SCRIPTCODE
    bool extensions = false;            ///< 0xb3 is CHECKEXPIRYVERIFY and 0xb4 CHECKMEMBERSIG, not NOPs

    friend constexpr bool operator==(const Rules&, const Rules&) = default;
};

/// The rules of the chain (docs/spec/chain.md, section 3).
inline constexpr Rules kChainRules{
    .push_only_unlocking = true,
    .minimal_data = true,
    .minimal_if = true,
    .strict_der = true,
    .low_s = true,
    .strict_encoding = true,
    .hash_type_all = true,
    .compressed_keys = true,
    .null_dummy = true,
    // A relay cannot put rubbish where an empty item would do, and the first signature that fails ends the script, so a
    // stranger buys at most one check that comes to nothing per instruction.
    .null_fail = true,
    .clean_stack = true,
    .lock_time = true,
    .sequence = true,
    .extensions = true,
};

struct Limits {
    /// Signatures that the host may be asked about; one more fails with SIG_CHECKS. The ledger hands in what is left of
    /// the transaction's and the block's share. An empty signature asks nothing and costs nothing.
    std::uint32_t signature_checks = 20'000;
};

/// What an observer sees of the moment before or after an instruction. Borrows everything for the time of the call.
struct Moment {
    ScriptPart part;
    ByteView script;
    const Instruction& instruction;
    bool executed;  ///< false in a branch that is not taken
    const Stack& stack;
    std::size_t open_branches;  ///< IFs that wait for their ENDIF
    ScriptError error;          ///< what the instruction came to; Ok before it
};

/// Looks on while a script runs; changes nothing.
class Observer {
public:
    virtual ~Observer() = default;
    virtual void before(const Moment& moment) = 0;
    virtual void after(const Moment& moment) = 0;
};

/// Runs `unlocking` and then `locking` on one stack. Both are borrowed.
Verdict verify(ByteView unlocking, ByteView locking, const Host& host, const Rules& rules = kChainRules,
               const Limits& limits = {}, Observer* observer = nullptr);

/// One script on a stack that may hold items already: what `verify` does twice. For tools and the tests' P2SH. Says
/// nothing about what is left on the stack; `verdict.signature_checks` goes on from what it was, `verdict.part` is
/// kept.
void run(ByteView script, Stack& stack, const Host& host, const Rules& rules, const Limits& limits, Verdict& verdict,
         Observer* observer = nullptr);

}  // namespace rhizome::script
