// SPDX-License-Identifier: Apache-2.0
// Events and leases between real nodes, asked over their Kubernetes APIs as clients do.
#include <array>
#include <map>
#include <thread>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "node/kube/authority.h"
#include "runtime/clock.h"
#include "stream/tls.h"
#include "support/cluster_processes.h"

namespace rhizome::node {
namespace {

constexpr const char* kEvents = "/api/v1/namespaces/default/events";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

std::string named(std::string_view list, std::string_view name) { return fmt::format("{}/{}", list, name); }

struct GossipAnswer {
    unsigned status = 0;
    json::Value body{};
    std::string text{};
};

std::string event(std::string_view name, std::string_view message) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Event","metadata":{{"name":"{}","namespace":"default"}},"message":"{}",)"
        R"("reason":"Test","type":"Normal","involvedObject":{{"kind":"Pod","name":"p","namespace":"default"}}}})",
        name, message);
}
std::string lease(std::string_view holder, std::string_view version = "") {
    return fmt::format(
        R"({{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":"l","namespace":"default"{}}},)"
        R"("spec":{{"holderIdentity":"{}","leaseDurationSeconds":15}}}})",
        version.empty() ? "" : fmt::format(R"(,"resourceVersion":"{}")", version), holder);
}

class GossipKill : public test::ClusterProcesses {
protected:
    void found_with_api() { found("n1", {"--api-listen", "127.0.0.1:0"}); }
    void join_with_api(const std::string& name) { join(name, "n1", {"--api-listen", "127.0.0.1:0"}); }

    http::Origin origin(const std::string& at) {
        if (const auto known = origins_.find(at); known != origins_.end()) return known->second;
        const json::Value shown = status(at);
        http::Origin found;
        found.address = *stream::Address::parse(*shown.find("api")->if_array()->front().if_string());
        const auto authority = open_authority(data(at), runtime::now());
        stream::TlsClientOptions tls;
        tls.identity = *client_identity(*authority, {.user = "admin", .groups = {"system:masters"}}, runtime::now());
        tls.trust.authorities = {authority->chain.front()};
        found.tls = *stream::TlsContext::client(std::move(tls));
        found.server_name = "127.0.0.1";
        return origins_.emplace(at, std::move(found)).first->second;
    }
    GossipAnswer ask(const std::string& at, std::string method, std::string target, std::string body = {}) {
        stream::IoContext io{{.threads = 0}};
        return stream::block_on(io, ask_task(origin(at), std::move(method), std::move(target), std::move(body)));
    }
    static stream::Task<GossipAnswer> ask_task(http::Origin origin, std::string method, std::string target,
                                               std::string body) {
        http::Client client;
        http::Request request{.method = std::move(method), .target = std::move(target)};
        if (!body.empty()) request.headers.add("Content-Type", "application/json");
        request.body = std::move(body);
        auto answer = co_await client.send(std::move(origin), std::move(request), stream::after(seconds{180}));
        GossipAnswer out;
        if (!answer) {
            out.text = answer.error().message;
            co_return out;
        }
        out.status = (*answer)->status();
        auto text = co_await (*answer)->read_body(64u << 20);
        if (text) out.text = *std::move(text);
        if (auto value = json::parse(out.text)) out.body = *std::move(value);
        co_return out;
    }
    /// Watches at one node, then writes at another, and reads until this text comes.
    static stream::Task<std::string> watch_task(http::Origin watched, std::string since, http::Origin written,
                                                std::string body, std::string until) {
        http::Client client;
        http::Request request{.method = "GET",
                              .target = fmt::format("{}?watch=true&resourceVersion={}", kEvents, since)};
        auto answer = co_await client.send(std::move(watched), std::move(request), stream::after(seconds{180}));
        if (!answer) co_return answer.error().message;
        const GossipAnswer made = co_await ask_task(std::move(written), "POST", kEvents, std::move(body));
        if (made.status != 201) co_return made.text;
        std::string seen;
        Bytes buffer(16'384);
        while (seen.find(until) == std::string::npos) {
            const auto size = co_await (*answer)->read_some(buffer);
            if (!size || *size == 0) break;
            seen.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*size));
        }
        co_return seen;
    }
    std::string message_at(const std::string& at, const std::string& name) {
        return std::string{ask(at, "GET", named(kEvents, name)).body.text_at({"message"})};
    }
    std::string holder_at(const std::string& at) {
        return std::string{ask(at, "GET", named(kLeases, "l")).body.text_at({"spec", "holderIdentity"})};
    }
    std::map<std::string, http::Origin> origins_;
};

TEST_F(GossipKill, AnEventOfOneNodeIsListedAndWatchedAtAnotherAndOutlivesItsNode) {
    found_with_api();
    join_with_api("n2");
    const GossipAnswer before = ask("n2", "GET", kEvents);
    ASSERT_EQ(before.status, 200u) << before.text;
    stream::IoContext io{{.threads = 0}};
    const std::string since{before.body.text_at({"metadata", "resourceVersion"})};
    const std::string seen =
        stream::block_on(io, watch_task(origin("n2"), since, origin("n1"), event("e1", "hello"), "\"name\":\"e1\""));
    EXPECT_NE(seen.find("ADDED"), std::string::npos) << seen;
    EXPECT_NE(seen.find("hello"), std::string::npos) << seen;
    // The same object, down to what the first node made up.
    const GossipAnswer here = ask("n1", "GET", named(kEvents, "e1"));
    const GossipAnswer there = ask("n2", "GET", named(kEvents, "e1"));
    for (const std::string_view field : {"uid", "creationTimestamp", "name"})
        EXPECT_EQ(here.body.text_at({"metadata", field}), there.body.text_at({"metadata", field})) << field;
    EXPECT_NE(here.body.text_at({"metadata", "resourceVersion"}), there.body.text_at({"metadata", "resourceVersion"}))
        << "each node counts by itself";
    // Changed there, deleted here.
    ASSERT_EQ(ask("n2", "POST", kEvents, event("e2", "second")).status, 201u);
    EXPECT_TRUE(eventually([&] { return message_at("n1", "e2") == "second"; }));
    ASSERT_EQ(ask("n1", "DELETE", named(kEvents, "e2")).status, 200u);
    EXPECT_TRUE(eventually([&] { return ask("n2", "GET", named(kEvents, "e2")).status == 404u; }));
    // A node that was killed has them again from the others.
    kill_node("n1", SIGKILL);
    origins_.clear();
    good({"up", "--data", data("n1"), "--listen", "127.0.0.1:0", "--peer", address("n2"), "--api-listen", "127.0.0.1:0",
          "--detach"});
    EXPECT_TRUE(eventually([&] { return message_at("n1", "e1") == "hello"; }));
    EXPECT_EQ(ask("n1", "GET", named(kEvents, "e2")).status, 404u);
}

TEST_F(GossipKill, ALeaseThatManyWantHasOneHolderInTheEnd) {
    found_with_api();
    join_with_api("n2");
    ASSERT_EQ(ask("n1", "POST", kLeases, lease("nobody")).status, 201u);
    ASSERT_TRUE(eventually([&] { return holder_at("n2") == "nobody"; }));
    for (int round = 0; round < 5; ++round) {
        // At one node the version decides: of several that saw the same, one wins and the others are told so.
        const std::string version{ask("n1", "GET", named(kLeases, "l")).body.text_at({"metadata", "resourceVersion"})};
        std::vector<std::thread> racers;
        std::array<unsigned, 4> codes{};
        for (std::size_t i = 0; i < codes.size(); ++i) (void)origin("n1");
        for (std::size_t i = 0; i < codes.size(); ++i)
            racers.emplace_back([&, i] {
                codes[i] = ask("n1", "PUT", named(kLeases, "l"), lease(fmt::format("{}-{}", round, i), version)).status;
            });
        for (std::thread& racer : racers) racer.join();
        EXPECT_EQ(std::count(codes.begin(), codes.end(), 200u), 1);
        EXPECT_EQ(std::count(codes.begin(), codes.end(), 409u), 3);
        // At two nodes at once both are taken, and one of them stands everywhere.
        (void)origin("n2");
        std::thread other{
            [&] { EXPECT_EQ(ask("n2", "PUT", named(kLeases, "l"), lease(fmt::format("{}-b", round))).status, 200u); }};
        EXPECT_EQ(ask("n1", "PUT", named(kLeases, "l"), lease(fmt::format("{}-a", round))).status, 200u);
        other.join();
        EXPECT_TRUE(eventually([&] {
            const std::string one = holder_at("n1");
            return one == holder_at("n2") && (one == fmt::format("{}-a", round) || one == fmt::format("{}-b", round));
        }));
    }
    // Who has not seen the last word is told so, at whichever node it asks.
    const std::string stale{ask("n2", "GET", named(kLeases, "l")).body.text_at({"metadata", "resourceVersion"})};
    ASSERT_EQ(ask("n1", "PUT", named(kLeases, "l"), lease("last")).status, 200u);
    ASSERT_TRUE(eventually([&] { return holder_at("n2") == "last"; }));
    EXPECT_EQ(ask("n2", "PUT", named(kLeases, "l"), lease("late", stale)).status, 409u);
}

}  // namespace
}  // namespace rhizome::node
