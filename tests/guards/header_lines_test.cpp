// SPDX-License-Identifier: Apache-2.0
#include "guards/header_lines.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support/vectors.h"

namespace rhizome::guards {
namespace {

/// `src/a/b.h` has `lines` lines, of which the first are these includes.
SourceFile header(const std::string& path, std::size_t lines, const std::vector<std::string>& includes = {}) {
    std::string text;
    for (const std::string& include : includes) text += "#include \"" + include + "\"\n";
    text.append(lines - includes.size(), '\n');
    return {path, text};
}

TEST(Guards, OwnHeadersOfAModuleDoNotGrow) {
    const auto bounds = test::read_file(test::source_root() / "tests" / "guards" / "header_lines.txt");
    ASSERT_TRUE(bounds);
    const auto breaches = header_cost_breaches(read_sources(test::source_root() / "src"), *bounds);
    EXPECT_TRUE(breaches.empty()) << fmt::format("{}", fmt::join(breaches, "\n"));
}

TEST(HeaderLines, CountsWhatAFileReachesOnce) {
    const std::vector<SourceFile> files{
        header("base/a.h", 100),
        header("base/b.h", 50, {"base/a.h"}),
        header("base/circle.h", 7, {"base/circle.h", "base/nowhere.h"}),
        {"base/b.cpp", "#include \"base/b.h\"\n#include \"base/a.h\"\n#include <vector>\n"},
        {"base/c.cpp", "#include \"base/circle.h\"\n// #include \"base/a.h\"\n"},
        {"base/b_test.cpp", "#include \"base/a.h\"\n"},
        {"base/b_bench.cpp", "#include \"base/a.h\"\n"},
        {"net/io/x.cpp", "#include \"base/b.h\"\n"},
    };
    const auto costs = header_costs(files);
    ASSERT_EQ(costs.size(), 2u);
    EXPECT_EQ(costs.at("base").mean, (150u + 7u) / 2);
    EXPECT_EQ(costs.at("net").mean, 150u);
    EXPECT_EQ(costs.at("base").dearest.front(), "base/a.h (100 lines in 1 of 2 files)");
}

TEST(HeaderLines, FindsAHeaderThatGrowsAndABoundThatBoundsNothing) {
    const auto breaches = [](std::size_t lines, std::string_view bounds) {
        return header_cost_breaches({header("base/a.h", lines), {"base/a.cpp", "#include \"base/a.h\"\n"}}, bounds);
    };
    EXPECT_TRUE(breaches(1'000, "# lines\nbase 1000  # as it is\n").empty());
    EXPECT_TRUE(breaches(1'000, "base 1100\n").empty());
    const auto grown = breaches(1'001, "base 1000\n");
    ASSERT_EQ(grown.size(), 1u);
    EXPECT_NE(grown.front().find("base/a.h (1001 lines in 1 of 1 files)"), std::string::npos) << grown.front();
    EXPECT_EQ(breaches(1'000, "base 1200\n").size(), 1u);
    EXPECT_EQ(breaches(1'000, "").size(), 1u);
    EXPECT_EQ(breaches(1'000, "base 1000\nbase 1000\n").size(), 1u);
    EXPECT_EQ(breaches(1'000, "base 1000\nnet 10\n").size(), 1u);
    EXPECT_EQ(breaches(1'000, "base many\n").size(), 2u);
}

}  // namespace
}  // namespace rhizome::guards
