// SPDX-License-Identifier: Apache-2.0
#include "script/template.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "base/time.h"
#include "script/assembler.h"
#include "script/detail/key_words.h"
#include "script/detail/lock_text.h"
#include "script/detail/similar.h"
#include "script/detail/words.h"
#include "script/locks.h"
#include "script/script.h"

namespace rhizome::script {
namespace {

using detail::Word;
using detail::WordKind;

constexpr std::string_view kTemplates[] = {"p2pkh", "p2pk",  "multisig", "member",
                                           "after", "until", "either",   "cosigned"};
constexpr int kDepthMax = 100;  // deeper ones break the limit of 201 operations anyway
constexpr std::int64_t kExpiryMax = (std::int64_t{1} << 39) - 1;

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

/// Who signs: a key, or only its hash.
struct Who {
    std::optional<crypto::PublicKey> key{};
    crypto::Hash160 address{};
};

class Parser {
public:
    Parser(std::vector<Word> words, const KeyResolver* keys) : words_(std::move(words)), keys_(keys) {}

    Result<Policy, TextFault> whole() {
        TRY(Policy policy, one(0));
        const Word& rest = words_[at_];
        if (rest.kind == WordKind::Close) return Fail{rest.fault("\")\" without \"(\"")};
        if (is(rest, "or")) return Fail{rest.fault("\"or\" without \"either\"", "write either … or …")};
        if (rest.kind != WordKind::End) {
            return Fail{rest.fault(fmt::format("\"{}\" does not belong to the template before it", rest.text))};
        }
        return policy;
    }

private:
    static bool is(const Word& word, std::string_view text) { return word.kind == WordKind::Bare && word.text == text; }

    /// Where something is missing: the end has no letters of its own.
    Fail<TextFault> missing(const Word& word, std::string what, std::string hint = {}) const {
        if (word.kind == WordKind::End) return Fail{word.fault(fmt::format("{} is missing", what), std::move(hint))};
        return Fail{word.fault(fmt::format("\"{}\" stands where {} is missing", word.text, what), std::move(hint))};
    }

    Result<Policy, TextFault> one(int depth) {
        const Word& word = words_[at_];
        if (depth > kDepthMax) return Fail{word.fault("templates are nested too deeply")};
        if (word.kind == WordKind::Open) {
            ++at_;
            TRY(Policy inner, one(depth + 1));
            if (words_[at_].kind != WordKind::Close) return missing(words_[at_], "\")\"");
            ++at_;
            return inner;
        }
        if (word.kind != WordKind::Bare) return missing(word, "a template", known());
        ++at_;
        if (word.text == "p2pkh") return key_hash();
        if (word.text == "p2pk") return key();
        if (word.text == "multisig") return multisig();
        if (word.text == "member") return Policy{.kind = PolicyKind::Member};
        if (word.text == "after") return wait(PolicyKind::After, depth);
        if (word.text == "until") return wait(PolicyKind::Until, depth);
        if (word.text == "either") return either(word, depth);
        if (word.text == "cosigned") return cosigned(depth);
        std::string hint = detail::did_you_mean(detail::similar_words(word.text, kTemplates));
        return Fail{
            word.fault(fmt::format("\"{}\" is no template", word.text), hint.empty() ? known() : std::move(hint))};
    }

    static std::string known() {
        std::string text = "templates are";
        for (const std::string_view& each : kTemplates) {
            text += fmt::format("{} {}", &each == std::begin(kTemplates) ? "" : ",", each);
        }
        return text;
    }

    static bool is_name(const Word& word) { return word.kind == WordKind::Bare || word.kind == WordKind::Angled; }

    Result<Who, TextFault> who() {
        const Word& word = words_[at_];
        if (!is_name(word) || word.text.empty()) return missing(word, "a key", "its name, or the key in hexadecimal");
        ++at_;
        if (word.text.size() == 2 * crypto::Hash160::kSize) {
            if (const auto address = crypto::Hash160::from_hex(word.text)) return Who{{}, *address};
        }
        if (const auto bytes = from_hex(word.text); bytes && bytes->size() == crypto::PublicKey::kSize) {
            const auto parsed = crypto::PublicKey::parse(*bytes);
            if (!parsed) return Fail{word.fault("these 33 bytes are no public key")};
            return Who{*parsed, parsed->address()};
        }
        TRY(const crypto::PublicKey found, detail::resolve_key(word, keys_));
        return Who{found, found.address()};
    }

    Result<crypto::PublicKey, TextFault> whole_key() {
        const Word& word = words_[at_];
        TRY(const Who found, who());
        if (!found.key) {
            return Fail{
                word.fault("this is the hash of a key; the key itself is needed here", "66 hexadecimal digits")};
        }
        return *found.key;
    }

    Result<Policy, TextFault> key_hash() {
        TRY(const Who found, who());
        return Policy{.kind = PolicyKind::KeyHash, .address = found.address};
    }

    Result<Policy, TextFault> key() {
        TRY(const crypto::PublicKey found, whole_key());
        return Policy{.kind = PolicyKind::Key, .keys = {found.bytes()}};
    }

    Result<Policy, TextFault> multisig() {
        const Word& count_word = words_[at_];
        const auto count = count_word.kind == WordKind::Bare ? whole_number(count_word.text) : std::nullopt;
        if (!count) return missing(count_word, "a number of signatures", "for example: multisig 2 alice bob carol");
        ++at_;
        Policy policy{.kind = PolicyKind::Multisig};
        while (is_name(words_[at_]) && !is(words_[at_], "or")) {
            const Word& word = words_[at_];
            if (policy.keys.size() == kMultisigKeysMax) {
                return Fail{word.fault(fmt::format("a multisig has at most {} keys", kMultisigKeysMax))};
            }
            TRY(const crypto::PublicKey found, whole_key());
            if (std::find(policy.keys.begin(), policy.keys.end(), found.bytes()) != policy.keys.end()) {
                return Fail{word.fault("this key is there twice", "one person would count as two")};
            }
            policy.keys.push_back(found.bytes());
        }
        if (*count < 1 || static_cast<std::uint64_t>(*count) > policy.keys.size()) {
            return Fail{count_word.fault(
                fmt::format("{} signatures of {} keys cannot be asked for", *count, policy.keys.size()))};
        }
        policy.needed = static_cast<std::uint32_t>(*count);
        return policy;
    }

    Result<Policy, TextFault> wait(PolicyKind kind, int depth) {
        Policy policy{.kind = kind};
        TRY(when(policy));
        TRY(Policy inner, one(depth + 1));
        policy.inner.push_back(std::move(inner));
        return policy;
    }

    Result<void, TextFault> when(Policy& policy) {
        const bool until = policy.kind == PolicyKind::Until;
        const std::string hint = until ? "a date such as 2027-01-01, or a block height"
                                       : "a time such as 5d, a date such as 2027-01-01, 10 blocks, or a block height";
        if (is(words_[at_], "height") && words_[at_ + 1].kind == WordKind::Bare) ++at_;
        const Word& word = words_[at_];
        if (word.kind != WordKind::Bare) return missing(word, "a time", hint);
        ++at_;
        if (const auto number = whole_number(word.text)) {
            if (is(words_[at_], "blocks") || is(words_[at_], "block")) {
                if (until) return Fail{word.fault("\"until\" takes no number of blocks", hint)};
                if (*number > kSequenceMask) return Fail{word.fault(fmt::format("at most {} blocks", kSequenceMask))};
                ++at_;
                policy.wait = WaitKind::RelativeBlocks;
            } else {
                policy.wait = *number < kTimeThreshold ? WaitKind::Height : WaitKind::Time;
            }
            policy.number = *number;
        } else if (const auto moment = parse_moment(word.text)) {
            policy.wait = WaitKind::Time;
            policy.number = *moment;
        } else if (const auto length = parse_duration(word.text)) {
            if (until) {
                return Fail{word.fault(
                    "\"until\" needs a date or a height: the chain knows when a block is, not when you wrote this",
                    hint)};
            }
            const auto operand = relative_lock(*length);
            if (!operand)
                return Fail{word.fault("this is longer than a relative lock can be", "at most 388 days; use a date")};
            policy.wait = WaitKind::RelativeTime;
            policy.number = *operand & kSequenceMask;
        } else {
            return Fail{word.fault(fmt::format("\"{}\" is no time", word.text), hint)};
        }
        // A transaction's lock time has four bytes, so an absolute lock beyond them would never open.
        const std::int64_t most = until ? kExpiryMax : std::int64_t{0xffff'ffff};
        if (policy.number > most) return Fail{word.fault("this is too far in the future for a lock")};
        return {};
    }

    Result<Policy, TextFault> either(const Word& start, int depth) {
        std::vector<Policy> choices;
        TRY(Policy first, one(depth + 1));
        choices.push_back(std::move(first));
        while (is(words_[at_], "or")) {
            if (choices.size() > static_cast<std::size_t>(kDepthMax)) return Fail{start.fault("too many choices")};
            ++at_;
            TRY(Policy next, one(depth + 1));
            choices.push_back(std::move(next));
        }
        if (choices.size() < 2) return missing(words_[at_], "\"or\"", "write either … or …");
        Policy policy = std::move(choices.back());
        for (std::size_t i = choices.size() - 1; i-- > 0;) {
            Policy pair{.kind = PolicyKind::Either};
            pair.inner.push_back(std::move(choices[i]));
            pair.inner.push_back(std::move(policy));
            policy = std::move(pair);
        }
        return policy;
    }

    Result<Policy, TextFault> cosigned(int depth) {
        TRY(const Who found, who());
        Policy policy{.kind = PolicyKind::Cosigned};
        if (found.key) {
            policy.keys = {found.key->bytes()};
        } else {
            policy.address = found.address;
        }
        TRY(Policy inner, one(depth + 1));
        policy.inner.push_back(std::move(inner));
        return policy;
    }

    std::vector<Word> words_;
    const KeyResolver* keys_;
    std::size_t at_ = 0;
};

std::string when_text(const Policy& policy) {
    switch (policy.wait) {
        case WaitKind::RelativeBlocks: return fmt::format("{} blocks", policy.number);
        case WaitKind::RelativeTime:
            return detail::duration_text(policy.number | std::int64_t{kSequenceCountsTime}).value_or("0s");
        case WaitKind::Time:
            if (auto text = detail::moment_text(policy.number)) return *text;
            break;
        case WaitKind::Height:
        case WaitKind::None: break;
    }
    return fmt::format("{}", policy.number);
}

std::string choice_text(const Policy& policy) {
    return policy.inner.empty() ? to_text(policy) : "(" + to_text(policy) + ")";
}

}  // namespace

Result<Policy, TextFault> parse_template(std::string_view text, const KeyResolver* keys) {
    TRY(auto words, detail::split_words(text));
    words.push_back(words.back());  // so that looking one word ahead is always possible
    return Parser{std::move(words), keys}.whole();
}

std::string to_text(const Policy& policy) {
    switch (policy.kind) {
        case PolicyKind::KeyHash: return "p2pkh " + policy.address.hex();
        case PolicyKind::Key: return "p2pk " + to_hex(policy.keys.at(0));
        case PolicyKind::Multisig: {
            std::string text = fmt::format("multisig {}", policy.needed);
            for (const auto& key : policy.keys) text += " " + to_hex(key);
            return text;
        }
        case PolicyKind::Member: return "member";
        case PolicyKind::After: return fmt::format("after {} {}", when_text(policy), to_text(policy.inner.at(0)));
        case PolicyKind::Until: return fmt::format("until {} {}", when_text(policy), to_text(policy.inner.at(0)));
        case PolicyKind::Either:
            return fmt::format("either {} or {}", choice_text(policy.inner.at(0)), choice_text(policy.inner.at(1)));
        case PolicyKind::Cosigned:
            return fmt::format("cosigned {} {}", policy.keys.empty() ? policy.address.hex() : to_hex(policy.keys.at(0)),
                               to_text(policy.inner.at(0)));
    }
    unreachable("a policy has a kind");
}

bool is_template(std::string_view text) {
    const auto words = detail::split_words(text);
    if (!words) return false;
    for (const Word& word : *words) {
        if (word.kind == WordKind::Open) continue;
        return word.kind == WordKind::Bare &&
               std::find(std::begin(kTemplates), std::end(kTemplates), word.text) != std::end(kTemplates);
    }
    return false;
}

Result<Bytes, TextFault> compile(std::string_view text, const KeyResolver* keys) {
    if (!is_template(text)) return assemble(text, keys);
    TRY(const Policy policy, parse_template(text, keys));
    Bytes script = compile(policy);
    std::size_t operations = 0;
    InstructionReader reader{script};
    while (const auto instruction = reader.next()) {
        if (instruction->code > OP_16) ++operations;
    }
    if (script.size() > kScriptBytesMax || operations > kOperationsMax) {
        return Fail{
            TextFault{1, 1, 1,
                      fmt::format("the script would have {} bytes and {} operations; at most {} and {} are allowed",
                                  script.size(), operations, kScriptBytesMax, kOperationsMax)}};
    }
    return script;
}

}  // namespace rhizome::script
