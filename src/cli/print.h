// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/invocation.h"
#include "cli/style.h"

/// Printing results: a table for people, JSON or YAML for programs, chosen by `-o`.
namespace rhizome::cli {

struct Cell {
    std::string text;
    Tone tone = Tone::Plain;

    Cell(std::string text_in, Tone tone_in = Tone::Plain) : text(std::move(text_in)), tone(tone_in) {}
    Cell(const char* text_in, Tone tone_in = Tone::Plain) : text(text_in), tone(tone_in) {}
};

/// Columns aligned under upper-case headers, three blanks apart, as kubectl prints them. Empty cells are shown as they
/// are; control characters are made harmless.
class Table {
public:
    explicit Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}

    void add(std::vector<Cell> row);
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// With a width, the widest columns are wrapped until the table fits (none below 20 columns); without one every row
    /// is one line, which suits grep and awk.
    [[nodiscard]] std::string render(const Style& style, std::optional<unsigned> width = {}) const;

private:
    [[nodiscard]] std::vector<std::size_t> column_widths(std::optional<unsigned> width) const;

    std::vector<std::string> headers_;
    std::vector<std::vector<Cell>> rows_;
};

/// One thing and all that is known of it: `name   value` a line, the names in one column.
class Fields {
public:
    void add(std::string name, Cell value);
    [[nodiscard]] std::string render(const Style& style) const;

private:
    std::vector<std::pair<std::string, Cell>> rows_;
};

/// Bytes as people read them: `512 B`, `4.2 MiB`.
std::string size_text(std::uint64_t bytes);

/// How long ago, short, as kubectl prints ages: `45s`, `3m20s`, `5h`, `12d`, `3y40d`. What lies ahead (a clock is wrong
/// somewhere) is `0s`.
std::string age_text(microseconds age);

enum class Format : unsigned char { Table, Json, Yaml };

/// `-o, --output`, for every command that prints data. A command that declares it uses `print_data`.
Option output_option();
Format format_of(const Invocation& call);

/// Prints `data` as JSON or YAML, or calls `table` and prints what it gives, as `-o` says.
void print_data(Invocation& call, const json::Value& data, const std::function<std::string()>& table);

}  // namespace rhizome::cli
