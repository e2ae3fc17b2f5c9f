// SPDX-License-Identifier: Apache-2.0
#include "script/interpreter.h"

#include <algorithm>
#include <array>

#include "crypto/hash.h"
#include "script/detail/branches.h"
#include "script/detail/signature_form.h"
#include "script/locks.h"

namespace rhizome::script {
namespace {

constexpr bool is_disabled(std::uint8_t code) {
    return (code >= OP_CAT && code <= OP_RIGHT) || (code >= OP_INVERT && code <= OP_XOR) || code == OP_2MUL ||
           code == OP_2DIV || (code >= OP_MUL && code <= OP_RSHIFT);
}

/// The numbers 1 to 16 and -1 as items.
constexpr std::array<std::uint8_t, 18> kSmallNumbers{0x81, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/// One script being run.
class Machine {
public:
    Machine(ByteView script, Stack& stack, const Host& host, const Rules& rules, const Limits& limits, Verdict& verdict)
        : script_(script), stack_(stack), host_(host), rules_(rules), limits_(limits), verdict_(verdict) {}

    ScriptError run(Observer* observer);

private:
    ScriptError step(const Instruction& instruction);
    ScriptError execute(std::uint8_t code);
    ScriptError branch(std::uint8_t code);
    ScriptError move_items(std::uint8_t code);
    ScriptError pick(bool keep);
    ScriptError one_number(std::uint8_t code);
    ScriptError two_numbers(std::uint8_t code);
    ScriptError within();
    ScriptError equal(bool verify);
    ScriptError hash(std::uint8_t code);
    ScriptError lock(std::uint8_t code);
    ScriptError check_one(std::uint8_t code);
    ScriptError check_many(bool verify);
    ScriptError encoding(ByteView signature, ByteView key) const;
    ScriptError ask(ByteView signature, ByteView key, std::span<const ByteView> together, bool& good);

    /// Takes the item at `depth` as a number of at most four bytes.
    [[nodiscard]] bool number(std::size_t depth, std::int64_t& out) const {
        const auto read = read_number(stack_.top(depth), kNumberBytesMax, rules_.minimal_data);
        out = read.value_or(0);
        return read.has_value();
    }
    [[nodiscard]] bool lacks(std::size_t items) const { return stack_.size() < items; }
    [[nodiscard]] ByteView script_code() const { return script_.subspan(code_from_); }

    ByteView script_;
    Stack& stack_;
    const Host& host_;
    const Rules& rules_;
    const Limits& limits_;
    Verdict& verdict_;
    detail::Branches branches_;
    std::size_t operations_ = 0;
    std::size_t code_from_ = 0;  ///< behind the last executed CODESEPARATOR
    std::size_t next_ = 0;       ///< behind the instruction that runs
};

ScriptError Machine::run(Observer* observer) {
    if (script_.size() > kScriptBytesMax) return ScriptError::ScriptSize;
    InstructionReader reader{script_};
    while (const auto instruction = reader.next()) {
        verdict_.offset = instruction->offset;
        next_ = reader.position();
        if (observer == nullptr) [[likely]] {
            if (const auto error = step(*instruction); error != ScriptError::Ok) return error;
            continue;
        }
        const bool flow = instruction->code >= OP_IF && instruction->code <= OP_ENDIF;
        const bool executed = branches_.taken() || flow;
        observer->before({verdict_.part, script_, *instruction, executed, stack_, branches_.open(), ScriptError::Ok});
        const auto error = step(*instruction);
        observer->after({verdict_.part, script_, *instruction, executed, stack_, branches_.open(), error});
        if (error != ScriptError::Ok) return error;
    }
    verdict_.offset = static_cast<std::uint32_t>(script_.size());
    return branches_.open() == 0 ? ScriptError::Ok : ScriptError::UnbalancedConditional;
}

ScriptError Machine::step(const Instruction& instruction) {
    const std::uint8_t code = instruction.code;
    if (instruction.broken) return ScriptError::BadOpcode;
    if (instruction.data.size() > kElementBytesMax) return ScriptError::PushSize;
    if (code > OP_16 && ++operations_ > kOperationsMax) return ScriptError::OpCount;
    if (is_disabled(code)) return ScriptError::DisabledOpcode;
    if (code == OP_CODESEPARATOR && rules_.constant_script_code) return ScriptError::OpCodeSeparator;

    if (branches_.taken()) {
        if (instruction.is_push()) {
            if (rules_.minimal_data && !is_minimal_push(instruction)) return ScriptError::MinimalData;
            stack_.push(instruction.data);
        } else if (const auto error = execute(code); error != ScriptError::Ok) {
            return error;
        }
    } else if (code >= OP_IF && code <= OP_ENDIF) {
        if (const auto error = branch(code); error != ScriptError::Ok) return error;
    }
    return stack_.total() > kStackItemsMax ? ScriptError::StackSize : ScriptError::Ok;
}

ScriptError Machine::execute(std::uint8_t code) {
    switch (code) {
        case OP_1NEGATE: stack_.push(ByteView{kSmallNumbers.data(), 1}); return ScriptError::Ok;
        case OP_NOP: return ScriptError::Ok;

        case OP_IF:
        case OP_NOTIF:
        case OP_VERIF:
        case OP_VERNOTIF:
        case OP_ELSE:
        case OP_ENDIF: return branch(code);
        case OP_VERIFY: {
            if (lacks(1)) return ScriptError::InvalidStackOperation;
            if (!is_true(stack_.top())) return ScriptError::Verify;
            stack_.pop();
            return ScriptError::Ok;
        }
        case OP_RETURN: return ScriptError::OpReturn;

        case OP_SIZE: {
            if (lacks(1)) return ScriptError::InvalidStackOperation;
            stack_.push_number(static_cast<std::int64_t>(stack_.top().size()));
            return ScriptError::Ok;
        }
        case OP_PICK: return pick(true);
        case OP_ROLL: return pick(false);
        case OP_EQUAL: return equal(false);
        case OP_EQUALVERIFY: return equal(true);

        case OP_1ADD:
        case OP_1SUB:
        case OP_NEGATE:
        case OP_ABS:
        case OP_NOT:
        case OP_0NOTEQUAL: return one_number(code);
        case OP_ADD:
        case OP_SUB:
        case OP_BOOLAND:
        case OP_BOOLOR:
        case OP_NUMEQUAL:
        case OP_NUMEQUALVERIFY:
        case OP_NUMNOTEQUAL:
        case OP_LESSTHAN:
        case OP_GREATERTHAN:
        case OP_LESSTHANOREQUAL:
        case OP_GREATERTHANOREQUAL:
        case OP_MIN:
        case OP_MAX: return two_numbers(code);
        case OP_WITHIN: return within();

        case OP_RIPEMD160:
        case OP_SHA1:
        case OP_SHA256:
        case OP_HASH160:
        case OP_HASH256: return hash(code);
        case OP_CODESEPARATOR: code_from_ = next_; return ScriptError::Ok;
        case OP_CHECKSIG:
        case OP_CHECKSIGVERIFY: return check_one(code);
        case OP_CHECKMULTISIG: return check_many(false);
        case OP_CHECKMULTISIGVERIFY: return check_many(true);

        case OP_CHECKLOCKTIMEVERIFY:
        case OP_CHECKSEQUENCEVERIFY: return lock(code);
        case OP_CHECKEXPIRYVERIFY:
            if (rules_.extensions) return lock(code);
            break;
        case OP_CHECKMEMBERSIG:
            if (rules_.extensions) return check_one(code);
            break;
        case OP_NOP1:
        case OP_NOP6:
        case OP_NOP7:
        case OP_NOP8:
        case OP_NOP9:
        case OP_NOP10: break;

        default:
            if (code >= OP_1 && code <= OP_16) {
                stack_.push(ByteView{kSmallNumbers.data() + 2 + (code - OP_1), 1});
                return ScriptError::Ok;
            }
            return code >= OP_TOALTSTACK && code <= OP_TUCK ? move_items(code) : ScriptError::BadOpcode;
    }
    return rules_.discourage_nops ? ScriptError::DiscourageUpgradableNops : ScriptError::Ok;
}

/// Runs for branches that are not taken too: they must be counted to find their end.
ScriptError Machine::branch(std::uint8_t code) {
    switch (code) {
        case OP_IF:
        case OP_NOTIF: {
            bool take = false;
            if (branches_.taken()) {
                if (lacks(1)) return ScriptError::InvalidStackOperation;
                const ByteView item = stack_.top();
                if (rules_.minimal_if && !(item.empty() || (item.size() == 1 && item[0] == 1))) {
                    return ScriptError::MinimalIf;
                }
                take = is_true(item) == (code == OP_IF);
                stack_.pop();
            }
            branches_.enter(take);
            return ScriptError::Ok;
        }
        case OP_ELSE:
            if (branches_.open() == 0) return ScriptError::UnbalancedConditional;
            branches_.turn();
            return ScriptError::Ok;
        case OP_ENDIF:
            if (branches_.open() == 0) return ScriptError::UnbalancedConditional;
            branches_.leave();
            return ScriptError::Ok;
        default: return ScriptError::BadOpcode;  // VERIF, VERNOTIF
    }
}

ScriptError Machine::move_items(std::uint8_t code) {
    /// Items that each needs, from TOALTSTACK to TUCK.
    constexpr std::array<std::uint8_t, OP_TUCK - OP_TOALTSTACK + 1> kNeeded{1, 0, 2, 2, 3, 4, 6, 4, 1, 0,
                                                                            1, 1, 2, 2, 2, 2, 3, 2, 2};
    if (lacks(kNeeded[static_cast<std::size_t>(code - OP_TOALTSTACK)])) return ScriptError::InvalidStackOperation;
    switch (code) {
        case OP_TOALTSTACK: stack_.to_alt(); break;
        case OP_FROMALTSTACK:
            if (stack_.alt_size() == 0) return ScriptError::InvalidAltstackOperation;
            stack_.from_alt();
            break;
        case OP_2DROP: stack_.pop(2); break;
        case OP_2DUP:
            for (int i = 0; i < 2; ++i) stack_.push(stack_.top(1));
            break;
        case OP_3DUP:
            for (int i = 0; i < 3; ++i) stack_.push(stack_.top(2));
            break;
        case OP_2OVER:
            for (int i = 0; i < 2; ++i) stack_.push(stack_.top(3));
            break;
        case OP_2ROT:
            for (int i = 0; i < 2; ++i) stack_.raise(5);
            break;
        case OP_2SWAP:
            for (int i = 0; i < 2; ++i) stack_.raise(3);
            break;
        case OP_IFDUP:
            if (is_true(stack_.top())) stack_.push(stack_.top());
            break;
        case OP_DEPTH: stack_.push_number(static_cast<std::int64_t>(stack_.size())); break;
        case OP_DROP: stack_.pop(); break;
        case OP_DUP: stack_.push(stack_.top()); break;
        case OP_NIP:
            stack_.swap(0, 1);
            stack_.pop();
            break;
        case OP_OVER: stack_.push(stack_.top(1)); break;
        case OP_ROT: stack_.raise(2); break;
        case OP_SWAP: stack_.swap(0, 1); break;
        case OP_TUCK: stack_.tuck(1); break;
        default: unreachable("PICK and ROLL have their own place");
    }
    return ScriptError::Ok;
}

ScriptError Machine::pick(bool keep) {
    if (lacks(2)) return ScriptError::InvalidStackOperation;
    std::int64_t depth = 0;
    if (!number(0, depth)) return ScriptError::ScriptNum;
    stack_.pop();
    if (depth < 0 || static_cast<std::uint64_t>(depth) >= stack_.size()) return ScriptError::InvalidStackOperation;
    const auto place = static_cast<std::size_t>(depth);
    if (keep) {
        stack_.push(stack_.top(place));
    } else {
        stack_.raise(place);
    }
    return ScriptError::Ok;
}

ScriptError Machine::equal(bool verify) {
    if (lacks(2)) return ScriptError::InvalidStackOperation;
    const bool same = as_text(stack_.top(0)) == as_text(stack_.top(1));
    if (verify && !same) return ScriptError::EqualVerify;
    stack_.pop(2);
    if (!verify) stack_.push(same);
    return ScriptError::Ok;
}

// Numbers of four bytes: sums and differences stay far inside 64 bits.
ScriptError Machine::one_number(std::uint8_t code) {
    if (lacks(1)) return ScriptError::InvalidStackOperation;
    std::int64_t a = 0;
    if (!number(0, a)) return ScriptError::ScriptNum;
    switch (code) {
        case OP_1ADD: a += 1; break;
        case OP_1SUB: a -= 1; break;
        case OP_NEGATE: a = -a; break;
        case OP_ABS: a = a < 0 ? -a : a; break;
        case OP_NOT: a = a == 0; break;
        case OP_0NOTEQUAL: a = a != 0; break;
        default: unreachable("an instruction of one number");
    }
    stack_.pop();
    stack_.push_number(a);
    return ScriptError::Ok;
}

ScriptError Machine::two_numbers(std::uint8_t code) {
    if (lacks(2)) return ScriptError::InvalidStackOperation;
    std::int64_t a = 0;
    std::int64_t b = 0;
    if (!number(1, a) || !number(0, b)) return ScriptError::ScriptNum;
    std::int64_t result = 0;
    switch (code) {
        case OP_ADD: result = a + b; break;
        case OP_SUB: result = a - b; break;
        case OP_BOOLAND: result = a != 0 && b != 0; break;
        case OP_BOOLOR: result = a != 0 || b != 0; break;
        case OP_NUMEQUAL:
        case OP_NUMEQUALVERIFY: result = a == b; break;
        case OP_NUMNOTEQUAL: result = a != b; break;
        case OP_LESSTHAN: result = a < b; break;
        case OP_GREATERTHAN: result = a > b; break;
        case OP_LESSTHANOREQUAL: result = a <= b; break;
        case OP_GREATERTHANOREQUAL: result = a >= b; break;
        case OP_MIN: result = std::min(a, b); break;
        case OP_MAX: result = std::max(a, b); break;
        default: unreachable("an instruction of two numbers");
    }
    const bool verify = code == OP_NUMEQUALVERIFY;
    if (verify && result == 0) return ScriptError::NumEqualVerify;
    stack_.pop(2);
    if (!verify) stack_.push_number(result);
    return ScriptError::Ok;
}

ScriptError Machine::within() {
    if (lacks(3)) return ScriptError::InvalidStackOperation;
    std::int64_t x = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
    if (!number(2, x) || !number(1, low) || !number(0, high)) return ScriptError::ScriptNum;
    stack_.pop(3);
    stack_.push(low <= x && x < high);
    return ScriptError::Ok;
}

ScriptError Machine::hash(std::uint8_t code) {
    if (lacks(1)) return ScriptError::InvalidStackOperation;
    const ByteView item = stack_.top();
    stack_.pop();  // the bytes stay where they are: an item is a view
    switch (code) {
        case OP_RIPEMD160: stack_.push_copy(crypto::ripemd160(item).view()); break;
        case OP_SHA1: stack_.push_copy(crypto::sha1(item).view()); break;
        case OP_SHA256: stack_.push_copy(crypto::sha256(item).view()); break;
        case OP_HASH160: stack_.push_copy(crypto::hash160(item).view()); break;
        case OP_HASH256: stack_.push_copy(crypto::hash256d(item).view()); break;
        default: unreachable("an instruction that hashes");
    }
    return ScriptError::Ok;
}

ScriptError Machine::lock(std::uint8_t code) {
    if (code == OP_CHECKLOCKTIMEVERIFY && !rules_.lock_time) return ScriptError::Ok;
    if (code == OP_CHECKSEQUENCEVERIFY && !rules_.sequence) return ScriptError::Ok;
    if (lacks(1)) return ScriptError::InvalidStackOperation;
    const auto operand = read_number(stack_.top(), kLockNumberBytesMax, rules_.minimal_data);
    if (!operand) return ScriptError::ScriptNum;
    if (*operand < 0) return ScriptError::NegativeLocktime;
    switch (code) {
        case OP_CHECKLOCKTIMEVERIFY:
            return host_.check_lock_time(*operand) ? ScriptError::Ok : ScriptError::UnsatisfiedLocktime;
        case OP_CHECKSEQUENCEVERIFY:
            if ((*operand & kSequenceDisabled) != 0) return ScriptError::Ok;
            return host_.check_sequence(*operand) ? ScriptError::Ok : ScriptError::UnsatisfiedLocktime;
        default:
            verdict_.depends_on_block = true;
            return host_.check_expiry(*operand) ? ScriptError::Ok : ScriptError::Expired;
    }
}

ScriptError Machine::encoding(ByteView signature, ByteView key) const {
    if (const auto error = detail::signature_form(signature, rules_); error != ScriptError::Ok) return error;
    return detail::key_form(key, rules_);
}

/// Asks the host, if there is anything to ask and the budget allows it. An empty signature is how a script says no.
ScriptError Machine::ask(ByteView signature, ByteView key, std::span<const ByteView> together, bool& good) {
    good = false;
    if (signature.empty()) return ScriptError::Ok;
    if (verdict_.signature_checks >= limits_.signature_checks) return ScriptError::SigChecks;
    ++verdict_.signature_checks;
    good = host_.check_signature({signature, key, script_code(), together});
    return ScriptError::Ok;
}

/// CHECKSIG, CHECKSIGVERIFY, CHECKMEMBERSIG.
ScriptError Machine::check_one(std::uint8_t code) {
    if (lacks(2)) return ScriptError::InvalidStackOperation;
    const ByteView signature = stack_.top(1);
    const ByteView key = stack_.top(0);
    const std::array together{signature};
    if (rules_.constant_script_code && !host_.keeps_script_code(script_code(), together)) {
        return ScriptError::SigFindAndDelete;
    }
    if (const auto error = encoding(signature, key); error != ScriptError::Ok) return error;
    bool may = true;
    if (code == OP_CHECKMEMBERSIG) {
        verdict_.depends_on_block = true;
        may = host_.is_member(key);  // first, because it is cheap and a stranger's signature then costs nothing
    }
    bool good = false;
    if (may) {
        if (const auto error = ask(signature, key, together, good); error != ScriptError::Ok) return error;
    }
    if (!good && rules_.null_fail && !signature.empty()) return ScriptError::NullFail;
    if (code == OP_CHECKSIGVERIFY && !good) return ScriptError::CheckSigVerify;
    stack_.pop(2);
    if (code != OP_CHECKSIGVERIFY) stack_.push(good);
    return ScriptError::Ok;
}

/// From the bottom: an extra item, m signatures, m, n keys, n. Signatures and keys are compared from the top down; a
/// key that did not match is not tried again, so signatures stand in the order of their keys.
ScriptError Machine::check_many(bool verify) {
    if (lacks(1)) return ScriptError::InvalidStackOperation;
    std::int64_t count = 0;
    if (!number(0, count)) return ScriptError::ScriptNum;
    if (count < 0 || static_cast<std::uint64_t>(count) > kMultisigKeysMax) return ScriptError::PubkeyCount;
    std::size_t keys = static_cast<std::size_t>(count);
    operations_ += keys;
    if (operations_ > kOperationsMax) return ScriptError::OpCount;
    std::size_t key_at = 1;
    const std::size_t needed_at = 1 + keys;
    if (lacks(needed_at + 1)) return ScriptError::InvalidStackOperation;
    if (!number(needed_at, count)) return ScriptError::ScriptNum;
    if (count < 0 || static_cast<std::uint64_t>(count) > keys) return ScriptError::SigCount;
    const std::size_t signatures = static_cast<std::size_t>(count);
    const std::size_t first_signature_at = needed_at + 1;
    const std::size_t dummy_at = first_signature_at + signatures;
    if (lacks(dummy_at)) return ScriptError::InvalidStackOperation;

    std::array<ByteView, kMultisigKeysMax> all;
    for (std::size_t i = 0; i < signatures; ++i) all[i] = stack_.top(first_signature_at + i);
    const std::span<const ByteView> together{all.data(), signatures};
    if (rules_.constant_script_code && !host_.keeps_script_code(script_code(), together)) {
        return ScriptError::SigFindAndDelete;
    }

    std::size_t matched = 0;
    while (matched < signatures && signatures - matched <= keys) {
        const ByteView signature = together[matched];
        const ByteView key = stack_.top(key_at);
        if (const auto error = encoding(signature, key); error != ScriptError::Ok) return error;
        bool good = false;
        if (const auto error = ask(signature, key, together, good); error != ScriptError::Ok) return error;
        if (good) ++matched;
        ++key_at;
        --keys;
    }
    const bool success = matched == signatures;

    if (!success && rules_.null_fail) {
        for (const ByteView signature : together) {
            if (!signature.empty()) return ScriptError::NullFail;
        }
    }
    if (lacks(dummy_at + 1)) return ScriptError::InvalidStackOperation;
    if (rules_.null_dummy && !stack_.top(dummy_at).empty()) return ScriptError::SigNullDummy;
    if (verify && !success) return ScriptError::CheckMultisigVerify;
    stack_.pop(dummy_at + 1);
    if (!verify) stack_.push(success);
    return ScriptError::Ok;
}

}  // namespace

void run(ByteView script, Stack& stack, const Host& host, const Rules& rules, const Limits& limits, Verdict& verdict,
         Observer* observer) {
    verdict.offset = 0;
    verdict.error = Machine{script, stack, host, rules, limits, verdict}.run(observer);
    stack.clear_alt();
}

Verdict verify(ByteView unlocking, ByteView locking, const Host& host, const Rules& rules, const Limits& limits,
               Observer* observer) {
    Verdict verdict;
    verdict.part = ScriptPart::Unlocking;
    if (rules.push_only_unlocking && !is_push_only(unlocking)) {
        verdict.error = ScriptError::SigPushOnly;
        return verdict;
    }
    Stack stack;
    run(unlocking, stack, host, rules, limits, verdict, observer);
    if (!verdict.ok()) return verdict;
    verdict.part = ScriptPart::Locking;
    run(locking, stack, host, rules, limits, verdict, observer);
    if (!verdict.ok()) return verdict;
    if (stack.size() == 0 || !is_true(stack.top())) {
        verdict.error = ScriptError::EvalFalse;
    } else if (rules.clean_stack && stack.size() != 1) {
        verdict.error = ScriptError::CleanStack;
    }
    return verdict;
}

}  // namespace rhizome::script
