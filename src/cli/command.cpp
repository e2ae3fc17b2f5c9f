// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <set>

#include <fmt/core.h>

namespace rhizome::cli {
namespace {

void check_text(const std::string& where, std::string_view what, const std::string& text, bool sentence,
                std::vector<std::string>& out) {
    if (text.empty()) {
        out.push_back(fmt::format("{}: {} is empty", where, what));
        return;
    }
    if (text.back() == '.') out.push_back(fmt::format("{}: {} ends with a full stop", where, what));
    const bool upper = text.front() >= 'A' && text.front() <= 'Z';
    if (sentence && !upper) out.push_back(fmt::format("{}: {} begins with a lower-case letter", where, what));
}

void check_options(const std::string& where, const CommandPath& path, std::vector<std::string>& out) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const auto* option : options_of(path)) {
        const auto here = where + " --" + option->name;
        if (option->name.size() < 2) out.push_back(here + ": an option needs a long name");
        if (!names.insert(option->name).second) out.push_back(here + ": stands twice");
        if (option->letter != 0 && !letters.insert(option->letter).second) {
            out.push_back(fmt::format("{}: -{} is taken", here, option->letter));
        }
        check_text(here, "help", option->help, false, out);
        // It may stand before the command's name, and then could not be told from the other one.
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            for (const auto& above : path[i]->options) {
                if (above.name == option->name) out.push_back(here + ": a command above has an option of that name");
            }
        }
        if (!option->takes_value() && (!option->fallback.empty() || !option->choices.empty() || option->required)) {
            out.push_back(here + ": a flag has neither a default nor choices and cannot be required");
        }
    }
}

void check_arguments(const std::string& where, const Command& command, std::vector<std::string>& out) {
    if (!command.arguments.empty() && !command.subcommands.empty()) {
        out.push_back(where + ": takes arguments and has subcommands, which cannot be told apart");
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
        const auto& argument = command.arguments[i];
        const auto here = where + " " + argument.name;
        if (!names.insert(argument.name).second) out.push_back(here + ": stands twice");
        check_text(here, "help", argument.help, false, out);
        if (argument.repeatable && i + 1 < command.arguments.size()) out.push_back(here + ": only the last may repeat");
        if (argument.required && i > 0 && !command.arguments[i - 1].required) {
            out.push_back(here + ": follows an optional argument");
        }
    }
}

void check(CommandPath& path, std::vector<std::string>& out) {
    const auto& command = *path.back();
    const auto where = path_text(path.front()->name, path);
    check_text(where, "summary", command.summary, true, out);
    check_options(where, path, out);
    check_arguments(where, command, out);
    if (!command.run && command.subcommands.empty()) out.push_back(where + ": does nothing and has no subcommands");
    if (path.size() > 1 && !command.global_options.empty()) out.push_back(where + ": only the root has global options");
    std::set<std::string> names;
    for (const auto& below : command.subcommands) {
        if (!names.insert(below.name).second) out.push_back(fmt::format("{} {}: stands twice", where, below.name));
        path.push_back(&below);
        check(path, out);
        path.pop_back();
    }
}

}  // namespace

const Command* Command::find(std::string_view subcommand) const {
    for (const auto& below : subcommands) {
        if (below.name == subcommand) return &below;
    }
    return nullptr;
}

std::string path_text(std::string_view program, const CommandPath& path) {
    std::string text{program};
    for (std::size_t i = 1; i < path.size(); ++i) text += " " + path[i]->name;
    return text;
}

std::vector<const Option*> options_of(const CommandPath& path) {
    std::vector<const Option*> all;
    for (const auto& option : path.back()->options) all.push_back(&option);
    for (const auto& option : path.front()->global_options) all.push_back(&option);
    return all;
}

std::vector<std::string> faults(const Command& root) {
    std::vector<std::string> out;
    CommandPath path{&root};
    check(path, out);
    return out;
}

}  // namespace rhizome::cli
