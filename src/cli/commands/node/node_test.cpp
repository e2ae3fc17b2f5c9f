// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cli/commands/node/nodes.h"
#include "ledger/member.h"
#include "node/daemon.h"
#include "node/machine.h"
#include "support/chain_harness.h"
#include "support/golden.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;

/// A cluster of one whose node runs in this process; commands talk to it as they always do.
class NodeCommand : public ::testing::Test {
protected:
    NodeCommand() {
        harness.now = runtime::now() - seconds{5};
        harness.init();
        node::DaemonOptions options;
        options.data = harness.data;
        options.version = "1.2.3";
        options.report = node::ReporterOptions{.traits = {.arch = node::machine_architecture()},
                                               .capacity = {{"cpu", 4'000}, {"memory", 8ull << 30}}};
        auto started = node::Daemon::start(std::move(options));
        EXPECT_TRUE(started) << started.error().message;
        if (started) daemon = *std::move(started);
        harness.now = runtime::now();
    }
    /// A second machine that never came up.
    void add_member(const std::string& name) {
        const auto keys = crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(name)).view()});
        const auto document = node::node_document(name, keys, daemon->host().view()->chain, {.arch = "arm64"});
        const auto tx = harness.signed_tx(name + ".tx", {harness.write(name + ".json", json::print(document))});
        harness.good({"tx", "submit", tx, "--wait", "final"});
    }
    /// Asked again until the machine has said what it is.
    json::Value reported() {
        for (int i = 0; i < 600; ++i) {
            json::Value list = harness.data_of({"node", "list"});
            if (list.find("items")->if_array()->front().find_path({"status", "capacity"}) != nullptr) return list;
            (void)daemon->wait_for_end(milliseconds{100});
        }
        ADD_FAILURE() << "it never reported";
        return {};
    }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
    std::unique_ptr<node::Daemon> daemon;
};

TEST_F(NodeCommand, ListsAsKubectlDoes) {
    const json::Value list = reported();
    const json::Value& node = list.find("items")->if_array()->front();
    EXPECT_EQ(list.text_at({"kind"}), "List");
    EXPECT_EQ(node.text_at({"kind"}), "Node");
    EXPECT_EQ(node.text_at({"status", "capacity", "cpu"}), "4");
    EXPECT_EQ(node.text_at({"metadata", "labels", "kubernetes.io/arch"}), node::machine_architecture());
    const json::Value* conditions = node.find_path({"status", "conditions"});
    ASSERT_NE(conditions, nullptr);
    EXPECT_EQ(conditions->if_array()->front().text_at({"status"}), "True");
    const std::string table = harness.good({"node", "list"});
    EXPECT_TRUE(table.starts_with("NAME   STATUS   ROLES   AGE")) << table;
    EXPECT_TRUE(has(table, "n1     Ready    voter")) << table;
    EXPECT_TRUE(has(table, "1.2.3")) << table;
    const std::string wide = harness.good({"node", "list", "-o", "wide"});
    EXPECT_TRUE(has(wide, "INTERNAL-IP") && has(wide, "8388608Ki")) << wide;
    EXPECT_EQ(harness.good({"node", "list", "-o", "name"}), "node/n1\n");
}

TEST_F(NodeCommand, CordonsAndUncordons) {
    EXPECT_EQ(harness.good({"node", "cordon", "n1"}), "node/n1 cordoned\n");
    EXPECT_TRUE(has(harness.good({"node", "list"}), "Ready,SchedulingDisabled"));
    EXPECT_EQ(harness.good({"node", "cordon", "n1"}), "node/n1 already cordoned\n");
    const auto taints = json::print(harness.data_of({"node", "list"}));
    EXPECT_TRUE(has(taints, R"({"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"})")) << taints;
    EXPECT_EQ(harness.good({"node", "uncordon", "n1"}), "node/n1 uncordoned\n");
    EXPECT_FALSE(has(harness.good({"node", "list"}), "SchedulingDisabled"));
    const Ran drained = harness.rhizome({"node", "drain", "n1"});
    EXPECT_EQ(drained.code, 0) << drained.err;
    EXPECT_TRUE(has(drained.err, "warning: nothing was evicted")) << drained.err;
}

TEST_F(NodeCommand, RemovesWhatCanBeMissed) {
    add_member("n2");
    EXPECT_TRUE(has(harness.good({"node", "list"}), "n2     Ready    <none>")) << "its first lease runs";
    const Ran unsure = harness.rhizome({"node", "remove", "n2"});
    EXPECT_EQ(unsure.code, 2) << "nobody can be asked";
    EXPECT_EQ(harness.good({"node", "remove", "n2", "--yes"}), "node/n2 removed\n");
    EXPECT_EQ(harness.good({"node", "list", "-o", "name"}), "node/n1\n");
    EXPECT_EQ(harness.good({"node", "approve", "n1"}), "node/n1 is a member in good standing\n");
}

TEST_F(NodeCommand, IsBackedUpWhileItRunsAndRestoredElsewhere) {
    harness.good({"node", "cordon", "n1"});
    const std::string file = (folder / "backup").native();
    const auto made = harness.data_of({"chain", "backup", file});
    const auto height = made.find("height")->if_int64();
    EXPECT_GE(height, 2) << "the cordon is final, and so is in it";
    EXPECT_EQ(made.find("blocks")->if_int64(), *height + 1);
    EXPECT_EQ(harness.rhizome({"chain", "backup", file}).code, 5) << "never over another file";
    const std::string other = (folder / "restored").native();
    harness.good({"chain", "restore", file, "--data", other});
    EXPECT_EQ(harness.rhizome({"chain", "verify", "--data", other}).code, 0);
    EXPECT_TRUE(has(json::print(harness.data_of({"state", "get", "/nodes/n1", "--data", other})), "unschedulable"));
}

/// What an operator reads when something is refused, kept word for word.
TEST_F(NodeCommand, RefusalsSayWhyAndWhatToTry) {
    add_member("edge-2");
    std::string all;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"node", "cordon", "edge2"},
             {"node", "remove", "nowhere-near-any"},
             {"node", "remove", "edge-2"},
             {"node", "cordon", "edge-2", "--key", "nobody"},
             {"node", "remove", "n1", "--yes"},
         }) {
        const Ran ran = harness.rhizome(words);
        EXPECT_NE(ran.code, 0) << words[1];
        EXPECT_EQ(ran.out, "");
        all += fmt::format("$ rhizome {}\n{}(exit code {})\n\n", fmt::format("{} {} {}", words[0], words[1], words[2]),
                           ran.err, ran.code);
    }
    harness.good({"node", "remove", "edge-2", "--yes"});
    const Ran last = harness.rhizome({"node", "remove", "n1", "--yes", "--force"});
    all += fmt::format("$ rhizome node remove n1 --yes --force\n{}(exit code {})\n", last.err, last.code);
    const std::string place = folder.path().native();
    for (std::size_t at = all.find(place); at != std::string::npos; at = all.find(place))
        all.replace(at, place.size(), "DIR");
    test::expect_golden("cli/node-errors.txt", all);
}

NodeRow removal_row(const char* name, bool is_voter, bool is_ready) {
    NodeRow one;
    one.name = name;
    one.is_member = true;
    one.is_voter = is_voter;
    one.is_ready = is_ready;
    return one;
}

TEST(NodeRemoval, IsRefusedWhereTheOthersCouldNotAgreeOnIt) {
    const struct {
        const char* what;
        std::vector<NodeRow> rows;  ///< the first is to go
        std::size_t quorum;
        std::optional<ErrorKind> refused;
        std::size_t warnings;
    } table[] = {
        {"one of four",
         {removal_row("a", true, false), removal_row("b", true, true), removal_row("c", true, true),
          removal_row("d", true, true)},
         3,
         std::nullopt,
         0},
        {"one of three",
         {removal_row("a", true, false), removal_row("b", true, true), removal_row("c", true, true)},
         2,
         std::nullopt,
         1},
        {"one that runs",
         {removal_row("a", true, true), removal_row("b", true, true), removal_row("c", true, true)},
         2,
         std::nullopt,
         2},
        {"the second of three that is gone",
         {removal_row("a", true, false), removal_row("b", true, true), removal_row("c", true, false)},
         2,
         ErrorKind::Conflict,
         1},
        {"one of two", {removal_row("a", true, false), removal_row("b", true, true)}, 2, ErrorKind::Conflict, 0},
        {"one that does not vote", {removal_row("a", false, false), removal_row("b", true, false)}, 1, std::nullopt, 0},
        {"the last", {removal_row("a", true, true)}, 1, ErrorKind::Denied, 1},
    };
    for (const auto& one : table) {
        const auto checked = check_removal(one.rows, one.rows.front(), one.quorum);
        EXPECT_EQ(checked.has_value(), !one.refused) << one.what;
        if (!checked) {
            EXPECT_EQ(checked.error().kind, one.refused) << one.what;
        }
        EXPECT_EQ(removal_warnings(one.rows, one.rows.front(), "z").size(), one.warnings) << one.what;
    }
    EXPECT_EQ(removal_warnings(table[0].rows, table[0].rows.front(), "a").size(), 1u) << "the machine one is on";
}

}  // namespace
}  // namespace rhizome::cli
