// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/commands/node/log_lines.h"
#include "runtime/log_file.h"
#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

using testing::has;
using testing::Ran;

constexpr std::string_view kLines =
    R"({"time":"2026-11-15T20:00:00.000Z","level":"info","event":"the node runs","fields":{"height":1}})"
    "\n"
    R"({"time":"2026-11-15T21:00:00.000Z","level":"warn","area":"peers","event":"dropped","fields":{"why":"too slow"}})"
    "\n"
    "a library says \x1b[31mthis\n"
    R"({"time":"2026-11-15T21:27:00.000Z","level":"debug","event":"a block","fields":{"final":true}})"
    "\n";

class LogsCommand : public ::testing::Test {
protected:
    LogsCommand() { std::filesystem::create_directories(std::filesystem::path{harness.data} / "node"); }
    void write(std::string_view text) { (void)harness.write("data/node/log", text); }
    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
};

TEST_F(LogsCommand, ShowsLinesForPeopleAndLeavesThemForPrograms) {
    write(kLines);
    EXPECT_EQ(harness.good({"logs"}), kLines) << "no terminal reads it";
    EXPECT_EQ(harness.good({"logs", "--format", "text"}),
              "2026-11-15T20:00:00.000Z info  the node runs height=1\n"
              "2026-11-15T21:00:00.000Z warn  peers: dropped why=\"too slow\"\n"
              "a library says ?[31mthis\n"
              "2026-11-15T21:27:00.000Z debug a block final=true\n");
    harness.console.out_is_terminal = true;
    EXPECT_TRUE(has(harness.good({"logs"}), "info  the node runs height=1\n"));
}

TEST_F(LogsCommand, FiltersByTimeLevelAndNumber) {
    write(kLines);  // it is 21:27:31
    const auto lines = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"logs", "--format", "text"});
        const std::string text = harness.good(words);
        return std::count(text.begin(), text.end(), '\n');
    };
    EXPECT_EQ(lines({"--since", "1h"}), 3) << "what cannot be read goes with the line before it";
    EXPECT_EQ(lines({"--since", "1m"}), 1);
    EXPECT_EQ(lines({"--since", "2026-11-15T21:00:00Z"}), 3);
    EXPECT_EQ(lines({"--level", "info"}), 3);
    EXPECT_EQ(lines({"--level", "error"}), 0);
    EXPECT_EQ(lines({"--tail", "1"}), 1);
    EXPECT_TRUE(has(harness.good({"logs", "--tail", "1"}), "a block"));
    const Ran bad = harness.rhizome({"logs", "--since", "soon"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_EQ(bad.err,
              "error: --since soon is neither a duration such as 10m nor a time such as 2026-11-15T21:27:31Z\n");
}

TEST_F(LogsCommand, SaysWhereALogWouldBe) {
    const Ran ran = harness.rhizome({"logs"});
    EXPECT_EQ(ran.code, 3);
    EXPECT_EQ(ran.err, "error: there is no log in " + harness.data +
                           "/node/log\nhint: a node in the background logs there ('rhizome up --detach'); one in a "
                           "terminal logs to it, one of systemd to the journal: journalctl -u rhizome\n");
    const auto other = harness.write("other.log", kLines);
    (void)harness.write("data/config.yaml", "log: {file: " + other + "}\n");
    EXPECT_EQ(harness.good({"logs"}), kLines) << "where the settings say";
}

TEST_F(LogsCommand, FollowsALogThatIsPutAside) {
    const auto path = std::filesystem::path{harness.data} / "node" / "log";
    const auto sink = runtime::LogFile::open({.file = path, .bytes_max = 400, .files_max = 5});
    ASSERT_TRUE(sink);
    const Log log{**sink};
    LogFollower follower{path};
    std::vector<std::string> seen;
    const auto read = [&] {
        return follower.read_new([&](std::string_view line) {
            seen.emplace_back(read_log_line(line).text.substr(31));
            return true;
        });
    };
    EXPECT_TRUE(read()) << "an empty file";
    std::vector<std::string> written;
    for (int i = 0; i < 40; ++i) {
        log.info("line", {{"number", i}});
        written.push_back("line number=" + std::to_string(i));
        if (i % 7 != 0) continue;
        EXPECT_TRUE(read());  // several files begin in between, never more than are kept
    }
    EXPECT_TRUE(read());
    EXPECT_EQ(seen, written) << "every line once, in order";
    log.info("one more");
    EXPECT_FALSE(follower.read_new([](std::string_view) { return false; })) << "whoever has enough says so";
}

}  // namespace
}  // namespace rhizome::cli
