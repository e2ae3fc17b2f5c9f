// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "node/config.h"
#include "support/chain_harness.h"
#include "support/golden.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;

class ConfigCommand : public ::testing::Test {
protected:
    /// What a file says, put where the node looks for it.
    void set(std::string_view text) {
        std::filesystem::create_directories(harness.data);
        (void)harness.write("data/config.yaml", text);
    }
    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
};

TEST_F(ConfigCommand, ShowsWhatHoldsAndWhereItComesFrom) {
    set("mine: 30\nlog: {level: warn}\n");
    harness.console.environment.set("RHIZOME_PEERS", "10.0.0.1,10.0.0.2:1");
    const auto shown = harness.data_of({"config", "show", "--mine", "50"});
    EXPECT_EQ(shown.text_at({"file"}), harness.data + "/config.yaml");
    const auto row = [&](std::string_view key) -> const json::Value& {
        for (const json::Value& one : *shown.find("settings")->if_array())
            if (one.text_at({"key"}) == key) return one;
        ADD_FAILURE() << key;
        return shown;
    };
    EXPECT_EQ(json::print(*row("mine").find("values")), R"(["50"])");
    EXPECT_EQ(row("mine").text_at({"from"}), "--mine");
    EXPECT_EQ(row("log.level").text_at({"from"}), harness.data + "/config.yaml line 2");
    EXPECT_EQ(json::print(*row("peers").find("values")), R"(["10.0.0.1","10.0.0.2:1"])");
    EXPECT_EQ(row("peers").text_at({"from"}), "RHIZOME_PEERS");
    EXPECT_EQ(row("listen").text_at({"from"}), "default");
    EXPECT_EQ(shown.find("settings")->if_array()->size(), node::settings().size());
    EXPECT_TRUE(has(harness.good({"config", "show"}), "SETTING ")) << "a table for people";
}

TEST_F(ConfigCommand, ChecksAFileBeforeItIsUsed) {
    const Ran none = harness.rhizome({"config", "check"});
    EXPECT_EQ(none.code, 3);
    EXPECT_TRUE(has(none.err, "every setting is at its default\nhint: 'rhizome config schema' prints")) << none.err;
    set("mine: 30\n");
    EXPECT_EQ(harness.good({"config", "check"}),
              harness.data + "/config.yaml: good, 1 of " + std::to_string(node::settings().size()) + " settings\n");
    const auto bad = harness.write("bad.yaml", "mine: 30\nagnet: false\n");
    const Ran wrong = harness.rhizome({"config", "check", bad});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_EQ(wrong.err, "error: " + bad +
                             " line 2: there is no setting \"agnet\"\nhint: did you mean \"agent\"?\n"
                             "hint: 'rhizome config schema' lists all\n");
    EXPECT_EQ(wrong.out, "");
}

TEST_F(ConfigCommand, TheSchemaIsAFileThatCanBeRead) {
    const std::string text = harness.good({"config", "schema"});
    test::expect_golden("cli/config-schema.yaml", text);
    set(text);
    EXPECT_TRUE(has(harness.good({"config", "check"}), "good, 0 of "));
    EXPECT_EQ(harness.data_of({"config", "schema"}).find("settings")->if_array()->size(), node::settings().size());
}

TEST_F(ConfigCommand, ABadSettingKeepsANodeFromStartingAndMakesNothing) {
    set("mine: 300\n");
    const Ran ran = harness.rhizome({"up"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(has(ran.err, "config.yaml line 1: mine cannot be \"300\"")) << ran.err;
    const Ran flag = harness.rhizome({"up", "--capacity", "cpu=lots"});
    EXPECT_EQ(flag.code, 1) << "the file comes first";
    set("");
    const Ran usage = harness.rhizome({"up", "--capacity", "cpu=lots"});
    EXPECT_EQ(usage.code, 2);
    EXPECT_TRUE(has(usage.err, "--capacity: capacity cannot be \"cpu=lots\"")) << usage.err;
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::path{harness.data} / "format"));
    EXPECT_FALSE(harness.store.find("admin")) << "no key is made for a node that does not start";
}

}  // namespace
}  // namespace rhizome::cli
