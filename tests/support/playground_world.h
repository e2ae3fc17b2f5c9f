// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/commands/playground/playground.h"
#include "runtime/process.h"
#include "support/kube_client.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

/// A playground of the real program, and its commands as people type them.
namespace rhizome::cli::playground::testing {

class World : public ::testing::Test {
protected:
    void TearDown() override { (void)Playground::down(folder()); }

    [[nodiscard]] std::filesystem::path folder() const { return temp_.path() / "p"; }
    [[nodiscard]] static std::string program() { return std::string{std::getenv("RHIZOME_BUILD")} + "/rhizome"; }

    runtime::ProcessEnd run(std::vector<std::string> words) {
        words.insert(words.begin(), "playground");
        words.insert(words.end(), {"--dir", folder().native()});
        auto environment = runtime::Environment::of_process();
        environment.set("HOME", temp_.path().native());
        const auto end = runtime::run_process({.program = program(),
                                               .arguments = std::move(words),
                                               .environment = environment,
                                               .deadline = milliseconds{180'000}});
        EXPECT_TRUE(end) << end.error().message;
        if (end) return *end;
        runtime::ProcessEnd failed;
        failed.exit_code = 255;
        return failed;
    }
    std::string good(const std::vector<std::string>& words) {
        const auto end = run(words);
        EXPECT_TRUE(end.succeeded()) << words.front() << "\n" << end.out << end.err;
        return end.out;
    }
    json::Value data(std::vector<std::string> words) {
        words.insert(words.end(), {"-o", "json"});
        auto value = json::parse(good(words));
        EXPECT_TRUE(value);
        return value ? *std::move(value) : json::Value{};
    }
    /// The words of an error, with this run's folder left out.
    std::string refused(const std::vector<std::string>& words, int code) {
        const auto end = run(words);
        EXPECT_EQ(end.exit_code, code) << words.front() << "\n" << end.out << end.err;
        std::string text = end.err;
        for (std::size_t at = text.find(folder().native()); at != std::string::npos;
             at = text.find(folder().native(), at))
            text.replace(at, folder().native().size(), "DIR");
        return text;
    }
    template <class Holds>
    static bool eventually(const Holds& holds) {
        return test::eventually(holds);
    }
    static std::string tip(const json::Value& look, std::size_t node) {
        return std::string{look.find("nodes")->if_array()->at(node - 1).text_at({"tip"})};
    }
    bool has_namespace(unsigned node, const std::string& name) {
        const auto on = Playground::open(folder());
        if (!on) return false;
        const auto client = on->client(node);
        return client && (*client)->get("/rhizome/v1/state?path=/namespaces/" + name).has_value();
    }
    /// What `write` says of how far an order came.
    std::string write(unsigned node, const std::string& name) {
        return std::string{data({"write", std::to_string(node), name}).text_at({"stage"})};
    }

    /// Asked over HTTPS, with the file that `kubeconfig` prints.
    test::KubeReply kube(unsigned node, std::string_view method, std::string_view target, std::string_view body = {}) {
        const auto access = test::KubeAccess::from_kubeconfig(good({"kubeconfig", std::to_string(node)}));
        EXPECT_TRUE(access) << access.error().message;
        auto reply =
            access ? test::ask_kube(*access, method, target, body) : Result<test::KubeReply>{Fail{access.error()}};
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? *std::move(reply) : test::KubeReply{};
    }
    /// Each of three nodes takes objects and shows those of the others; one that is cut off goes on doing so.
    void expect_all_serve_kubernetes() {
        const std::string maps = "/api/v1/namespaces/default/configmaps";
        const auto create = [&](unsigned node, const std::string& name) {
            const auto reply =
                kube(node, "POST", maps,
                     fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}}}})", name));
            EXPECT_EQ(reply.status, 201u) << reply.body;
        };
        const auto has = [&](unsigned node, const std::string& name) {
            return kube(node, "GET", maps + "/" + name).status == 200;
        };
        for (unsigned node = 1; node <= 3; ++node) create(node, fmt::format("from-{}", node));
        for (unsigned node = 1; node <= 3; ++node)
            for (unsigned other = 1; other <= 3; ++other)
                EXPECT_TRUE(eventually([&] { return has(node, fmt::format("from-{}", other)); })) << node << other;
        good({"cut", "3"});
        create(3, "alone");
        EXPECT_TRUE(has(3, "alone"));
        EXPECT_FALSE(has(1, "alone"));
        good({"heal"});
        EXPECT_TRUE(eventually([&] { return has(1, "alone"); }));
    }

    /// Both sides of a cut take orders; after the heal all nodes have both, final and the same.
    void expect_both_sides_and_a_merge() {
        EXPECT_EQ(write(1, "before"), "final");
        good({"cut", "1"});
        const auto left = data({"write", "1", "from-the-left"});
        EXPECT_EQ(left.text_at({"stage"}), "included");
        EXPECT_EQ(left.find("quorumReachable")->if_boolean(), false);
        EXPECT_TRUE(eventually([&] { return write(3, fmt::format("r-{}", ++orders_)) == "final"; }))
            << "the larger side goes on";
        EXPECT_FALSE(has_namespace(3, "from-the-left"));
        good({"heal"});
        const std::string right = fmt::format("r-{}", orders_);
        for (unsigned node = 1; node <= 3; ++node)
            EXPECT_TRUE(eventually([&] { return has_namespace(node, "from-the-left") && has_namespace(node, right); }))
                << node;
        EXPECT_TRUE(eventually([&] { return write(1, fmt::format("r-{}", ++orders_)) == "final"; }));
    }
    void expect_nothing_is_left(const std::vector<runtime::ProcessId>& processes) {
        for (const auto& one : processes) EXPECT_FALSE(runtime::is_running(one)) << one.pid;
        EXPECT_FALSE(std::filesystem::exists(folder()));
    }
    std::vector<runtime::ProcessId> processes() {
        const auto record = read_record(folder());
        std::vector<runtime::ProcessId> all;
        if (!record) return all;
        for (const NodeRecord& node : record->nodes) all.push_back(node.process);
        if (record->apart == Apart::Networks) all.push_back(record->holder);
        return all;
    }

    test::TempFolder temp_;
    int orders_ = 0;
};

}  // namespace rhizome::cli::playground::testing
