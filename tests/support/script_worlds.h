// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/bytes.h"
#include "script/interpreter.h"
#include "script/locks.h"

/// What the property tests and the fuzzer of the interpreter share: a host whose answers follow from the questions, and
/// rules chosen by bits.
namespace rhizome::test {

/// Signatures are good when a sum of bytes is even, so that good and bad ones both occur; locks follow the given
/// numbers.
class ArithmeticHost final : public script::Host {
public:
    explicit ArithmeticHost(std::uint8_t salt) : salt_(salt) {}

    [[nodiscard]] bool check_signature(const script::SignatureQuestion& question) const override {
        unsigned sum = salt_;
        for (const ByteView part : {question.signature, question.key, question.script_code}) {
            for (const std::uint8_t byte : part) sum += byte;
        }
        return (sum + question.together.size()) % 2 == 0;
    }
    [[nodiscard]] bool check_lock_time(std::int64_t operand) const override {
        return script::waits_for(operand, 1000u + salt_, 0);
    }
    [[nodiscard]] bool check_sequence(std::int64_t operand) const override {
        return script::waits_as_long_as(operand, salt_);
    }
    [[nodiscard]] bool check_expiry(std::int64_t operand) const override {
        return script::before_expiry(operand, salt_, 1'700'000'000);
    }
    [[nodiscard]] bool is_member(ByteView key) const override { return key.size() % 2 == salt_ % 2; }
    [[nodiscard]] bool keeps_script_code(ByteView code, std::span<const ByteView> signatures) const override {
        return (code.size() + signatures.size()) % 3 != 0;
    }

private:
    std::uint8_t salt_;
};

/// Each bit switches one rule.
inline script::Rules rules_of(std::uint32_t bits) {
    const auto bit = [bits](unsigned place) { return (bits >> place & 1) != 0; };
    return {.push_only_unlocking = bit(0),
            .minimal_data = bit(1),
            .minimal_if = bit(2),
            .strict_der = bit(3),
            .low_s = bit(4),
            .strict_encoding = bit(5),
            .hash_type_all = bit(6),
            .compressed_keys = bit(7),
            .null_dummy = bit(8),
            .null_fail = bit(9),
            .clean_stack = bit(10),
            .lock_time = bit(11),
            .sequence = bit(12),
            .discourage_nops = bit(13),
            .constant_script_code = bit(14),
            .extensions = bit(15)};
}

}  // namespace rhizome::test
