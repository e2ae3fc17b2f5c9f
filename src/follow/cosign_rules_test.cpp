// SPDX-License-Identifier: Apache-2.0
#include "follow/cosign_rules.h"

#include <gtest/gtest.h>

namespace rhizome::follow {
namespace {

constexpr Time kStart = Time::from_unix_seconds(1'800'000'000);

WantedChange change(Verb verb, std::string_view path) { return {verb, state::Path::parse(path).value()}; }

TEST(CosignRules, AreReadWithTheirDefaults) {
    const auto rules = cosign_rules_from(
        "rules:\n"
        "- {name: web, below: [/namespaces/web]}\n"
        "- name: scaling\n"
        "  below: [/namespaces/a/apps/Deployment/x, /namespaces/b]\n"
        "  verbs: [update]\n"
        "  perMinute: 3\n"
        "  command: [/bin/true, \"1\"]\n"
        "  timeout: 250ms\n");
    ASSERT_TRUE(rules) << rules.error().message;
    ASSERT_EQ(rules->size(), 2u);
    EXPECT_EQ((*rules)[0].verbs.size(), 3u);
    EXPECT_EQ((*rules)[0].per_minute, 60u);
    EXPECT_TRUE((*rules)[0].command.empty());
    EXPECT_EQ((*rules)[1].verbs, std::set{Verb::Update});
    EXPECT_EQ((*rules)[1].command, (std::vector<std::string>{"/bin/true", "1"}));
    EXPECT_EQ((*rules)[1].timeout, milliseconds{250});
}

TEST(CosignRules, ErrorsNameTheRuleAndTheMember) {
    const struct {
        std::string_view text;
        std::string_view why;
    } rows[] = {
        {"[", "neither YAML nor JSON"},
        {"{}", "rules, a list"},
        {"{rules: [], more: 1}", "one member"},
        {"rules: [1]", "rules[0]: a rule is a map"},
        {"rules: [{name: a}]", "rules[0]: name and below are needed"},
        {"rules: [{name: a, below: [/]}, {name: b, belwo: [/]}]", "rules[1]: there is no member \"belwo\""},
        {"rules: [{name: a, below: [web]}]", "no path"},
        {"rules: [{name: a, below: []}]", "below is a list"},
        {"rules: [{name: a, below: [/], verbs: [patch]}]", "none of create, update, delete"},
        {"rules: [{name: a, below: [/], perMinute: 0}]", "perMinute is a number"},
        {"rules: [{name: a, below: [/], command: [true]}]", "command is a list of texts"},
        {"rules: [{name: a, below: [/], command: [date]}]", "whole path"},
        {"rules: [{name: a, below: [/], timeout: 2m}]", "timeout is a time"},
    };
    for (const auto& [text, why] : rows) {
        const auto rules = cosign_rules_from(text);
        ASSERT_FALSE(rules) << text;
        EXPECT_NE(rules.error().message.find(why), std::string::npos) << text << ": " << rules.error().message;
    }
}

TEST(Cosigner, EveryChangeNeedsARule) {
    Cosigner cosigner{cosign_rules_from("rules:\n"
                                        "- {name: one, below: [/namespaces/a], verbs: [update]}\n"
                                        "- {name: two, below: [/namespaces/b]}\n")
                          .value()};
    const auto pod = change(Verb::Update, "/namespaces/a/core/Pod/x");
    const auto map = change(Verb::Delete, "/namespaces/b/core/ConfigMap/x");
    const auto rules = cosigner.admit({pod, map, pod}, kStart);
    ASSERT_TRUE(rules) << rules.error().message;
    ASSERT_EQ(rules->size(), 2u);
    EXPECT_EQ((*rules)[0]->name, "one");
    EXPECT_EQ((*rules)[1]->name, "two");
    for (const auto& bad : {change(Verb::Create, "/namespaces/a/core/Pod/x"), change(Verb::Update, "/namespaces/ab"),
                            change(Verb::Update, "/")}) {
        const auto refused = cosigner.admit({pod, bad}, kStart);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::Denied);
        EXPECT_NE(refused.error().message.find(bad.path.text()), std::string::npos) << refused.error().message;
    }
    EXPECT_FALSE(cosigner.admit({}, kStart)) << "what changes nothing is nobody's";
}

TEST(Cosigner, AMinuteHasItsBound) {
    Cosigner cosigner{cosign_rules_from("rules: [{name: one, below: [/], perMinute: 2}]").value()};
    const std::vector<WantedChange> wanted{change(Verb::Update, "/namespaces/a")};
    EXPECT_TRUE(cosigner.admit(wanted, kStart));
    EXPECT_TRUE(cosigner.admit(wanted, kStart + seconds{30}));
    const auto refused = cosigner.admit(wanted, kStart + seconds{59});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Exhausted);
    EXPECT_TRUE(cosigner.admit(wanted, kStart + seconds{60}));
    EXPECT_FALSE(cosigner.admit(wanted, kStart + seconds{61}));
}

}  // namespace
}  // namespace rhizome::follow
