// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/sim/explorer.h"
#include "cli/commands/sim/shared.h"
#include "cli/commands/sim/verbs.h"
#include "cli/text.h"
#include "cli/values.h"
#include "runtime/interrupt.h"

/// `sim explore`.
namespace rhizome::cli::simulate {
namespace {

/// The next line without its end; nothing when there are no more. Of a longer one than `most` only so much is kept.
std::optional<std::string> read_line(std::istream& in, std::size_t most) {
    std::string line;
    for (int letter = in.get(); letter != std::istream::traits_type::eof(); letter = in.get()) {
        if (letter == '\n') return line;
        if (line.size() <= most) line += static_cast<char>(letter);
    }
    if (line.empty()) return {};
    return line;
}

Result<void> run_explore(Invocation& call) {
    Explorer::Setup setup{.trust = call.text("trust")};
    TRY(const auto machines, whole_number(call, "machines", Explorer::kMachinesMax));
    if (machines == 0) return fail(ErrorKind::Usage, "--machines 0 is no cluster\nuse 1 or more");
    setup.machines = static_cast<std::size_t>(machines);
    TRY(setup.seed, whole_number(call, "seed", UINT64_MAX));

    Console& console = call.console;
    const runtime::Interrupt* listening = nullptr;
    Explorer explorer{setup, [&] { return listening != nullptr && listening->asked(); }};
    if (console.in_is_terminal)
        console.err << fmt::format(
            "{} machines, trust {}, seed {}. 'help' lists what you can do; try 'run 10s', then "
            "'show'.\n",
            setup.machines, setup.trust, setup.seed);
    std::uint64_t number = 0;
    std::uint64_t bad = 0;
    while (!explorer.has_quit()) {
        if (console.in_is_terminal)
            console.err << console.err_style.paint(Tone::Command, moment_text(explorer.elapsed()) + " s> ")
                        << std::flush;
        const auto line = read_line(console.in, Explorer::kLineMax);
        if (!line) {
            if (console.in_is_terminal) console.err << '\n';
            break;
        }
        ++number;
        // Only while something is done: at the prompt Ctrl-C ends the program as usual.
        const runtime::Interrupt interrupt;
        listening = &interrupt;
        auto answer = explorer.perform(*line, console.out_style, console.out_width);
        listening = nullptr;
        if (answer) {
            console.out << *answer << std::flush;
            continue;
        }
        ++bad;
        if (console.in_is_terminal) {
            print_error(console, answer.error());
        } else {
            print_error(console, with_context(fmt::format("line {}", number), std::move(answer).error()));
        }
    }
    if (!explorer.faults().empty())
        return fail(ErrorKind::Invalid, "the cluster broke a promise: " + explorer.faults().front());
    // A person has seen it and typed it again; a script wants to know.
    if (bad > 0 && !console.in_is_terminal)
        return fail(ErrorKind::Usage,
                    fmt::format("{} of {} lines made no sense; all others were carried out", bad, number));
    return ok();
}

std::string verbs_help() {
    std::string text = "What can be typed:\n\n";
    for (const Candidate& each : Explorer::verbs()) text += fmt::format("  {}\n", each.value);
    return text;
}

}  // namespace

Command explore_command() {
    return {
        .name = "explore",
        .summary = "A simulated cluster to play with: cut it, crash it, lie to it, and look",
        .details =
            "Starts a cluster in a virtual world and obeys what is typed: let time pass, cut and heal the network, "
            "crash, pause and start machines, set clocks wrong, let members lie, give orders, and look at every "
            "machine, the chain and what happened. Nothing happens between two commands: time stands still.\n"
            "\n"
            "Commands come from stdin, so a file of them is a script; lines that begin with # are remarks. A line that "
            "makes no sense changes nothing and is named; all others are carried out. Ctrl-C ends a long 'run' early.\n"
            "\n" +
            verbs_help() +
            "\n"
            "'help' says what each of them does.",
        .examples = {{"play with five machines", "rhizome sim explore"},
                     {"cut a cluster in two, heal it, and draw what happened",
                      "printf 'load 20\\nrun 10s\\ncut 0,1|2-4\\nrun 10s\\nheal\\nload 0\\nsettle\\nshow\\nhtml "
                      "cut.html\\n' | rhizome sim explore"}},
        .options = {{.name = "machines", .value_name = "N", .help = "how many machines", .fallback = "5"},
                    {.name = "seed", .value_name = "SEED", .help = "where chance begins", .fallback = "1"},
                    {.name = "trust",
                     .value_name = "TRUST",
                     .help = "what members are trusted with",
                     .fallback = "crash",
                     .choices = {{"crash", "they may die, but do not lie"}, {"byzantine", "under a third may lie"}}}},
        .run = run_explore,
    };
}

}  // namespace rhizome::cli::simulate
