// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/json.h"
#include "cli/testing.h"
#include "cli/tree.h"
#include "node/keystore.h"
#include "runtime/files.h"

/// For tests of the key commands: a folder of cheap keys, and a person who gives prepared answers.
namespace rhizome::cli::testing {

inline constexpr Time kNow = Time::from_unix_seconds(1794778051);  // 2026-11-15T21:27:31Z
inline constexpr std::string_view kPassphrase = "correct horse";

inline std::string read(const std::filesystem::path& path) { return runtime::read_file(path, 1u << 20).value(); }

struct KeyHarness : Harness {
    std::filesystem::path folder;  ///< for everything
    node::Keystore store{folder / "keys"};
    std::deque<std::string> answers;   ///< to prompts, the first one first
    std::vector<std::string> prompts;  ///< that were asked

    explicit KeyHarness(std::filesystem::path folder_in) : folder(std::move(folder_in)) {
        console.now = [] { return kNow; };
        console.ask_passphrase = [this](std::string_view prompt) -> Result<SecretBytes> {
            prompts.emplace_back(prompt);
            if (answers.empty()) return fail(ErrorKind::Denied, "nobody answers");
            SecretBytes answer{as_bytes(answers.front())};
            answers.pop_front();
            return answer;
        };
    }

    /// `rhizome key …` with this folder of keys.
    Ran key(std::vector<std::string> words) {
        words.insert(words.begin(), {"key"});
        words.insert(words.begin() + 2, {"--keys", store.folder().native()});
        return run(command_tree(), words);
    }

    crypto::KeyFileInfo make(std::string_view name, std::optional<std::string_view> passphrase = kPassphrase) const {
        const auto bytes = passphrase ? std::optional{as_bytes(*passphrase)} : std::nullopt;
        return store.create(name, bytes, kNow, crypto::kKdfCostMin).value();
    }

    /// A file of that name in the key folder, whatever it holds.
    void write_key(std::string_view name, std::string_view text) const {
        ensure(runtime::make_folder(store.folder(), 0700).has_value(), "the key folder can be made");
        // Not through the runtime, which waits for the disk each time.
        std::ofstream{store.path_of(name), std::ios::binary | std::ios::trunc} << text;
        std::filesystem::permissions(store.path_of(name), static_cast<std::filesystem::perms>(0600));
    }

    /// A key whose file rotted: one digit of its sealed secret is another. Gives the text it has now.
    std::string spoil(std::string_view name) const {
        if (!std::filesystem::exists(store.path_of(name))) make(name);
        auto text = read(store.path_of(name));
        const auto digit = text.find("\"sealed\"") + 12;
        text[digit] = text[digit] == '0' ? '1' : '0';
        write_key(name, text);
        return text;
    }

    /// Another file, beside the key folder.
    [[nodiscard]] std::string write(std::string_view name, std::string_view text, mode_t mode = 0644) const {
        const auto path = folder / name;
        ensure(runtime::replace_file(path, text, mode).has_value(), "a test file can be written");
        return path;
    }
};

}  // namespace rhizome::cli::testing
