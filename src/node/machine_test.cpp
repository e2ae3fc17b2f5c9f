// SPDX-License-Identifier: Apache-2.0
#include "node/machine.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace rhizome::node {
namespace {

Machine sample() {
    return {.arch = "amd64",
            .kernel = "6.1.0",
            .os_image = "Debian",
            .machine_id = "m",
            .boot_id = "b",
            .host_name = "box",
            .addresses = {"10.0.0.7", "fd00::7"},
            .capacity = {{"cpu", 4'000}, {"memory", 8ull << 30}, {"ephemeral-storage", 40ull << 30}, {"pods", 110}}};
}

TEST(Machine, LooksAtTheRealOne) {
    const Machine machine = look_at_machine("/");
    EXPECT_EQ(machine.arch, machine_architecture());
    EXPECT_FALSE(machine.arch.empty());
    EXPECT_FALSE(machine.kernel.empty());
    EXPECT_FALSE(machine.os_image.empty());
    EXPECT_GE(machine.capacity.at("cpu"), 1'000u);
    EXPECT_GE(machine.capacity.at("memory"), 64u << 20) << "a machine that compiled this has more";
    EXPECT_GT(machine.capacity.at("ephemeral-storage"), 0u);
    EXPECT_EQ(architecture_name("aarch64"), "arm64");
    EXPECT_EQ(architecture_name("vax"), "vax");
}

TEST(Machine, ReportsWhatItHasOrWhatIsSaidInstead) {
    ReportWish wish{.name = "n1", .links = {{.host = "10.0.0.7", .port = 7700}}, .version = "0.1.0"};
    const json::Value report = report_document(wish, sample());
    EXPECT_EQ(report.text_at({"kind"}), "NodeReport");
    EXPECT_EQ(report.text_at({"metadata", "name"}), "n1");
    EXPECT_EQ(report.text_at({"status", "capacity", "cpu"}), "4");
    EXPECT_EQ(report.text_at({"status", "capacity", "memory"}), "8388608Ki");
    EXPECT_EQ(*report.find_path({"status", "allocatable"}), *report.find_path({"status", "capacity"}));
    EXPECT_EQ(json::print(*report.find_path({"status", "links"})), R"(["10.0.0.7:7700"])");

    wish.capacity = {{"cpu", 1'500}};
    wish.allocatable = {{"cpu", 9'000}, {"memory", 1ull << 30}};
    const json::Value other = report_document(wish, sample());
    EXPECT_EQ(other.text_at({"status", "capacity", "cpu"}), "1500m");
    EXPECT_EQ(other.text_at({"status", "allocatable", "cpu"}), "1500m") << "never more than there is";
    EXPECT_EQ(other.text_at({"status", "allocatable", "memory"}), "1048576Ki");
    EXPECT_EQ(other.find_path({"status", "apiAuthority"}), nullptr) << "no API, no authority";
    wish.api_authority = to_bytes(as_bytes("der"));
    EXPECT_EQ(json::Value{report_document(wish, sample())}.text_at({"status", "apiAuthority"}), "ZGVy");
    wish.traits.has_agent = false;
    EXPECT_EQ(json::Value{report_document(wish, sample())}.text_at({"status", "allocatable", "pods"}), "0");
}

TEST(Machine, TraitsOfANodeChangeNothingElseInIt) {
    json::Value node = *yaml::parse(
        "{metadata: {name: n1, labels: {mine: yes}}, spec: {unschedulable: true, taints: [{key: a, effect: b}]}}");
    ASSERT_TRUE(apply_traits(node, "n1", {.arch = "arm64", .has_agent = false}));
    EXPECT_EQ(
        json::print(node),
        R"({"metadata":{"name":"n1","labels":{"mine":true,"kubernetes.io/hostname":"n1","kubernetes.io/os":"linux",)"
        R"("kubernetes.io/arch":"arm64","node-role.kubernetes.io/control-plane":""}},"spec":{"unschedulable":true,)"
        R"("taints":[{"key":"a","effect":"b"},{"key":"rhizome.dev/no-agent","effect":"NoSchedule"},)"
        R"({"key":"rhizome.dev/no-agent","effect":"NoExecute"}]}})");
    EXPECT_FALSE(apply_traits(node, "n1", {.arch = "arm64", .has_agent = false})) << "it says so already";
    ASSERT_TRUE(apply_traits(node, "n1", {.arch = "arm64"}));
    EXPECT_EQ(json::print(*node.find_path({"spec"})), R"({"unschedulable":true,"taints":[{"key":"a","effect":"b"}]})");
    EXPECT_EQ(node.find_path({"metadata", "labels"})->if_object()->find(kNoAgentRole), nullptr);

    json::Value bare = *yaml::parse("{metadata: {name: n1}}");
    ASSERT_TRUE(apply_traits(bare, "n1", {.arch = "", .has_agent = false}));
    ASSERT_TRUE(apply_traits(bare, "n1", {}));
    EXPECT_EQ(bare.find("spec"), nullptr);
}

TEST(Machine, EverywhereIsWhatTheMachineHas) {
    const std::vector<std::string> own{"10.0.0.7", "fd00::7"};
    const auto texts = [&](std::string_view listen) {
        std::string all;
        for (const auto& one : reachable_addresses({*stream::Address::parse(listen)}, own)) all += one.text() + " ";
        return all;
    };
    EXPECT_EQ(texts("[::]:7700"), "10.0.0.7:7700 [fd00::7]:7700 ");
    EXPECT_EQ(texts("0.0.0.0:1"), "10.0.0.7:1 ");
    EXPECT_EQ(texts("127.0.0.1:2"), "127.0.0.1:2 ");
    EXPECT_TRUE(reachable_addresses({}, own).empty());
}

}  // namespace
}  // namespace rhizome::node
