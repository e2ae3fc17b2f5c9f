// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/yaml.h"
#include "node/identity.h"
#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;
using testing::has;
using testing::Ran;

class InitCommand : public ::testing::Test {
protected:
    /// What a stranger would see: nothing that looks like a chain, and no rest of a half-made one.
    void expect_no_chain() {
        for (const auto* part : {"format", "log", "index", "place"})
            EXPECT_FALSE(fs::exists(fs::path{harness.data} / part)) << part;
        if (!fs::exists(harness.data)) return;
        for (const auto& entry : fs::directory_iterator{harness.data}) EXPECT_EQ(entry.path().filename(), "node");
        EXPECT_EQ(harness.rhizome({"chain", "show"}).code, 3);
    }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
};

TEST_F(InitCommand, MakesAClusterAndSaysWhatItMade) {
    const Ran ran = harness.rhizome({"init", "demo", "--node", "n1"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    for (const auto* part : {"cluster       demo\n", "chain id      ", "node          n1\n", "/node/seed\n",
                             "owner         admin (", "/keys/admin.key.json\n"})
        EXPECT_TRUE(has(ran.out, part)) << part << ran.out;
    EXPECT_TRUE(has(ran.err, "warning: the key admin is not encrypted")) << ran.err;
    EXPECT_TRUE(harness.prompts.empty()) << "it asks nothing";
    const auto shown = harness.data_of({"chain", "show"});
    EXPECT_EQ(shown.text_at({"cluster"}), "demo");
    EXPECT_EQ(shown.find("height")->if_int64(), 1);
    EXPECT_EQ(shown.find("final")->if_int64(), 1) << "the only voter's seal is its vote";
    const std::string list = harness.good({"state", "list"});
    for (const auto* path : {"/ ", "/nodes/n1 ", "/namespaces/default ", "/namespaces/kube-system "})
        EXPECT_TRUE(has(list, path)) << list;
    EXPECT_TRUE(has(list, "node n1; or, admin")) << list;
    EXPECT_EQ(harness.rhizome({"chain", "verify"}).code, 0);
    struct stat found {};
    ASSERT_EQ(::stat(node::seed_file(harness.data).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST_F(InitCommand, PrintsDataForPrograms) {
    const auto data = harness.data_of({"init", "--node", "n1"});
    EXPECT_EQ(data.text_at({"cluster"}), "rhizome");
    EXPECT_EQ(data.text_at({"data"}), harness.data);
    EXPECT_EQ(data.text_at({"owner", "key"}), "admin");
    EXPECT_EQ(data.text_at({"owner", "address"}), harness.store.find("admin")->info->public_key.address().hex());
    EXPECT_EQ(data.text_at({"chainId"}), harness.data_of({"chain", "show"}).text_at({"chainId"}));
    harness.data = folder / "second";
    const Ran yaml = harness.rhizome({"init", "--key", "admin", "-o", "yaml"});
    ASSERT_EQ(yaml.code, 0) << yaml.err;
    EXPECT_EQ(yaml.err, "") << "an existing key is nobody's surprise";
    EXPECT_EQ(yaml::parse(yaml.out)->find_path({"owner", "new"})->if_boolean(), false);
}

TEST_F(InitCommand, ADirectoryWithAChainIsNotTouched) {
    harness.init();
    const auto before = harness.good({"chain", "block", "latest", "-o", "json"});
    const Ran ran = harness.rhizome({"init", "other", "--key", "admin"});
    EXPECT_EQ(ran.code, 5);
    EXPECT_TRUE(has(ran.err, "there is a chain in")) << ran.err;
    EXPECT_TRUE(has(ran.err, "hint: 'rhizome chain show' shows it")) << ran.err;
    EXPECT_EQ(harness.good({"chain", "block", "latest", "-o", "json"}), before);
    fs::remove(fs::path{harness.data} / "format");
    const Ran parts = harness.rhizome({"init", "--key", "admin"});
    EXPECT_EQ(parts.code, 5);
    EXPECT_TRUE(has(parts.err, "has parts of a chain (log)")) << parts.err;
}

TEST_F(InitCommand, TheRulesComeFromFilesAndOptions) {
    const auto spec = harness.write("spec.yaml", "heartbeat: 2s\nconsensus: authority\n");
    const auto cluster = harness.write(
        "cluster.yaml", "apiVersion: rhizome.dev/v1\nkind: Cluster\nmetadata: {name: edge}\nspec: {heartbeat: 3s}\n");
    harness.good({"init", "--spec", spec, "--spec", cluster, "--consensus", "work"});
    const auto document = harness.data_of({"state", "get", "/"});
    EXPECT_EQ(document.text_at({"metadata", "name"}), "edge");
    EXPECT_EQ(document.text_at({"spec", "heartbeat"}), "3s");
    EXPECT_EQ(document.text_at({"spec", "consensus"}), "work");
    EXPECT_EQ(harness.data_of({"chain", "show"}).text_at({"consensus"}), "work");
    harness.data = folder / "second";
    harness.in.str("heartbeat: 4s\n");
    harness.good({"init", "named", "--spec", "-", "--key", "admin"});
    EXPECT_EQ(harness.data_of({"state", "get", "/"}).text_at({"metadata", "name"}), "named");
}

TEST_F(InitCommand, RefusalsLeaveNothingThatLooksLikeAChain) {
    const auto unknown = harness.write("unknown.yaml", "hartbeat: 2s\n");
    const auto list = harness.write("list.yaml", "- a\n");
    const auto broken = harness.write("broken.yaml", "a: [\n");
    const struct {
        std::vector<std::string> words;
        int code;
        const char* says;
    } rows[] = {
        {{"--spec", unknown}, 1, "hartbeat"},
        {{"--spec", list}, 1, "neither a Cluster nor"},
        {{"--spec", broken}, 1, "broken.yaml"},
        {{"--spec", "/nowhere"}, 3, "/nowhere"},
        {{"--consensus", "luck"}, 2, "luck"},
        {{"--node", "N 1"}, 2, "--node N 1 is no name"},
        {{"Bad_Name"}, 2, "NAME Bad_Name is no name"},
        {{"--key", "nobody"}, 3, "no key named \"nobody\""},
        {{"--passphrase-file", "/nowhere"}, 3, "/nowhere"},
    };
    for (const auto& row : rows) {
        std::vector<std::string> words{"init"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const Ran ran = harness.rhizome(words);
        EXPECT_EQ(ran.code, row.code) << ran.err;
        EXPECT_TRUE(has(ran.err, row.says)) << ran.err;
        EXPECT_EQ(ran.out, "");
        expect_no_chain();
        EXPECT_FALSE(harness.store.find("admin")) << "no key is made for a cluster that there is not";
    }
}

TEST_F(InitCommand, WhoeverMadeAClusterBeforeOwnsTheNextOne) {
    const auto admin = harness.make("admin", std::nullopt);
    const auto data = harness.data_of({"init"});
    EXPECT_EQ(data.text_at({"owner", "publicKey"}), admin.public_key.hex());
}

TEST_F(InitCommand, AnEncryptedKeyIsOpenedOrNothingIsMade) {
    harness.make("admin");
    harness.answers.emplace_back("something else");
    const Ran ran = harness.rhizome({"init"});
    EXPECT_EQ(ran.code, 4) << ran.err;
    expect_no_chain();
    const auto alice = harness.make("alice");
    harness.answers.emplace_back(testing::kPassphrase);
    const auto data = harness.data_of({"init", "--key", "alice"});
    EXPECT_EQ(data.text_at({"owner", "publicKey"}), alice.public_key.hex());
}

TEST_F(InitCommand, ANewKeyIsEncryptedWithAPassphraseFile) {
    const auto file = harness.write("pass", "open sesame\n", 0600);
    const Ran ran = harness.rhizome({"init", "--passphrase-file", file});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_TRUE(harness.store.load("admin", as_bytes("open sesame")));
    EXPECT_FALSE(harness.store.load("admin", std::nullopt));
}

TEST_F(InitCommand, AMachineKeepsItsIdentity) {
    const auto made = node::make_identity(harness.data);
    ASSERT_TRUE(made);
    harness.good({"init", "--node", "n1"});
    const auto node = harness.data_of({"state", "get", "/nodes/n1"});
    EXPECT_EQ(node.text_at({"metadata", "annotations", "rhizome.dev/chain-key"}), made->keys.public_keys().chain.hex());
}

TEST_F(InitCommand, OnATerminalItSaysWhatToTryNext) {
    harness.console.err_is_terminal = true;
    const Ran ran = harness.rhizome({"init", "--data", folder / "my data"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(has(ran.err, "rhizome chain show --data '" + (folder / "my data").native() + "'\n")) << ran.err;
}

}  // namespace
}  // namespace rhizome::cli
