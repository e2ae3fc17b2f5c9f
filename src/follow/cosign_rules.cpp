// SPDX-License-Identifier: Apache-2.0
#include "follow/cosign_rules.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/yaml.h"

namespace rhizome::follow {
namespace {

constexpr std::uint32_t kPerMinuteMax = 60'000;
constexpr milliseconds kTimeoutMax{60'000};
constexpr std::size_t kWordsMax = 64;

Result<std::vector<std::string>> texts(const json::Value& value, std::string_view what) {
    const json::Array* list = value.if_array();
    if (list == nullptr || list->empty() || list->size() > kWordsMax)
        return fail(ErrorKind::Invalid, fmt::format("{} is a list of 1 to {} texts", what, kWordsMax));
    std::vector<std::string> out;
    for (const json::Value& one : *list) {
        const std::string* text = one.if_string();
        if (text == nullptr || text->empty())
            return fail(ErrorKind::Invalid, fmt::format("{} is a list of texts", what));
        out.push_back(*text);
    }
    return out;
}

Result<void> read_member(CosignRule& rule, std::string_view key, const json::Value& value) {
    if (key == "name") {
        if (!value.is_string()) return fail(ErrorKind::Invalid, "name is a text");
        rule.name = *value.if_string();
    } else if (key == "below") {
        TRY(const auto paths, texts(value, key));
        for (const std::string& text : paths) {
            const auto path = state::Path::parse(text);
            if (!path)
                return fail(ErrorKind::Invalid, fmt::format("below: {} is no path such as /namespaces/web: {}",
                                                            json::quote(text), to_error(path.error()).message));
            rule.below.push_back(path->subtree());
        }
    } else if (key == "verbs") {
        TRY(const auto words, texts(value, key));
        rule.verbs.clear();
        for (const std::string& word : words) {
            const auto before = rule.verbs.size();
            for (const Verb verb : {Verb::Create, Verb::Update, Verb::Delete})
                if (follow::name(verb) == word) rule.verbs.insert(verb);
            if (rule.verbs.size() == before)
                return fail(ErrorKind::Invalid, fmt::format("verbs: {} is none of create, update, delete, or stands "
                                                            "there twice",
                                                            json::quote(word)));
        }
    } else if (key == "perMinute") {
        const auto number = value.if_int64();
        if (!number || *number < 1 || *number > kPerMinuteMax)
            return fail(ErrorKind::Invalid, fmt::format("perMinute is a number from 1 to {}", kPerMinuteMax));
        rule.per_minute = static_cast<std::uint32_t>(*number);
    } else if (key == "command") {
        TRY(rule.command, texts(value, key));
        if (!rule.command.front().starts_with('/'))
            return fail(ErrorKind::Invalid, "command: the program is named by its whole path, as in /usr/bin/test");
    } else if (key == "timeout") {
        const std::string* text = value.if_string();
        const auto time = text == nullptr ? std::nullopt : parse_duration(*text);
        if (!time || *time < milliseconds{1} || *time > kTimeoutMax)
            return fail(ErrorKind::Invalid, "timeout is a time from 1ms to 60s, as in 5s");
        rule.timeout = std::chrono::duration_cast<milliseconds>(*time);
    } else {
        return fail(ErrorKind::Invalid, fmt::format("there is no member {}; there are name, below, verbs, perMinute, "
                                                    "command, timeout",
                                                    json::quote(key)));
    }
    return ok();
}

Result<CosignRule> read_rule(const json::Value& value, std::size_t number) {
    const auto in = [&](const Error& error) {
        return fail(ErrorKind::Invalid, fmt::format("rules[{}]: {}", number, error.message));
    };
    const json::Object* members = value.if_object();
    if (members == nullptr) return in({ErrorKind::Invalid, "a rule is a map"});
    CosignRule rule{.verbs = {Verb::Create, Verb::Update, Verb::Delete}};
    for (const auto& [key, member] : *members)
        if (const auto read = read_member(rule, key, member); !read) return in(read.error());
    if (rule.name.empty() || rule.below.empty()) return in({ErrorKind::Invalid, "name and below are needed"});
    return rule;
}

}  // namespace

std::string_view name(Verb verb) {
    switch (verb) {
        case Verb::Create: return "create";
        case Verb::Update: return "update";
        case Verb::Delete: return "delete";
    }
    unreachable("a Verb is one of these");
}

Result<std::vector<CosignRule>> cosign_rules_from(std::string_view text) {
    const auto file = yaml::parse(text, {.bytes = kCosignRulesBytesMax});
    if (!file) return fail(ErrorKind::Invalid, "it is neither YAML nor JSON: " + to_error(file.error()).message);
    const json::Value* list = file->find("rules");
    if (list == nullptr || !list->is_array() || file->if_object()->size() != 1)
        return fail(ErrorKind::Invalid, "a map with one member is wanted: rules, a list");
    if (list->if_array()->size() > kCosignRulesMax)
        return fail(ErrorKind::Invalid, fmt::format("there are more than {} rules", kCosignRulesMax));
    std::vector<CosignRule> rules;
    for (const json::Value& one : *list->if_array()) {
        TRY(auto rule, read_rule(one, rules.size()));
        rules.push_back(std::move(rule));
    }
    return rules;
}

Cosigner::Cosigner(std::vector<CosignRule> rules) : rules_(std::move(rules)), admitted_(rules_.size()) {}

Result<std::vector<const CosignRule*>> Cosigner::admit(const std::vector<WantedChange>& changes, Time now) {
    std::set<std::size_t> used;
    for (const WantedChange& change : changes) {
        const auto covers = [&](const CosignRule& rule) {
            return rule.verbs.contains(change.verb) &&
                   std::any_of(rule.below.begin(), rule.below.end(),
                               [&](const state::Prefix& prefix) { return prefix.covers(change.path.key()); });
        };
        const auto rule = std::find_if(rules_.begin(), rules_.end(), covers);
        if (rule == rules_.end())
            return fail(ErrorKind::Denied,
                        fmt::format("no rule of this co-signer lets it {} {}", name(change.verb), change.path.text()));
        used.insert(static_cast<std::size_t>(rule - rules_.begin()));
    }
    if (used.empty()) return fail(ErrorKind::Denied, "the transaction changes nothing");
    for (const std::size_t i : used) {
        auto& times = admitted_[i];
        while (!times.empty() && times.front() + seconds{60} <= now) times.pop_front();
        if (times.size() >= rules_[i].per_minute)
            return fail(ErrorKind::Exhausted, fmt::format("rule {} has let {} through within the last minute, which "
                                                          "is all it may: try again in a moment",
                                                          json::quote(rules_[i].name), times.size()));
    }
    std::vector<const CosignRule*> rules;
    for (const std::size_t i : used) {
        admitted_[i].push_back(now);
        rules.push_back(&rules_[i]);
    }
    return rules;
}

}  // namespace rhizome::follow
