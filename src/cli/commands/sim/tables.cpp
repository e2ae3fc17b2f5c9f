// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/core.h>

#include "cli/commands/sim/shared.h"
#include "cli/commands/sim/verbs.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/values.h"
#include "runtime/thread_pool.h"
#include "sim/attack.h"
#include "sim/availability.h"

/// `sim tables`.
namespace rhizome::cli::simulate {
namespace {

using sim::AttackRow;
using sim::AttackTable;
using sim::Availability;
using sim::Disaster;
using sim::Trust;

constexpr std::size_t kZoneMax = 100;

/// A disaster, and what two clusters did in it.
struct DisasterRow {
    Disaster disaster{};
    Availability crash{};
    Availability byzantine{};
};
struct DisasterTable {
    std::string name{};
    std::string title{};
    std::vector<DisasterRow> rows{};
};

const char* yes(bool value) { return value ? "yes" : "no"; }

/// `yes 0.016 s (yes)`: measured, how long it took, expected.
Cell measured_cell(bool measured, const std::optional<microseconds>& after, bool expected) {
    std::string text = yes(measured);
    if (after) text += fmt::format(" {} s", moment_text(*after));
    text += fmt::format(" ({})", yes(expected));
    return {std::move(text), measured == expected ? Tone::Plain : Tone::Bad};
}

std::string groups_text(const Disaster& disaster) {
    std::string text;
    for (const std::size_t group : disaster.live) text += fmt::format("{}{}", text.empty() ? "" : ", ", group);
    return text.empty() ? "-" : text;
}

std::string render(const DisasterTable& table, const Style& style, std::optional<unsigned> width) {
    Table out{
        {"MEMBERS", "DEAD", "CUTS", "LIVE GROUPS", "RAFT", "ACCEPTS", "FINAL, CRASH", "FINAL, BYZANTINE", "REPAIRED"}};
    for (const DisasterRow& row : table.rows) {
        const auto repaired = std::max(row.crash.repaired_after, row.byzantine.repaired_after);
        out.add({fmt::format("{}", row.disaster.members), row.disaster.name, fmt::format("{}", row.disaster.cuts),
                 groups_text(row.disaster), sim::raft_accepts(row.disaster) ? "yes" : "no",
                 measured_cell(row.crash.accepts && row.byzantine.accepts,
                               std::max(row.crash.accepted_after, row.byzantine.accepted_after),
                               sim::expect_accepts(row.disaster)),
                 measured_cell(row.crash.irreversible, row.crash.final_after,
                               sim::expect_irreversible(row.disaster, Trust::Crash)),
                 measured_cell(row.byzantine.irreversible, row.byzantine.final_after,
                               sim::expect_irreversible(row.disaster, Trust::Byzantine)),
                 repaired ? fmt::format("{} s", moment_text(*repaired)) : "-"});
    }
    return style.paint(Tone::Heading, table.title) + "\n" + out.render(style, width);
}

std::string percent(std::uint32_t hundredths) { return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100); }

std::string attack_title(const AttackTable& table) {
    return table.engine == "work" ? "Dummy blocks, work: honest nodes give 20 % of 100 KH/s, compromised ones all of it"
                                  : "Dummy blocks, all other engines: every member has the same weight";
}

std::string render(const AttackTable& table, const Style& style, std::optional<unsigned> width) {
    Table out{{"COMPROMISED", "DUMMY BLOCKS", "EXPECTED", "HONEST CHAIN", "EXPECTED"}};
    for (const AttackRow& row : table.rows) {
        const Tone tone = row.is_as_expected() ? Tone::Plain : Tone::Bad;
        const auto fate = [](bool discarded) { return discarded ? "discarded" : "survives"; };
        out.add({fmt::format("{} of 100", row.compromised), Cell{percent(row.dummy_measured), tone},
                 percent(row.dummy_expected), Cell{fate(row.discards_measured), tone}, fate(row.discards_expected)});
    }
    return style.paint(Tone::Heading, attack_title(table)) + "\n" + out.render(style, width) +
           fmt::format("the honest chain is discarded from {} compromised nodes on, expected {}\n",
                       table.discards_from_measured, table.discards_from_expected);
}

// ---- as data
// ---------------------------------------------------------------------------------------------------------

json::Value data_of(const Availability& measured, const Disaster& disaster) {
    const auto duration = [](const std::optional<microseconds>& after) {
        return after ? seconds_value(*after) : json::Value{};
    };
    json::Array faults;
    for (const std::string& fault : measured.faults) faults.emplace_back(fault);
    return json::Object{{"accepts", measured.accepts},
                        {"acceptsExpected", sim::expect_accepts(disaster)},
                        {"acceptedAfterSeconds", duration(measured.accepted_after)},
                        {"final", measured.irreversible},
                        {"finalExpected", sim::expect_irreversible(disaster, measured.trust)},
                        {"finalAfterSeconds", duration(measured.final_after)},
                        {"repairedAfterSeconds", duration(measured.repaired_after)},
                        {"faults", std::move(faults)},
                        {"events", measured.events}};
}

json::Value data_of(const DisasterTable& table) {
    json::Array rows;
    for (const DisasterRow& row : table.rows) {
        json::Array groups;
        for (const std::size_t group : row.disaster.live) groups.emplace_back(static_cast<std::uint64_t>(group));
        rows.emplace_back(json::Object{{"members", static_cast<std::uint64_t>(row.disaster.members)},
                                       {"dead", row.disaster.name},
                                       {"cuts", row.disaster.cuts},
                                       {"liveGroups", std::move(groups)},
                                       {"raft", sim::raft_accepts(row.disaster)},
                                       {"crash", data_of(row.crash, row.disaster)},
                                       {"byzantine", data_of(row.byzantine, row.disaster)}});
    }
    return rows;
}

json::Value data_of(const AttackTable& table) {
    json::Array rows;
    const auto share = [](std::uint32_t hundredths) {
        return json::Value{*json::Number::from_text(fmt::format("{}.{:02}", hundredths / 100, hundredths % 100))};
    };
    for (const AttackRow& row : table.rows)
        rows.emplace_back(json::Object{{"compromised", row.compromised},
                                       {"dummyPercent", share(row.dummy_measured)},
                                       {"dummyPercentExpected", share(row.dummy_expected)},
                                       {"discards", row.discards_measured},
                                       {"discardsExpected", row.discards_expected}});
    return json::Object{{"rows", std::move(rows)},
                        {"discardsFrom", table.discards_from_measured},
                        {"discardsFromExpected", table.discards_from_expected}};
}

// ---- what did not come out
// -------------------------------------------------------------------------------------------

void name_faults(const DisasterTable& table, std::vector<std::string>& faults) {
    for (const DisasterRow& row : table.rows)
        for (const Availability* measured : {&row.crash, &row.byzantine}) {
            const std::string place = fmt::format("{}, {} of {} dead, {} cuts, trust {}: ", table.name,
                                                  row.disaster.name, row.disaster.members, row.disaster.cuts,
                                                  measured->trust == Trust::Byzantine ? "byzantine" : "crash");
            const auto compare = [&](const char* what, bool is, bool expected) {
                if (is != expected)
                    faults.push_back(fmt::format("{}{} is {}, expected {}", place, what, yes(is), yes(expected)));
            };
            compare("accepts", measured->accepts, sim::expect_accepts(row.disaster));
            compare("final", measured->irreversible, sim::expect_irreversible(row.disaster, measured->trust));
            for (const std::string& fault : measured->faults) faults.push_back(place + fault);
        }
}

void name_faults(const AttackTable& table, std::vector<std::string>& faults) {
    for (const AttackRow& row : table.rows)
        if (!row.is_as_expected())
            faults.push_back(fmt::format(
                "{}, {} of 100 compromised: {} dummy blocks, {}; expected {}, {}", table.engine, row.compromised,
                percent(row.dummy_measured), row.discards_measured ? "discards" : "does not discard",
                percent(row.dummy_expected), row.discards_expected ? "discards" : "does not discard"));
    if (table.discards_from_measured != table.discards_from_expected)
        faults.push_back(fmt::format("{}: the honest chain is discarded from {} on, expected {}", table.engine,
                                     table.discards_from_measured, table.discards_from_expected));
}

// ---- measuring
// -------------------------------------------------------------------------------------------------------

void measure_all(Invocation& call, std::vector<DisasterTable>& tables, const sim::AvailabilityPlan& plan,
                 unsigned jobs) {
    struct Job {
        DisasterRow* row;
        Trust trust;
    };
    std::vector<Job> list;
    for (DisasterTable& table : tables)
        for (DisasterRow& row : table.rows)
            for (const Trust trust : {Trust::Crash, Trust::Byzantine}) list.push_back({&row, trust});
    // The largest first, so that no thread is left with one of them at the end.
    std::stable_sort(list.begin(), list.end(), [](const Job& left, const Job& right) {
        return left.row->disaster.members > right.row->disaster.members;
    });
    Progress progress{call.console, "Simulating clusters", list.size()};
    std::mutex mutex;
    std::atomic<std::size_t> next{0};
    runtime::ThreadPool pool{jobs};
    pool.for_ranges(pool.width(), [&](std::size_t, std::size_t) {
        for (std::size_t i = next++; i < list.size(); i = next++) {
            const Job& job = list[i];
            auto measured = sim::measure(job.row->disaster, job.trust, plan);
            const std::lock_guard lock{mutex};
            (job.trust == Trust::Crash ? job.row->crash : job.row->byzantine) = std::move(measured);
            progress.advance();
        }
    });
}

DisasterTable table_of(std::string name, std::string title, const std::vector<Disaster>& disasters) {
    DisasterTable table{.name = std::move(name), .title = std::move(title)};
    for (const Disaster& disaster : disasters) table.rows.push_back({.disaster = disaster});
    return table;
}

Result<void> run_tables(Invocation& call) {
    const auto& names = call.arguments("TABLE");
    const auto wanted = [&](std::string_view name) {
        return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    };
    TRY(const auto zone, whole_number(call, "zone", kZoneMax));
    if (zone == 0 || zone % 4 != 0)
        return fail(ErrorKind::Usage,
                    fmt::format("--zone {} cannot be quartered\nuse a multiple of 4 up to {}", zone, kZoneMax));
    TRY(const auto seed, whole_number(call, "seed", UINT64_MAX));
    TRY(const auto jobs, whole_number(call, "jobs", runtime::ThreadPool::kWidthMax));

    std::vector<DisasterTable> disasters;
    if (wanted("availability"))
        disasters.push_back(table_of("availability", fmt::format("Availability, 3 zones of {} machines", zone),
                                     sim::three_zones(static_cast<std::size_t>(zone))));
    if (wanted("small"))
        disasters.push_back(
            table_of("small", "Availability, one machine in each of 3 or 9 zones", sim::small_clusters()));
    measure_all(call, disasters, {.seed = seed, .repair = !call.flag("no-repair")},
                jobs == 0 ? runtime::ThreadPool::host_width() : static_cast<unsigned>(jobs));
    std::vector<AttackTable> attacks;
    if (wanted("work")) attacks.push_back(sim::work_attack({.seed = seed}));
    if (wanted("weight")) attacks.push_back(sim::equal_weight_attack({.seed = seed}));

    std::vector<std::string> faults;
    json::Object data;
    for (const DisasterTable& table : disasters) {
        name_faults(table, faults);
        data.set(table.name, data_of(table));
    }
    for (const AttackTable& table : attacks) {
        name_faults(table, faults);
        data.set(table.engine == "work" ? "work" : "weight", data_of(table));
    }
    data.set("asExpected", faults.empty());
    print_data(call, data, [&] {
        std::vector<std::string> parts;
        for (const DisasterTable& table : disasters)
            parts.push_back(render(table, call.console.out_style, call.console.out_width));
        for (const AttackTable& table : attacks)
            parts.push_back(render(table, call.console.out_style, call.console.out_width));
        return join(parts, "\n");
    });
    call.console.out.flush();
    if (faults.empty()) return ok();
    return fail(ErrorKind::Invalid, fmt::format("{} cell{} did not come out as expected\n{}", faults.size(),
                                                faults.size() == 1 ? "" : "s", join(faults, "\n")));
}

}  // namespace

Command tables_command() {
    return {
        .name = "tables",
        .summary = "Measure the availability and attack tables of the specification",
        .details =
            "Availability: clusters of real cores, of which machines die and whose network is cut at the same moment. "
            "'Accepts' means that each live group puts an order of its own into its chain within 10 s; 'final' that "
            "one "
            "of these becomes final within 20 s, with trust crash or byzantine. Then everything is repaired, and all "
            "must agree again. Measured comes first, how long it took, and in brackets what is expected. Beside it "
            "what "
            "Raft or Paxos would do: they take orders only where one group holds a majority of all members.\n"
            "\n"
            "Attacks: which share of the blocks compromised members can fill with nothing, and when they can discard "
            "the honest chain, within 1.5 points over 10,000 blocks.\n"
            "\n"
            "Exits with 1 when a cell does not come out, and names it. The largest clusters have 300 cores each: the "
            "whole takes a while, and --zone makes it quicker.",
        .examples = {{"everything, as the specification has it", "rhizome sim tables"},
                     {"the same with smaller zones, in seconds", "rhizome sim tables --zone 8"},
                     {"only the attacks", "rhizome sim tables work weight"}},
        .arguments = {{.name = "TABLE",
                       .help = "which ones; all when none is named",
                       .required = false,
                       .repeatable = true,
                       .choices = {{"availability", "three zones of many machines"},
                                   {"small", "three and nine machines"},
                                   {"work", "attacks on proof of work"},
                                   {"weight", "attacks on all other engines"}}}},
        .options = {{.name = "zone",
                     .value_name = "N",
                     .help = "machines in each of the three zones, a multiple of 4",
                     .fallback = "100"},
                    {.name = "seed", .value_name = "SEED", .help = "where chance begins", .fallback = "1"},
                    {.name = "jobs",
                     .letter = 'j',
                     .value_name = "N",
                     .help = "clusters at a time; 0 for as many as there are processors",
                     .fallback = "0"},
                    {.name = "no-repair", .help = "do not wait for the repair of each disaster"},
                    output_option()},
        .run = run_tables,
    };
}

}  // namespace rhizome::cli::simulate
