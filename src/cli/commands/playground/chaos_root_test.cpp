// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "cli/commands/playground/chaos.h"
#include "cli/commands/playground/orders.h"
#include "runtime/clock.h"
#include "runtime/files.h"
#include "support/playground_world.h"
#include "support/seed.h"
#include "support/waiting.h"

/// Five real nodes in networks of their own, a minute of disasters, clients that go on ordering: and at the end nothing
/// that was answered is lost, all agree, and nobody honest is accused.
///
/// RHIZOME_CHAOS_SEED replays a run's disasters, RHIZOME_CHAOS_SECONDS makes it shorter or longer.
namespace rhizome::cli::playground {
namespace {

constexpr unsigned kNodes = 5;
constexpr unsigned kClients = 4;
constexpr milliseconds kAnswerMax{2'000};
/// What is promised is two seconds, and printed; machines that run other things meanwhile get more.
constexpr seconds kFinalityMax{60};

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

struct Answered {
    std::string id{};
    unsigned node = 0;
    std::string stage{};
};

class ChaosRoot : public testing::World {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
    }

    /// Orders one after the other at whichever node answers, until it is told to stop.
    void order_on_and_on(const Playground& on, const Orders& orders, unsigned client, std::uint64_t seed) {
        Random random{seed + client};
        for (unsigned i = 0; !stop_; ++i) {
            test::pass_time(milliseconds{random.between(10, 60)}, "the pace of a client");
            const auto node = static_cast<unsigned>(random.below(kNodes)) + 1;
            const auto asked = node::RpcClient::connect(on.data_of(node));
            if (!asked) continue;  // it is dead
            const auto ready = (*asked)->ask("GET", "/rhizome/v1/tip", {}, kAnswerMax);
            if (!ready) continue;  // it is paused
            const auto order = orders.make(**asked, fmt::format("c{}-{}", client, i), 200);
            if (!order) continue;
            const auto reply =
                (*asked)->ask("POST", "/rhizome/v1/txs?wait=included&timeout=1s", order->text, kAnswerMax);
            if (!reply) continue;  // nothing was promised
            const std::string stage{reply->body.text_at({"stage"})};
            const std::lock_guard hold{mutex_};
            if (stage == "refused") {
                refused_.push_back(json::print(reply->body));
            } else if (reply->is_good() && !stage.empty()) {
                answered_.push_back({order->id, node, stage});
            }
        }
    }

    static void carry_out(Playground& on, const testing::Disaster& disaster) {
        using Kind = testing::Disaster::Kind;
        const auto done = [&]() -> Result<void> {
            switch (disaster.kind) {
                case Kind::Cut: return on.cut({disaster.cut});
                case Kind::Heal: return on.heal({});
                case Kind::Kill: return on.kill(disaster.node);
                case Kind::Start: return on.start(disaster.node);
                case Kind::Pause: return on.signal(disaster.node, SIGSTOP);
                case Kind::Wake: return on.signal(disaster.node, SIGCONT);
            }
            return ok();
        }();
        ASSERT_TRUE(done) << disaster.text() << ": " << done.error().message;
    }

    static std::vector<std::int64_t> finals(const json::Value& look) {
        std::vector<std::int64_t> heights;
        for (const json::Value& row : *look.find("nodes")->if_array()) {
            const json::Value* height = row.find_path({"final", "height"});
            heights.push_back(height == nullptr ? -1 : height->if_int64().value_or(-1));
        }
        return heights;
    }

    /// Why one is not there that nobody killed.
    static std::string last_words(const Playground& on, unsigned node) {
        constexpr std::size_t kWordsMax = 64u << 20;
        const auto tail = [](const std::filesystem::path& file) {
            const std::string text = runtime::read_file(file, kWordsMax).value_or("");
            return text.substr(text.size() - std::min<std::size_t>(text.size(), 4'000));
        };
        return fmt::format("n{} died by itself; it said last:\n{}\n{}\n", node,
                           tail(std::filesystem::path{on.data_of(node)} += ".stderr"),
                           tail(on.data_of(node) / "node/log"));
    }

    /// What a node says became of a transaction: `final`, `included`, `pending`, `refused`, or `unknown`.
    static std::string fate(node::RpcClient& client, const std::string& id) {
        const auto answer = client.get("/rhizome/v1/txs/" + id);
        return answer ? std::string{answer->text_at({"status"})} : "unknown";
    }

    void stop_clients() {
        stop_ = true;
        for (std::thread& client : clients_) client.join();
        clients_.clear();
    }
    void TearDown() override {
        stop_clients();
        World::TearDown();
    }

    std::vector<std::thread> clients_;
    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    std::vector<Answered> answered_;
    std::vector<std::string> refused_;
};

TEST_F(ChaosRoot, NothingThatWasAnsweredIsLostAndAllAgreeInTheEnd) {
    const std::uint64_t seed = number_from("RHIZOME_CHAOS_SEED", test::seed_for(11));
    const seconds lasts{number_from("RHIZOME_CHAOS_SECONDS", 60)};
    std::cout << "replay: RHIZOME_CHAOS_SEED=" << seed << " RHIZOME_CHAOS_SECONDS=" << lasts.count() << "\n"
              << std::flush;
    auto up = Playground::up(
        {.folder = folder(), .nodes = kNodes, .apart = Apart::Networks, .program = program(), .ends_with_us = true});
    ASSERT_TRUE(up) << up.error().message;
    Playground on = *std::move(up);
    const auto orders = Orders::open(on.keys());
    ASSERT_TRUE(orders) << orders.error().message;
    for (unsigned i = 0; i < kClients; ++i)
        clients_.emplace_back([&, i, fixed = on] { order_on_and_on(fixed, *orders, i, seed); });

    const auto start = runtime::instant_now();
    std::set<unsigned> killed;
    for (const testing::Disaster& disaster : testing::draw_disasters(seed, kNodes, lasts)) {
        test::pass_time(start + disaster.at - runtime::instant_now(), "disasters have their times");
        std::cout << "  " << disaster.text() << "\n" << std::flush;
        carry_out(on, disaster);
        if (disaster.kind == testing::Disaster::Kind::Kill) killed.insert(disaster.node);
    }

    // Everybody runs, in three parts of which none has a quorum; then all are together.
    for (unsigned node = 1; node <= kNodes; ++node) {
        if (on.is_up(node)) {
            ASSERT_TRUE(on.signal(node, SIGCONT));
        } else {
            ASSERT_EQ(on.record().nodes[node - 1].wanted, Wanted::Killed) << last_words(on, node);
            const auto started = on.start(node);
            ASSERT_TRUE(started) << started.error().message;
        }
    }
    ASSERT_TRUE(on.heal({}));
    ASSERT_TRUE(on.cut({"1,2", "3"}));
    test::pass_time(seconds{3}, "a time in which no part has a quorum");
    ASSERT_TRUE(on.heal({}));
    const auto healed = runtime::instant_now();
    const auto before = finals(on.look());
    const std::int64_t highest = *std::max_element(before.begin(), before.end());
    const auto since = [&] { return std::chrono::duration_cast<milliseconds>(runtime::instant_now() - healed); };
    milliseconds first{0};
    milliseconds last{0};
    std::map<std::size_t, milliseconds> passed;
    while (last.count() == 0 && since() < milliseconds{kFinalityMax}) {
        const auto now = finals(on.look());
        if (first.count() == 0 && *std::max_element(now.begin(), now.end()) > highest) first = since();
        for (std::size_t i = 0; i < now.size(); ++i)
            if (now[i] > highest && passed.emplace(i + 1, since()).second)
                std::cout << "  n" << i + 1 << " goes on " << since().count() << " ms after the heal\n";
        if (passed.size() == now.size()) last = since();
    }
    stop_clients();
    std::cout << "finality goes on " << first.count() << " ms after the heal, everywhere after " << last.count()
              << " ms (aim: 2000)\n"
              << answered_.size() << " orders were answered, " << refused_.size() << " refused\n";
    EXPECT_GT(first.count(), 0) << good({"status"});
    EXPECT_GT(last.count(), 0) << good({"status"});
    EXPECT_GT(answered_.size(), 100U) << "clients were hardly served";
    for (const std::string& why : refused_)
        ADD_FAILURE() << "an order that nothing speaks against was refused: " << why;

    // What was answered as included is final on every node. What a node had only accepted when it was killed may be
    // gone with it.
    for (unsigned node = 1; node <= kNodes; ++node) {
        const auto client = on.client(node);
        ASSERT_TRUE(client) << last_words(on, node);
        std::size_t lost = 0;
        for (const Answered& one : answered_) {
            if (one.stage == "accepted" && killed.contains(one.node) && fate(**client, one.id) == "unknown") continue;
            if (!eventually([&] { return fate(**client, one.id) == "final"; })) {
                ADD_FAILURE() << "n" << node << " says of " << one.id << ", " << one.stage << " by n" << one.node
                              << ": " << fate(**client, one.id);
                if (++lost == 5) break;
            }
        }
    }
    std::map<std::string, std::string> roots;
    EXPECT_TRUE(eventually([&] {
        roots.clear();
        for (unsigned node = 1; node <= kNodes; ++node) {
            const auto client = on.client(node);
            const auto status =
                client ? (*client)->get("/rhizome/v1/status") : Result<json::Value>{Fail{client.error()}};
            if (!status) return false;
            roots.emplace(status->text_at({"tip"}), status->text_at({"stateRoot"}));
            for (const json::Value& member : *status->find("members")->if_array())
                EXPECT_EQ(member.find("accused")->if_boolean(), false)
                    << "n" << node << " accuses " << member.text_at({"node"});
        }
        return roots.size() == 1;
    })) << good({"status"});
    const json::Value look = on.look();
    for (const json::Value& row : *look.find("nodes")->if_array())
        EXPECT_EQ(row.text_at({"state"}), "running") << row.text_at({"node"});
}

TEST_F(ChaosRoot, TheSameSeedGivesTheSameDisasters) {
    const auto one = testing::draw_disasters(7, kNodes, seconds{60});
    const auto other = testing::draw_disasters(7, kNodes, seconds{60});
    ASSERT_GT(one.size(), 20U);
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].text(), other[i].text());
    EXPECT_NE(one[0].text() + one[1].text(), testing::draw_disasters(8, kNodes, seconds{60})[0].text());
}

}  // namespace
}  // namespace rhizome::cli::playground
