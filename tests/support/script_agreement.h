// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "support/naive_script.h"
#include "support/script_worlds.h"

namespace rhizome::test {

/// Keeps a copy of the stack as the last instruction left it.
class LastStack final : public script::Observer {
public:
    void before(const script::Moment& /*moment*/) override {}
    void after(const script::Moment& moment) override {
        items.clear();
        for (std::size_t i = 0; i < moment.stack.size(); ++i) items.emplace_back(as_text(moment.stack.at(i)));
    }
    std::vector<std::string> items{};
};

/// Runs both interpreters; what they disagree about, or nothing.
inline std::optional<std::string> disagreement(ByteView unlocking, ByteView locking, const script::Rules& rules,
                                               std::uint8_t salt, std::uint32_t checks) {
    const ArithmeticHost host{salt};
    const script::Limits limits{.signature_checks = checks};
    LastStack last;
    const script::Verdict watched = verify(unlocking, locking, host, rules, limits, &last);
    const script::Verdict verdict = verify(unlocking, locking, host, rules, limits);
    const naive::Outcome plain = naive::Run{host, rules, checks}.verify(unlocking, locking);
    const std::string scripts = " for " + to_hex(unlocking) + " | " + to_hex(locking);
    if (watched != verdict) return "an observer changed the verdict" + scripts;
    if (name(verdict.error) != plain.error) {
        return std::string{name(verdict.error)} + " against " + plain.error + scripts;
    }
    if (verdict.signature_checks != plain.checks) return "different numbers of signature checks" + scripts;
    if (verdict.depends_on_block != plain.depends) return "different dependence on the block" + scripts;
    const bool ran_to_the_end = verdict.ok() || plain.error == "EVAL_FALSE" || plain.error == "CLEANSTACK";
    if (ran_to_the_end && last.items != plain.stack) return "different stacks" + scripts;
    return std::nullopt;
}

}  // namespace rhizome::test
