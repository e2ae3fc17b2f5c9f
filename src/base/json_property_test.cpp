// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.h"
#include "support/json_values.h"

namespace rhizome::json {
namespace {

using test::random_json;

/// Changes a text in a few places, mostly to bytes that mean something in JSON.
std::string mutated(std::string text, Random& random) {
    static constexpr std::string_view kBytes = "{}[]\",:\\ \n\t0123456789-+.eEtrufalsn/bdDcC8\x80\xc3\xa9\xff\x01";
    for (std::uint64_t left = random.below(4); left > 0; --left) {
        const auto place = static_cast<std::size_t>(random.below(text.size() + 1));
        const char byte = kBytes[random.below(kBytes.size())];
        switch (random.below(3)) {
            case 0: text.insert(place, 1, byte); break;
            case 1:
                if (place < text.size()) text[place] = byte;
                break;
            default:
                if (place < text.size()) text.erase(place, 1);
        }
    }
    return text;
}

/// Nothing when Boost.JSON cannot judge: it makes doubles of numbers and stops at exponents that no int holds.
std::optional<bool> boost_accepts(std::string_view text) {
    boost::json::error_code failed;
    boost::json::parse_options options;
    options.max_depth = 64;
    (void)boost::json::parse({text.data(), text.size()}, failed, {}, options);
    if (failed == boost::json::error::exponent_overflow) return std::nullopt;
    return !failed;
}

RC_GTEST_PROP(JsonProperty, WhatIsPrintedIsReadBack, (std::uint64_t seed)) {
    Random random{seed};
    const Value value = random_json(random);
    for (const std::string& text : {print(value), print_pretty(value), print_canonical(value)}) {
        const auto parsed = parse(text);
        RC_ASSERT(parsed.has_value());
        RC_ASSERT(*parsed == value);
        RC_ASSERT(check(text).has_value());
        RC_ASSERT(print_canonical(*parsed) == print_canonical(value));
        RC_ASSERT(boost_accepts(text) != false);
    }
}

RC_GTEST_PROP(JsonProperty, TheOrderOfMembersDoesNotMatterToEqualityAndCanonicalText, (std::uint64_t seed)) {
    Random random{seed};
    std::vector<std::pair<std::string, Value>> members;
    // The colon keeps keys apart: "1" + "2" is "12" + "" without it.
    for (std::uint64_t left = random.below(40); left > 0; --left)
        members.emplace_back(std::to_string(left) + ':' + test::random_text(random), random_json(random, 1));
    Object first, second;
    for (const auto& [key, value] : members) first.set(key, value);
    random.shuffle(members);
    for (const auto& [key, value] : members) second.set(key, value);
    RC_ASSERT(first == second);
    RC_ASSERT(print_canonical(first) == print_canonical(second));
    if (members.empty()) return;
    second.erase(members[random.below(members.size())].first);
    RC_ASSERT(!(first == second));
}

// Boost.JSON is an independent reading of RFC 8259. We differ in one rule only: an object names a member once.
RC_GTEST_PROP(JsonProperty, AcceptsWhatBoostAcceptsButDuplicateKeys, (std::uint64_t seed)) {
    Random random{seed};
    for (int i = 0; i < 50; ++i) {
        const std::string text = mutated(print(random_json(random)), random);
        const auto parsed = parse(text);
        RC_ASSERT(check(text).has_value() == parsed.has_value());
        if (!parsed && parsed.error().fault == Fault::DuplicateKey) continue;
        if (boost_accepts(text).value_or(parsed.has_value()) != parsed.has_value()) RC_FAIL(text);
    }
}

RC_GTEST_PROP(JsonProperty, EveryBeginningOfAContainerIsTruncated, (std::uint64_t seed)) {
    Random random{seed};
    const std::string text = print(Array{random_json(random)});
    const auto cut = parse(text.substr(0, random.below(text.size())));
    RC_ASSERT(!cut.has_value());
    RC_ASSERT(cut.error().fault == Fault::Truncated);
}

RC_GTEST_PROP(JsonProperty, SlicesAreTheMembers, (std::uint64_t seed)) {
    Random random{seed};
    const Value value = random_json(random);
    const std::string text = print_pretty(value);
    const auto cut = slices(text);
    RC_ASSERT(cut.has_value() == (value.is_object() || value.is_array()));
    if (!cut) return;
    Object members;
    Array elements;
    for (const Slice& slice : *cut) {
        const auto part = parse(slice.text);
        RC_ASSERT(part.has_value());
        if (value.is_object())
            members.set(slice.key, *part);
        else
            elements.push_back(*part);
    }
    RC_ASSERT(value == (value.is_object() ? Value(members) : Value(elements)));
}

}  // namespace
}  // namespace rhizome::json
