// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace rhizome::cli {

/// How far a command line makes sense, found by walking the tree along its words. Never fails: completion works on half
/// a line, help on a wrong one, and error messages need to know where it went wrong. The parser decides what is
/// accepted.
struct Walk {
    CommandPath path;                                         ///< the root first
    std::vector<std::string> arguments;                       ///< of the last command in the path
    std::map<std::string, std::vector<std::string>> options;  ///< by long name; a flag has one empty value per use
    const Option* pending = nullptr;                          ///< the last word is an option that still wants its value
    bool only_arguments = false;                              ///< a `--` was among the words
    std::optional<std::string> unknown_option{};              ///< the first one, as it was typed
    const Option* flag_with_value = nullptr;                  ///< the first flag that was given one: `--force=yes`
    std::optional<std::string> unknown_command{};             ///< the walk ended here

    [[nodiscard]] bool has(const std::string& option) const { return options.contains(option); }
};
Walk walk(const Command& root, std::span<const std::string> words);

/// What a word that begins with a dash names: `--output=json` is the option and its value; `-sojson` is the last option
/// of the cluster and its value, the others being flags.
struct OptionWord {
    std::vector<const Option*> flags{};  ///< the flags of a cluster before the last option
    const Option* option = nullptr;      ///< none when the name is unknown
    std::optional<std::string> value{};
    std::string typed{};  ///< `--output`, `-o`: what to show in an error
};
bool looks_like_option(std::string_view word);
OptionWord read_option(const std::vector<const Option*>& known, std::string_view word);

}  // namespace rhizome::cli
