// SPDX-License-Identifier: Apache-2.0
#include "script/explain.h"

#include <fmt/core.h>

#include "base/time.h"
#include "script/assembler.h"
#include "script/detail/lock_text.h"
#include "script/locks.h"
#include "script/script.h"
#include "script/template.h"

namespace rhizome::script {
namespace {

/// Ways to unlock double with every `either` on both sides; nobody reads more.
constexpr std::size_t kWaysMax = 32;

std::string plural(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// `5d12h` as words.
std::string time_words(std::string_view text) {
    std::string words;
    std::int64_t count = 0;
    for (const char letter : text) {
        if (letter >= '0' && letter <= '9') {
            count = count * 10 + (letter - '0');
            continue;
        }
        if (!words.empty()) words += ' ';
        words += plural(count, letter == 'd' ? "day" : letter == 'h' ? "hour" : letter == 'm' ? "minute" : "second");
        count = 0;
    }
    return words;
}

std::string moment_words(const Policy& policy) {
    if (policy.wait == WaitKind::Height) return fmt::format("block {}", policy.number);
    return detail::moment_text(policy.number).value_or(fmt::format("Unix time {}", policy.number));
}

std::string wait_words(const Policy& policy) {
    if (policy.kind == PolicyKind::Until) return "before " + moment_words(policy);
    switch (policy.wait) {
        case WaitKind::RelativeBlocks: return "after " + plural(policy.number, "block");
        case WaitKind::RelativeTime:
            return "after " +
                   time_words(detail::duration_text(policy.number | std::int64_t{kSequenceCountsTime}).value_or("0s"));
        case WaitKind::Height:
        case WaitKind::Time:
        case WaitKind::None: break;
    }
    return "from " + moment_words(policy) + " on";
}

std::string key_words(const Policy& policy) {
    if (policy.keys.empty()) return "the key with address " + policy.address.hex();
    return "the key " + to_hex(policy.keys.at(0));
}

std::string words(const Policy& policy) {
    switch (policy.kind) {
        case PolicyKind::KeyHash:
        case PolicyKind::Key: return key_words(policy);
        case PolicyKind::Multisig:
            if (policy.keys.size() == 1) return key_words(policy);
            if (policy.needed == policy.keys.size()) return fmt::format("all {} keys together", policy.needed);
            return fmt::format("any {} of {} keys", policy.needed, policy.keys.size());
        case PolicyKind::Member: return "any node of this cluster";
        case PolicyKind::After:
        case PolicyKind::Until: {
            const std::string inner = words(policy.inner.at(0));
            const bool choice = policy.inner.at(0).kind == PolicyKind::Either;
            return wait_words(policy) + ", " + (choice ? "(" + inner + ")" : inner);
        }
        case PolicyKind::Either: {
            const auto side = [](const Policy& inner) {
                return inner.kind == PolicyKind::Either && inner.inner.size() == 2 ? "(" + words(inner) + ")"
                                                                                   : words(inner);
            };
            // A chain of choices reads without brackets.
            const std::string second =
                policy.inner.at(1).kind == PolicyKind::Either ? words(policy.inner.at(1)) : side(policy.inner.at(1));
            return side(policy.inner.at(0)) + "; or, " + second;
        }
        case PolicyKind::Cosigned: {
            const std::string inner = words(policy.inner.at(0));
            const bool choice = policy.inner.at(0).kind == PolicyKind::Either;
            return (choice ? "(" + inner + ")" : inner) + ", together with " + key_words(policy);
        }
    }
    unreachable("a policy has a kind");
}

/// What to push, bottom first. What an outer policy takes first lies on top, so it comes last.
std::vector<std::string> ways(const Policy& policy) {
    switch (policy.kind) {
        case PolicyKind::KeyHash:
        case PolicyKind::Member: return {"a signature, its key"};
        case PolicyKind::Key: return {"a signature"};
        case PolicyKind::Multisig:
            return {fmt::format("0, {}{}", plural(policy.needed, "signature"),
                                policy.needed > 1 ? " in the order of the keys" : "")};
        case PolicyKind::After:
        case PolicyKind::Until: return ways(policy.inner.at(0));
        case PolicyKind::Either: {
            std::vector<std::string> all;
            for (std::size_t side = 0; side < 2; ++side) {
                for (std::string& way : ways(policy.inner.at(side))) {
                    if (all.size() < kWaysMax) all.push_back(std::move(way) + (side == 0 ? ", 1" : ", 0"));
                }
            }
            return all;
        }
        case PolicyKind::Cosigned: {
            std::vector<std::string> all = ways(policy.inner.at(0));
            const std::string_view more =
                policy.keys.empty() ? ", the cosigner's signature, its key" : ", the cosigner's signature";
            for (std::string& way : all) way += more;
            return all;
        }
    }
    unreachable("a policy has a kind");
}

/// What can be said of a script without understanding it.
std::string unknown(ByteView locking) {
    std::size_t count = 0;
    std::size_t checks = 0;
    bool broken = false;
    InstructionReader reader{locking};
    while (const auto instruction = reader.next()) {
        ++count;
        broken = broken || instruction->broken;
        if ((instruction->code >= OP_CHECKSIG && instruction->code <= OP_CHECKMULTISIGVERIFY) ||
            instruction->code == OP_CHECKMEMBERSIG) {
            ++checks;
        }
    }
    std::string text = "this script is not of a known form: " + plural(static_cast<std::int64_t>(count), "instruction");
    text += checks == 0 ? ", none of which checks a signature" : fmt::format(", {} of which check signatures", checks);
    if (broken) text += "; its end is cut off, so nobody can unlock it";
    return text;
}

}  // namespace

Explanation explain(ByteView locking) {
    Explanation explanation;
    if (locking.empty()) {
        explanation.sentence = "nobody directly: only who may change an ancestor of the resource";
        explanation.known = true;
    } else if (locking.size() > kScriptBytesMax) {
        explanation.sentence = fmt::format("nobody: the script has more than {} bytes", kScriptBytesMax);
        explanation.known = true;
    } else if (locking[0] == OP_RETURN) {
        explanation.sentence = "nobody: the script begins with OP_RETURN";
        explanation.known = true;
    } else if (const auto policy = recognise(locking)) {
        explanation.sentence = words(*policy);
        explanation.as_template = to_text(*policy);
        explanation.ways = ways(*policy);
        explanation.known = true;
    } else {
        explanation.sentence = unknown(locking);
    }
    return explanation;
}

}  // namespace rhizome::script
