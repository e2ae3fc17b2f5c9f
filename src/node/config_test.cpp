// SPDX-License-Identifier: Apache-2.0
#include "node/config.h"

#include <fstream>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "runtime/files.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace rhizome::node {
namespace {

ConfigSources of_file(std::string text) {
    ConfigSources sources;
    sources.file = ConfigFile{"config.yaml", std::move(text)};
    return sources;
}

TEST(Config, AFlagWinsOverTheEnvironmentThatOverTheFileThatOverTheDefault) {
    ConfigSources sources;
    EXPECT_EQ(Config::resolve(sources)->number("mine"), 20u);
    EXPECT_EQ(Config::resolve(sources)->held("mine").where, "default");
    sources.file = ConfigFile{"f.yaml", "# mine\nmine: 30\n"};
    EXPECT_EQ(Config::resolve(sources)->number("mine"), 30u);
    EXPECT_EQ(Config::resolve(sources)->held("mine").where, "f.yaml line 2");
    sources.environment.set("RHIZOME_MINE", "40");
    EXPECT_EQ(Config::resolve(sources)->number("mine"), 40u);
    EXPECT_EQ(Config::resolve(sources)->held("mine").where, "RHIZOME_MINE");
    sources.flags["mine"] = {"50"};
    EXPECT_EQ(Config::resolve(sources)->number("mine"), 50u);
    EXPECT_EQ(Config::resolve(sources)->held("mine").where, "--mine");
    sources.environment.set("RHIZOME_MINE", "");
    sources.flags.clear();
    EXPECT_EQ(Config::resolve(sources)->number("mine"), 30u) << "an empty variable is none";
}

TEST(Config, EveryTypeIsReadFromEverySource) {
    const auto file =
        Config::resolve(of_file("listen: [10.0.0.7, '[::1]:1']\npeers: seed.example.org\nagent: off\n"
                                "capacity: {cpu: 2.5, memory: 8Gi, pods: 30}\n"
                                "log:\n  fileSize: 1Mi\n  level: debug\n"));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->addresses("listen").at(0).text(), "10.0.0.7:7700");
    EXPECT_EQ(file->addresses("listen").at(1).text(), "[::1]:1");
    EXPECT_EQ(file->addresses("peers").at(0).text(), "seed.example.org:7700");
    EXPECT_FALSE(file->is_on("agent"));
    EXPECT_TRUE(file->is_on("lanDiscovery"));
    EXPECT_EQ(file->number("log.fileSize"), 1u << 20);
    EXPECT_EQ(file->text("log.level"), "debug");
    const std::map<std::string, std::uint64_t> wanted{{"cpu", 2'500}, {"memory", 8ull << 30}, {"pods", 30}};
    EXPECT_EQ(file->resources("capacity"), wanted);

    ConfigSources sources;
    sources.environment.set("RHIZOME_PEERS", "a:1,b:2");
    sources.environment.set("RHIZOME_CAPACITY", "cpu=500m,memory=500M");
    sources.flags["listen"] = {"none"};
    sources.flags["no-agent"] = {""};
    const auto other = Config::resolve(sources);
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->addresses("peers").size(), 2u);
    EXPECT_EQ(other->resources("capacity").at("cpu"), 500u);
    EXPECT_EQ(other->resources("capacity").at("memory"), 500'000'000u);
    EXPECT_TRUE(other->addresses("listen").empty());
    EXPECT_FALSE(other->is_on("agent"));
}

TEST(Config, AnEmptyFileAndEmptyKeysSetNothing) {
    for (const auto* text : {"", "# only\n", "---\n", "peers:\nlog:\n"}) {
        const auto config = Config::resolve(of_file(text));
        ASSERT_TRUE(config) << text << config.error().message;
        EXPECT_EQ(config->held("log.level").origin, Origin::Default);
    }
}

/// What an operator reads, kept word for word.
TEST(Config, WhatIsWrongIsSaidWithItsPlaceAndWhatIsWanted) {
    const struct {
        const char* file;
        const char* variable;
        const char* value;
        const char* flag;
        const char* given;
    } rows[] = {
        {"mine: 20\nlissten: 1.2.3.4:1\n", "", "", "", ""},
        {"log:\n  levl: info\n", "", "", "", ""},
        {"frobnicate: 1\n", "", "", "", ""},
        {"mine: 101\n", "", "", "", ""},
        {"log: debug\n", "", "", "", ""},
        {"log:\n  level: inof\n", "", "", "", ""},
        {"log:\n  fileSize: 1Ki\n", "", "", "", ""},
        {"mine: [1]\n", "", "", "", ""},
        {"listen: {a: 1}\n", "", "", "", ""},
        {"peers: [':1:2:']\n", "", "", "", ""},
        {"agent: maybe\n", "", "", "", ""},
        {"capacity: {memroy: 1Gi}\n", "", "", "", ""},
        {"capacity: {cpu: many}\n", "", "", "", ""},
        {"capacity: 4\n", "", "", "", ""},
        {"- mine\n", "", "", "", ""},
        {"mine: 1\nmine: 2\n", "", "", "", ""},
        {"mine: [\n", "", "", "", ""},
        {"", "RHIZOME_MINE", "lots", "", ""},
        {"", "RHIZOME_AGENT", "0", "", ""},
        {"", "", "", "mine", "-1"},
        {"", "", "", "capacity", "cpu"},
    };
    std::string all;
    for (const auto& row : rows) {
        ConfigSources sources = of_file(row.file);
        if (*row.variable != 0) sources.environment.set(row.variable, row.value);
        if (*row.flag != 0) sources.flags[row.flag] = {row.given};
        const auto config = Config::resolve(sources);
        ASSERT_FALSE(config) << row.file;
        EXPECT_EQ(config.error().kind, *row.file != 0 ? ErrorKind::Invalid : ErrorKind::Usage);
        all += config.error().message + "\n\n";
    }
    test::expect_golden("node/config-errors.txt", all);
}

TEST(Config, AFileBeyondTheBoundsIsRefused) {
    EXPECT_EQ(Config::resolve(of_file(std::string(20, '['))).error().kind, ErrorKind::Exhausted);
    EXPECT_EQ(Config::resolve(of_file(std::string(kConfigBytesMax + 1, '#'))).error().kind, ErrorKind::Exhausted);
}

TEST(Config, TheFileIsLookedForWhereItIsSaidToBe) {
    const test::TempFolder folder;
    const auto named = folder / "other.yaml";
    EXPECT_FALSE(find_config_file(folder.path(), named.native())) << "one that is named must exist";
    std::ofstream{folder / "config.yaml"} << "mine: 1\n";
    const auto found = find_config_file(folder.path(), std::nullopt);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->name, (folder / "config.yaml").native());
    std::ofstream{named} << "mine: 2\n";
    EXPECT_EQ((*find_config_file(folder.path(), named.native()))->text, "mine: 2\n");
    std::ofstream{named} << std::string(kConfigBytesMax + 1, '#');
    EXPECT_EQ(find_config_file(folder.path(), named.native()).error().kind, ErrorKind::Exhausted);
}

TEST(Config, TheTableIsWhole) {
    std::set<std::string_view> keys;
    std::set<std::string_view> flags;
    std::set<std::string_view> variables;
    for (const Setting& one : settings()) {
        EXPECT_TRUE(keys.insert(one.key).second) << one.key;
        EXPECT_TRUE(flags.insert(one.flag).second) << one.flag;
        EXPECT_TRUE(variables.insert(one.variable).second && one.variable.starts_with("RHIZOME_")) << one.variable;
        EXPECT_FALSE(one.fallback.empty() && one.otherwise.empty()) << one.key << " says what holds without it";
        EXPECT_EQ(one.type == SettingType::Switch, one.flag.starts_with("no-")) << one.key;
        EXPECT_FALSE(one.doc.empty() || one.doc.ends_with('.')) << one.key;
    }
    EXPECT_TRUE(Config::resolve({})) << "the defaults are good";
}

TEST(Config, TheTemplateSaysTheDefaults) {
    std::string text = settings_template();
    EXPECT_EQ(yaml::parse_all(text)->size(), 0u) << "all of it is comments";
    // A setting's own line has no blank behind its #.
    std::string set;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        if (text[at] == '#' && text[at + 1] != '\n' && (text[at + 1] != ' ' || text.substr(at + 1, 2) == "  "))
            set += text.substr(at + 1, text.find('\n', at) - at);
    const auto config = Config::resolve(of_file(set));
    ASSERT_TRUE(config) << config.error().message << "\n" << set;
    for (const Setting& one : settings())
        if (!one.fallback.empty()) {
            EXPECT_EQ(config->held(one.key).origin, Origin::File) << one.key;
            EXPECT_EQ(config->held(one.key).values, Config::resolve({})->held(one.key).values) << one.key;
        }
}

TEST(Config, TheManualHasTheTable) {
    const auto path = test::source_root() / "docs/operating/configuration.md";
    const auto manual = runtime::read_file(path, 1u << 20);
    ASSERT_TRUE(manual) << manual.error().message;
    EXPECT_NE(manual->find(settings_markdown()), std::string::npos) << "put this into " << path << ":\n"
                                                                    << settings_markdown();
}

TEST(Quantities, AreReadAsKubernetesWritesThem) {
    const struct {
        const char* text;
        std::optional<std::uint64_t> cpu;
        std::optional<std::uint64_t> bytes;
    } rows[] = {{"1", 1'000, 1},
                {"500m", 500, std::nullopt},
                {"0.5", 500, std::nullopt},
                {"2.125", 2'125, std::nullopt},
                {"1.0001", std::nullopt, std::nullopt},
                {"16Mi", std::nullopt, 16u << 20},
                {"3k", std::nullopt, 3'000},
                {"-1", std::nullopt, std::nullopt},
                {"", std::nullopt, std::nullopt},
                {"Mi", std::nullopt, std::nullopt},
                {"99999999999999999999", std::nullopt, std::nullopt},
                {"18446744073709551615Ki", std::nullopt, std::nullopt}};
    for (const auto& row : rows) {
        EXPECT_EQ(parse_cpu(row.text), row.cpu) << row.text;
        EXPECT_EQ(parse_bytes(row.text), row.bytes) << row.text;
    }
}

}  // namespace
}  // namespace rhizome::node
