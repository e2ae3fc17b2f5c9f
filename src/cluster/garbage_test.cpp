// SPDX-License-Identifier: Apache-2.0
#include "cluster/garbage.h"

#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/object.h"

namespace rhizome::cluster {
namespace {

using What = Chore::What;

/// A few objects that change by hand, told to `Garbage` as a node would.
class GarbageTest : public ::testing::Test {
protected:
    static state::Path path(std::string_view kind, std::string_view name, std::string_view space = "web") {
        return *state::Path::of(kind == "Deployment" ? "apps" : "", kind, kind == "Namespace" ? "" : space, name);
    }
    void put(const state::Path& at, const std::string& metadata, const std::string& more = "") {
        const auto parsed = json::parse(fmt::format(R"({{"metadata":{{{}}}{}}})", metadata, more));
        ASSERT_TRUE(parsed) << metadata;
        const auto old = objects_.find(at);
        const json::Value before = old == objects_.end() ? json::Value{} : old->second;
        garbage_.saw(at, old == objects_.end() ? nullptr : &before, &*parsed);
        objects_[at] = *parsed;
    }
    void erase(const state::Path& at) {
        const auto old = objects_.find(at);
        ASSERT_NE(old, objects_.end());
        const json::Value before = old->second;
        objects_.erase(old);
        garbage_.saw(at, &before, nullptr);
    }
    static std::string owned(std::string_view uid, std::string_view owner_uid, bool blocks = false,
                             std::string_view name = "d", std::string_view kind = "Deployment",
                             std::string_view version = "apps/v1") {
        return fmt::format(R"("uid":"{}","ownerReferences":[{{"apiVersion":"{}","kind":"{}","name":"{}","uid":"{}",)"
                           R"("blockOwnerDeletion":{}}}])",
                           uid, version, kind, name, owner_uid, blocks);
    }
    std::vector<Chore> chores(std::size_t most = 100) {
        return garbage_.chores({.object_at = [this](const state::Path& at) -> std::optional<json::Value> {
                                    const auto found = objects_.find(at);
                                    if (found == objects_.end()) return std::nullopt;
                                    return found->second;
                                },
                                .is_known = [](std::string_view, std::string_view kind) { return kind != "Widget"; },
                                .is_namespaced = [](std::string_view, std::string_view kind) { return kind != "Node"; },
                                .contents =
                                    [this](std::string_view space, std::size_t most_wanted) {
                                        std::vector<state::Path> inside;
                                        for (const auto& [at, object] : objects_)
                                            if (at.namespace_name() == space &&
                                                at.shape() == state::Path::Shape::Namespaced &&
                                                inside.size() < most_wanted)
                                                inside.push_back(at);
                                        return inside;
                                    }},
                               most);
    }

    Garbage garbage_;
    std::map<state::Path, json::Value> objects_;
};

TEST_F(GarbageTest, WhatBelongsToNothingThatIsThereGoes) {
    put(path("Deployment", "d"), R"("uid":"d1")");
    put(path("Pod", "p"), owned("p1", "d1"));
    put(path("Pod", "free"), R"("uid":"p2")");
    EXPECT_TRUE(chores().empty());
    erase(path("Deployment", "d"));
    const auto todo = chores();
    ASSERT_EQ(todo.size(), 1u);
    EXPECT_EQ(todo[0].what, What::Delete);
    EXPECT_EQ(todo[0].path, path("Pod", "p"));
    EXPECT_EQ(todo[0].uid, "p1");
    erase(path("Pod", "p"));
    EXPECT_TRUE(chores().empty());
    EXPECT_EQ(garbage_.waiting(), 0u);
}

TEST_F(GarbageTest, AnOwnerOfTheSameNameIsAnotherOne) {
    put(path("Deployment", "d"), R"("uid":"d2")");
    put(path("Pod", "p"), owned("p1", "d1"));
    ASSERT_EQ(chores().size(), 1u);
}

TEST_F(GarbageTest, OwnersOfUnknownKindsMayBeThere) {
    put(path("Pod", "p"), owned("p1", "w1", false, "w", "Widget", "example.com/v1"));
    EXPECT_TRUE(chores().empty());
}

TEST_F(GarbageTest, OneOwnerThatIsThereIsEnough) {
    put(path("Deployment", "d"), R"("uid":"d1")");
    put(path("Pod", "p"),
        R"("uid":"p1","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"d1"},)"
        R"({"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"c1"}])");
    const auto todo = chores();
    ASSERT_EQ(todo.size(), 1u);
    EXPECT_EQ(todo[0].what, What::DropOwners);
    EXPECT_EQ(todo[0].uids, std::vector<std::string>{"c1"});
}

TEST_F(GarbageTest, AnOwnerInTheForegroundWaitsForThoseThatBlockIt) {
    put(path("Deployment", "d"), R"("uid":"d1")");
    put(path("Pod", "blocks"), owned("p1", "d1", true));
    put(path("Pod", "does-not"), owned("p2", "d1", false));
    put(path("Deployment", "d"), R"("uid":"d1","deletionTimestamp":"x","finalizers":["foregroundDeletion"])");
    auto todo = chores();
    ASSERT_EQ(todo.size(), 2u);
    for (const Chore& one : todo) EXPECT_EQ(one.what, What::Delete) << one.path.text();
    erase(path("Pod", "blocks"));
    todo = chores();
    ASSERT_EQ(todo.size(), 2u) << "the owner may go, the other dependent still goes";
    EXPECT_TRUE(std::any_of(todo.begin(), todo.end(), [](const Chore& one) {
        return one.what == What::Release && one.finalizer == kForeground;
    }));
}

TEST_F(GarbageTest, OrphansAreLetGoOfFirst) {
    put(path("Deployment", "d"), R"("uid":"d1")");
    put(path("Pod", "p"), owned("p1", "d1", true));
    put(path("Deployment", "d"), R"("uid":"d1","deletionTimestamp":"x","finalizers":["orphan"])");
    auto todo = chores();
    ASSERT_EQ(todo.size(), 1u);
    EXPECT_EQ(todo[0].what, What::DropOwners);
    EXPECT_EQ(todo[0].path, path("Pod", "p"));
    put(path("Pod", "p"), R"("uid":"p1")");
    todo = chores();
    ASSERT_EQ(todo.size(), 1u);
    EXPECT_EQ(todo[0].what, What::Release);
    EXPECT_EQ(todo[0].path, path("Deployment", "d"));
    erase(path("Deployment", "d"));
    EXPECT_TRUE(chores().empty()) << "what was let go stays";
}

TEST_F(GarbageTest, ANamespaceIsEmptiedAndThenGoes) {
    const state::Path web = path("Namespace", "web");
    put(web, R"("uid":"n1")", R"(,"spec":{"finalizers":["kubernetes"]})");
    put(path("ConfigMap", "a"), R"("uid":"c1")");
    put(path("ConfigMap", "b"), R"("uid":"c2","finalizers":["example.com/x"])");
    put(web, R"("uid":"n1","deletionTimestamp":"x")", R"(,"spec":{"finalizers":["kubernetes"]})");
    auto todo = chores();
    ASSERT_EQ(todo.size(), 2u);
    erase(path("ConfigMap", "a"));
    put(path("ConfigMap", "b"), R"("uid":"c2","deletionTimestamp":"x","finalizers":["example.com/x"])");
    EXPECT_TRUE(chores().empty()) << "somebody else's finalizer is waited for";
    erase(path("ConfigMap", "b"));
    todo = chores();
    ASSERT_EQ(todo.size(), 1u);
    EXPECT_EQ(todo[0].path, web);
    // Somebody wants to have a say about the namespace itself.
    put(web, R"("uid":"n1","deletionTimestamp":"x")", R"(,"spec":{"finalizers":["kubernetes","example.com/y"]})");
    EXPECT_TRUE(chores().empty());
}

TEST_F(GarbageTest, TellsNoMoreAtOnceThanIsWanted) {
    for (int i = 0; i < 50; ++i) put(path("Pod", fmt::format("p{}", i)), owned(fmt::format("u{}", i), "gone"));
    EXPECT_EQ(chores(10).size(), 10u);
    EXPECT_FALSE(garbage_.is_round_over());
    EXPECT_EQ(chores().size(), 40u);
    EXPECT_TRUE(garbage_.is_round_over());
    EXPECT_EQ(chores().size(), 50u);
}

TEST_F(GarbageTest, WhatNobodyDoesDoesNotStandBeforeTheRest) {
    for (int i = 0; i < 50; ++i) put(path("Pod", fmt::format("p{}", i)), owned(fmt::format("u{}", i), "gone"));
    std::set<std::string> told;
    for (int round = 0; round < 2; ++round) {
        do {
            for (const Chore& one : chores(7)) EXPECT_TRUE(told.insert(one.uid).second) << one.uid;
            // What comes and goes meanwhile does not stop it.
            put(path("Pod", "a"), owned("a", "gone"));
            erase(path("Pod", "a"));
        } while (!garbage_.is_round_over());
        EXPECT_EQ(told.size(), 50u);
        told.clear();
    }
}

}  // namespace
}  // namespace rhizome::cluster
