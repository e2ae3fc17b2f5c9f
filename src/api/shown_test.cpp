// SPDX-License-Identifier: Apache-2.0
#include "api/shown.h"

#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/detail/entry_numbers.h"
#include "api/detail/members.h"
#include "api/testing.h"
#include "base/random.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

using testing::World;

class Shown : public ::testing::Test {
protected:
    Standing written(const std::string& text, bool is_final = false) {
        Standing standing{.document = world_.entry_of(text), .revision = 77, .is_final = is_final};
        return standing;
    }
    const cluster::Kind& kind(std::string_view plural = "configmaps") { return *world_.kinds.find("", "v1", plural); }
    /// Both ways of showing agree, whatever the order of members.
    json::Value shown(const Standing& standing) {
        const json::Value value = shown_value(kind(), standing, {});
        const std::string text = shown_text(kind(), standing, {});
        const auto parsed = json::parse(text);
        EXPECT_TRUE(parsed) << text;
        if (parsed) {
            EXPECT_EQ(json::print_canonical(*parsed), json::print_canonical(value)) << text;
        }
        return value;
    }
    World world_{};
};

TEST_F(Shown, EveryObjectTellsItsTransactionHeightAndFinality) {
    for (const bool is_final : {false, true}) {
        const Standing standing = written(World::config_map("default", "a", "1"), is_final);
        const json::Value object = shown(standing);
        const state::Mark& latest = standing.document->origin().latest;
        EXPECT_EQ(object.text_at({"metadata", "annotations", "rhizome.dev/txid"}), latest.output.change.hex());
        EXPECT_EQ(object.text_at({"metadata", "annotations", "rhizome.dev/height"}),
                  std::to_string(latest.height.number()));
        EXPECT_EQ(object.text_at({"metadata", "annotations", "rhizome.dev/finality"}), is_final ? "final" : "included");
        EXPECT_EQ(object.text_at({"metadata", "resourceVersion"}), "77");
    }
}

TEST_F(Shown, BytesAreCopiedWhereverMembersStand) {
    const char* documents[] = {
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"a"}})",
        R"({"data":{"metadata":"{\"x\":\"}\\\""},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"apiVersion":"v1"})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","annotations":{}}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"a":"b"},"name":"a","namespace":"default","uid":"u"}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","labels":{"x":"[{\"}"},"finalizers":["a","b"],"generation":1}})",
        // What somebody wrote who is not the API: shown the long way.
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","resourceVersion":"5"}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","annotations":{"rhizome.dev/txid":"lie"}}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","annotations":null}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","resource\u0056ersion":"5"}})",
    };
    for (const char* text : documents) {
        SCOPED_TRACE(text);
        const json::Value object = shown(written(text));
        EXPECT_EQ(object.text_at({"metadata", "resourceVersion"}), "77");
        EXPECT_NE(object.text_at({"metadata", "annotations", "rhizome.dev/txid"}), "lie");
    }
}

TEST_F(Shown, WhatIsOnlyShownIsTakenOutWhenItComesBack) {
    for (
        const char* text :
        {R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"a","uid":"u"}})",
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"a","uid":"u","annotations":{"k":"v"}}})"}) {
        json::Value object = shown(written(text));
        strip_shown(object);
        EXPECT_EQ(json::print_canonical(object), json::print_canonical(*json::parse(text)));
    }
}

TEST_F(Shown, ADocumentSaysItselfWhenItWasCreatedButNotLaterThanItsBlock) {
    const auto dated = [&](std::string_view created) {
        const Standing standing = written(fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"namespace":"default","name":"a","creationTimestamp":{}}}}})",
            created));
        EXPECT_EQ(created_text(*standing.document), shown(standing).text_at({"metadata", "creationTimestamp"}));
        return std::string{shown(standing).text_at({"metadata", "creationTimestamp"})};
    };
    const Standing silent = written(World::config_map("default", "a", "1"));
    const std::string block = to_rfc3339(silent.document->origin().born.time);
    EXPECT_EQ(shown(silent).text_at({"metadata", "creationTimestamp"}), block);
    EXPECT_EQ(dated(R"("2020-01-02T03:04:05Z")"), "2020-01-02T03:04:05Z");
    for (const char* other : {R"("2999-01-02T03:04:05Z")", "null", "7", R"("")", R"("2020-01-02")",
                              R"("2020-13-02T03:04:05Z")", R"("2020-01-02T03:04:05.0Z")", R"("aaaaaaaaaaaaaaaaaaaZ")"})
        EXPECT_EQ(dated(other), block) << other;
}

TEST_F(Shown, WhatLivesOffTheChainHasNoTransaction) {
    const cluster::Kind& lease = *world_.kinds.find("coordination.k8s.io", "v1", "leases");
    const Standing standing = written(World::document("coordination.k8s.io/v1", "Lease", "default", "a"));
    EXPECT_EQ(shown_text(lease, standing, {}).find("rhizome.dev"), std::string::npos);
    EXPECT_EQ(shown_value(lease, standing, {}).find_path({"metadata", "annotations"}), nullptr);
}

TEST_F(Shown, WhateverStandsWhereAStatusBelongsIsShownOver) {
    const HeardOf heard_of = [](std::string_view) { return Heard{.is_member = true, .in_lease = true}; };
    for (const char* what : {R"("x")", "7", "[]", "null", "true", R"({"phase":[]})"}) {
        SCOPED_TRACE(what);
        const std::string more = fmt::format(R"(,"spec":{0},"status":{0})", what);
        const Standing space = written(World::document("v1", "Namespace", "", "n", more));
        EXPECT_EQ(shown_value(kind("namespaces"), space, heard_of).text_at({"status", "phase"}), "Active");
        const Standing node = written(World::document("v1", "Node", "", "n", more));
        const json::Value shown = shown_value(kind("nodes"), node, heard_of);
        ASSERT_NE(shown.find_path({"status", "conditions"}), nullptr);
        EXPECT_EQ(cluster::condition(shown, "Ready"), "True");
    }
}

TEST(EntryNumbers, AnswersAsATableByNameWould) {
    World world;
    Random random{7};
    detail::EntryNumbers numbers;
    std::map<const state::Entry*, std::pair<state::EntryPtr, std::uint64_t>> model;
    std::vector<state::EntryPtr> entries;
    for (int i = 0; i < 500; ++i)
        entries.push_back(world.entry_of(World::config_map("default", std::to_string(i), "v")));
    for (std::uint64_t turn = 0; turn < 20'000; ++turn) {
        const state::EntryPtr& entry = entries[random.below(entries.size())];
        if (random.chance(1, 2)) {
            numbers.put(entry, turn);
            model[entry.get()] = {entry, turn};
        } else {
            numbers.erase(entry.get());
            model.erase(entry.get());
        }
        ASSERT_EQ(numbers.size(), model.size());
        const state::EntryPtr& asked = entries[random.below(entries.size())];
        const auto at = model.find(asked.get());
        ASSERT_EQ(numbers.find(asked.get()), at == model.end() ? std::nullopt : std::optional{at->second.second});
    }
}

TEST(Members, AWalkEndsWhereTheTextIsNotWhatItShouldBe) {
    for (const char* text : {"", "[", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":\"", "{\"a\":[",
                             "{\"a\":1,}", "{\"a\":1]", "{a:1}", "{\"a\\u0062\":1}", "{\"a\":\"\\\"}"}) {
        detail::Members members{text, 0};
        while (members.next()) {
        }
        EXPECT_FALSE(members.good()) << text;
    }
    detail::Members none{"{}", 0};
    EXPECT_FALSE(none.next());
    EXPECT_TRUE(none.good());
}

}  // namespace
}  // namespace rhizome::api
