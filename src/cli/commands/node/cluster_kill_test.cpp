// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "node/rpc_client.h"
#include "runtime/descriptor.h"
#include "runtime/process.h"
#include "support/temp_folder.h"

/// Real processes on loopback, as people start them, and killed as power failures do.
namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;
using node::RpcClient;

class ClusterKill : public ::testing::Test {
protected:
    ~ClusterKill() override {
        for (const std::string& name : started_) kill_node(name, SIGKILL);
    }

    std::string data(const std::string& name) const { return (temp_.path() / name).native(); }

    runtime::ProcessEnd rhizome(std::vector<std::string> words) {
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        for (const auto& [name, value] : variables_) environment.set(name, value);
        const auto end = runtime::run_process({.program = std::string{std::getenv("RHIZOME_BUILD")} + "/rhizome",
                                               .arguments = std::move(words),
                                               .environment = environment,
                                               .deadline = milliseconds{120'000}});
        EXPECT_TRUE(end) << end.error().message;
        if (end) return *end;
        runtime::ProcessEnd failed;
        failed.exit_code = 255;
        return failed;
    }
    std::string good(std::vector<std::string> words) {
        std::string shown;
        for (const std::string& word : words) shown += word + " ";
        const auto end = rhizome(std::move(words));
        EXPECT_TRUE(end.succeeded()) << shown << "\n" << end.out << end.err;
        return end.out;
    }

    void found(const std::string& name, const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"up", "demo",     "--data",      data(name), "--node",
                                       name, "--listen", "127.0.0.1:0", "--detach"};
        words.insert(words.end(), more.begin(), more.end());
        good(std::move(words));
        started_.push_back(name);
    }
    void join(const std::string& name, const std::string& at) {
        const auto token = json::parse(good({"token", "new", "--data", data("n1"), "-o", "json"}));
        ASSERT_TRUE(token);
        good({"join", address(at), "--token", std::string{token->text_at({"token"})}, "--data", data(name), "--node",
              name, "--listen", "127.0.0.1:0", "--detach"});
        started_.push_back(name);
    }
    void start(const std::string& name, const std::string& at) {
        good({"up", "--data", data(name), "--listen", "127.0.0.1:0", "--peer", address(at), "--detach"});
    }
    json::Value status(const std::string& name) {
        auto client = RpcClient::connect(data(name));
        if (!client) return {};
        auto body = (*client)->get("/rhizome/v1/status");
        return body ? *std::move(body) : json::Value{};
    }
    std::string address(const std::string& name) {
        const json::Value known = status(name);
        const json::Value* listens = known.find("listens");
        return listens == nullptr || listens->if_array() == nullptr || listens->if_array()->empty()
                   ? ""
                   : std::string{*listens->if_array()->front().if_string()};
    }
    static std::int64_t number(const json::Value& value, std::initializer_list<std::string_view> path) {
        const json::Value* found = value.find_path(path);
        return found == nullptr ? -1 : found->if_int64().value_or(-1);
    }
    /// Asked again until it holds, or so long that something must be broken.
    template <class Holds>
    bool eventually(const Holds& holds) {
        for (int i = 0; i < 1'800; ++i) {
            if (holds()) return true;
            std::this_thread::sleep_for(milliseconds{100});
        }
        return false;
    }
    void kill_node(const std::string& name, int with) {
        std::ifstream lock{fs::path{data(name)} / "lock"};
        pid_t pid = 0;
        if (lock >> pid && pid > 1) ::kill(pid, with);
    }
    /// What became of a new Namespace that is asked for at this node.
    json::Value order(const std::string& at, const std::string& name, const std::string& wait) {
        const std::string document = (temp_.path() / (name + ".json")).native();
        const std::string tx = (temp_.path() / (name + ".tx")).native();
        std::ofstream{document} << R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" << name << "\"}}";
        good({"tx", "new", document, "--data", data(at), "--out", tx});
        good({"tx", "sign", tx, "--data", data(at), "--key", "admin", "--out", tx});
        const auto answer = json::parse(good({"tx", "submit", tx, "--data", data(at), "--wait", wait, "-o", "json"}));
        if (!answer || answer->find("transactions") == nullptr) return {};
        return answer->find("transactions")->if_array()->front();
    }
    bool has_namespace(const std::string& at, const std::string& name) {
        auto client = RpcClient::connect(data(at));
        return client && (*client)->get("/rhizome/v1/state?path=/namespaces/" + name).has_value();
    }

    test::TempFolder temp_;
    std::vector<std::string> started_;
    std::map<std::string, std::string> variables_;
};

TEST_F(ClusterKill, TwoOfThreeAreKilledAndTheThirdGoesOn) {
    found("n1");
    join("n2", "n1");
    join("n3", "n2");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    EXPECT_EQ(order("n2", "before", "final").text_at({"stage"}), "final");

    kill_node("n2", SIGKILL);
    kill_node("n3", SIGKILL);
    EXPECT_EQ(order("n1", "alone", "included").text_at({"stage"}), "included");

    // Nothing that was told is lost, and what one took alone all have in the end.
    start("n2", "n1");
    start("n3", "n1");
    EXPECT_TRUE(eventually([&] { return has_namespace("n2", "alone") && has_namespace("n3", "alone"); }));
    EXPECT_TRUE(has_namespace("n3", "before"));
    EXPECT_EQ(order("n3", "after", "final").text_at({"stage"}), "final");
    EXPECT_TRUE(eventually([&] {
        return status("n1").text_at({"final", "hash"}) == status("n2").text_at({"final", "hash"});
    }));
    for (const auto* name : {"n1", "n2", "n3"}) good({"down", "--data", data(name)});
}

TEST_F(ClusterKill, ATokenIsUsedOnceAndCanBeRevoked) {
    found("n1");
    const auto token = json::parse(good({"token", "new", "--data", data("n1"), "-o", "json"}));
    ASSERT_TRUE(token);
    const std::string text{token->text_at({"token"})};
    const std::vector<std::string> words{"join",   address("n1"), "--token",  text,          "--node",  "n2",
                                         "--data", data("n2"),    "--listen", "127.0.0.1:0", "--detach"};
    good(words);
    started_.emplace_back("n2");
    auto again = words;
    again[5] = "n3";
    again[7] = data("n3");
    const auto used = rhizome(again);
    EXPECT_FALSE(used.succeeded());
    EXPECT_NE(used.err.find("used up or revoked"), std::string::npos) << used.err;

    auto damaged = words;
    damaged[3][20] = damaged[3][20] == '0' ? '1' : '0';
    damaged[7] = data("n4");
    const auto wrong = rhizome(damaged);
    EXPECT_NE(wrong.err.find("a letter of it is wrong"), std::string::npos) << wrong.err;

    const auto second = json::parse(good({"token", "new", "--data", data("n1"), "-o", "json"}));
    good({"token", "revoke", std::string{second->text_at({"name"})}, "--data", data("n1")});
    EXPECT_NE(good({"token", "list", "--data", data("n1")}).find("nobody can join"), std::string::npos);
}

TEST_F(ClusterKill, VotersThatAreLostForGoodAreReplacedByARecovery) {
    const std::string rules = (temp_.path() / "rules.yaml").native();
    std::ofstream{rules} << "heartbeat: 1s\n";  // so that silence is noticed in four seconds
    found("n1", {"--spec", rules});
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    const auto fine = rhizome({"recover", "--data", data("n1"), "--yes"});
    EXPECT_EQ(fine.exit_code, 5) << fine.err;
    EXPECT_NE(fine.err.find("nothing needs to be recovered: 3 of 3 voters"), std::string::npos) << fine.err;

    kill_node("n2", SIGKILL);
    kill_node("n3", SIGKILL);
    const auto silent = [&] {
        const std::string list = good({"node", "list", "--data", data("n1")});
        return list.find("n2     NotReady") != std::string::npos && list.find("n3     NotReady") != std::string::npos;
    };
    ASSERT_TRUE(eventually(silent));
    const auto refused = rhizome({"node", "remove", "n2", "--data", data("n1"), "--yes"});
    EXPECT_EQ(refused.exit_code, 5) << refused.err;
    good({"recover", "--data", data("n1"), "--yes"});
    EXPECT_EQ(order("n1", "after", "final").text_at({"stage"}), "final");
    EXPECT_EQ(number(status("n1"), {"generation"}), 1);

    // Those who return follow, and vote again in time.
    start("n2", "n1");
    EXPECT_TRUE(eventually([&] { return has_namespace("n2", "after") && number(status("n2"), {"generation"}) == 1; }));
    EXPECT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) > 1; }));
}

TEST_F(ClusterKill, AServiceManagerIsToldAndAFailureIsSaidWhereItWasStarted) {
    const std::string socket_name = (temp_.path() / "notify").native();
    const runtime::Descriptor manager{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    socket_name.copy(at.sun_path, sizeof at.sun_path - 1);
    ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    const auto told = [&](std::string_view begin) {
        return eventually([&] {
            std::array<char, 4'096> bytes{};
            const ssize_t size = ::recv(manager.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            return size > 0 && std::string_view{bytes.data(), static_cast<std::size_t>(size)}.starts_with(begin);
        });
    };
    variables_["NOTIFY_SOCKET"] = socket_name;
    found("n1");
    EXPECT_TRUE(told("READY=1\nSTATUS=height "));
    kill_node("n1", SIGTERM);
    EXPECT_TRUE(told("STOPPING=1\n"));
    EXPECT_TRUE(eventually([&] {
        return good({"logs", "--data", data("n1")}).find("the node has stopped") != std::string::npos;
    }));

    // What keeps one in the background from starting is said where it was started.
    const auto taken = rhizome({"up", "--data", data("n1"), "--listen", "203.0.113.1:1", "--detach"});
    EXPECT_FALSE(taken.succeeded());
    EXPECT_NE(taken.err.find("error: the node did not start: "), std::string::npos) << taken.err;
    EXPECT_NE(taken.err.find("203.0.113.1:1"), std::string::npos) << taken.err;
}

}  // namespace
}  // namespace rhizome::cli
