// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "support/playground_world.h"

/// What a heal takes back, with five nodes cut two from three, and how it is told.
namespace rhizome::cli::playground::testing {

class HealWorld : public World {
protected:
    /// A write on the smaller side that another one on the larger side leaves no place for.
    struct Pair {
        std::string name{};
        unsigned left = 0;  ///< nodes
        unsigned right = 0;
        std::string loser{};  ///< transactions
        std::string winner{};
    };
    static constexpr const char* kObjects = "/api/v1/namespaces/default/configmaps";

    test::KubeReply ask(unsigned node, std::string_view method, const std::string& target, std::string_view body = {},
                        std::string_view media = "application/json") {
        if (!access_.contains(node)) {
            auto made = test::KubeAccess::from_kubeconfig(good({"kubeconfig", std::to_string(node)}));
            EXPECT_TRUE(made) << made.error().message;
            if (made) access_.emplace(node, *std::move(made));
        }
        auto reply = test::ask_kube(access_.at(node), method, target, body, media);
        EXPECT_TRUE(reply) << method << " " << target << " at " << node << ": " << reply.error().message;
        return reply ? *std::move(reply) : test::KubeReply{};
    }
    /// The transaction of a write that must be taken.
    std::string taken(const test::KubeReply& reply) {
        EXPECT_TRUE(reply.status == 200 || reply.status == 201) << reply.status << " " << reply.body;
        return reply.header("Rhizome-Txid");
    }
    static std::string map_of(const std::string& name, const std::string& value) {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"from":"{}"}}}})", name,
            value);
    }
    json::Value said(unsigned node, const std::string& path) {
        const auto on = Playground::open(folder());
        const auto client = on ? on->client(node) : Fail{on.error()};
        if (!client) return {};
        auto answer = (*client)->get("/rhizome/v1/" + path);
        return answer ? *std::move(answer) : json::Value{};
    }
    /// Transactions that a node tells to be lost.
    std::set<std::string> lost_at(unsigned node) {
        std::set<std::string> ids;
        const json::Value answer = said(node, "lost");
        const json::Value* rows = answer.find("lost");
        if (rows == nullptr || !rows->is_array()) return ids;
        for (const json::Value& row : *rows->if_array())
            EXPECT_TRUE(ids.emplace(row.text_at({"txid"})).second) << "twice: " << row.text_at({"txid"});
        return ids;
    }
    /// What a list shows: by name, version and content; and from where a watch goes on.
    struct Shown {
        std::map<std::string, std::string> objects{};
        std::map<std::string, std::string> created{};
        std::string revision{};
    };
    static std::string content_of(const json::Value& object) {
        const json::Value* data = object.find("data");
        return fmt::format("{} {}", object.text_at({"metadata", "resourceVersion"}),
                           data == nullptr ? "" : json::print(*data));
    }
    Shown list(unsigned node) {
        const json::Value answer = ask(node, "GET", kObjects).value();
        Shown shown{.revision = std::string{answer.text_at({"metadata", "resourceVersion"})}};
        const json::Value* items = answer.find("items");
        if (items == nullptr || !items->is_array()) return shown;
        for (const json::Value& one : *items->if_array()) {
            const std::string name{one.text_at({"metadata", "name"})};
            shown.objects[name] = content_of(one);
            shown.created[name] = one.text_at({"metadata", "creationTimestamp"});
        }
        return shown;
    }
    /// Somebody who watched since a list has seen what a list shows now, in order, and nothing vanish that is there;
    /// what stood before and stands now is as old as it was.
    void expect_watcher_agrees(unsigned node, const Shown& before) {
        const Shown now = list(node);
        std::map<std::string, std::string> seen = before.objects;
        std::map<std::string, int> deleted;
        const std::string text =
            ask(node, "GET",
                fmt::format("{}?watch=true&timeoutSeconds=2&resourceVersion={}", kObjects, before.revision))
                .body;
        std::uint64_t last = std::stoull(before.revision);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const auto event = json::parse(std::string_view{text}.substr(at, end - at));
            at = end + 1;
            ASSERT_TRUE(event) << text.substr(at, 200);
            const json::Value* object = event->find("object");
            ASSERT_NE(event->text_at({"type"}), "ERROR") << json::print(*event);
            const std::string name{object->text_at({"metadata", "name"})};
            const std::uint64_t revision = std::stoull(std::string{object->text_at({"metadata", "resourceVersion"})});
            if (revision > std::stoull(now.revision)) continue;  // since the list
            EXPECT_GT(revision, last) << name;
            last = revision;
            if (event->text_at({"type"}) == "DELETED") {
                EXPECT_EQ(seen.erase(name), 1u) << name << " was not there";
                ++deleted[name];
            } else {
                EXPECT_EQ(seen.contains(name), event->text_at({"type"}) == "MODIFIED") << name;
                seen[name] = content_of(*object);
            }
        }
        EXPECT_EQ(seen, now.objects) << "node " << node;
        for (const auto& [name, times] : deleted)
            EXPECT_FALSE(now.objects.contains(name)) << name << " was deleted " << times << " times, and is there";
        for (const auto& [name, created] : before.created)
            if (now.created.contains(name)) {
                EXPECT_EQ(now.created.at(name), created) << name;
            }
    }
    /// One write at each side, of the three kinds in turn: both create, both replace, one deletes and one patches.
    Pair write_pair(std::size_t number) {
        Pair pair{.name = fmt::format("pair-{}", number),
                  .left = 1 + static_cast<unsigned>(number % 2),
                  .right = 3 + static_cast<unsigned>(number % 3)};
        const std::string object = fmt::format("{}/{}", kObjects, pair.name);
        switch (number % 3) {
            case 0:
                pair.loser = taken(ask(pair.left, "POST", kObjects, map_of(pair.name, "left")));
                pair.winner = taken(ask(pair.right, "POST", kObjects, map_of(pair.name, "right")));
                break;
            case 1:
                pair.loser = taken(ask(pair.left, "PUT", object, map_of(pair.name, "left")));
                pair.winner = taken(ask(pair.right, "PUT", object, map_of(pair.name, "right")));
                break;
            default:
                pair.loser = taken(ask(pair.left, "DELETE", object));
                pair.winner = taken(
                    ask(pair.right, "PATCH", object, R"({"data":{"from":"right"}})", "application/merge-patch+json"));
                break;
        }
        return pair;
    }
    /// So many pairs across one cut; every loser is told in every way, and no winner in any.
    void expect_every_loser_told(std::size_t first, std::size_t pairs) {
        for (std::size_t i = first; i < first + pairs; ++i)
            if (i % 3 != 0) taken(ask(3, "POST", kObjects, map_of(fmt::format("pair-{}", i), "before")));
        taken(ask(3, "POST", kObjects, map_of(fmt::format("both-{}", first), "before")));
        for (unsigned node = 1; node <= 5; ++node) {
            ASSERT_TRUE(eventually([&] {
                return ask(node, "GET", fmt::format("{}/both-{}", kObjects, first)).status == 200;
            })) << node;
            for (std::size_t i = first; i < first + pairs; ++i)
                if (i % 3 != 0) {
                    ASSERT_TRUE(eventually([&] {
                        return ask(node, "GET", fmt::format("{}/pair-{}", kObjects, i)).status == 200;
                    })) << node;
                }
        }
        good({"cut", "1,2"});
        // Answers say that nothing becomes final, as soon as the links are known to be dead; on the other side never.
        const std::string caution = "299 - \"included, not final: 2 of 5 voters reachable\"";
        std::size_t asked = 0;
        EXPECT_TRUE(eventually([&] {
            const auto reply = ask(1, "POST", kObjects, map_of(fmt::format("alone-{}-{}", first, ++asked), "left"));
            return reply.status == 201 && reply.header("Warning") == caution;
        }));
        EXPECT_TRUE(eventually([&] {
            const auto reply = ask(4, "POST", kObjects, map_of(fmt::format("most-{}-{}", first, ++asked), "right"));
            return reply.status == 201 && reply.header("Warning").empty();
        }));
        std::vector<Pair> all;
        for (std::size_t i = first; i < first + pairs; ++i) all.push_back(write_pair(i));
        // What is only here before the heal, and only there, and what a watcher has seen of it.
        const Shown left = list(1);
        const Shown right = list(4);
        const std::string both = fmt::format("{}/both-{}", kObjects, first);
        const std::string patched =
            taken(ask(1, "PATCH", both, R"({"data":{"left":"1"}})", "application/merge-patch+json"));
        taken(ask(5, "PATCH", both, R"({"data":{"right":"1"}})", "application/merge-patch+json"));
        // What one of them has accepted it knows again after a kill.
        good({"kill", "2"});
        good({"start", "2"});
        access_.erase(2);
        good({"heal"});
        for (const Pair& pair : all) {
            ASSERT_TRUE(eventually([&] {
                return said(pair.left, "txs/" + pair.loser).text_at({"status"}) == "refused";
            })) << pair.name
                << " at " << pair.left << ": " << json::print(said(pair.left, "txs/" + pair.loser));
            EXPECT_TRUE(eventually([&] {
                return said(pair.left, "txs/" + pair.winner).text_at({"status"}) == "final";
            })) << pair.name;
        }
        std::map<unsigned, std::set<std::string>> lost;
        std::map<unsigned, std::string> logs;
        for (unsigned node = 1; node <= 5; ++node) {
            lost[node] = lost_at(node);
            logs[node] = good({"logs", std::to_string(node)});
        }
        for (const Pair& pair : all) {
            EXPECT_TRUE(lost[pair.left].contains(pair.loser)) << pair.name;
            for (unsigned node = 1; node <= 5; ++node)
                EXPECT_FALSE(lost[node].contains(pair.winner)) << pair.name << " at " << node;
            EXPECT_NE(logs[pair.left].find(pair.loser), std::string::npos) << pair.name << ": no line in the log";
            bool known = false;
            const json::Value refusals =
                said(pair.left, "refusals?path=/namespaces/default/core/ConfigMap/" + pair.name);
            for (const json::Value& row : *refusals.find("refusals")->if_array())
                known |= row.text_at({"txid"}) == pair.loser && row.find("accepted") != nullptr;
            EXPECT_TRUE(known) << pair.name << ": " << json::print(refusals);
        }
        // A patch of other fields is made again on the winner.
        EXPECT_TRUE(eventually([&] {
            const json::Value merged = ask(4, "GET", fmt::format("{}/both-{}", kObjects, first)).value();
            return merged.text_at({"data", "left"}) == "1" && merged.text_at({"data", "right"}) == "1";
        })) << ask(4, "GET", fmt::format("{}/both-{}", kObjects, first)).body;
        EXPECT_TRUE(lost[1].contains(patched));
        EXPECT_TRUE(eventually([&] {
            return has_event(4, {.name = fmt::format("both-{}", first), .loser = patched}, "WriteMadeAgain", "Normal");
        }));
        expect_watcher_agrees(1, left);
        expect_watcher_agrees(4, right);
        // The whole cluster has the events, on the objects that stand now.
        for (const unsigned node : {1u, 4u})
            for (const Pair& pair : all)
                EXPECT_TRUE(eventually([&] { return has_event(node, pair); })) << pair.name << " at " << node;
    }
    bool has_event(unsigned node, const Pair& pair, std::string_view reason = "WriteLost",
                   std::string_view type = "Warning") {
        const auto reply =
            ask(node, "GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=" + pair.name);
        const json::Value list = reply.value();
        const json::Value* items = list.find("items");
        if (items == nullptr || !items->is_array()) return false;
        const json::Value present = ask(node, "GET", fmt::format("{}/{}", kObjects, pair.name)).value();
        for (const json::Value& one : *items->if_array())
            if (one.text_at({"reason"}) == reason && one.text_at({"type"}) == type &&
                one.text_at({"message"}).find(pair.loser) != std::string_view::npos)
                return one.text_at({"involvedObject", "uid"}) == present.text_at({"metadata", "uid"});
        return false;
    }
    /// A command of the program about one node.
    std::string rhizome(unsigned node, std::vector<std::string> words) {
        const auto on = Playground::open(folder());
        EXPECT_TRUE(on);
        if (!on) return {};
        words.insert(words.end(), {"--data", on->data_of(node).native()});
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        const auto end = runtime::run_process({.program = program(),
                                               .arguments = std::move(words),
                                               .environment = environment,
                                               .deadline = milliseconds{180'000}});
        EXPECT_TRUE(end && end->succeeded()) << (end ? end->err : end.error().message);
        return end ? end->out : std::string{};
    }

    std::map<unsigned, test::KubeAccess> access_;
};

}  // namespace rhizome::cli::playground::testing
