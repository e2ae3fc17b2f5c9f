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

TEST(Guards, TestsTakeChanceFromOneSeedAndWaitForStates) {
    auto files = project_sources();
    for (const char* folder : {"support", "hostile"}) {
        const auto found = read_sources(test::source_root() / "tests" / folder);
        EXPECT_FALSE(found.empty()) << folder;
        for (const SourceFile& file : found)
            files.push_back({fmt::format("tests/{}/{}", folder, file.path), file.text});
    }
    const auto breaches = chance_breaches(files);
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

TEST(GuardScan, FindsTestsThatDrawByThemselves) {
    const char* bad[] = {
        "std::random_device device;",
        "std::mt19937_64 source{7};",
        "std::default_random_engine engine;",
        "::getrandom(&seed, sizeof seed, 0);",
        "const auto seed = runtime::random_number();",
        "runtime::fill_with_entropy(noise);",
        "int x = rand() % 7;",
        "std::ifstream in{\"/dev/urandom\"};",
        "Random random{static_cast<std::uint64_t>(std::time(nullptr))};",
        "Random random(steady_clock::now());",
        "const std::uint64_t seed = clock::now();",
        "Random random{::getpid()};",
        "setenv(\"RC_PARAMS\", \"seed=1\", 1);",
        "int main(int argc, char** argv) { return RUN_ALL_TESTS(); }",
    };
    for (const char* text : bad) {
        EXPECT_EQ(chance_breaches({{"net/a_test.cpp", text}}).size(), 1u) << text;
        EXPECT_EQ(chance_breaches({{"net/a_root_test.cpp", text}}).size(), 1u) << text;
        EXPECT_TRUE(chance_breaches({{"net/a.cpp", text}}).empty()) << text;
        EXPECT_TRUE(chance_breaches({{"net/a_bench.cpp", text}}).empty()) << text;
        EXPECT_TRUE(chance_breaches({{"tests/support/seed.cpp", text}}).empty()) << text;
    }
    EXPECT_EQ(chance_breaches({{"tests/support/a.h", bad[0]}}).size(), 1u);
    EXPECT_EQ(chance_breaches({{"net/testing.h", bad[0]}}).size(), 1u);
    const char* good[] = {
        "Random random{test::seed_for(7)};",
        "const auto bytes = test::fresh_bytes<16>();",
        "// not a std::random_device\nint x;",
        "case 2: return random_number(random);",
        "const std::string why = \"rand() is not asked\";",
        "EXPECT_EQ(operand(), 3);",
        "Random random{seed}; const auto begin = clock::now();",
    };
    for (const char* text : good) {
        const auto breaches = chance_breaches({{"net/a_test.cpp", text}});
        EXPECT_TRUE(breaches.empty()) << text << "\n" << listed(breaches);
    }
}

TEST(GuardScan, FindsTestsThatSleep) {
    const char* bad[] = {
        "std::this_thread::sleep_for(milliseconds{50});",
        "std::this_thread::sleep_until(end);",
        "co_await stream::sleep_for(dawdle);",
        "(void)::usleep(100'000);",
        "(void)::nanosleep(&wait, nullptr);",
        "::sleep(2);",
        "sleep(2);",
        "(void)::poll(nullptr, 0, 3'000);",
        "::select(0, nullptr, nullptr, nullptr, &most);",
        "const auto end = shell(\"sleep 1; cat said\");",
        "auto held = hold_process({.program = \"/bin/sleep\", .arguments = {\"600\"}});",
        "run(R\"(\n  start & sleep 0.5\n)\");",
    };
    for (const char* text : bad) {
        EXPECT_EQ(chance_breaches({{"net/a_kill_test.cpp", text}}).size(), 1u) << text;
        EXPECT_EQ(chance_breaches({{"tests/support/a.h", text}}).size(), 1u) << text;
        EXPECT_TRUE(chance_breaches({{"net/a.cpp", text}}).empty()) << text;
        EXPECT_TRUE(chance_breaches({{"tests/support/waiting.h", text}}).empty()) << text;
    }
    const char* good[] = {
        "EXPECT_TRUE(test::eventually([&] { return is_up(); }));",
        "test::pass_time(milliseconds{100}, \"the pace of a load\");",
        "EXPECT_EQ(::poll(&over, 1, 20'000), 1);",
        "auto asleep = LightChain::begin(chain);",
        "machine.sleep(seconds{3});  // virtual time",
        "// sleep 600 would do\nshell(\"tail -f /dev/null\");",
    };
    for (const char* text : good) {
        const auto breaches = chance_breaches({{"net/a_kill_test.cpp", text}});
        EXPECT_TRUE(breaches.empty()) << text << "\n" << listed(breaches);
    }
}

TEST(GuardScan, NamesFaultsInTheTable) {
    std::vector<std::string> faults;
    (void)parse_layers("base\nledger: base\nledger: base nothing\nmarket: nowhere\n", faults);
    EXPECT_EQ(faults.size(), 4u) << listed(
        faults);  // no colon, twice, base unknown (its line was bad), nowhere unknown
}

}  // namespace
}  // namespace rhizome::guards
