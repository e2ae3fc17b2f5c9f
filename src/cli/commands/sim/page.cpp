// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sim/page.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "cli/commands/sim/page_files.h"
#include "cli/commands/sim/shared.h"
#include "sim/founding.h"

namespace rhizome::cli::simulate {
namespace {

std::int64_t millis(Time at, const sim::Timeline& timeline) { return (at - timeline.start()).count() / 1'000; }

std::int64_t index_or_none(std::optional<std::size_t> index) { return index ? static_cast<std::int64_t>(*index) : -1; }
std::int64_t machine_or_none(std::size_t machine) {
    return machine == sim::kNobody ? -1 : static_cast<std::int64_t>(machine);
}

json::Array row(std::initializer_list<json::Value> cells) { return json::Array(cells); }

json::Array stretches(const std::vector<sim::Stretch>& spans, const sim::Timeline& timeline) {
    json::Array rows;
    for (const sim::Stretch& span : spans)
        rows.emplace_back(row({millis(span.from, timeline), millis(span.until, timeline)}));
    return rows;
}

json::Array splits_of(const sim::Timeline& timeline) {
    json::Array rows;
    for (const sim::SplitStretch& split : timeline.splits()) {
        std::vector<std::int64_t> group_of(timeline.machines(), -1);
        for (std::size_t group = 0; group < split.groups.size(); ++group)
            for (const std::size_t machine : split.groups[group])
                if (machine < group_of.size()) group_of[machine] = static_cast<std::int64_t>(group);
        json::Array groups;
        for (const std::int64_t group : group_of) groups.emplace_back(group);
        rows.emplace_back(row({millis(split.from, timeline), millis(split.until, timeline), std::move(groups)}));
    }
    return rows;
}

/// The text with values in the places `{{name}}`. What is put in is not looked at again, whatever it contains.
std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
    std::string out;
    while (!text.empty()) {
        const auto open = std::min(text.find("{{"), text.size());
        out += text.substr(0, open);
        text.remove_prefix(open);
        if (text.empty()) break;
        const auto close = text.find("}}");
        ensure(close != std::string_view::npos, "a place ends");
        const auto value = std::find_if(values.begin(), values.end(),
                                        [&](const auto& one) { return one.first == text.substr(2, close - 2); });
        ensure(value != values.end(), "every place of the page is filled");
        out += value->second;
        text.remove_prefix(close + 2);
    }
    return out;
}

std::string facts_html(const Facts& facts) {
    if (facts.empty()) return {};
    std::string text = "<dl class=\"facts\">\n";
    for (const auto& [name, value] : facts)
        text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
    return text + "</dl>\n";
}

/// The failures first, with a way to their drawings or the line that replays them.
std::string seeds_html(const Page& page) {
    if (page.rows.empty()) return {};
    std::string text;
    if (!page.failures.empty()) {
        text +=
            "<h2>Failures</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>Seed</th><th>Fault</th>"
            "<th>Replay</th></tr></thead><tbody>\n";
        for (std::size_t i = 0; i < page.failures.size(); ++i) {
            const sim::Verdict& failure = page.failures[i];
            const std::string seed = i < page.histories.size()
                                         ? fmt::format("<a href=\"#history-{}\">{}</a>", i, failure.seed)
                                         : fmt::format("{}", failure.seed);
            text +=
                fmt::format("<tr><td>{}</td><td class=\"failed\">{}</td><td><code>{}</code></td></tr>\n", seed,
                            html_text(failure.faults.front()), html_text(failure.replay_line() + page.machines_words));
        }
        text += "</tbody></table></div>\n";
        if (page.histories_left_out > 0)
            text += fmt::format(
                "<p class=\"notice\">The first {} failures are drawn below; {} more are not, to keep "
                "this page small. The lines above draw each of them with <code>--html</code>.</p>\n",
                page.histories.size(), page.histories_left_out);
    }
    text +=
        "<h2>Seeds</h2>\n<div class=\"toolbar\"><label><input type=\"checkbox\" data-only-failed> only those that "
        "failed</label></div>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th "
        "class=\"number\">Seed</th><th>Verdict</th>";
    for (const char* name : {"Machines", "Height", "Orders", "Refused", "Events", "Simulated s", "Agreed after s"})
        text += fmt::format("<th class=\"number\">{}</th>", name);
    text += "</tr></thead><tbody>\n";
    for (const SeedRow& one : page.rows) {
        text +=
            fmt::format("<tr{}><td class=\"number\">{}</td><td class=\"{}\">{}</td>", one.clean ? " data-clean" : "",
                        one.seed, one.clean ? "clean" : "failed", one.clean ? "clean" : "failed");
        for (const std::string& cell :
             {fmt::format("{}", one.machines), grouped(one.height), grouped(one.orders), grouped(one.refused),
              grouped(one.events), moment_text(one.simulated), moment_text(one.converged_after)})
            text += fmt::format("<td class=\"number\">{}</td>", cell);
        text += "</tr>\n";
    }
    text += "</tbody></table></div>\n";
    if (page.rows_left_out > 0)
        text += fmt::format("<p class=\"notice\">The {} lowest seeds are listed; {} more ran.</p>\n", page.rows.size(),
                            grouped(page.rows_left_out));
    return text;
}

std::string history_html(const PageHistory& history, std::size_t index) {
    std::string faults;
    if (!history.faults.empty()) {
        faults = "<ul class=\"faults failed\">\n";
        for (const std::string& fault : history.faults) faults += fmt::format("<li>{}</li>\n", html_text(fault));
        faults += "</ul>\n";
    }
    return filled(kPageHistory, {{"index", std::to_string(index)},
                                 {"title", html_text(history.title)},
                                 {"verdict", history.faults.empty() ? "clean" : "failed"},
                                 {"faults", faults},
                                 {"facts", facts_html(history.facts)}});
}

}  // namespace

std::string html_text(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        switch (letter) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            case '\'': safe += "&#39;"; break;
            default: safe += letter;
        }
    }
    return safe;
}

std::string script_json(const json::Value& value) {
    // These letters stand in JSON only inside strings, where their other spelling means the same.
    std::string safe;
    for (const char letter : json::print(value)) {
        switch (letter) {
            case '<': safe += "\\u003c"; break;
            case '>': safe += "\\u003e"; break;
            case '&': safe += "\\u0026"; break;
            default: safe += letter;
        }
    }
    return safe;
}

json::Value drawing_of(const sim::Timeline& timeline) {
    const std::size_t count = timeline.machines();
    std::vector<std::string> lies(count);
    std::vector<json::Array> tips(count);
    std::vector<json::Array> finals(count);
    for (const sim::Seen& seen : timeline.seen()) {
        if (seen.machine >= count) continue;
        const std::int64_t at = millis(seen.at, timeline);
        if (const auto* lie = std::get_if<sim::BeganToLie>(&seen.what)) {
            lies[seen.machine] = lie->how;
        } else if (const auto* tip = std::get_if<sim::TipChanged>(&seen.what)) {
            tips[seen.machine].emplace_back(row({at, index_or_none(timeline.find(tip->to)), tip->undone}));
        } else if (const auto* moved = std::get_if<sim::FinalAdvanced>(&seen.what)) {
            finals[seen.machine].emplace_back(row({at, moved->height}));
        }
    }
    json::Array machines;
    json::Array all_tips;
    json::Array all_finals;
    json::Array outages;
    json::Array pauses;
    for (std::size_t i = 0; i < count; ++i) {
        machines.emplace_back(
            json::Object{{"name", sim::name_of(i)}, {"liar", lies[i].empty() ? json::Value{} : json::Value{lies[i]}}});
        all_tips.emplace_back(std::move(tips[i]));
        all_finals.emplace_back(std::move(finals[i]));
        outages.emplace_back(stretches(timeline.outages(i), timeline));
        pauses.emplace_back(stretches(timeline.pauses(i), timeline));
    }
    json::Array blocks;
    for (const sim::BlockRecord& block : timeline.blocks())
        blocks.emplace_back(
            row({millis(block.seen, timeline), block.height, index_or_none(block.parent),
                 machine_or_none(block.proposer), block.transactions, block.branch, sim::short_hash(block.hash),
                 block.final_since ? millis(*block.final_since, timeline) : std::int64_t{-1}}));
    json::Array events;
    for (const sim::TimelineLine& line : lines_of(timeline, {}))
        events.emplace_back(row({millis(line.at, timeline), line.machines.empty() ? "" : sim::names_of(line.machines),
                                 name(line.kind), line.text}));
    return json::Object{{"machines", std::move(machines)}, {"end", millis(timeline.end(), timeline)},
                        {"blocks", std::move(blocks)},     {"tips", std::move(all_tips)},
                        {"finals", std::move(all_finals)}, {"splits", splits_of(timeline)},
                        {"outages", std::move(outages)},   {"pauses", std::move(pauses)},
                        {"events", std::move(events)}};
}

PageHistory page_history(const sim::Recorded& recorded, std::string_view machines) {
    const sim::Verdict& verdict = recorded.verdict;
    PageHistory history{
        .title = fmt::format("Seed {}", verdict.seed),
        .faults = verdict.faults,
        .facts = {{"replay", verdict.replay_line() + std::string{machines}},
                  {"machines", fmt::format("{}", verdict.machines)},
                  {"simulated",
                   fmt::format("{} s, {} events", moment_text(verdict.simulated), grouped(verdict.events))},
                  {"height", fmt::format("{}, final up to {}", verdict.height, verdict.final_height)},
                  {"orders", fmt::format("{}, {} of them refused with a reason", verdict.orders, verdict.refused)},
                  {"agreed", moment_text(verdict.converged_after) + " s after the heal"}},
        .drawing = drawing_of(recorded.timeline)};
    for (const std::string& line : verdict.weather) history.facts.emplace_back("weather", line);
    if (recorded.timeline.left_out() > 0)
        history.facts.emplace_back("left out", fmt::format("the last {} happenings", recorded.timeline.left_out()));
    return history;
}

std::string render(const Page& page) {
    std::string body = facts_html(page.facts) + seeds_html(page);
    json::Array histories;
    for (std::size_t i = 0; i < page.histories.size(); ++i) {
        body += history_html(page.histories[i], i);
        histories.push_back(page.histories[i].drawing);
    }
    return filled(kPageHtml, {{"title", html_text(page.title)},
                              {"style", std::string{kPageStyle}},
                              {"body", std::move(body)},
                              {"data", script_json(json::Object{{"histories", std::move(histories)}})},
                              {"script", std::string{kPageScript}}});
}

}  // namespace rhizome::cli::simulate
