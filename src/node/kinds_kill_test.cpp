// SPDX-License-Identifier: Apache-2.0
// Nodes that are no members, as processes: what an observer does and does not, and whom a watchtower finds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include "http/router.h"
#include "http/server.h"
#include "support/cluster_processes.h"
#include "support/waiting.h"

namespace rhizome::node {
namespace {

/// `tests/hostile/hostile_node`, for as long as this lives.
class HostileProcess {
public:
    HostileProcess(std::vector<std::string> words, const std::string& output) {
        words.insert(words.begin(), std::string{std::getenv("RHIZOME_BUILD")} + "/tests/hostile/hostile_node");
        posix_spawn_file_actions_t actions{};
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (output + ".log").c_str(),
                                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        EXPECT_EQ(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
        ::posix_spawn_file_actions_destroy(&actions);
    }
    ~HostileProcess() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
    HostileProcess(const HostileProcess&) = delete;
    HostileProcess& operator=(const HostileProcess&) = delete;

private:
    pid_t pid_ = 0;
};

class KindsKill : public test::ClusterProcesses {
protected:
    void found_quick(const std::string& name) {
        const std::string spec = (temp_.path() / "spec.yaml").native();
        std::ofstream{spec} << "heartbeat: 1s\n";
        found(name, {"--spec", spec});
    }
    /// The first alert of this kind at a watchtower; null while there is none.
    json::Value alert(const std::string& at, std::string_view kind) {
        const json::Value known = status(at);
        const json::Value* alerts = known.find_path({"watching", "alerts"});
        if (alerts == nullptr || !alerts->is_array()) return {};
        for (const json::Value& one : *alerts->if_array())
            if (one.text_at({"kind"}) == kind) return one;
        return {};
    }
    std::string metrics(const std::string& at) {
        auto client = RpcClient::connect(data(at));
        auto text = client ? (*client)->text("GET", "/metrics", "", 1u << 20) : Result<std::string>{""};
        return text.value_or("");
    }
};

TEST_F(KindsKill, AnObserverHasAFullCopyAndTakesNoPart) {
    found("n1");
    join("o", "n1", {"--role", "observer"});
    EXPECT_EQ(order("n1", "before", "final").text_at({"stage"}), "final");
    EXPECT_TRUE(eventually([&] { return has_namespace("o", "before"); }));
    // Orders can be given to it; others put them into blocks.
    EXPECT_EQ(order("o", "through", "final").text_at({"stage"}), "final");
    EXPECT_TRUE(has_namespace("n1", "through"));
    const json::Value seen = status("o");
    EXPECT_EQ(seen.text_at({"role"}), "observer");
    EXPECT_EQ(seen.find("member")->if_boolean(), false);
    EXPECT_EQ(number(status("n1"), {"voters"}), 1) << "nobody new decides";
    EXPECT_EQ(status("n1").find("members")->if_array()->size(), 1u);

    // Without members there are no more blocks; what there is can be read.
    good({"down", "--data", data("n1")});
    const auto height = number(status("o"), {"height"});
    EXPECT_EQ(order("o", "alone", "accepted").text_at({"stage"}), "accepted");
    EXPECT_TRUE(has_namespace("o", "through"));
    EXPECT_EQ(number(status("o"), {"height"}), height);
}

TEST_F(KindsKill, AWatchtowerFindsACensorAndTellsTheWebhook) {
    test::Waited<std::vector<std::string>> posted;
    stream::IoContext io{{.threads = 1}};
    auto router = std::make_shared<http::Router>();
    router->route("POST", "/alerts", [&](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
        auto body = co_await exchange.read_body(1u << 20);
        {
            const auto hold = posted.lock();
            posted.value().push_back(body ? *body : "");
            posted.notify();
        }
        http::Response taken;
        taken.status = 204;
        (void)co_await exchange.respond(std::move(taken));
    });
    const auto server =
        http::Server::start(io, {.listen = {{.address = {.host = "127.0.0.1", .port = 0}}}},
                            http::Router::handler(std::shared_ptr<const http::Router>(std::move(router))))
            .value();
    found_quick("n1");
    join("w", "n1",
         {"--role", "watchtower", "--watch-bound", "300", "--watch-webhook",
          "http://" + server->addresses().front().text() + "/alerts"});
    EXPECT_EQ(order("w", "fair", "final").text_at({"stage"}), "final");
    EXPECT_EQ(number(status("w"), {"watching", "alertsTotal"}), 0);

    const std::string place = address("n1");
    good({"down", "--data", data("n1")});
    {
        const HostileProcess censor{{"censor", data("n1"), place}, (temp_.path() / "censor").native()};
        EXPECT_EQ(order("w", "unwanted", "accepted").text_at({"stage"}), "accepted");
        ASSERT_TRUE(eventually([&] { return alert("w", "censorship").is_object(); }));
    }
    const json::Value told = alert("w", "censorship");
    EXPECT_EQ(told.text_at({"node"}), "n1");
    EXPECT_TRUE(posted.wait([](const auto& bodies) { return !bodies.empty(); }));
    EXPECT_EQ(json::parse(posted.copy().front()).value(), told);
    EXPECT_NE(metrics("w").find("rhizome_watch_alerts_total 1\n"), std::string::npos);
    EXPECT_NE(good({"logs", "--data", data("w")}).find("a member is to be looked at"), std::string::npos);
    EXPECT_NE(good({"status", "--data", data("w")}).find("alert: "), std::string::npos);
    server->stop(milliseconds{500});
}

TEST_F(KindsKill, AWatchtowerFindsAMemberThatSealsTwice) {
    found_quick("n1");
    join("n2", "n1");
    join("w", "n1", {"--role", "watchtower"});
    ASSERT_TRUE(eventually([&] { return number(status("w"), {"voters"}) == 2; }));
    const std::string place = address("n2");
    good({"down", "--data", data("n2")});
    const HostileProcess liar{{"equivocate", data("n2"), place, address("w")}, (temp_.path() / "liar").native()};
    ASSERT_TRUE(eventually([&] { return alert("w", "equivocation").is_object(); }));
    EXPECT_EQ(alert("w", "equivocation").text_at({"node"}), "n2");
    // The proof is on the chain: everybody knows, and it takes part no more.
    ASSERT_TRUE(eventually([&] {
        const json::Value known = status("n1");
        for (const json::Value& member : *known.find("members")->if_array())
            if (member.text_at({"node"}) == "n2") return member.find("accused")->if_boolean().value_or(false);
        return false;
    }));
    // With one of two voters gone nothing becomes final until the owner acts; orders are taken all the same.
    EXPECT_EQ(order("n1", "after", "included").text_at({"stage"}), "included");
}

}  // namespace
}  // namespace rhizome::node
