// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "base/similar.h"
#include "cli/commands/sim/page.h"
#include "cli/commands/sim/shared.h"
#include "cli/commands/sim/verbs.h"
#include "cli/text.h"

/// `sim replay`.
namespace rhizome::cli::simulate {
namespace {

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sim::kKinds; ++i) names.emplace_back(sim::name(static_cast<sim::Kind>(i)));
    return names;
}

Result<std::vector<sim::Kind>> read_kinds(const Invocation& call) {
    std::vector<sim::Kind> kinds;
    for (const std::string& word : words_of(call.texts("kinds"))) {
        if (word == "all") {
            for (std::size_t i = 0; i < sim::kKinds; ++i) kinds.push_back(static_cast<sim::Kind>(i));
            continue;
        }
        const auto kind = sim::kind_named(word);
        if (!kind) {
            const auto near = nearest(word, kind_names());
            return fail(ErrorKind::Usage,
                        fmt::format("--kinds {} is not something that happens\n{}", printable(word),
                                    near.empty() ? fmt::format("there are {}, and all", join(kind_names(), ", "))
                                                 : did_you_mean(near)));
        }
        kinds.push_back(*kind);
    }
    return kinds;
}

Result<void> run_replay(Invocation& call) {
    const auto seed = number_in(call.argument("SEED"));
    if (!seed)
        return fail(ErrorKind::Usage, fmt::format("{} is no seed\nseeds are whole numbers, as 'sim run' prints them",
                                                  printable(call.argument("SEED"))));
    sim::SwarmOptions options;
    TRY(read_machines(call, options));
    sim::TimelineFilter filter;
    TRY(filter.kinds, read_kinds(call));
    // Machines can only be checked once it is known how many the history has.
    const sim::Recorded recorded = sim::record_seed(*seed, options);
    for (const std::string& word : words_of(call.texts("machine"))) {
        TRY(const auto machine, machine_in(word, recorded.verdict.machines));
        filter.machines.push_back(machine);
    }
    const auto lines = lines_of(recorded.timeline, filter);
    const Time start = recorded.timeline.start();
    auto data = verdict_data(recorded.verdict, machines_words(options));
    data.set("timeline", timeline_data(lines, start));
    print_data(call, data, [&] {
        return timeline_table(lines, start, call.console.out_style, call.console.out_width) + "\n" +
               verdict_fields(recorded.verdict).render(call.console.out_style);
    });
    call.console.out.flush();
    if (recorded.timeline.left_out() > 0)
        print_warning(call.console, fmt::format("the last {} happenings are not shown: a timeline keeps {}",
                                                recorded.timeline.left_out(), sim::Timeline::kSeenMax));
    if (const auto file = call.if_text("html")) {
        Page page{.title = "A simulated history"};
        page.histories.push_back(page_history(recorded, machines_words(options)));
        TRY(write_page(call.console, *file, render(page)));
    }
    if (!recorded.verdict.clean())
        return fail(ErrorKind::Invalid,
                    fmt::format("seed {} broke a promise: {}", *seed, recorded.verdict.faults.front()));
    return ok();
}

std::vector<Candidate> kind_candidates() {
    std::vector<Candidate> candidates{{"all", "everything"}};
    for (std::size_t i = 0; i < sim::kKinds; ++i) {
        const auto kind = static_cast<sim::Kind>(i);
        candidates.push_back({std::string{name(kind)}, std::string{about(kind)}});
    }
    return candidates;
}

std::string kinds_help() {
    std::string text = "What can be chosen with --kinds:\n\n";
    std::size_t width = 0;
    for (const Candidate& each : kind_candidates()) width = std::max(width, each.value.size());
    for (const Candidate& each : kind_candidates())
        text += fmt::format("  {}   {}\n", pad(each.value, width), each.description);
    return text;
}

}  // namespace

Command replay_command() {
    return {
        .name = "replay",
        .summary = "Run one history again and tell what happened",
        .details =
            "Prints a timeline of what matters, in virtual seconds: cuts and heals, crashes and restarts, pauses, "
            "clocks, disks, members that lie, reorganisations with their depth, refused orders; the ordinary life in "
            "between, blocks sealed and made final, is gathered. Then the verdict. With --kinds everything of these "
            "kinds has a line of its own and nothing else is shown.\n"
            "\n" +
            kinds_help(),
        .examples = {{"what happened in seed 17", "rhizome sim replay 17"},
                     {"every block and every change of tip at machine 3",
                      "rhizome sim replay 17 --machine 3 --kinds blocks,tips,reorganisations"},
                     {"a drawing of it", "rhizome sim replay 17 --html seed-17.html"}},
        .arguments = {{.name = "SEED", .help = "which history, as 'sim run' prints it"}},
        .options = {{.name = "machine",
                     .value_name = "N",
                     .help = "only what this machine does; the network is always shown",
                     .repeatable = true},
                    {.name = "kinds",
                     .value_name = "KIND",
                     .help = "only these kinds, with commas between them",
                     .repeatable = true,
                     .completion = Completion::of([](const Console&) { return kind_candidates(); })},
                    machines_option(),
                    html_option("also write a page with the drawing"),
                    output_option()},
        .run = run_replay,
    };
}

}  // namespace rhizome::cli::simulate
