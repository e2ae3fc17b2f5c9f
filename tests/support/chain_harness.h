// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/commands/key/testing.h"
#include "ledger/codec.h"
#include "support/temp_folder.h"

/// For tests of commands on a data directory: one made by `init`, with a key that owns everything in it.
namespace rhizome::cli::testing {

struct ChainHarness : KeyHarness {
    std::string data = (folder / "data").native();
    Time now = kNow;

    explicit ChainHarness(std::filesystem::path folder_in) : KeyHarness(std::move(folder_in)) {
        console.now = [this] { return now; };
        console.environment.set("RHIZOME_KEYS", store.folder().native());
    }

    /// A command on this data directory, unless it names another.
    Ran rhizome(std::vector<std::string> words) {
        console.environment.set("RHIZOME_DATA", data);
        return run(command_tree(), words);
    }
    /// The same; the test fails when the command does. Gives what it printed.
    std::string good(const std::vector<std::string>& words) {
        const Ran ran = rhizome(words);
        EXPECT_EQ(ran.code, 0) << words[0] << " " << (words.size() > 1 ? words[1] : "") << ": " << ran.err;
        return ran.out;
    }
    json::Value data_of(std::vector<std::string> words) {
        words.insert(words.end(), {"-o", "json"});
        const std::string printed = good(words);
        auto value = json::parse(printed);
        EXPECT_TRUE(value) << printed;
        return value ? *std::move(value) : json::Value{};
    }
    void init(const std::string& name = "demo") {
        if (store.find("admin")) {
            good({"init", name, "--node", "n1", "--key", "admin"});
        } else {
            good({"init", name, "--node", "n1"});
        }
    }

    /// A signed transaction in a file: what `tx new` makes of these words.
    std::string signed_tx(const std::string& name, std::vector<std::string> words) {
        const std::string file = folder / name;
        words.insert(words.begin(), {"tx", "new"});
        words.insert(words.end(), {"--out", file});
        good(words);
        good({"tx", "sign", file, "--key", "admin", "--out", file});
        return file;
    }
    std::string document(const std::string& name, std::string_view kind, std::string_view name_space,
                         std::string_view spec = "{}") const {
        return write(name + ".yaml", fmt::format("apiVersion: v1\nkind: {}\nmetadata: {{name: {}, namespace: {}}}\n"
                                                 "spec: {}\n",
                                                 kind, name, name_space, spec));
    }
    /// One more block, with one document in it; a second later than the last.
    json::Value grow(const std::string& name, std::string_view spec = "{}") {
        now = now + seconds{1};
        const auto file = signed_tx(name + ".json", {document(name, "ConfigMap", "default", spec)});
        return data_of({"tx", "submit", file, "--offline"});
    }
};

inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace rhizome::cli::testing
