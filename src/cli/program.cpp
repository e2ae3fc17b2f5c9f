// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/core.h>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/text.h"
#include "cli/walk.h"

namespace rhizome::cli {
namespace {

/// Before parsing, so that a parse error is coloured as asked. A wrong value is told by the parser.
void apply_colour(const Walk& walked, Console& console) {
    const auto asked = walked.options.find("color");
    if (asked == walked.options.end() || asked->second.empty()) return;
    const auto& when = asked->second.back();
    if (when != "always" && when != "never") return;
    console.out_style = console.err_style = Style{when == "always"};
}

int fail_with(Console& console, const Error& error) {
    console.out.flush();
    print_error(console, error);
    return exit_code(error.kind);
}

}  // namespace

std::string program_name(std::string_view argv0) {
    const auto slash = argv0.rfind('/');
    const auto name = slash == std::string_view::npos ? argv0 : argv0.substr(slash + 1);
    return name == "kubectl-rhizome" ? "kubectl rhizome" : "rhizome";
}

std::vector<Option> global_options() {
    return {{.name = "color",
             .value_name = "WHEN",
             .help = "colour the output; auto does so on a terminal unless NO_COLOR is set",
             .fallback = "auto",
             .choices = {{"auto"}, {"always"}, {"never"}}},
            {.name = "help", .letter = 'h', .help = "show this help"}};
}

int run_program(const Command& root, std::string_view argv0, std::span<const std::string> words, Console& console) {
    const auto program = program_name(argv0);
    // Not in the tree: it must answer whatever the words are, and nobody types it.
    if (!words.empty() && words.front() == kCompleteCommand) {
        auto rest = words.subspan(1);
        if (!rest.empty() && rest.front() == "--") rest = rest.subspan(1);
        console.out << to_protocol(complete(root, rest, console));
        return 0;
    }
    const auto walked = walk(root, words);
    apply_colour(walked, console);
    const HelpLook look{.program = program, .width = console.prose_width(), .style = console.out_style};
    if (walked.has("help") && !walked.unknown_command) {
        console.out << render_help(walked.path, look);
        return 0;
    }
    const auto parsed = parse(root, program, words, console.environment);
    if (!parsed) return fail_with(console, parsed.error());
    const auto& command = *parsed->path.back();
    if (!command.run) {
        console.out << render_help(parsed->path, look);
        return 0;
    }
    Invocation call{console, parsed->path, program, parsed->values};
    if (const auto done = command.run(call); !done) return fail_with(console, done.error());
    return 0;
}

}  // namespace rhizome::cli
