// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_file.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::runtime {
namespace {

TEST(LogFile, KeepsTheNewestLinesWithinItsBounds) {
    const test::TempFolder folder;
    const auto path = folder / "log";
    const auto sink = LogFile::open({.file = path, .bytes_max = 1'000, .files_max = 3});
    ASSERT_TRUE(sink);
    const Log log{**sink};
    for (int i = 0; i < 100; ++i) log.info("it happened", {{"number", i}});
    const auto files = log_files(path);
    ASSERT_EQ(files.size(), 3u) << "the third and the fourth begin anew";
    EXPECT_EQ(files.back(), path);
    int expected = -1;
    for (const auto& file : files) {
        const auto text = read_file(file, 1u << 20);
        ASSERT_TRUE(text);
        EXPECT_LE(text->size(), 1'000u);
        for (std::size_t at = 0; at < text->size(); at = text->find('\n', at) + 1) {
            const auto line = json::parse(text->substr(at, text->find('\n', at) - at));
            ASSERT_TRUE(line);
            const auto number = line->find_path({"fields", "number"})->if_int64();
            ASSERT_TRUE(number);
            if (expected >= 0) {
                EXPECT_EQ(*number, expected) << "no line is lost in between";
            }
            expected = static_cast<int>(*number) + 1;
        }
    }
    EXPECT_EQ(expected, 100);
}

TEST(LogFile, GoesOnWithTheFileThereIs) {
    const test::TempFolder folder;
    const auto path = folder / "log";
    for (int run = 0; run < 2; ++run) {
        const auto sink = LogFile::open({.file = path, .form = LogForm::Text});
        ASSERT_TRUE(sink);
        Log{**sink}.warn("started", {{"run", run}});
    }
    const auto text = read_file(path, 1u << 20);
    ASSERT_TRUE(text);
    EXPECT_NE(text->find("warn  started run=0\n"), std::string::npos) << *text;
    EXPECT_NE(text->find("warn  started run=1\n"), std::string::npos) << *text;
    EXPECT_FALSE(LogFile::open({.file = folder / "missing/log"}));
}

TEST(LogFile, TellsHowManyLinesAFullDiskCost) {
    // /dev/full takes nothing, as a full disk does; behind a link, so that it can become a real file.
    const test::TempFolder folder;
    const auto path = folder / "log";
    std::filesystem::create_symlink("/dev/full", path);
    const auto sink = LogFile::open({.file = path, .bytes_max = 1'000, .files_max = 1});
    ASSERT_TRUE(sink);
    const Log log{**sink};
    for (int i = 0; i < 3; ++i) log.info("lost");
    std::filesystem::remove(path);
    log.info("kept");
    const auto text = read_file(path, 1'000);
    ASSERT_TRUE(text);
    EXPECT_NE(text->find(R"("event":"lines of the log were lost","fields":{"lines":3})"), std::string::npos) << *text;
    EXPECT_NE(text->find("kept"), std::string::npos) << *text;
    EXPECT_EQ(text->find(R"("event":"lost")"), std::string::npos) << *text;
}

TEST(LogFile, LinesOfManyThreadsStayWhole) {
    const test::TempFolder folder;
    const auto path = folder / "log";
    const auto sink = LogFile::open({.file = path, .bytes_max = 20'000, .files_max = 50});
    ASSERT_TRUE(sink);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const Log log{**sink};
            for (int i = 0; i < 200; ++i) log.info("line", {{"thread", t}, {"number", i}});
        });
    for (auto& thread : threads) thread.join();
    std::size_t lines = 0;
    for (const auto& file : log_files(path)) {
        const auto text = read_file(file, 1u << 20);
        ASSERT_TRUE(text);
        for (std::size_t at = 0; at < text->size(); at = text->find('\n', at) + 1, ++lines)
            ASSERT_TRUE(json::parse(text->substr(at, text->find('\n', at) - at)));
    }
    EXPECT_EQ(lines, 800u);
}

}  // namespace
}  // namespace rhizome::runtime
