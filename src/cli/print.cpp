// SPDX-License-Identifier: Apache-2.0
#include "cli/print.h"

#include <fmt/core.h>

#include "base/yaml.h"
#include "cli/text.h"

namespace rhizome::cli {
namespace {

constexpr std::size_t kGap = 3;
constexpr std::size_t kWrappedMin = 20;

}  // namespace

void Table::add(std::vector<Cell> row) {
    ensure(row.size() == headers_.size(), "a table row has as many cells as there are columns");
    for (auto& cell : row) cell.text = printable(cell.text);
    rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::column_widths(std::optional<unsigned> width) const {
    std::vector<std::size_t> columns;
    for (const auto& header : headers_) columns.push_back(display_width(header));
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) columns[i] = std::max(columns[i], display_width(row[i].text));
    }
    if (!width) return columns;
    auto total = kGap * (columns.size() - 1);
    for (const auto column : columns) total += column;
    for (; total > *width; --total) {
        auto& widest = *std::max_element(columns.begin(), columns.end());
        if (widest <= kWrappedMin) break;
        --widest;
    }
    return columns;
}

std::string Table::render(const Style& style, std::optional<unsigned> width) const {
    const auto columns = column_widths(width);
    std::string out;
    const auto add_row = [&](const std::vector<Cell>& row) {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 1;
        for (std::size_t i = 0; i < row.size(); ++i) {
            cells.push_back(wrap(row[i].text, columns[i]));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t line = 0; line < height; ++line) {
            std::size_t blanks = 0;  // held back: the end of a line has none
            for (std::size_t i = 0; i < row.size(); ++i) {
                const auto text = line < cells[i].size() ? cells[i][line] : std::string{};
                if (!text.empty()) out.append(blanks, ' ') += style.paint(row[i].tone, text);
                const auto wide = display_width(text);
                const auto left = kGap + (columns[i] > wide ? columns[i] - wide : 0);
                blanks = text.empty() ? blanks + left : left;
            }
            out += '\n';
        }
    };
    std::vector<Cell> header;
    for (const auto& name : headers_) header.emplace_back(name, Tone::Heading);
    add_row(header);
    for (const auto& row : rows_) add_row(row);
    return out;
}

void Fields::add(std::string name, Cell value) {
    value.text = printable(value.text);
    rows_.emplace_back(std::move(name), std::move(value));
}

std::string Fields::render(const Style& style) const {
    std::size_t width = 0;
    for (const auto& [name, value] : rows_) width = std::max(width, display_width(name));
    std::string out;
    for (const auto& [name, value] : rows_) {
        out += style.paint(Tone::Heading, pad(name, width + kGap));
        out += style.paint(value.tone, value.text) + "\n";
    }
    return out;
}

std::string size_text(std::uint64_t bytes) {
    static constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    std::size_t unit = 0;
    std::uint64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
    for (; tenths >= 10'240; ++unit) tenths /= 1024;
    return fmt::format("{}.{} {}", tenths / 10, tenths % 10, kUnits[unit]);
}

std::string age_text(microseconds age) {
    const auto total = std::max<std::int64_t>(0, std::chrono::floor<seconds>(age).count());
    constexpr std::int64_t kMinute = 60;
    constexpr std::int64_t kHour = 60 * kMinute;
    constexpr std::int64_t kDay = 24 * kHour;
    constexpr std::int64_t kYear = 365 * kDay;
    // Two units while the second one says something, then one.
    const auto text = [&](std::int64_t unit, char letter, std::int64_t below, char below_letter) {
        const auto rest = total % unit / below;
        const auto whole = fmt::format("{}{}", total / unit, letter);
        return rest == 0 ? whole : whole + fmt::format("{}{}", rest, below_letter);
    };
    if (total < 2 * kMinute) return fmt::format("{}s", total);
    if (total < 10 * kMinute) return text(kMinute, 'm', 1, 's');
    if (total < 3 * kHour) return fmt::format("{}m", total / kMinute);
    if (total < 8 * kHour) return text(kHour, 'h', kMinute, 'm');
    if (total < 2 * kDay) return fmt::format("{}h", total / kHour);
    if (total < 8 * kDay) return text(kDay, 'd', kHour, 'h');
    if (total < 2 * kYear) return fmt::format("{}d", total / kDay);
    if (total < 8 * kYear) return text(kYear, 'y', kDay, 'd');
    return fmt::format("{}y", total / kYear);
}

Option output_option() {
    return {.name = "output",
            .letter = 'o',
            .value_name = "FORMAT",
            .help = "how to print the result",
            .fallback = "table",
            .choices = {{"table"}, {"json"}, {"yaml"}},
            .variable = "RHIZOME_OUTPUT"};
}

Format format_of(const Invocation& call) {
    const auto text = call.text("output");
    return text == "json" ? Format::Json : text == "yaml" ? Format::Yaml : Format::Table;
}

void print_data(Invocation& call, const json::Value& data, const std::function<std::string()>& table) {
    switch (format_of(call)) {
        case Format::Json: call.console.out << json::print_pretty(data); return;
        case Format::Yaml: call.console.out << yaml::print(data); return;
        case Format::Table: call.console.out << table(); return;
    }
}

}  // namespace rhizome::cli
