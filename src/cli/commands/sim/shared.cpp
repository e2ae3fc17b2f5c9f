// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sim/shared.h"

#include <charconv>

#include <fmt/core.h>

#include "cli/text.h"
#include "runtime/files.h"
#include "sim/founding.h"

namespace rhizome::cli::simulate {
namespace {

/// One machine has nobody to disagree with; hundreds take minutes for each history.
constexpr std::size_t kMachinesMin = 2;
constexpr std::size_t kMachinesMax = 100;

Tone tone_of(sim::Kind kind) {
    switch (kind) {
        case sim::Kind::Network:
        case sim::Kind::Pauses:
        case sim::Kind::Clocks:
        case sim::Kind::Disks:
        case sim::Kind::Reorganisations: return Tone::Warning;
        case sim::Kind::Power:
        case sim::Kind::Liars:
        case sim::Kind::Blame: return Tone::Bad;
        case sim::Kind::Blocks:
        case sim::Kind::Tips:
        case sim::Kind::Orders: return Tone::Faint;
        case sim::Kind::Finality: return Tone::Good;
        case sim::Kind::Refusals:
        case sim::Kind::Conditions: break;
    }
    return Tone::Plain;
}

}  // namespace

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

Option machines_option() {
    return {.name = "machines",
            .value_name = "MIN-MAX",
            .help = "how many machines a history has, drawn between these two",
            .fallback = "5-15"};
}

Result<void> read_machines(const Invocation& call, sim::SwarmOptions& into) {
    const std::string text = call.text("machines");
    const auto dash = text.find('-');
    const auto low = number_in(text.substr(0, dash));
    const auto high = dash == std::string::npos ? low : number_in(text.substr(dash + 1));
    if (!low || !high || *low < kMachinesMin || *high > kMachinesMax || *low > *high)
        return fail(ErrorKind::Usage, fmt::format("--machines {} is not a number or range from {} to {}\n"
                                                  "for example --machines 7, or --machines 5-15",
                                                  printable(text), kMachinesMin, kMachinesMax));
    into.machines_min = *low;
    into.machines_max = *high;
    return ok();
}

std::string machines_words(const sim::SwarmOptions& options) {
    const sim::SwarmOptions usual;
    if (options.machines_min == usual.machines_min && options.machines_max == usual.machines_max) return {};
    return fmt::format(" --machines {}-{}", options.machines_min, options.machines_max);
}

Option html_option(std::string help) {
    return {.name = "html", .value_name = "FILE", .help = std::move(help), .completion = Completion::files()};
}

Result<void> write_page(Console& console, const std::string& file, const std::string& page) {
    TRY(runtime::replace_file(file, page, 0644));
    console.err << fmt::format("{} is written ({}); open it in a browser\n", printable(file), size_text(page.size()));
    return ok();
}

std::vector<std::string> words_of(const std::vector<std::string>& values) {
    std::vector<std::string> words;
    for (const std::string& value : values)
        for (std::size_t at = 0; at <= value.size();) {
            const auto end = std::min(value.find_first_of(", ", at), value.size());
            if (end > at) words.push_back(value.substr(at, end - at));
            at = end + 1;
        }
    return words;
}

Result<std::size_t> machine_in(std::string_view text, std::size_t machines) {
    const auto number = number_in(text.starts_with('n') ? text.substr(1) : text);
    if (!number || *number >= machines)
        return fail(ErrorKind::Usage,
                    fmt::format("{} is no machine\nmachines are 0 to {}", printable(text), machines - 1));
    return static_cast<std::size_t>(*number);
}

std::string moment_text(microseconds since_start) {
    const auto total = since_start.count() / 1'000;
    return fmt::format("{}.{:03}", total / 1'000, total % 1'000);
}

std::string_view stage_name(const sim::Order& order) {
    switch (order.stage) {
        case core::Stage::Accepted: return "accepted";
        case core::Stage::Included: return "included";
        case core::Stage::Final: return "final";
        case core::Stage::Refused: break;
    }
    return order.refused ? "refused" : "asked";
}

json::Value seconds_value(microseconds duration) { return *json::Number::from_text(moment_text(duration)); }

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

std::string timeline_table(const std::vector<sim::TimelineLine>& lines, Time start, const Style& style,
                           std::optional<unsigned> width) {
    if (lines.empty()) return "nothing of this kind happened\n";
    // Times end in one column, so that they can be compared at a glance.
    const std::size_t wide = moment_text(lines.back().at - start).size();
    Table table{{"SECONDS", "MACHINE", "WHAT"}};
    for (const sim::TimelineLine& line : lines)
        table.add({Cell{fmt::format("{:>{}}", moment_text(line.at - start), wide), Tone::Faint},
                   sim::names_of(line.machines), Cell{line.text, tone_of(line.kind)}});
    return table.render(style, width);
}

json::Value timeline_data(const std::vector<sim::TimelineLine>& lines, Time start) {
    json::Array rows;
    for (const sim::TimelineLine& line : lines) {
        json::Object row{{"at", seconds_value(line.at - start)}};
        json::Array machines;
        for (const std::size_t machine : line.machines) machines.emplace_back(sim::name_of(machine));
        row.set("machines", std::move(machines));
        row.set("kind", std::string{sim::name(line.kind)});
        row.set("what", line.text);
        rows.emplace_back(std::move(row));
    }
    return rows;
}

Fields verdict_fields(const sim::Verdict& verdict) {
    Fields fields;
    fields.add("seed", fmt::format("{}", verdict.seed));
    fields.add("verdict", verdict.clean() ? Cell{"clean", Tone::Good} : Cell{"failed", Tone::Bad});
    for (const std::string& fault : verdict.faults) fields.add("fault", Cell{fault, Tone::Bad});
    fields.add("machines", fmt::format("{}", verdict.machines));
    fields.add("simulated", moment_text(verdict.simulated) + " s");
    fields.add("events", grouped(verdict.events));
    fields.add("height", fmt::format("{}, final up to {}", verdict.height, verdict.final_height));
    fields.add("orders", fmt::format("{}, {} of them refused with a reason", verdict.orders, verdict.refused));
    fields.add("converged", moment_text(verdict.converged_after) + " s after the heal");
    fields.add("trace", fmt::format("{:016x}", verdict.trace));
    for (const std::string& line : verdict.weather) fields.add("weather", line);
    return fields;
}

json::Object verdict_data(const sim::Verdict& verdict, std::string_view machines) {
    const auto texts = [](const std::vector<std::string>& lines) {
        json::Array array;
        for (const std::string& line : lines) array.emplace_back(line);
        return array;
    };
    return {{"seed", verdict.seed},
            {"clean", verdict.clean()},
            {"faults", texts(verdict.faults)},
            {"replay", verdict.replay_line() + std::string{machines}},
            {"machines", static_cast<std::uint64_t>(verdict.machines)},
            {"simulatedSeconds", seconds_value(verdict.simulated)},
            {"events", verdict.events},
            {"height", verdict.height},
            {"finalHeight", verdict.final_height},
            {"orders", static_cast<std::uint64_t>(verdict.orders)},
            {"refused", static_cast<std::uint64_t>(verdict.refused)},
            {"convergedSeconds", seconds_value(verdict.converged_after)},
            {"trace", fmt::format("{:016x}", verdict.trace)},
            {"weather", texts(verdict.weather)}};
}

}  // namespace rhizome::cli::simulate
