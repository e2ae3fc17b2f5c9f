// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "support/kube_client.h"
#include "support/kube_node.h"

/// Watches of a whole node, over TLS: readers that leave and come back, and readers that read nothing for a while.
namespace rhizome::node {
namespace {

using stream::Task;
using test::KubeConnection;
using test::KubeReply;

constexpr unsigned kWatchers = 100;
constexpr unsigned kWriters = 4;
constexpr unsigned kWritesEach = 250;
using test::kMaps;
constexpr std::string_view kBigMaps = "/api/v1/namespaces/big/configmaps";
constexpr std::string_view kLast = "zz-last";  ///< what a watcher ends with

/// Name to `resourceVersion` and value.
using Seen = std::map<std::string, std::string>;

struct Watcher {
    unsigned number = 0;
    Random random{0};
    Seen seen{};
    std::uint64_t position = 0;
    unsigned connections = 0;
    unsigned lists = 0;
    std::string fault{};
    bool done = false;
};

std::string shown(const json::Value& object) {
    return fmt::format("{} {}", object.text_at({"metadata", "resourceVersion"}), object.text_at({"data", "v"}));
}
std::uint64_t revision_of(const json::Value& object) {
    return std::strtoull(std::string{object.text_at({"metadata", "resourceVersion"})}.c_str(), nullptr, 10);
}

class KubeWatch : public test::KubeNode {
protected:
    void change(DaemonOptions& options) override {
        // Small, so that whoever is slow falls behind it.
        options.rpc_limits.watch_changes_max = 300;
        options.rpc_limits.address_connections_max = 1'024;
    }

    /// Takes an event over; false when the watch is over.
    static bool take(Watcher& watcher, const json::Value& event) {
        const std::string_view type = event.text_at({"type"});
        const json::Value* object = event.find("object");
        if (type == "ERROR") {
            if (object->find("code")->if_int64() != 410) watcher.fault = json::print(event);
            watcher.position = 0;  // list anew
            return false;
        }
        const std::uint64_t revision = revision_of(*object);
        if (type == "BOOKMARK") return true;
        if (revision <= watcher.position) watcher.fault = fmt::format("{} came behind {}", revision, watcher.position);
        watcher.position = revision;
        const std::string name{object->text_at({"metadata", "name"})};
        if (type == "ADDED" && watcher.seen.contains(name)) watcher.fault = name + " was added twice";
        if (type == "MODIFIED" && !watcher.seen.contains(name)) watcher.fault = name + " was changed, not added";
        if (type == "DELETED") {
            if (watcher.seen.erase(name) == 0) watcher.fault = name + " was deleted twice";
        } else {
            watcher.seen[name] = shown(*object);
        }
        if (name == kLast) watcher.done = true;
        return !watcher.done;
    }

    /// Lists and watches, and now and then leaves and goes on from where it was.
    static Task<void> follow(Watcher* watcher, test::KubeAccess access) {
        while (!watcher->done && watcher->fault.empty()) {
            auto connection = co_await KubeConnection::open(access, stream::after(seconds{180}));
            if (!connection) {
                watcher->fault = connection.error().message;
                break;
            }
            ++watcher->connections;
            if (watcher->position == 0) {
                auto listed = co_await (*connection)->ask((*connection)->request("GET", kMaps));
                if (!listed || listed->status != 200) {
                    watcher->fault = "a list was refused";
                    break;
                }
                take_list(*watcher, listed->value());
            }
            auto begun = co_await (*connection)
                             ->begin((*connection)
                                         ->request("GET", fmt::format("{}?watch=true&resourceVersion={}", kMaps,
                                                                      watcher->position)));
            if (begun && begun->status == 410) {
                watcher->position = 0;
                continue;
            }
            if (!begun || begun->status != 200) {
                watcher->fault = begun ? begun->head : begun.error().message;
                break;
            }
            // One in four stays to the end.
            std::uint64_t left = watcher->number % 4 == 0 ? 1'000'000 : 1 + watcher->random.below(200);
            for (bool goes_on = !watcher->done; goes_on && left > 0; --left) {
                auto line = co_await (*connection)->next_line();
                const auto event = line ? json::parse(*line) : json::parse("");
                if (!event) {
                    watcher->fault = line ? "a line is cut: " + *line : line.error().message;
                    break;
                }
                goes_on = take(*watcher, *event) && watcher->fault.empty();
            }
        }
    }
    static void take_list(Watcher& watcher, const json::Value& list) {
        ++watcher.lists;
        watcher.seen.clear();
        for (const json::Value& one : *list.find("items")->if_array())
            watcher.seen[std::string{one.text_at({"metadata", "name"})}] = shown(one);
        watcher.position = revision_of(list);
        watcher.done = watcher.seen.contains(std::string{kLast});
    }

    /// Creates, changes and deletes at random among names of its own.
    static Task<void> write(unsigned number, test::KubeAccess access, unsigned* wrong) {
        Random random{number};
        auto opened = co_await KubeConnection::open(std::move(access), stream::after(seconds{180}));
        if (!opened) {
            ++*wrong;
            co_return;
        }
        KubeConnection& on = **opened;
        std::map<std::string, bool> exists;
        for (unsigned turn = 0; turn < kWritesEach; ++turn) {
            const std::string name = fmt::format("m{}-{}", number, random.below(12));
            const std::string path = fmt::format("{}/{}", kMaps, name);
            std::string request;
            if (!exists[name]) {
                request = on.request("POST", kMaps, config_map(name, std::to_string(turn)));
                exists[name] = true;
            } else if (random.below(3) == 0) {
                request = on.request("DELETE", path);
                exists[name] = false;
            } else {
                request = on.request("PATCH", path, fmt::format(R"({{"data":{{"v":"{}"}}}})", turn),
                                     "application/merge-patch+json");
            }
            auto reply = co_await on.ask(std::move(request));
            if (!reply || reply->status >= 300) ++*wrong;
        }
    }

    /// Runs all tasks at once, on this thread.
    static void run_all(stream::IoContext& io, std::vector<Task<void>> tasks) {
        std::size_t left = tasks.size();
        for (Task<void>& task : tasks) stream::spawn(io.make_strand(), std::move(task), [&] { --left; });
        io.run_until([&] { return left == 0; });
    }
};

Task<void> write_and_end(std::vector<Task<void>> writers, test::KubeAccess access, std::string last) {
    // The writers run beside each other; the last object comes behind them all.
    const stream::Strand strand = co_await stream::this_strand();
    std::size_t left = writers.size();
    stream::Event done{strand};
    for (Task<void>& writer : writers)
        stream::spawn(strand, std::move(writer), [&] {
            if (--left == 0) done.set();
        });
    co_await done.wait();
    auto connection = co_await KubeConnection::open(std::move(access), stream::after(seconds{180}));
    if (connection) (void)co_await (*connection)->ask((*connection)->request("POST", kMaps, last));
}

TEST_F(KubeWatch, AHundredWatchersThatComeAndGoEndWithWhatAFreshListShows) {
    std::vector<std::unique_ptr<Watcher>> watchers;
    std::vector<Task<void>> tasks;
    unsigned wrong = 0;
    for (unsigned i = 0; i < kWatchers; ++i) {
        watchers.push_back(std::make_unique<Watcher>());
        watchers.back()->number = i;
        watchers.back()->random = Random{1'000 + i};
        tasks.push_back(follow(watchers.back().get(), access_));
    }
    std::vector<Task<void>> writers;
    for (unsigned i = 0; i < kWriters; ++i) writers.push_back(write(i, access_, &wrong));
    tasks.push_back(write_and_end(std::move(writers), access_, config_map(kLast, "x")));
    stream::IoContext io{{.threads = 0}};
    run_all(io, std::move(tasks));

    EXPECT_EQ(wrong, 0u) << "writes were refused";
    Watcher fresh;
    take_list(fresh, ask("GET", kMaps).value());
    unsigned reconnected = 0;
    for (const auto& watcher : watchers) {
        EXPECT_EQ(watcher->fault, "") << watcher->number;
        EXPECT_EQ(watcher->seen, fresh.seen) << watcher->number;
        reconnected += watcher->connections > 1 ? 1 : 0;
    }
    EXPECT_GT(reconnected, kWatchers / 2) << "most of them have left and come back";
}

TEST_F(KubeWatch, AReaderThatFallsBehindIsToldSoAndCanBeginAnew) {
    ASSERT_EQ(
        ask("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"big"}})").status,
        201u);
    stream::IoContext io{{.threads = 0}};
    const stream::Strand strand = io.make_strand();
    auto opened = stream::block_on(io, strand, KubeConnection::open(access_, stream::after(seconds{180})));
    ASSERT_TRUE(opened);
    KubeConnection& slow = **opened;
    const auto begun =
        stream::block_on(io, strand, slow.begin(slow.request("GET", fmt::format("{}?watch=true", kBigMaps))));
    ASSERT_TRUE(begun && begun->status == 200);
    // More than sockets hold between two processes, and more changes than the node remembers. Nobody reads meanwhile.
    constexpr int kChanges = 400;
    const std::string filling(100'000, 'x');
    auto writer = stream::block_on(io, strand, KubeConnection::open(access_, stream::after(seconds{180})));
    ASSERT_TRUE(writer);
    for (int i = 0; i < kChanges; ++i) {
        const std::string body = config_map(i == 0 ? "m" : "", fmt::format("{}{}", filling, i));
        const auto reply = stream::block_on(
            io, strand,
            (*writer)->ask(i == 0 ? (*writer)->request("POST", kBigMaps, body)
                                  : (*writer)->request("PATCH", fmt::format("{}/m", kBigMaps),
                                                       fmt::format(R"({{"data":{{"v":"{}{}"}}}})", filling, i),
                                                       "application/merge-patch+json")));
        ASSERT_TRUE(reply && reply->status < 300) << i << (reply ? reply->body.substr(0, 500) : reply.error().message);
    }
    int events = 0;
    json::Value last;
    for (;;) {
        const auto line = stream::block_on(io, strand, slow.next_line());
        ASSERT_TRUE(line) << line.error().message;
        if (line->empty()) break;
        const auto event = json::parse(*line);
        ASSERT_TRUE(event);
        last = *event;
        ++events;
    }
    EXPECT_LT(events, kChanges) << "it was behind";
    EXPECT_EQ(last.text_at({"type"}), "ERROR");
    EXPECT_EQ(last.find_path({"object", "code"})->if_int64(), 410);
    EXPECT_EQ(last.text_at({"object", "reason"}), "Expired");
    const json::Value list = ask("GET", kBigMaps).value();
    EXPECT_EQ(list.find("items")->if_array()->front().text_at({"data", "v"}),
              fmt::format("{}{}", filling, kChanges - 1));
}

}  // namespace
}  // namespace rhizome::node
