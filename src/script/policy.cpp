// SPDX-License-Identifier: Apache-2.0
#include "script/policy.h"

#include <algorithm>

#include "base/ensure.h"
#include "script/locks.h"
#include "script/script.h"

namespace rhizome::script {
namespace {

void put(ScriptBuilder& out, const Policy& policy);

void put_key_hash(ScriptBuilder& out, const crypto::Hash160& address, Op check) {
    out.op(OP_DUP).op(OP_HASH160).data(address.view()).op(OP_EQUALVERIFY).op(check);
}

Op lock_of(const Policy& policy) {
    if (policy.kind == PolicyKind::Until) return OP_CHECKEXPIRYVERIFY;
    const bool relative = policy.wait == WaitKind::RelativeBlocks || policy.wait == WaitKind::RelativeTime;
    return relative ? OP_CHECKSEQUENCEVERIFY : OP_CHECKLOCKTIMEVERIFY;
}

void put(ScriptBuilder& out, const Policy& policy) {
    switch (policy.kind) {
        case PolicyKind::KeyHash: put_key_hash(out, policy.address, OP_CHECKSIG); break;
        case PolicyKind::Key: out.data(policy.keys.at(0)).op(OP_CHECKSIG); break;
        case PolicyKind::Multisig:
            out.number(policy.needed);
            for (const auto& key : policy.keys) out.data(key);
            out.number(static_cast<std::int64_t>(policy.keys.size())).op(OP_CHECKMULTISIG);
            break;
        case PolicyKind::Member: out.op(OP_CHECKMEMBERSIG); break;
        case PolicyKind::After:
        case PolicyKind::Until: {
            const std::int64_t bit = policy.wait == WaitKind::RelativeTime ? std::int64_t{kSequenceCountsTime} : 0;
            out.number(policy.number | bit).op(lock_of(policy)).op(OP_DROP);
            put(out, policy.inner.at(0));
            break;
        }
        case PolicyKind::Either:
            out.op(OP_IF);
            put(out, policy.inner.at(0));
            out.op(OP_ELSE);
            put(out, policy.inner.at(1));
            out.op(OP_ENDIF);
            break;
        case PolicyKind::Cosigned:
            if (policy.keys.empty()) {
                put_key_hash(out, policy.address, OP_CHECKSIGVERIFY);
            } else {
                out.data(policy.keys.at(0)).op(OP_CHECKSIGVERIFY);
            }
            put(out, policy.inner.at(0));
            break;
    }
}

/// Reads a policy from a list of instructions, front to back, without looking ahead further than its form needs.
class Recogniser {
public:
    explicit Recogniser(std::vector<Instruction> instructions) : all_(std::move(instructions)) {}

    std::optional<Policy> whole() {
        auto policy = one(0);
        if (at_ != all_.size()) return std::nullopt;
        return policy;
    }

private:
    /// A script has at most 201 operations, and every step down costs one; the bound is for scripts that are no
    /// scripts.
    static constexpr int kDepthMax = 201;

    [[nodiscard]] bool is(std::size_t ahead, Op code) const {
        return at_ + ahead < all_.size() && all_[at_ + ahead].code == code;
    }
    [[nodiscard]] std::optional<std::int64_t> number(std::size_t ahead) const {
        if (at_ + ahead >= all_.size()) return std::nullopt;
        const Instruction& instruction = all_[at_ + ahead];
        if (instruction.code >= OP_1 && instruction.code <= OP_16) return instruction.code - OP_1 + 1;
        if (!instruction.is_push()) return std::nullopt;
        return read_number(instruction.data, kLockNumberBytesMax, true);
    }
    [[nodiscard]] const crypto::PublicKey::Array* key(std::size_t ahead) {
        if (at_ + ahead >= all_.size()) return nullptr;
        const ByteView data = all_[at_ + ahead].data;
        if (data.size() != key_.size() || (data[0] != 2 && data[0] != 3)) return nullptr;
        std::copy(data.begin(), data.end(), key_.begin());
        return &key_;
    }
    [[nodiscard]] bool key_hash() const {
        return is(0, OP_DUP) && is(1, OP_HASH160) && is(2, static_cast<Op>(crypto::Hash160::kSize)) &&
               is(3, OP_EQUALVERIFY);
    }

    std::optional<Policy> one(int depth) {
        if (depth > kDepthMax) return std::nullopt;
        Policy policy;
        if (is(0, OP_CHECKMEMBERSIG)) {
            ++at_;
            return policy;
        }
        if (is(0, OP_IF)) return either(depth);
        if (key_hash() && (is(4, OP_CHECKSIG) || is(4, OP_CHECKSIGVERIFY))) {
            policy.address = crypto::Hash160{all_[at_ + 2].data.first<crypto::Hash160::kSize>()};
            policy.kind = is(4, OP_CHECKSIG) ? PolicyKind::KeyHash : PolicyKind::Cosigned;
            at_ += 5;
            return policy.kind == PolicyKind::KeyHash ? policy : with_inner(std::move(policy), depth);
        }
        if (key(0) != nullptr && (is(1, OP_CHECKSIG) || is(1, OP_CHECKSIGVERIFY))) {
            policy.keys = {key_};
            policy.kind = is(1, OP_CHECKSIG) ? PolicyKind::Key : PolicyKind::Cosigned;
            at_ += 2;
            return policy.kind == PolicyKind::Key ? policy : with_inner(std::move(policy), depth);
        }
        if (is(1, OP_CHECKSEQUENCEVERIFY) || is(1, OP_CHECKLOCKTIMEVERIFY) || is(1, OP_CHECKEXPIRYVERIFY)) {
            return lock(depth);
        }
        return multisig();
    }

    std::optional<Policy> with_inner(Policy policy, int depth) {
        auto inner = one(depth + 1);
        if (!inner) return std::nullopt;
        policy.inner.push_back(std::move(*inner));
        return policy;
    }

    std::optional<Policy> either(int depth) {
        Policy policy{.kind = PolicyKind::Either};
        for (const Op end : {OP_ELSE, OP_ENDIF}) {
            ++at_;  // IF or ELSE
            auto inner = one(depth + 1);
            if (!inner || !is(0, end)) return std::nullopt;
            policy.inner.push_back(std::move(*inner));
        }
        ++at_;
        return policy;
    }

    std::optional<Policy> lock(int depth) {
        const auto operand = number(0);
        // The thesis drops the operand with VERIFY in one place: the same, as long as it is not zero.
        const bool dropped = is(2, OP_DROP) || (is(2, OP_VERIFY) && operand != 0);
        if (!operand || *operand < 0 || !dropped) return std::nullopt;
        Policy policy{.kind = is(1, OP_CHECKEXPIRYVERIFY) ? PolicyKind::Until : PolicyKind::After};
        policy.number = *operand;
        if (is(1, OP_CHECKSEQUENCEVERIFY)) {
            const bool time = (*operand & kSequenceCountsTime) != 0;
            policy.number = *operand & kSequenceMask;
            policy.wait = time ? WaitKind::RelativeTime : WaitKind::RelativeBlocks;
            if (*operand != (policy.number | (time ? std::int64_t{kSequenceCountsTime} : 0))) return std::nullopt;
        } else {
            policy.wait = *operand < kTimeThreshold ? WaitKind::Height : WaitKind::Time;
        }
        at_ += 3;
        return with_inner(std::move(policy), depth);
    }

    std::optional<Policy> multisig() {
        const auto needed = number(0);
        if (!needed) return std::nullopt;
        Policy policy{.kind = PolicyKind::Multisig};
        ++at_;
        while (key(0) != nullptr && policy.keys.size() < kMultisigKeysMax) {
            policy.keys.push_back(key_);
            ++at_;
        }
        const auto total = number(0);
        if (!total || *total != static_cast<std::int64_t>(policy.keys.size()) || !is(1, OP_CHECKMULTISIG)) {
            return std::nullopt;
        }
        if (*needed < 1 || *needed > *total) return std::nullopt;
        policy.needed = static_cast<std::uint32_t>(*needed);
        at_ += 2;
        return policy;
    }

    std::vector<Instruction> all_;
    std::size_t at_ = 0;
    crypto::PublicKey::Array key_{};
};

}  // namespace

Bytes compile(const Policy& policy) {
    ScriptBuilder out;
    put(out, policy);
    return std::move(out).take();
}

std::optional<Policy> recognise(ByteView locking) {
    if (locking.size() > kScriptBytesMax) return std::nullopt;
    std::vector<Instruction> instructions;
    InstructionReader reader{locking};
    std::size_t operations = 0;
    while (const auto instruction = reader.next()) {
        if (instruction->broken || !is_minimal_push(*instruction)) return std::nullopt;
        if (instruction->code > OP_16 && ++operations > kOperationsMax) return std::nullopt;
        instructions.push_back(*instruction);
    }
    return Recogniser{std::move(instructions)}.whole();
}

}  // namespace rhizome::script
