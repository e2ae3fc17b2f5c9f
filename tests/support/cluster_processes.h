// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "node/rpc_client.h"
#include "runtime/process.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

/// Real processes on loopback, as people start them, for tests that kill them as power failures do.
namespace rhizome::test {

class ClusterProcesses : public ::testing::Test {
public:
    using RpcClient = node::RpcClient;
    ~ClusterProcesses() override {
        for (const std::string& name : started_) kill_node(name, SIGKILL);
    }

protected:
    std::string data(const std::string& name) const { return (temp_.path() / name).native(); }

    /// Killed with -9 at the deadline; then it ended with 137.
    runtime::ProcessEnd rhizome(std::vector<std::string> words, milliseconds deadline = milliseconds{120'000}) {
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        for (const auto& [name, value] : variables_) environment.set(name, value);
        const auto end = runtime::run_process({.program = std::string{std::getenv("RHIZOME_BUILD")} + "/rhizome",
                                               .arguments = std::move(words),
                                               .environment = environment,
                                               .deadline = deadline});
        if (end) return *end;
        EXPECT_EQ(end.error().kind, ErrorKind::Unavailable) << end.error().message;
        runtime::ProcessEnd failed;
        failed.exit_code = 137;
        failed.err = end.error().message;
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
    std::string new_token(const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"token", "new", "--data", data("n1"), "-o", "json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto token = json::parse(good(std::move(words)));
        EXPECT_TRUE(token);
        return token ? std::string{token->text_at({"token"})} : "";
    }
    void join(const std::string& name, const std::string& at, const std::vector<std::string>& more = {}) {
        const auto token = json::parse(good({"token", "new", "--data", data("n1"), "-o", "json"}));
        ASSERT_TRUE(token);
        std::vector<std::string> words{"join",     address(at),   "--token", std::string{token->text_at({"token"})},
                                       "--data",   data(name),    "--node",  name,
                                       "--listen", "127.0.0.1:0", "--detach"};
        words.insert(words.end(), more.begin(), more.end());
        good(std::move(words));
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
    template <class Holds>
    static bool eventually(const Holds& holds) {
        return test::eventually(holds);
    }
    void kill_node(const std::string& name, int with) {
        std::ifstream lock{std::filesystem::path{data(name)} / "lock"};
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

    TempFolder temp_;
    std::vector<std::string> started_;
    std::map<std::string, std::string> variables_;
};

}  // namespace rhizome::test
