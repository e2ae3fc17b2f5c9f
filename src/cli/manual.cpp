// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <fmt/core.h>

#include "cli/help.h"
#include "cli/text.h"

namespace rhizome::cli {
namespace {

constexpr std::string_view kProgram = "rhizome";

/// Text that roff shows as it stands: backslashes and dashes escaped, no line that looks like a request.
std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char letter : text) {
        if (line_start && (letter == '.' || letter == '\'')) out += "\\&";
        if (letter == '\\') {
            out += "\\e";
        } else if (letter == '-') {
            out += "\\-";  // a plain one may be drawn as a hyphen, which cannot be pasted into a shell
        } else {
            out += letter;
        }
        line_start = letter == '\n';
    }
    return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

/// An argument of a macro, in its quotes.
std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char letter : roff(text)) out += letter == '"' ? std::string{"\\(dq"} : std::string(1, letter);
    return out + "\"";
}

std::string page_name(const CommandPath& path) {
    std::string name{kProgram};
    for (std::size_t i = 1; i < path.size(); ++i) name += "-" + path[i]->name;
    return name;
}

/// Paragraphs; lines that begin with a blank are shown as they are.
std::string paragraphs(std::string_view text) {
    std::string out;
    bool literal = false;
    bool fresh = true;
    while (!text.empty()) {
        const auto newline = text.find('\n');
        const auto line = text.substr(0, newline);
        text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
        const bool code = line.starts_with(' ');
        if (line.empty()) {
            if (literal) out += ".EE\n";
            literal = false;
            fresh = true;
            continue;
        }
        if (code && !literal) out += ".PP\n.EX\n";
        if (!code && (literal || fresh)) out += literal ? ".EE\n.PP\n" : ".PP\n";
        literal = code;
        fresh = false;
        out += roff(line) + "\n";
    }
    if (literal) out += ".EE\n";
    return out;
}

std::string option_list(const std::vector<Option>& options) {
    std::string out;
    for (const auto& option : options) {
        out += ".TP\n" + (option.letter != 0 ? bold(fmt::format("-{}", option.letter)) + ", " : "") +
               bold("--" + option.name);
        if (option.takes_value()) out += " " + italic(option.value_name);
        out += "\n";
        const auto help = option_help(option);
        const auto newline = help.find('\n');
        out += roff(help.substr(0, newline)) + "\n";
        if (newline == std::string::npos) continue;
        out += ".RS\n";
        for (const auto& choice : option.choices) {
            out += ".TP\n" + bold(choice.value) + "\n" + roff(choice.description) + "\n";
        }
        out += ".RE\n";
    }
    return out;
}

std::string synopsis(const CommandPath& path) {
    const auto& command = *path.back();
    auto line = bold(path_text(kProgram, path));
    if (!command.subcommands.empty()) line += command.run ? " [" + italic("COMMAND") + "]" : " " + italic("COMMAND");
    for (const auto& option : command.options) {
        if (option.required) line += " " + bold("--" + option.name) + " " + italic(option.value_name);
    }
    line += " [" + italic("options") + "]";
    for (const auto& argument : command.arguments) {
        const auto name = italic(argument.name) + (argument.repeatable ? "..." : "");
        line += argument.required ? " " + name : " [" + name + "]";
    }
    return line + "\n";
}

std::string see_also(const CommandPath& path) {
    std::vector<std::string> names;
    if (path.size() > 1) names.push_back(page_name({path.begin(), path.end() - 1}));
    for (const auto& below : path.back()->subcommands) {
        if (!below.hidden) names.push_back(page_name(path) + "-" + below.name);
    }
    if (path.size() == 1) names.push_back("kubectl");
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        out += fmt::format(".BR {} (1){}\n", roff(names[i]), i + 1 < names.size() ? "," : "");
    }
    return out;
}

std::string exit_status() {
    std::string out = ".SH EXIT STATUS\n";
    const std::pair<const char*, const char*> codes[] = {
        {"0", "all went well"},
        {"1", "it failed; stderr says why"},
        {"2", "the command was called wrongly"},
        {"3", "something named does not exist"},
        {"4", "permission was denied"},
        {"5", "it exists already, or changed in the meantime"},
        {"6", "it timed out or could not be reached; trying later may help"},
    };
    for (const auto& [code, meaning] : codes) out += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
    return out;
}

void collect(CommandPath& path, std::string_view version, std::vector<ManualPage>& out) {
    out.push_back(manual_page(path, version));
    for (const auto& below : path.back()->subcommands) {
        if (below.hidden) continue;
        path.push_back(&below);
        collect(path, version, out);
        path.pop_back();
    }
}

}  // namespace

ManualPage manual_page(const CommandPath& path, std::string_view version) {
    const auto& command = *path.back();
    const auto name = page_name(path);
    std::string upper = name;
    for (auto& letter : upper) {
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    }
    std::string text = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made from the command tree; do not edit.\n";
    text += fmt::format(".TH {} 1 \"\" {} {}\n", in_quotes(upper), in_quotes(fmt::format("rhizome {}", version)),
                        in_quotes("Rhizome manual"));
    text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.summary));
    text += ".SH SYNOPSIS\n" + synopsis(path);
    text += ".SH DESCRIPTION\n" + paragraphs(command.details.empty() ? command.summary + "." : command.details);
    if (!command.examples.empty()) {
        text += ".SH EXAMPLES\n";
        for (const auto& example : command.examples) {
            text += ".PP\n" + roff(example.purpose) + ":\n.PP\n.RS 4\n.EX\n" + roff(example_line(kProgram, example)) +
                    "\n.EE\n.RE\n";
        }
    }
    if (!command.arguments.empty()) {
        text += ".SH ARGUMENTS\n";
        for (const auto& argument : command.arguments) {
            text += ".TP\n" + italic(argument.name) + "\n" + roff(argument_help(argument)) + "\n";
        }
    }
    if (!command.options.empty()) text += ".SH OPTIONS\n" + option_list(command.options);
    if (!command.subcommands.empty()) {
        text += ".SH COMMANDS\n";
        for (const auto& below : command.subcommands) {
            if (!below.hidden) text += ".TP\n" + bold(below.name) + "\n" + roff(below.summary) + "\n";
        }
    }
    text += ".SH GLOBAL OPTIONS\n" + option_list(path.front()->global_options);
    if (const auto variables = variables_of(path); !variables.empty()) {
        text += ".SH ENVIRONMENT\n";
        for (const auto& variable : variables) {
            text += ".TP\n" + bold(variable.name) + "\n" + roff(variable.help) + "\n";
        }
    }
    text += exit_status();
    text += ".SH SEE ALSO\n" + see_also(path);
    return {name + ".1", std::move(text)};
}

std::vector<ManualPage> manual_pages(const Command& root, std::string_view version) {
    std::vector<ManualPage> pages;
    CommandPath path{&root};
    collect(path, version, pages);
    return pages;
}

}  // namespace rhizome::cli
