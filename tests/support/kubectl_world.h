// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "node/rpc_client.h"
#include "runtime/process.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace rhizome::test {

/// The real kubectl against real nodes, as their users start them. What it prints and how it ends stands in
/// tests/vectors/kubectl; ages, numbers of versions, uids and the machine's own facts are written over.
class KubectlWorld : public ::testing::Test {
protected:
    void SetUp() override {
        const auto found = run("kubectl", {"version", "--client"});
        if (!found.succeeded()) GTEST_SKIP() << "there is no kubectl on the PATH (or it does not run): " << found.err;
    }
    ~KubectlWorld() override {
        for (const std::string& name : started_) kill_node(name);
    }

    std::string data(const std::string& name) const { return (temp_.path() / name).native(); }

    runtime::ProcessEnd run(const std::string& program, std::vector<std::string> words, const std::string& input = {}) {
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        environment.set("KUBECONFIG", (temp_.path() / "kubeconfig").native());
        if (!editor_.empty()) environment.set("KUBE_EDITOR", editor_);
        const auto end = runtime::run_process({.program = program,
                                               .arguments = std::move(words),
                                               .input = input,
                                               .environment = environment,
                                               .deadline = milliseconds{120'000}});
        if (end) return *end;
        runtime::ProcessEnd failed;
        failed.exit_code = 255;
        failed.err = end.error().message;
        return failed;
    }
    std::string rhizome(std::vector<std::string> words) {
        std::string shown;
        for (const std::string& word : words) shown += word + " ";
        const auto end = run(std::string{std::getenv("RHIZOME_BUILD")} + "/rhizome", std::move(words));
        EXPECT_TRUE(end.succeeded()) << shown << "\n" << end.out << end.err;
        return end.out;
    }
    static std::vector<std::string> where() {
        return {"--listen",     "127.0.0.1:0", "--rpc-listen",       "none",
                "--api-listen", "127.0.0.1:0", "--no-lan-discovery", "--detach"};
    }
    void found(const std::string& name) {
        std::vector<std::string> words{"up", "demo", "--data", data(name), "--node", name};
        for (const std::string& word : where()) words.push_back(word);
        rhizome(std::move(words));
        started_.push_back(name);
        rhizome({"kubeconfig", "--data", data(name), "--context", name});
    }
    void join(const std::string& name, const std::string& at) {
        const auto token = json::parse(rhizome({"token", "new", "--data", data(at), "-o", "json"}));
        ASSERT_TRUE(token);
        auto client = node::RpcClient::connect(data(at));
        ASSERT_TRUE(client);
        const auto status = (*client)->get("/rhizome/v1/status");
        ASSERT_TRUE(status);
        std::vector<std::string> words{"join",    *status->find("listens")->if_array()->front().if_string(),
                                       "--token", std::string{token->text_at({"token"})},
                                       "--data",  data(name),
                                       "--node",  name};
        for (const std::string& word : where()) words.push_back(word);
        rhizome(std::move(words));
        started_.push_back(name);
        rhizome({"kubeconfig", "--data", data(name), "--context", name});
    }
    void kill_node(const std::string& name) {
        std::ifstream lock{std::filesystem::path{data(name)} / "lock"};
        pid_t pid = 0;
        if (lock >> pid && pid > 1) ::kill(pid, SIGKILL);
    }

    runtime::ProcessEnd kubectl(const std::vector<std::string>& words, const std::string& input = {}) {
        return run("kubectl", words, input);
    }
    /// A session: each command with what it printed and how it ended.
    void say(const std::vector<std::string>& words, const std::string& input = {}) {
        const auto end = kubectl(words, input);
        write_down(words, plain(end.out) + plain(end.err), end.exit_code);
    }
    /// The same where the order of the lines depends on the second in which something was written.
    void say_sorted(const std::vector<std::string>& words) {
        const auto end = kubectl(words);
        std::istringstream out{plain(end.out)};
        std::multiset<std::string> lines;
        for (std::string line; std::getline(out, line);) lines.insert(line + "\n");
        std::string sorted;
        for (const std::string& line : lines) sorted += line;
        write_down(words, sorted + plain(end.err), end.exit_code);
    }
    void write_down(const std::vector<std::string>& words, const std::string& printed, int exit_code) {
        transcript_ += "$ kubectl";
        for (const std::string& word : words) transcript_ += " " + word;
        transcript_ += fmt::format("\n{}[{}]\n", printed, exit_code);
    }
    /// Without what differs from run to run.
    static std::string plain(std::string text) {
        const std::pair<const char*, const char*> rules[] = {
            {R"(\b[0-9a-f]{64}\b)", "TXID"},
            {R"~((rhizome\.dev/height"?[:=] ?)"?[0-9]+"?)~", "$1HEIGHT"},
            {R"~((rhizome\.dev/finality"?[:=] ?)"?(included|final)"?)~", "$1FINALITY"},
            {R"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})", "UID"},
            {R"("?\b[0-9]{15,19}\b"?)", "REVISION"},
            {R"(/tmp/(LIVE|MERGED)-[0-9]+)", "$1"},
            {R"(\t\d{4}-\d\d-\d\d [0-9:.]+ [+-]\d{4})", ""},
            {R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)", "TIME"},
            {R"(\b(\d+[smhdy])+( |\n|\)|$))", "AGE$2"},
            {R"(\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4})", "TIME"},
            {R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} UTC)", "TIME"},
            {R"(https://127\.0\.0\.1:\d+)", "https://SERVER"},
            {R"(rhizome-[0-9][0-9A-Za-z.-]*)", "rhizome-VERSION"},
            {R"( +)", " "},
            {R"( \n)", "\n"},
        };
        for (const auto& [pattern, with] : rules) text = std::regex_replace(text, std::regex{pattern}, with);
        return text;
    }

    TempFolder temp_;
    std::vector<std::string> started_;
    std::string editor_;  ///< what kubectl edits with
    std::string transcript_;
};

}  // namespace rhizome::test
