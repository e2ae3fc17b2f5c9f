// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/cluster_processes.h"

/// Real nodes, and the real kubectl that asks them.
namespace rhizome::test {

class KubectlProcesses : public ClusterProcesses {
protected:
    void SetUp() override {
        variables_["KUBECONFIG"] = (temp_.path() / "kubeconfig").native();
        if (!kubectl({"version", "--client"}).succeeded()) GTEST_SKIP() << "there is no kubectl on the PATH";
    }
    static std::vector<std::string> where() {
        return {"--rpc-listen", "none", "--api-listen", "127.0.0.1:0", "--no-lan-discovery"};
    }
    void found_api(const std::string& name) {
        found(name, where());
        good({"kubeconfig", "--data", data(name), "--context", name});
    }
    void join_api(const std::string& name, const std::string& at) {
        join(name, at, where());
        good({"kubeconfig", "--data", data(name), "--context", name});
    }
    void start_again(const std::string& name, const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"up", "--data", data(name), "--listen", "127.0.0.1:0", "--detach"};
        for (const std::string& word : where()) words.push_back(word);
        words.insert(words.end(), more.begin(), more.end());
        good(std::move(words));
        good({"kubeconfig", "--data", data(name), "--context", name});
    }
    runtime::ProcessEnd kubectl(std::vector<std::string> words, const std::string& input = {}) {
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        environment.set("KUBECONFIG", (temp_.path() / "kubeconfig").native());
        const auto end = runtime::run_process({.program = "kubectl",
                                               .arguments = std::move(words),
                                               .input = input,
                                               .environment = environment,
                                               .deadline = milliseconds{120'000}});
        runtime::ProcessEnd failed;
        failed.exit_code = 255;
        return end ? *end : failed;
    }
    /// Through the API of this node.
    runtime::ProcessEnd at(const std::string& node, std::vector<std::string> words, const std::string& input = {}) {
        words.insert(words.begin(), {"--context", node});
        return kubectl(std::move(words), input);
    }
    std::string good_at(const std::string& node, std::vector<std::string> words, const std::string& input = {}) {
        std::string shown;
        for (const std::string& word : words) shown += word + " ";
        const auto end = at(node, std::move(words), input);
        EXPECT_TRUE(end.succeeded()) << shown << "at " << node << "\n" << end.out << end.err;
        return end.out;
    }
};

}  // namespace rhizome::test
