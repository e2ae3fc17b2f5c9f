// SPDX-License-Identifier: Apache-2.0
#include "cluster/selector.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/read_json.h"

namespace rhizome::cluster {
namespace {

using test::read;

TEST(LabelSelector, MatchesAsKubernetesDoes) {
    const json::Value labels = read(R"({"app":"web","tier":"front","empty":"","count":"5"})");
    const struct {
        std::string_view selector;
        bool matches;
    } rows[] = {
        {"", true},
        {"app=web", true},
        {"app==web", true},
        {"app = web", true},
        {"app=db", false},
        {"app!=db", true},
        {"app!=web", false},
        {"nothing!=x", true},
        {"app in (web,db)", true},
        {"app in (db)", false},
        {"app notin (db, other)", true},
        {"nothing notin (db)", true},
        {"nothing in (db)", false},
        {"app", true},
        {"nothing", false},
        {"!nothing", true},
        {"! nothing", true},
        {"!app", false},
        {"app=web,tier=front", true},
        {"app=web,tier=back", false},
        {"empty=", true},
        {"empty=,app=web", true},
        {"app=", false},
        {"empty in (,a)", true},
        {"count>4", true},
        {"count>5", false},
        {"count<6", true},
        {"app>1", false},
        {"in in (in)", false},
        {"example.com/role in (a)", false},
    };
    for (const auto& row : rows) {
        const auto selector = LabelSelector::parse(row.selector);
        ASSERT_TRUE(selector) << row.selector << ": " << selector.error().message;
        EXPECT_EQ(selector->matches(&labels), row.matches) << row.selector;
        EXPECT_EQ(LabelSelector::parse(selector->text()).value(), *selector) << selector->text();
    }
    EXPECT_FALSE(LabelSelector::parse("app")->matches(nullptr));
    EXPECT_TRUE(LabelSelector::parse("!app")->matches(nullptr));
}

TEST(LabelSelector, SaysWhatItCannotRead) {
    const struct {
        std::string_view selector;
        std::string_view why;
    } rows[] = {
        {"a in", "unable to parse requirement: found '' expected: '('"},
        {"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
        {"a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"},
        {"a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
        {"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
        {",a", "found ',', expected: !, identifier, or 'end of string'"},
        {"a,", "found '', expected: identifier after ','"},
        {"a=b=c", "found '=', expected: ',' or 'end of string'"},
        {"!", "unable to parse requirement: found '', expected: identifier"},
        {"a=(", "unable to parse requirement: found '(', expected: identifier"},
        {"a in ()",
         "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be "
         "empty"},
        {"a>b",
         "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an "
         "integer"},
    };
    for (const auto& row : rows) {
        const auto selector = LabelSelector::parse(row.selector);
        ASSERT_FALSE(selector) << row.selector;
        EXPECT_EQ(selector.error().message, row.why) << row.selector;
    }
    const auto key = LabelSelector::parse("-a=b");
    ASSERT_FALSE(key);
    EXPECT_TRUE(key.error().message.starts_with(
        "unable to parse requirement: key: Invalid value: \"-a\": name part must consist of alphanumeric characters"));
}

TEST(LabelSelector, ComesFromDocuments) {
    const json::Value labels = read(R"({"app":"web"})");
    const Where where("spec.selector");
    EXPECT_TRUE(LabelSelector::from_document(nullptr, where)->text().empty());
    EXPECT_FALSE(LabelSelector::from_document(nullptr, where)->matches(&labels)) << "null selects nothing";
    const json::Value everything = read("{}");
    EXPECT_TRUE(LabelSelector::from_document(&everything, where)->matches(&labels)) << "empty selects everything";
    const json::Value both = read(
        R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"tier","operator":"NotIn","values":["db"]},{"key":"app","operator":"Exists"}]})");
    const auto selector = LabelSelector::from_document(&both, where);
    ASSERT_TRUE(selector);
    EXPECT_EQ(selector->text(), "app=web,app,tier!=db");
    EXPECT_TRUE(selector->matches(&labels));
    const json::Value bad = read(
        R"({"matchLabels":{"a b":"c"},"matchExpressions":[{"key":"x","operator":"In"},{"key":"y","operator":"Gt","values":["1"]},{"key":"z","operator":"Exists","values":["1"]}]})");
    const auto refused = LabelSelector::from_document(&bad, where);
    ASSERT_FALSE(refused);
    ASSERT_EQ(refused.error().size(), 4u);
    EXPECT_EQ(refused.error()[0].field, "spec.selector.matchLabels");
    EXPECT_EQ(refused.error()[1].text(),
              "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
              "'NotIn'");
    EXPECT_EQ(refused.error()[2].text(),
              "spec.selector.matchExpressions[1].operator: Invalid value: \"Gt\": not a valid selector operator");
    EXPECT_EQ(
        refused.error()[3].text(),
        "spec.selector.matchExpressions[2].values: Forbidden: may not be specified when `operator` is 'Exists' or "
        "'DoesNotExist'");
}

TEST(FieldSelector, MatchesFieldsOfObjects) {
    const Kinds kinds;
    const Kind& pods = *kinds.find("", "v1", "pods");
    const json::Value pod = read(
        R"({"metadata":{"name":"p1","namespace":"default"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}})");
    const struct {
        std::string_view selector;
        bool matches;
    } rows[] = {
        {"", true},
        {"status.phase=Running", true},
        {"status.phase==Running", true},
        {"status.phase!=Running", false},
        {"spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed", true},
        {"spec.host=n1", true},
        {"metadata.name=p2", false},
        {"metadata.namespace=", false},
        {"status.nominatedNodeName=", true},
        {"spec.hostNetwork=false", true},
    };
    for (const auto& row : rows) {
        const auto selector = FieldSelector::parse(row.selector);
        ASSERT_TRUE(selector) << row.selector;
        ASSERT_TRUE(selector->check(pods)) << row.selector;
        EXPECT_EQ(selector->matches(pod, pods), row.matches) << row.selector;
        EXPECT_EQ(FieldSelector::parse(selector->text()).value(), *selector) << selector->text();
    }
    EXPECT_EQ(*FieldSelector::parse("metadata.name=p1")->required("metadata.name"), "p1");
    EXPECT_EQ(FieldSelector::parse("metadata.name!=p1")->required("metadata.name"), nullptr);
}

TEST(FieldSelector, SaysWhatItCannotReadOrSelect) {
    EXPECT_EQ(FieldSelector::parse("a").error().message, "invalid selector: 'a'; can't understand 'a'");
    EXPECT_EQ(FieldSelector::parse("a=b,c").error().message, "invalid selector: 'a=b,c'; can't understand 'c'");
    EXPECT_EQ(FieldSelector::parse("a=\\x").error().message, "invalid field selector: invalid escape sequence: \\x");
    EXPECT_EQ(FieldSelector::parse("a=b=c").error().message, "invalid field selector: unescaped character in value: =");
    const auto odd = FieldSelector::parse("a=x\\,y\\=z\\\\");
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->terms()[0].value, "x,y=z\\");
    EXPECT_EQ(odd->text(), "a=x\\,y\\=z\\\\");
    const Kinds kinds;
    const auto selector = FieldSelector::parse("spec.bogus=1");
    EXPECT_EQ(selector->check(*kinds.find("", "v1", "pods")).error().message, "field label not supported: spec.bogus");
    EXPECT_EQ(selector->check(*kinds.find("", "v1", "configmaps")).error().message,
              "\"spec.bogus\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

/// What a selector prints is read back to the same one, whatever it holds.
TEST(LabelSelector, PrintsWhatItReads) {
    Random random{7};
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        static constexpr std::string_view kPieces[] = {"a", "b.c/d", " ", "=", "!=", "==", "in",  "notin", "(",
                                                       ")", ",",     "!", "1", "<",  ">",  "x-y", "(a,b)"};
        for (std::uint64_t left = random.below(9); left > 0; --left) text += kPieces[random.below(std::size(kPieces))];
        const auto selector = LabelSelector::parse(text);
        if (!selector) continue;
        const auto again = LabelSelector::parse(selector->text());
        ASSERT_TRUE(again) << text << " became " << selector->text();
        EXPECT_EQ(*again, *selector) << text << " became " << selector->text();
    }
}

}  // namespace
}  // namespace rhizome::cluster
