// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/report.h"

#include <fmt/core.h>

#include "cli/print.h"
#include "cli/text.h"

namespace rhizome::cli::doctor {
namespace {

Tone tone_of(Status status) {
    return status == Status::Ok ? Tone::Good : status == Status::Warn ? Tone::Warning : Tone::Bad;
}

std::vector<std::string> names_of(const std::vector<Role>& roles) {
    std::vector<std::string> names;
    for (const auto role : roles) names.emplace_back(name(role));
    return names;
}

json::Array as_array(const std::vector<Role>& roles) {
    json::Array array;
    for (const auto role : roles) array.emplace_back(name(role));
    return array;
}

std::string advice_text(const std::vector<Check>& checks, const Style& style, std::optional<unsigned> width) {
    std::size_t column = 0;
    for (const auto& check : checks) {
        if (!check.advice.empty()) column = std::max(column, display_width(check.title));
    }
    std::string out;
    for (const auto& check : checks) {
        if (check.advice.empty()) continue;
        const std::size_t start = 2 + column + 3;
        const auto lines =
            width ? wrap(check.advice, *width > start + 24 ? *width - start : 24) : std::vector{check.advice};
        out += "  " + style.paint(tone_of(check.status), check.title);
        out.append(start - 2 - display_width(check.title), ' ');
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i > 0) out.append(start, ' ');
            out += lines[i] + "\n";
        }
    }
    return out;
}

}  // namespace

json::Value report_data(const std::vector<Check>& checks, const Summary& summary) {
    json::Array list;
    for (const auto& check : checks) {
        json::Object one;
        one.set("id", check.id);
        one.set("status", name(check.status));
        one.set("found", check.found);
        one.set("neededFor", check.needed_for);
        one.set("requiredBy", as_array(check.required_by));
        if (!check.advice.empty()) one.set("advice", check.advice);
        list.emplace_back(std::move(one));
    }
    json::Object counts;
    counts.set("ok", summary.ok);
    counts.set("warn", summary.warn);
    counts.set("missing", summary.missing);
    json::Object data;
    data.set("checks", std::move(list));
    data.set("summary", std::move(counts));
    data.set("fitFor", as_array(summary.fit_for));
    data.set("unfitFor", as_array(summary.unfit_for));
    return data;
}

std::string report_text(const std::vector<Check>& checks, const Summary& summary, const Style& style,
                        std::optional<unsigned> width) {
    Table table{{"CHECK", "STATUS", "FOUND", "NEEDED FOR"}};
    for (const auto& check : checks) {
        table.add(
            {check.title, {std::string{name(check.status)}, tone_of(check.status)}, check.found, check.needed_for});
    }
    auto out = table.render(style, width);
    if (const auto advice = advice_text(checks, style, width); !advice.empty()) {
        out += "\n" + style.paint(Tone::Heading, "What to do:") + "\n" + advice;
    }
    out += fmt::format("\n{} ok, {} to look at, {} missing.", summary.ok, summary.warn, summary.missing);
    if (!summary.fit_for.empty()) {
        const auto roles = names_of(summary.fit_for);
        out += fmt::format(" This host is fit as {}.", style.paint(Tone::Good, join(roles, ", ")));
    }
    return out + "\n";
}

std::string missing_sentence(const std::vector<std::string>& titles, const Summary& summary) {
    return fmt::format("this host is not fit as {}: {} missing ({})", join_or(names_of(summary.unfit_for)),
                       titles.size() == 1 ? "one requirement is" : fmt::format("{} requirements are", titles.size()),
                       join(titles, ", "));
}

}  // namespace rhizome::cli::doctor
