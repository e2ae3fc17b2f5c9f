// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/sim/page.h"
#include "cli/commands/sim/seeds.h"
#include "cli/commands/sim/shared.h"
#include "cli/commands/sim/verbs.h"
#include "cli/progress.h"
#include "cli/values.h"
#include "runtime/interrupt.h"
#include "runtime/thread_pool.h"

/// `sim run`.
namespace rhizome::cli::simulate {
namespace {

constexpr std::uint64_t kSeedsMax = 1'000'000'000;
/// Failing histories that are drawn on a page: each takes some hundred kilobytes.
constexpr std::size_t kDrawnMax = 10;

std::uint64_t per_second(std::uint64_t count, microseconds wall) {
    return count * 1'000 / static_cast<std::uint64_t>(std::max<std::int64_t>(1, wall.count() / 1'000));
}

Facts facts_of(const SeedsReport& report, const SeedPlan& plan, microseconds wall) {
    Facts facts{{"seeds", fmt::format("{} of {}, from {}", grouped(report.done), grouped(report.wanted), plan.from)},
                {"clean", grouped(report.clean())},
                {"failed", grouped(report.failed)},
                {"events", fmt::format("{}, {} a second on {} thread{}", grouped(report.events),
                                       grouped(per_second(report.events, wall)), plan.jobs, plan.jobs == 1 ? "" : "s")},
                {"simulated", fmt::format("{} in {}", age_text(report.simulated), age_text(wall))},
                {"orders",
                 fmt::format("{}, {} of them refused with a reason", grouped(report.orders), grouped(report.refused))}};
    if (report.done > 0)
        facts.emplace_back(
            "slowest agreement",
            fmt::format("{} s after the heal, seed {}", moment_text(report.longest_convergence), report.longest_seed));
    return facts;
}

std::string text_of(const Style& style, const SeedsReport& report, const Facts& facts, const std::string& machines,
                    std::optional<unsigned> width) {
    Fields fields;
    for (const auto& [name, value] : facts) {
        Tone tone = Tone::Plain;
        if (name == "failed") tone = report.failed > 0 ? Tone::Bad : Tone::Good;
        fields.add(name, Cell{value, tone});
    }
    std::string text = fields.render(style);
    if (report.failures.empty()) return text;
    Table table{{"SEED", "MACHINES", "FAULT", "REPLAY"}};
    for (const sim::Verdict& failure : report.failures)
        table.add({fmt::format("{}", failure.seed), fmt::format("{}", failure.machines),
                   Cell{failure.faults.front(), Tone::Bad}, Cell{failure.replay_line() + machines, Tone::Command}});
    text += "\n" + table.render(style, width);
    if (report.failed > report.failures.size())
        text += fmt::format("and {} more\n", report.failed - report.failures.size());
    return text;
}

json::Value data_of(const SeedsReport& report, const SeedPlan& plan, microseconds wall) {
    json::Array failures;
    for (const sim::Verdict& failure : report.failures)
        failures.emplace_back(verdict_data(failure, machines_words(plan.swarm)));
    return json::Object{{"from", plan.from},
                        {"seeds", report.wanted},
                        {"done", report.done},
                        {"clean", report.clean()},
                        {"failed", report.failed},
                        {"events", report.events},
                        {"eventsPerSecond", per_second(report.events, wall)},
                        {"simulatedSeconds", seconds_value(report.simulated)},
                        {"wallSeconds", seconds_value(wall)},
                        {"jobs", plan.jobs},
                        {"orders", report.orders},
                        {"refused", report.refused},
                        {"slowestAgreementSeconds", seconds_value(report.longest_convergence)},
                        {"slowestAgreementSeed", report.longest_seed},
                        {"failures", std::move(failures)}};
}

Page page_of(const SeedsReport& report, const SeedPlan& plan, const Facts& facts) {
    Page page{.title = fmt::format("Simulation of {} seeds from {}", grouped(report.done), plan.from),
              .facts = facts,
              .rows = report.rows,
              .rows_left_out = report.done - report.rows.size(),
              .failures = report.failures,
              .machines_words = machines_words(plan.swarm)};
    for (const sim::Verdict& failure : report.failures) {
        if (page.histories.size() == kDrawnMax) break;
        page.histories.push_back(page_history(sim::record_seed(failure.seed, plan.swarm), page.machines_words));
    }
    page.histories_left_out = report.failed - page.histories.size();
    return page;
}

Result<void> run_sim_run(Invocation& call) {
    SeedPlan plan;
    TRY(plan.count, whole_number(call, "seeds", kSeedsMax));
    TRY(plan.from, whole_number(call, "from", UINT64_MAX - kSeedsMax));
    TRY(const auto jobs, whole_number(call, "jobs", runtime::ThreadPool::kWidthMax));
    TRY(read_machines(call, plan.swarm));
    plan.jobs = jobs == 0 ? runtime::ThreadPool::host_width() : static_cast<unsigned>(jobs);
    if (plan.count < plan.jobs) plan.jobs = static_cast<unsigned>(std::max<std::uint64_t>(1, plan.count));

    SeedsReport report;
    const auto begun = call.console.instant_now();
    {
        const runtime::Interrupt interrupt;
        Progress progress{call.console, "Simulating", plan.count};
        report = run_seeds(
            plan, [&] { return interrupt.asked(); },
            [&](const SeedsReport& so_far) {
                if (so_far.failed > 0) progress.note(fmt::format("{} failed", so_far.failed));
                progress.advance();
            });
    }
    const auto wall = std::chrono::duration_cast<microseconds>(call.console.instant_now() - begun);
    const Facts facts = facts_of(report, plan, wall);
    print_data(call, data_of(report, plan, wall), [&] {
        return text_of(call.console.out_style, report, facts, machines_words(plan.swarm), call.console.out_width);
    });
    call.console.out.flush();
    if (const auto file = call.if_text("html"))
        TRY(write_page(call.console, *file, render(page_of(report, plan, facts))));
    if (report.failed > 0)
        return fail(ErrorKind::Invalid, fmt::format("{} of {} histories broke a promise\n"
                                                    "'{} sim replay {}{}' shows the first",
                                                    grouped(report.failed), grouped(report.done), call.program,
                                                    report.failures.front().seed, machines_words(plan.swarm)));
    if (report.stopped)
        return fail(ErrorKind::Unavailable, fmt::format("stopped after {} of {} seeds; those that ran were clean\n"
                                                        "'{} sim run --from {} --seeds {}' runs the rest",
                                                        grouped(report.done), grouped(report.wanted), call.program,
                                                        plan.from + report.done, plan.count - report.done));
    return ok();
}

}  // namespace

Command run_command() {
    return {
        .name = "run",
        .summary = "Simulate many histories and look for broken promises",
        .details =
            "A seed is a whole history: machines, links, load, and what goes wrong (cuts, crashes, pauses, clocks, "
            "disks, members that lie), all drawn from it, then healed. After every event it is checked that nothing "
            "final is undone and nobody honest contradicts himself or is accused; at the end that all agree on one "
            "chain, that every order is final or refused with a reason, and that the chain gives the same state when "
            "it is executed again. Exits with 1 when a history breaks a promise, and prints the line that replays it.\n"
            "\n"
            "The same seed gives the same history on every machine. Ctrl-C stops after the histories under way and "
            "prints what is known.",
        .examples = {{"a hundred histories on all processors", "rhizome sim run"},
                     {"what a release must pass", "rhizome sim run --seeds 100000"},
                     {"small clusters, with a page for the failures",
                      "rhizome sim run --seeds 1000 --machines 3-5 --html failures.html"}},
        .options = {{.name = "seeds", .value_name = "N", .help = "how many histories", .fallback = "100"},
                    {.name = "from", .value_name = "SEED", .help = "the first seed", .fallback = "1"},
                    {.name = "jobs",
                     .letter = 'j',
                     .value_name = "N",
                     .help = "histories at a time; 0 for as many as there are processors",
                     .fallback = "0"},
                    machines_option(),
                    html_option("also write a page: all seeds, and the first failures drawn"),
                    output_option()},
        .run = run_sim_run,
    };
}

}  // namespace rhizome::cli::simulate
