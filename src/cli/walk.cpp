// SPDX-License-Identifier: Apache-2.0
#include "cli/walk.h"

namespace rhizome::cli {
namespace {

const Option* by_name(const std::vector<const Option*>& known, std::string_view name) {
    for (const auto* option : known) {
        if (option->name == name) return option;
    }
    return nullptr;
}

const Option* by_letter(const std::vector<const Option*>& known, char letter) {
    for (const auto* option : known) {
        if (option->letter != 0 && option->letter == letter) return option;
    }
    return nullptr;
}

OptionWord read_long(const std::vector<const Option*>& known, std::string_view word) {
    const auto equals = word.find('=');
    OptionWord read;
    read.typed = word.substr(0, equals);
    read.option = by_name(known, word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
    if (equals != std::string_view::npos) read.value = word.substr(equals + 1);
    return read;
}

OptionWord read_cluster(const std::vector<const Option*>& known, std::string_view word) {
    OptionWord read;
    for (std::size_t i = 1; i < word.size(); ++i) {
        const auto* option = by_letter(known, word[i]);
        read.typed = std::string{'-', word[i]};
        if (option == nullptr) {
            read.option = nullptr;
            return read;
        }
        if (read.option != nullptr) read.flags.push_back(read.option);
        read.option = option;
        if (!option->takes_value()) continue;
        auto rest = word.substr(i + 1);
        if (rest.starts_with('=')) {
            read.value = rest.substr(1);
        } else if (!rest.empty()) {
            read.value = rest;
        }
        return read;
    }
    return read;
}

/// Takes one option word into the walk.
void take_option(Walk& walk, const std::vector<const Option*>& known, std::string_view word) {
    const auto read = read_option(known, word);
    for (const auto* flag : read.flags) walk.options[flag->name].emplace_back();
    if (read.option == nullptr) {
        if (!walk.unknown_option) walk.unknown_option = read.typed;
        return;
    }
    if (!read.option->takes_value()) {
        if (read.value && walk.flag_with_value == nullptr) walk.flag_with_value = read.option;
        walk.options[read.option->name].emplace_back();
    } else if (read.value) {
        walk.options[read.option->name].push_back(*read.value);
    } else {
        walk.pending = read.option;
    }
}

}  // namespace

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

OptionWord read_option(const std::vector<const Option*>& known, std::string_view word) {
    return word.starts_with("--") ? read_long(known, word) : read_cluster(known, word);
}

Walk walk(const Command& root, std::span<const std::string> words) {
    Walk result{.path = {&root}, .arguments = {}, .options = {}};
    auto known = options_of(result.path);
    for (const auto& word : words) {
        if (result.pending != nullptr) {
            result.options[result.pending->name].push_back(word);
            result.pending = nullptr;
        } else if (result.only_arguments) {
            result.arguments.push_back(word);
        } else if (word == "--") {
            result.only_arguments = true;
        } else if (looks_like_option(word)) {
            take_option(result, known, word);
        } else if (!result.path.back()->subcommands.empty()) {
            const auto* below = result.path.back()->find(word);
            if (below == nullptr) {
                result.unknown_command = word;
                return result;
            }
            result.path.push_back(below);
            known = options_of(result.path);
        } else {
            result.arguments.push_back(word);
        }
    }
    return result;
}

}  // namespace rhizome::cli
