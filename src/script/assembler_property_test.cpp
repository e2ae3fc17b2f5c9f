// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "script/assembler.h"
#include "script/explain.h"
#include "script/locks.h"
#include "script/script.h"
#include "script/template.h"

namespace rhizome::script {
namespace {

RC_GTEST_PROP(AssemblerProperty, WhatIsPrintedAssemblesBack, (const Bytes& script)) {
    const auto back = assemble(disassemble(script));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == script);
}

/// Lock operands print as times and dates.
RC_GTEST_PROP(AssemblerProperty, LocksAssembleBack, ()) {
    ScriptBuilder script;
    const std::int64_t near =
        *rc::gen::element<std::int64_t>(0, kSequenceCountsTime, kTimeThreshold, 0xffff'ffff, 253'402'300'800);
    const std::int64_t number = near + *rc::gen::inRange<std::int64_t>(-70'000, 70'000);
    script.number(number).op(*rc::gen::element(OP_CHECKSEQUENCEVERIFY, OP_CHECKLOCKTIMEVERIFY, OP_CHECKEXPIRYVERIFY));
    const auto back = assemble(disassemble(script.view()));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == to_bytes(script.view()));
}

RC_GTEST_PROP(AssemblerProperty, ARelativeLockIsNeverShorterThanAsked, ()) {
    const seconds wait{*rc::gen::inRange<std::int64_t>(0, 65'535 * 512 + 1)};
    const auto operand = relative_lock(wait);
    RC_ASSERT(operand.has_value());
    const std::int64_t given = (*operand & kSequenceMask) * kSequenceUnitSeconds;
    RC_ASSERT(given >= wait.count());
    RC_ASSERT(given - wait.count() < kSequenceUnitSeconds);
}

crypto::PublicKey any_key() {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto bytes = crypto::sha256({reinterpret_cast<const std::uint8_t*>(&seed), sizeof seed});
    return crypto::SecretKey::from_bytes(bytes.view())->public_key();
}

Policy any_policy(int depth) {
    const int kind = *rc::gen::inRange(0, depth > 0 ? 8 : 4);
    Policy policy;
    switch (kind) {
        case 0: return {.kind = PolicyKind::KeyHash, .address = any_key().address()};
        case 1: return {.kind = PolicyKind::Key, .keys = {any_key().bytes()}};
        case 2: {
            policy.kind = PolicyKind::Multisig;
            for (int count = *rc::gen::inRange(1, 21); count > 0; --count) policy.keys.push_back(any_key().bytes());
            std::sort(policy.keys.begin(), policy.keys.end());
            policy.keys.erase(std::unique(policy.keys.begin(), policy.keys.end()), policy.keys.end());
            policy.needed = *rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(policy.keys.size()) + 1);
            return policy;
        }
        case 3: return {.kind = PolicyKind::Member};
        case 4:
            policy.kind = PolicyKind::After;
            policy.wait =
                *rc::gen::element(WaitKind::RelativeBlocks, WaitKind::RelativeTime, WaitKind::Height, WaitKind::Time);
            policy.number = *rc::gen::inRange<std::int64_t>(0, 65'536);
            if (policy.wait == WaitKind::Time) policy.number += 1'700'000'000;
            break;
        case 5:
            policy.kind = PolicyKind::Until;
            policy.wait = *rc::gen::element(WaitKind::Height, WaitKind::Time);
            policy.number = *rc::gen::inRange<std::int64_t>(0, 500'000'000);
            if (policy.wait == WaitKind::Time) policy.number += kTimeThreshold;
            break;
        case 6:
            policy.kind = PolicyKind::Either;
            policy.inner.push_back(any_policy(depth - 1));
            break;
        default:
            policy.kind = PolicyKind::Cosigned;
            if (*rc::gen::arbitrary<bool>()) {
                policy.keys = {any_key().bytes()};
            } else {
                policy.address = any_key().address();
            }
            break;
    }
    policy.inner.push_back(any_policy(depth - 1));
    return policy;
}

RC_GTEST_PROP(TemplateProperty, APolicyIsRecognisedInItsScript, ()) {
    const Policy policy = any_policy(4);
    const Bytes script = compile(policy);
    RC_PRE(script.size() <= kScriptBytesMax);
    RC_ASSERT(recognise(script) == policy);
    RC_ASSERT(explain(script).known);
    RC_ASSERT(!explain(script).ways.empty());
}

RC_GTEST_PROP(TemplateProperty, APolicyReadsBackAsPrinted, ()) {
    const Policy policy = any_policy(4);
    const auto back = parse_template(to_text(policy));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == policy);
}

RC_GTEST_PROP(TemplateProperty, AnyTextIsReadOrRefusedWithAPlace, (const std::string& text)) {
    const auto made = compile(text);
    if (made) return;
    RC_ASSERT(!made.error().message.empty());
    RC_ASSERT(made.error().line >= 1u);
    RC_ASSERT(!point_at(text, made.error()).empty());
}

}  // namespace
}  // namespace rhizome::script
