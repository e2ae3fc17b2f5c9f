// SPDX-License-Identifier: Apache-2.0
// What an operator reads when a command about a node is refused, kept word for word: tests/vectors/cli.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "node/daemon.h"
#include "support/chain_harness.h"
#include "support/golden.h"

namespace rhizome::cli {
namespace {

class OperatingErrors : public ::testing::Test {
protected:
    using Lines = std::vector<std::vector<std::string>>;

    /// What is refused of these, with places by name.
    std::string refusals(const Lines& lines) {
        std::string all;
        for (const std::vector<std::string>& words : lines) {
            const testing::Ran ran = harness.rhizome(words);
            EXPECT_NE(ran.code, 0) << words[0];
            std::string shown;
            for (const std::string& word : words) shown += " " + (word.size() > 60 ? "LONG" : word);
            all += fmt::format("$ rhizome{}\n{}(exit code {})\n\n", shown, ran.err, ran.code);
        }
        const std::string place = folder.path().native();
        for (std::size_t at = all.find(place); at != std::string::npos; at = all.find(place))
            all.replace(at, place.size(), "DIR");
        return all;
    }
    void start_node() {
        harness.now = runtime::now() - seconds{5};
        harness.init();
        node::DaemonOptions options;
        options.data = harness.data;
        options.version = "1.2.3";
        auto started = node::Daemon::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        daemon = *std::move(started);
        harness.now = runtime::now();
    }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
    std::unique_ptr<node::Daemon> daemon;
};

TEST_F(OperatingErrors, WithoutANode) {
    const std::string root = (folder / "root").native();
    test::expect_golden("cli/no-node-errors.txt", refusals({
                                                      {"status"},
                                                      {"peers"},
                                                      {"down"},
                                                      {"watch"},
                                                      {"recover"},
                                                      {"token", "new"},
                                                      {"token", "list"},
                                                      {"node", "list"},
                                                      {"logs"},
                                                      {"logs", "--since", "soon"},
                                                      {"service", "show", "--program", "/opt/my programs/rhizome"},
                                                      {"service", "uninstall", "--root", root},
                                                      {"join", "10.0.0.7", "--token", "nonsense"},
                                                      {"join", "10.0.0.7"},
                                                      {"up", "--listen", "nowhere"},
                                                      {"up", "--role", "king"},
                                                  }));
}

TEST_F(OperatingErrors, OfTokensRecoveriesAndWatchers) {
    start_node();
    ASSERT_TRUE(daemon);
    const std::string token{harness.data_of({"token", "new"}).text_at({"token"})};
    test::expect_golden("cli/running-node-errors.txt", refusals({
                                                           {"token", "new", "--count", "0"},
                                                           {"token", "new", "--expires", "soon"},
                                                           {"token", "new", "--key", "nobody"},
                                                           {"token", "revoke", "t-none"},
                                                           {"recover"},
                                                           {"recover", "--force"},
                                                           {"recover", "--voter", "m1"},
                                                           {"watch", "--after", "yesterday"},
                                                           {"join", "10.0.0.7", "--token", token},
                                                           {"join", "nowhere:at:all", "--token", token},
                                                       }));
}

}  // namespace
}  // namespace rhizome::cli
