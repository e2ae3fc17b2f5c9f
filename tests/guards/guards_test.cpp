// SPDX-License-Identifier: Apache-2.0
#include "guards/source_scan.h"

#include <gtest/gtest.h>

#include "support/vectors.h"

namespace rhizome::guards {
namespace {

std::string listed(const std::vector<std::string>& breaches) {
    std::string text;
    for (const auto& breach : breaches) text += "  " + breach + "\n";
    return text;
}

Layers project_layers() {
    std::vector<std::string> faults;
    const auto text = test::read_file(test::source_root() / "src" / "layers.txt");
    EXPECT_TRUE(text) << "src/layers.txt is missing";
    Layers layers = parse_layers(text.value_or(""), faults);
    EXPECT_TRUE(faults.empty()) << listed(faults);
    return layers;
}

std::vector<SourceFile> project_sources() {
    auto files = read_sources(test::source_root() / "src");
    EXPECT_GT(files.size(), 20u) << "the sources were not found";
    return files;
}

TEST(Guards, EveryIncludePointsDownTheMap) {
    const auto breaches = layer_breaches(project_sources(), project_layers());
    EXPECT_TRUE(breaches.empty()) << listed(breaches);
}

TEST(Guards, PublicHeadersStayCheap) {
    const auto breaches = header_breaches(project_sources(), project_layers());
    EXPECT_TRUE(breaches.empty()) << listed(breaches);
}

TEST(Guards, DecidingFilesTouchNothing) {
    const auto breaches = word_breaches(project_sources(), project_layers());
    EXPECT_TRUE(breaches.empty()) << listed(breaches);
}

TEST(Guards, SuitesCarryTheLabelOfTheirFile) {
    const auto breaches = suite_breaches(
        project_sources(), {"unit", "vectors", "property", "sim", "kill", "root", "kubectl", "oracle", "soak", "fuzz"});
    EXPECT_TRUE(breaches.empty()) << listed(breaches);
}

TEST(Guards, EveryFileNamesItsLicence) {
    for (const SourceFile& file : project_sources())
        EXPECT_TRUE(file.text.starts_with("// SPDX-License-Identifier: Apache-2.0\n")) << file.path;
}

TEST(Guards, EveryModuleHasAPage) {
    std::set<std::string> modules;
    for (const SourceFile& file : project_sources()) modules.insert(file.module());
    for (const std::string& module : modules)
        EXPECT_TRUE(std::filesystem::exists(test::source_root() / "src" / module / "README.md")) << module;
}

// ---- the guards themselves can fail ------------------------------------------------------------------------------

Layers small_layers() {
    std::vector<std::string> faults;
    Layers layers =
        parse_layers("base:\nledger: base\nmarket: ledger base\nmarket/io: net\nnet: base\nacts: net\n", faults);
    EXPECT_TRUE(faults.empty()) << listed(faults);
    return layers;
}

TEST(GuardScan, FindsIncludesThatPointUpOrSideways) {
    const struct {
        SourceFile file;
        const char* expected;  // part of the sentence; empty: allowed
    } rows[] = {
        {{"ledger/a.h", "#include \"base/x.h\"\n"}, ""},
        {{"ledger/a.h", "#include \"ledger/detail/x.h\"\n"}, ""},
        {{"base/a.cpp", "#include \"ledger/x.h\"\n"}, "base may not include ledger"},
        {{"base/a_test.cpp", "#include \"ledger/x.h\"\n"}, ""},
        {{"market/a.cpp", "#include \"ledger/detail/x.h\"\n"}, "private"},
        {{"market/a.cpp", "#include \"market/io/x.h\"\n"}, "never includes an acting one"},
        {{"market/a.cpp", "#include \"net/x.h\"\n"}, "market may not include net"},
        {{"market/io/a.cpp", "#include \"net/x.h\"\n"}, ""},
        {{"ledger/a.cpp", "#include \"a.h\"\n"}, "start at src/"},
        {{"ledger/a.cpp", "#include \"nowhere/a.h\"\n"}, "no module"},
        {{"nowhere/a.cpp", ""}, "no module"},
    };
    for (const auto& row : rows) {
        const auto breaches = layer_breaches({row.file}, small_layers());
        if (*row.expected == '\0') {
            EXPECT_TRUE(breaches.empty()) << row.file.path << listed(breaches);
        } else {
            ASSERT_EQ(breaches.size(), 1u) << row.file.path << ' ' << row.file.text;
            EXPECT_NE(breaches[0].find(row.expected), std::string::npos) << breaches[0];
        }
    }
}

TEST(GuardScan, FindsForbiddenWordsInCodeOnly) {
    const char* bad[] = {
        "auto t = std::chrono::steady_clock::now();",
        "auto t = time(nullptr);",
        "std::random_device device;",
        "char* home = getenv(\"HOME\");",
        "std::thread worker;",
        "std::shared_mutex lock;",
        "double share = 0;",
        "int s = socket(1, 2, 3);",
        "std::ifstream in;",
        "std::unordered_map<int, std::vector<int>> seen;\nvoid f() { for (auto& [a, b] : seen) use(a, b); }",
        "std::unordered_set<int> seen_;\nauto f() { return seen_.begin(); }",
    };
    for (const char* text : bad) {
        EXPECT_FALSE(word_breaches({{"ledger/a.cpp", text}}, small_layers()).empty()) << text;
        EXPECT_TRUE(word_breaches({{"net/a.cpp", text}}, small_layers()).empty()) << text;
        EXPECT_TRUE(word_breaches({{"market/io/a.cpp", text}}, small_layers()).empty()) << text;
        EXPECT_TRUE(word_breaches({{"ledger/a_test.cpp", text}}, small_layers()).empty()) << text;
    }
    const char* good[] = {
        "// a double spend, asked of the steady_clock\nint x;",
        "/* float */ int x;",
        "auto why = \"no double here\";",
        "auto why = R\"(std::thread)\";",
        "std::unordered_map<int, int> seen;\nbool f() { return seen.contains(1); }",
        "block_time(parent);",
        "int doubled = 2;",
        "constexpr auto big = 1'000'000; int y = 'x';",
    };
    for (const char* text : good) {
        const auto breaches = word_breaches({{"ledger/a.cpp", text}}, small_layers());
        EXPECT_TRUE(breaches.empty()) << text << "\n" << listed(breaches);
    }
}

TEST(GuardScan, FindsWalksOverMembersDeclaredInTheHeader) {
    const auto breaches = word_breaches({{"ledger/a.h", "struct A { std::unordered_map<int, int> by_id_; };"},
                                         {"ledger/a.cpp", "void A::f() { for (auto& x : by_id_) g(x); }"}},
                                        small_layers());
    EXPECT_EQ(breaches.size(), 1u) << listed(breaches);
}

TEST(GuardScan, FindsDearHeaders) {
    const auto breaches = [](std::string path, std::string includes) {
        return header_breaches({{std::move(path), "#pragma once\n" + includes}}, small_layers()).size();
    };
    EXPECT_EQ(breaches("net/a.h", "#include <boost/asio.hpp>\n"), 1u);
    EXPECT_EQ(breaches("net/a.h", "#include <sys/types.h>\n#include <unistd.h>\n"), 0u);
    EXPECT_EQ(breaches("ledger/a.h", "#include <unistd.h>\n"), 1u);
    EXPECT_EQ(breaches("ledger/detail/a.h", "#include <emmintrin.h>\n"), 0u);
    EXPECT_EQ(breaches("ledger/a.h", "#include <vector>\n#include <fmt/core.h>\n"), 0u);
    EXPECT_EQ(header_breaches({{"net/a.h", "#include <vector>\n"}}, small_layers()).size(), 1u);
}

TEST(GuardScan, FindsSuitesThatNoLabelWouldRun) {
    const std::vector<std::string> labels{"unit", "vectors"};
    EXPECT_EQ(suite_breaches({{"base/a_vectors_test.cpp", "TEST(Json, Reads) {}"}}, labels).size(), 1u);
    EXPECT_EQ(suite_breaches({{"base/a_test.cpp", "TEST(JsonVectors, Reads) {}"}}, labels).size(), 1u);
    EXPECT_TRUE(suite_breaches({{"base/a_vectors_test.cpp", "TEST(JsonVectors, Reads) {}"}}, labels).empty());
    EXPECT_TRUE(suite_breaches({{"base/a_test.cpp", "TEST(Json, Reads) {}"}}, labels).empty());
}

TEST(GuardScan, NamesFaultsInTheTable) {
    std::vector<std::string> faults;
    (void)parse_layers("base\nledger: base\nledger: base nothing\nmarket: nowhere\n", faults);
    EXPECT_EQ(faults.size(), 4u) << listed(
        faults);  // no colon, twice, base unknown (its line was bad), nowhere unknown
}

}  // namespace
}  // namespace rhizome::guards
