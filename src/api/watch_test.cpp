// SPDX-License-Identifier: Apache-2.0
#include "api/watch.h"

#include <gtest/gtest.h>

#include "api/testing.h"

namespace rhizome::api {
namespace {

using testing::World;

std::vector<std::string> names(const Listing& listing) {
    std::vector<std::string> out;
    for (const Standing& one : listing.items) out.emplace_back(one.document->path().name());
    return out;
}

TEST(Revisions, GrowFromStartToStartAndKnowTheirOwn) {
    const Time start = Time::from_unix_seconds(1'790'000'000);
    const Revision first = first_revision(start, 5);
    EXPECT_GT(first_revision(start + milliseconds{1}, 0), first + 1'000'000);
    EXPECT_NE(first_revision(start, 6), first);
    EXPECT_LT(first, Revision{1} << 63);
    World world;
    EXPECT_TRUE(world.revisions.is_ours(world.revisions.newest()));
    EXPECT_FALSE(world.revisions.is_ours(world.revisions.newest() + 1));
    EXPECT_FALSE(world.revisions.is_ours(1234));
}

TEST(Revisions, AListPagesInOrderAndCountsTheRest) {
    World world;
    for (const char* name : {"a", "b", "c"}) world.put(World::config_map("default", name, "1"));
    world.put(World::config_map("web", "d", "1"));
    const Selection all = world.of("", "v1", "configmaps");
    const Listing first = list(world.revisions, all, 2, {}, {});
    EXPECT_EQ(names(first), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(first.remaining, 2u);
    const auto token = parse_continue(to_text(Continue{first.revision, first.next}));
    ASSERT_TRUE(token);
    const Listing second = list(world.revisions, all, 2, token->after, {});
    EXPECT_EQ(names(second), (std::vector<std::string>{"c", "d"}));
    EXPECT_TRUE(second.next.empty());
    EXPECT_EQ(names(list(world.revisions, world.of("", "v1", "namespaces"), 0, {}, {})),
              (std::vector<std::string>{"default", "web"}));
    // The same by looking into documents behind the lock.
    Selection some = all;
    some.matches = [](const json::Value& object) { return object.text_at({"metadata", "name"}) != "b"; };
    Listing whole = list(world.revisions, all, 0, {}, {});
    narrow(whole, some, 2, {});
    const Listing direct = list(world.revisions, some, 2, {}, {});
    EXPECT_EQ(names(whole), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(names(direct), names(whole));
    EXPECT_EQ(direct.next, whole.next);
    EXPECT_FALSE(parse_continue("7.zz"));
    EXPECT_FALSE(parse_continue("x"));
}

TEST(Revisions, ADocumentIsShownWithVersionAgeAndIdentity) {
    World world;
    world.put(World::config_map("default", "a", "1"));
    const Selection maps = world.of("", "v1", "configmaps", "default");
    const Standing a = list(world.revisions, maps, 0, {}, {}).items.at(0);
    const json::Value shown = *json::parse(shown_text(*maps.kind, a, {}));
    EXPECT_EQ(shown, shown_value(*maps.kind, a, {}));
    EXPECT_EQ(shown.text_at({"metadata", "resourceVersion"}), std::to_string(world.revisions.newest()));
    EXPECT_EQ(shown.text_at({"metadata", "creationTimestamp"}), "2026-09-21T14:13:20Z");
    EXPECT_EQ(shown.text_at({"metadata", "uid"}).size(), 36u);
    json::Value back = shown;
    strip_shown(back);
    EXPECT_EQ(back.find_path({"metadata", "resourceVersion"}), nullptr);
    EXPECT_EQ(back.find_path({"metadata", "creationTimestamp"}), nullptr);
    // A document that came with such members of its own has them replaced, never doubled.
    world.put(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"z","uid":"u","resourceVersion":"9"}})");
    const json::Value z = *json::parse(shown_text(*maps.kind, list(world.revisions, maps, 0, {}, {}).items.at(1), {}));
    EXPECT_EQ(z.text_at({"metadata", "uid"}), "u");
    EXPECT_EQ(z.text_at({"metadata", "resourceVersion"}), std::to_string(world.revisions.newest()));
}

TEST(Revisions, WhatANodesMachineReportsChangesTheNode) {
    World world;
    world.put(World::document("v1", "Node", "", "n1"));
    Watch watch{world.revisions, world.of("", "v1", "nodes"), {.after = world.revisions.newest()}, {}};
    world.put(World::document("rhizome.dev/v1", "NodeReport", "", "n1", R"(,"status":{"capacity":{"cpu":"2"}})"));
    const auto events = watch.take(world.revisions, 10);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 1u);
    EXPECT_EQ(events->front().type, EventType::Modified);
    const json::Value node = shown_value(*watch.selection().kind, events->front().object,
                                         [](std::string_view) { return Heard{.is_member = true, .in_lease = true}; });
    EXPECT_EQ(node.text_at({"status", "capacity", "cpu"}), "2");
    EXPECT_EQ((*node.find_path({"status", "conditions"})->if_array())[0].text_at({"status"}), "True");
}

TEST(Watch, BeginsWithWhatIsThereThenSaysSo) {
    World world;
    world.put(World::config_map("default", "a", "1"));
    const auto wish = watch_wish(world.revisions, "", "NotOlderThan", true, true);
    ASSERT_TRUE(wish);
    Watch watch{world.revisions, world.of("", "v1", "configmaps"), *wish, {}};
    const auto events = watch.take(world.revisions, 10);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 2u);
    EXPECT_EQ((*events)[0].type, EventType::Added);
    EXPECT_TRUE((*events)[1].ends_initial);
    EXPECT_FALSE(watch.is_behind(world.revisions));
}

TEST(Watch, ADeletedNamespaceTakesItsContentsWithIt) {
    World world;
    world.put(World::config_map("web", "a", "1"));
    world.put(World::config_map("web", "b", "1"));
    Watch watch{world.revisions, world.of("", "v1", "configmaps"), {.after = world.revisions.newest()}, {}};
    world.erase("/namespaces/web");
    const auto events = watch.take(world.revisions, 10);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 2u);
    for (const WatchEvent& event : *events) {
        EXPECT_EQ(event.type, EventType::Deleted);
        EXPECT_EQ(event.object.revision, event.revision);
    }
}

TEST(Watch, LeavingTheSelectionIsADeletion) {
    World world;
    world.put(World::config_map("web", "a", "1"));
    Selection ones = world.of("", "v1", "configmaps");
    ones.matches = [](const json::Value& object) { return object.text_at({"data", "v"}) == "1"; };
    Watch watch{world.revisions, ones, {.after = world.revisions.newest()}, {}};
    world.put(World::config_map("web", "a", "2"));
    world.put(World::config_map("web", "a", "1"));
    world.put(World::config_map("web", "b", "2"));
    const auto events = watch.take(world.revisions, 10);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 2u);
    EXPECT_EQ((*events)[0].type, EventType::Deleted);
    EXPECT_EQ(shown_value(*ones.kind, (*events)[0].object, {}).text_at({"data", "v"}), "1");
    EXPECT_EQ((*events)[1].type, EventType::Added);
}

struct RevisionCase {
    const char* about;
    std::string revision;
    const char* match;
    bool initial;
    unsigned code;  ///< 0: good
};

TEST(Watch, ReadsRevisionsAsKubernetesDoes) {
    World world{{.changes = 2, .bytes = 1u << 20}};
    const Revision old = world.revisions.newest();
    for (int i = 0; i < 5; ++i) world.put(World::config_map("web", "a", std::to_string(i)));
    const std::string now = std::to_string(world.revisions.newest());
    const RevisionCase cases[] = {
        {"the newest", now, "", false, 0},
        {"any", "0", "", false, 0},
        {"none", "", "", false, 0},
        {"one that left the window", std::to_string(old), "", false, 410},
        {"one to come", std::to_string(world.revisions.newest() + 1), "", false, 410},
        {"another node's", "12", "", false, 410},
        {"no number", "abc", "", false, 400},
        {"a match without the beginning", now, "NotOlderThan", false, 400},
        {"the beginning without a match", now, "", true, 400},
        {"the beginning, not older than", now, "NotOlderThan", true, 0},
    };
    for (const RevisionCase& one : cases) {
        SCOPED_TRACE(one.about);
        const auto wish = watch_wish(world.revisions, one.revision, one.match, one.initial, false);
        EXPECT_EQ(wish ? 0u : wish.error().code, one.code);
    }
    EXPECT_TRUE(check_list_revision(world.revisions, "0", "", false));
    EXPECT_TRUE(check_list_revision(world.revisions, now, "Exact", false));
    EXPECT_TRUE(check_list_revision(world.revisions, std::to_string(old), "NotOlderThan", false));
    EXPECT_EQ(check_list_revision(world.revisions, std::to_string(old), "Exact", false).error().code, 410u);
    EXPECT_EQ(check_list_revision(world.revisions, "5", "", false).error().code, 410u);
    EXPECT_EQ(check_list_revision(world.revisions, "", "Exact", false).error().code, 400u);
}

}  // namespace
}  // namespace rhizome::api
