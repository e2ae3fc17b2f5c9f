// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/core.h>

#include "cli/text.h"

namespace rhizome::cli {
namespace {

/// A term and what it means; the terms of one list share a column.
struct Entry {
    std::string term;
    std::string meaning;
};

/// Terms wider than this get a line of their own, so that one long option does not squeeze all the others.
constexpr std::size_t kTermMax = 30;

std::string heading(const HelpLook& look, std::string_view text) {
    return "\n" + look.style.paint(Tone::Heading, std::string{text} + ":") + "\n";
}

std::size_t term_column(const std::vector<Entry>& entries) {
    std::size_t column = 0;
    for (const auto& entry : entries) {
        const auto wide = display_width(entry.term);
        if (wide <= kTermMax) column = std::max(column, wide);
    }
    return column;
}

std::string list(const HelpLook& look, const std::vector<Entry>& entries, std::size_t column = 0) {
    column = std::max(column, term_column(entries));
    const std::size_t start = 2 + column + 3;
    const std::size_t room = look.width > start + 20 ? look.width - start : 20;
    std::string out;
    for (const auto& entry : entries) {
        const auto lines = wrap(entry.meaning, room);
        const bool beside = display_width(entry.term) <= column;
        out += "  ";
        out += look.style.paint(Tone::Command, entry.term);
        if (beside && !lines.empty()) out.append(start - 2 - display_width(entry.term), ' ');
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i > 0 || !beside) out.append("\n").append(start, ' ');
            out += lines[i];
        }
        out += '\n';
    }
    return out;
}

std::vector<Entry> option_entries(const std::vector<Option>& options) {
    bool letters = false;
    for (const auto& option : options) letters = letters || option.letter != 0;
    std::vector<Entry> entries;
    for (const auto& option : options) {
        // Long names stand below each other, whether or not there is a short one.
        entries.push_back({(letters && option.letter == 0 ? "    " : "") + option_names(option), option_help(option)});
    }
    return entries;
}

std::vector<Entry> command_entries(const Command& command, std::string_view group, bool any_group) {
    std::vector<Entry> entries;
    for (const auto& below : command.subcommands) {
        if (!below.hidden && (any_group || below.group == group)) entries.push_back({below.name, below.summary});
    }
    return entries;
}

std::string examples(const Command& command, const HelpLook& look) {
    std::string out;
    for (const auto& example : command.examples) {
        if (!out.empty()) out += '\n';
        for (const auto& line : wrap(example.purpose, look.width - 4)) {
            out += "  " + look.style.paint(Tone::Faint, "# " + line) + "\n";
        }
        out += "  " + look.style.paint(Tone::Command, example_line(look.program, example)) + "\n";
    }
    return out;
}

}  // namespace

std::string usage_line(std::string_view program, const CommandPath& path) {
    const auto& command = *path.back();
    auto line = path_text(program, path);
    if (!command.subcommands.empty()) line += command.run ? " [COMMAND]" : " COMMAND";
    for (const auto& option : command.options) {
        if (option.required) line += fmt::format(" --{} {}", option.name, option.value_name);
    }
    line += " [options]";
    for (const auto& argument : command.arguments) {
        const auto name = argument.name + (argument.repeatable ? "..." : "");
        line += argument.required ? " " + name : " [" + name + "]";
    }
    return line;
}

std::string option_names(const Option& option) {
    auto text = option.letter != 0 ? fmt::format("-{}, --{}", option.letter, option.name) : "--" + option.name;
    if (option.takes_value()) text += " " + option.value_name;
    return text;
}

std::string option_help(const Option& option) {
    auto text = option.help;
    std::vector<std::string> names;
    bool described = false;
    for (const auto& choice : option.choices) {
        names.push_back(choice.value);
        described = described || !choice.description.empty();
    }
    if (!names.empty() && !described) text += ": " + join_or(names);
    if (option.repeatable) text += "; may be given several times";
    if (!option.fallback.empty()) text += fmt::format(" (default: {})", option.fallback);
    if (!option.variable.empty()) text += fmt::format(" [${}]", option.variable);
    if (described) {
        for (const auto& choice : option.choices) text += fmt::format("\n- {}: {}", choice.value, choice.description);
    }
    return text;
}

std::string argument_help(const Argument& argument) {
    auto text = argument.help;
    std::vector<std::string> names;
    for (const auto& choice : argument.choices) names.push_back(choice.value);
    if (!names.empty()) text += ": " + join_or(names);
    return text;
}

std::vector<Variable> variables_of(const CommandPath& path) {
    std::vector<Variable> variables;
    for (const auto* option : options_of(path)) {
        if (!option->variable.empty()) {
            variables.push_back({option->variable, fmt::format("used for --{} when that is not given", option->name)});
        }
    }
    const auto add = [&](const Command& command) {
        variables.insert(variables.end(), command.variables.begin(), command.variables.end());
    };
    if (path.size() > 1) add(*path.back());
    add(*path.front());
    return variables;
}

std::string example_line(std::string_view program, const Example& example) {
    constexpr std::string_view kWritten = "rhizome";
    std::string line;
    std::string_view rest{example.command};
    while (!rest.empty()) {
        const bool begins = line.empty() || line.back() == ' ' || line.back() == '(';
        if (begins && rest.starts_with(kWritten) && (rest.size() == kWritten.size() || rest[kWritten.size()] == ' ')) {
            line += program;
            rest.remove_prefix(kWritten.size());
        } else {
            line += rest.front();
            rest.remove_prefix(1);
        }
    }
    return line;
}

std::string render_help(const CommandPath& path, const HelpLook& look) {
    const auto& command = *path.back();
    std::string out;
    for (const auto& line : wrap(command.summary + ".", look.width)) out += line + "\n";
    out += heading(look, "Usage") + "  " + usage_line(look.program, path) + "\n";
    if (!command.details.empty()) out += "\n" + indent(wrap(command.details, look.width), 0);
    if (!command.examples.empty()) out += heading(look, "Examples") + examples(command, look);
    if (!command.arguments.empty()) {
        std::vector<Entry> entries;
        for (const auto& argument : command.arguments) entries.push_back({argument.name, argument_help(argument)});
        out += heading(look, "Arguments") + list(look, entries);
    }
    if (!command.options.empty()) out += heading(look, "Options") + list(look, option_entries(command.options));
    if (!command.subcommands.empty()) {
        out += heading(look, "Commands") + list(look, command_entries(command, "", true));
    }
    out += heading(look, "Global options") + list(look, option_entries(path.front()->global_options));
    if (const auto variables = variables_of(path); !variables.empty()) {
        std::vector<Entry> entries;
        for (const auto& variable : variables) entries.push_back({variable.name, variable.help});
        out += heading(look, "Environment") + list(look, entries);
    }
    if (!command.subcommands.empty()) {
        const auto more =
            fmt::format("Run '{} COMMAND --help' to read more about a command.", path_text(look.program, path));
        out += "\n" + indent(wrap(more, look.width), 0);
    }
    return out;
}

std::string render_overview(const Command& root, const HelpLook& look) {
    std::string out = indent(wrap(root.summary + ".", look.width), 0);
    if (!root.details.empty()) out += "\n" + indent(wrap(root.details, look.width), 0);
    std::vector<std::string> groups;  // in the order the tree names them
    for (const auto& below : root.subcommands) {
        if (!below.hidden && std::find(groups.begin(), groups.end(), below.group) == groups.end()) {
            groups.push_back(below.group);
        }
    }
    const auto column = term_column(command_entries(root, "", true));
    for (const auto& group : groups) {
        out += heading(look, group) + list(look, command_entries(root, group, false), column);
    }
    if (!root.examples.empty()) out += heading(look, "First steps") + examples(root, look);
    out +=
        "\n" + indent(wrap(fmt::format("Run '{} COMMAND --help' to read more about a command, and '{} --help' for the "
                                       "options that all take.",
                                       look.program, look.program),
                           look.width),
                      0);
    return out;
}

}  // namespace rhizome::cli
