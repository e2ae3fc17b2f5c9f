// SPDX-License-Identifier: Apache-2.0
// The same commands on a data directory, on the node that runs on it, and on a node elsewhere.
#include <gtest/gtest.h>

#include "node/daemon.h"
#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

using testing::has;

class NodeCommands : public ::testing::Test {
protected:
    NodeCommands() {
        harness.console.environment.set("XDG_CONFIG_HOME", (folder / "config").native());
        harness.init();
        const auto grown = harness.grow("one");
        txid = grown.find("transactions")->if_array()->at(0).text_at({"txid"});
    }
    void start() {
        node::DaemonOptions options;
        options.data = harness.data;
        options.rpc_listen = {{.host = "127.0.0.1", .port = 0}};
        auto made = node::Daemon::start(std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        daemon = *std::move(made);
        address = daemon->rpc_addresses().front().text();
        key = to_hex(daemon->host().key());
    }
    /// Questions whose answers do not change when the chain grows.
    [[nodiscard]] std::vector<std::vector<std::string>> questions() const {
        return {{"chain", "block", "2", "-o", "json"},
                {"chain", "block", "2", "-o", "yaml"},
                {"chain", "tx", txid, "-o", "json"},
                {"chain", "tx", txid},
                {"chain", "proof", txid},
                {"state", "get", "configmap/one", "--at", "2"},
                {"state", "get", "/", "--at", "1", "-o", "json"},
                {"state", "get", "/chain/id", "--at", "2"},
                {"state", "list", "--at", "2"},
                {"state", "list", "/chain/members", "--at", "2", "-o", "json"},
                {"state", "proof", "/namespaces/default", "--at", "2"},
                {"state", "proof", "/namespaces/none", "--at", "2"}};
    }
    static std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
    std::unique_ptr<node::Daemon> daemon;
    std::string txid, address, key;
};

TEST_F(NodeCommands, ARunningNodeAnswersWhatItsDirectoryDid) {
    std::vector<std::string> before;
    for (const auto& words : questions()) before.push_back(harness.good(words));
    start();
    std::size_t i = 0;
    for (const auto& words : questions()) EXPECT_EQ(harness.good(words), before[i++]) << words[0] << " " << words[1];
    EXPECT_EQ(harness.data_of({"chain", "show"}).text_at({"cluster"}), "demo");
    EXPECT_EQ(harness.rhizome({"state", "get", "pod/none"}).code, 3);
    EXPECT_EQ(harness.rhizome({"chain", "block", "newest"}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "tx", "abc"}).code, 2);
    EXPECT_EQ(harness.rhizome({"chain", "tx", std::string(64, 'a')}).code, 3);

    // From elsewhere: the key of the node is said once, by a person who compared it.
    const testing::Ran stranger = harness.rhizome({"chain", "show", "--node", address});
    EXPECT_EQ(stranger.code, 4) << stranger.err;
    EXPECT_TRUE(has(stranger.err, "--node-key " + key)) << stranger.err;
    harness.good({"status", "--node", address, "--node-key", key});
    i = 0;
    const std::string data = std::exchange(harness.data, (folder / "nothing").native());
    for (const auto& words : questions())
        EXPECT_EQ(harness.good(with(words, {"--node", address})), before[i++]) << words[0] << " " << words[1];
    harness.data = data;
    auto wrong = key;
    wrong.back() = wrong.back() == '0' ? '1' : '0';
    EXPECT_NE(harness.rhizome({"status", "--node", address, "--node-key", wrong}).code, 0);
}

TEST_F(NodeCommands, TransactionsAreMadeTriedAndSentThroughTheNode) {
    start();
    const std::vector<std::string> there{"--node", address, "--node-key", key};
    const std::string file = folder / "tx.json";
    const auto document = harness.document("two", "ConfigMap", "default");
    harness.good(with({"tx", "new", document, "--out", file}, there));
    const testing::Ran missing = harness.rhizome(with({"tx", "check", file, "--trace"}, there));
    EXPECT_EQ(missing.code, 4);
    EXPECT_TRUE(has(missing.out, "WHAT HAPPENED")) << missing.out;
    harness.good(with({"tx", "sign", file, "--key", "admin", "--out", file}, there));
    EXPECT_TRUE(
        has(harness.good(with({"tx", "check", file}, there)), "creates   /namespaces/default/core/ConfigMap/two"));
    EXPECT_TRUE(has(harness.good(with({"tx", "submit", file, "--wait", "final"}, there)), "final"));
    EXPECT_EQ(harness.rhizome(with({"tx", "check", file}, there)).code, 5);
    // The same over the local socket: a deletion by name.
    const auto deletion = harness.signed_tx("delete.json", {"-d", "configmap/two", "--by", "/"});
    EXPECT_TRUE(has(harness.good({"tx", "submit", deletion, "--wait", "final"}), "final"));
    EXPECT_EQ(harness.rhizome({"state", "get", "configmap/two"}).code, 3);
}

}  // namespace
}  // namespace rhizome::cli
