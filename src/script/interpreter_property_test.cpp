// SPDX-License-Identifier: Apache-2.0
// The interpreter against a second, naive one (tests/support/naive_script.h), on scripts that get somewhere: random
// bytes mostly fail at once.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "script/script.h"
#include "support/script_agreement.h"

namespace rhizome::script {
namespace {

/// Something that looks like a signature to most rules, or nearly so.
Bytes any_signature() {
    Bytes der{0x30,
              0x06,
              0x02,
              0x01,
              *rc::gen::element<std::uint8_t>(0, 1, 0x7f, 0x80),
              0x02,
              0x01,
              *rc::gen::element<std::uint8_t>(0, 1, 0x7f, 0x80)};
    if (*rc::gen::inRange(0, 3) == 0) {  // 32 or 33 bytes of S around half the order and the order itself
        const std::uint8_t first = *rc::gen::element<std::uint8_t>(0x00, 0x7f, 0x01);
        Bytes s(first == 0 ? 33 : 32, 0xff);
        s[0] = first;
        der = {0x30, 0, 0x02, 0x01, *rc::gen::element<std::uint8_t>(0, 1), 0x02, static_cast<std::uint8_t>(s.size())};
        if (first == 0 && *rc::gen::arbitrary<bool>()) s[16] = 0xfe, s[17] = 0;
        der.insert(der.end(), s.begin(), s.end());
        der[1] = static_cast<std::uint8_t>(der.size() - 2);
    }
    der.push_back(*rc::gen::element<std::uint8_t>(0, 1, 1, 1, 2, 3, 4, 0x81));
    return der;
}

Bytes any_key_bytes() {
    Bytes key(*rc::gen::element<std::size_t>(33, 33, 33, 65, 0, 1), *rc::gen::arbitrary<std::uint8_t>());
    if (!key.empty()) key[0] = *rc::gen::element<std::uint8_t>(2, 3, 2, 3, 4, 6);
    return key;
}

void add_instruction(ScriptBuilder& script) {
    switch (*rc::gen::inRange(0, 12)) {
        case 0: script.data(*rc::gen::arbitrary<Bytes>()); break;
        case 1: script.data(any_signature()); break;
        case 2: script.data(any_key_bytes()); break;
        case 3:
            script.number(
                *rc::gen::element<std::int64_t>(0, 1, -1, 127, 128, 255, 2147483647, 2147483648, 4194304, 600'000'000));
            break;
        case 4:
            script.raw(*rc::gen::element<Bytes>(Bytes{1, 5}, Bytes{2, 0, 0}, Bytes{0x4c, 1, 9}, Bytes{1, 0x80}));
            break;
        case 5: script.op(*rc::gen::element(OP_IF, OP_NOTIF, OP_ELSE, OP_ENDIF, OP_ENDIF)); break;
        case 6: {  // a whole multisig
            const auto keys = *rc::gen::inRange(0, 4);
            const auto needed = *rc::gen::inRange(0, keys + 1);
            script.number(*rc::gen::inRange(0, 5) == 0 ? 1 : 0);
            for (int i = 0; i < needed; ++i) script.data(*rc::gen::arbitrary<bool>() ? any_signature() : Bytes{});
            script.number(needed);
            for (int i = 0; i < keys; ++i) script.data(any_key_bytes());
            script.number(keys).op(*rc::gen::element(OP_CHECKMULTISIG, OP_CHECKMULTISIGVERIFY));
            break;
        }
        case 7:
            script.data(any_signature())
                .data(any_key_bytes())
                .op(*rc::gen::element(OP_CHECKSIG, OP_CHECKSIGVERIFY, OP_CHECKMEMBERSIG));
            break;
        case 8: script.number(*rc::gen::inRange(-1, 4)); break;
        default: script.op(static_cast<Op>(*rc::gen::inRange(0x4f, 0xbb))); break;
    }
}

Bytes any_script(int instructions_max) {
    ScriptBuilder script;
    for (int left = *rc::gen::inRange(0, instructions_max + 1); left > 0; --left) add_instruction(script);
    return std::move(script).take();
}

RC_GTEST_PROP(InterpreterProperty, AgreesWithANaiveOne, ()) {
    const Bytes unlocking = any_script(6);
    const Bytes locking = any_script(25);
    const Rules rules =
        *rc::gen::arbitrary<bool>() ? kChainRules : test::rules_of(*rc::gen::arbitrary<std::uint16_t>());
    const auto why =
        test::disagreement(unlocking, locking, rules, *rc::gen::arbitrary<std::uint8_t>(), *rc::gen::inRange(0u, 12u));
    if (why) RC_FAIL(*why);
}

/// No rules at all let scripts run furthest.
RC_GTEST_PROP(InterpreterProperty, AgreesWithANaiveOneOnInstructionsAlone, ()) {
    ScriptBuilder unlocking;
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) unlocking.number(*rc::gen::inRange(-2, 6));
    ScriptBuilder locking;
    for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
        const Op op = static_cast<Op>(*rc::gen::inRange(0x6b, 0xab));
        if (opcode(op).category != OpCategory::Disabled) locking.op(op);
        if (*rc::gen::inRange(0, 2) == 0) locking.number(*rc::gen::inRange(-2, 6));
    }
    const auto why = test::disagreement(unlocking.view(), locking.view(), Rules{}, 0, 10);
    if (why) RC_FAIL(*why);
}

RC_GTEST_PROP(InterpreterProperty, AgreesWithANaiveOneOnAnyBytes,
              (const Bytes& unlocking, const Bytes& locking, std::uint16_t bits)) {
    const auto why = test::disagreement(unlocking, locking, test::rules_of(bits), 1, 3);
    if (why) RC_FAIL(*why);
}

/// A stricter set of rules refuses more and never turns a failure into a success.
RC_GTEST_PROP(InterpreterProperty, TheChainsRulesOnlyEverRefuseMore, ()) {
    const Bytes unlocking = any_script(6);
    const Bytes locking = any_script(25);
    const test::ArithmeticHost host{*rc::gen::arbitrary<std::uint8_t>()};
    const Rules loose{.lock_time = true, .sequence = true, .extensions = true};
    if (verify(unlocking, locking, host).ok()) RC_ASSERT(verify(unlocking, locking, host, loose).ok());
}

RC_GTEST_PROP(ScriptProperty, NumbersReadBackAsWritten, (std::int64_t number)) {
    const NumberItem item{number};
    if (item.view().size() <= 8) RC_ASSERT(read_number(item.view(), 8, true) == number);
    RC_ASSERT(is_true(item.view()) == (number != 0));
}

RC_GTEST_PROP(ScriptProperty, OneItemIsTheShortestFormOfItsNumber, (const Bytes& item)) {
    RC_PRE(item.size() <= 8u);
    const auto number = read_number(item, 8, false);
    RC_ASSERT(number.has_value());
    const bool shortest = to_bytes(NumberItem{*number}.view()) == item;
    RC_ASSERT(shortest == read_number(item, 8, true).has_value());
}

RC_GTEST_PROP(ScriptProperty, InstructionsCoverAScriptWithoutGaps, (const Bytes& script)) {
    InstructionReader reader{script};
    std::size_t at = 0;
    while (const auto instruction = reader.next()) {
        RC_ASSERT(instruction->offset == at);
        RC_ASSERT(instruction->size > 0u);
        at = instruction->end();
    }
    RC_ASSERT(at == script.size());
}

}  // namespace
}  // namespace rhizome::script
