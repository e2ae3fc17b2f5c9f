// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/invocation.h"
#include "cli/print.h"
#include "sim/swarm.h"

/// What the simulator's commands have in common.
namespace rhizome::cli::simulate {

/// `--machines MIN-MAX` (or one number): how many a history has.
Option machines_option();
Result<void> read_machines(const Invocation& call, sim::SwarmOptions& into);
/// ` --machines 3-5` when the history needs it to be the same again.
std::string machines_words(const sim::SwarmOptions& options);

/// `--html FILE`, and writing there.
Option html_option(std::string help);
Result<void> write_page(Console& console, const std::string& file, const std::string& page);

/// Words with commas between them: every one by itself; `a,b c` and `a b,c` are the same three.
std::vector<std::string> words_of(const std::vector<std::string>& values);
/// A number, or nothing for any other text.
std::optional<std::uint64_t> number_in(std::string_view text);
/// `n3` or `3`, of so many machines. Usage for anything else.
Result<std::size_t> machine_in(std::string_view text, std::size_t machines);

/// Seconds with milliseconds after the start of a history: `12.345`.
std::string moment_text(microseconds since_start);
json::Value seconds_value(microseconds duration);
/// `1234567` as `1,234,567`.
std::string grouped(std::uint64_t number);

/// `asked`, `accepted`, `included`, `final` or `refused`.
std::string_view stage_name(const sim::Order& order);

/// The lines as a table for people, and as data.
std::string timeline_table(const std::vector<sim::TimelineLine>& lines, Time start, const Style& style,
                           std::optional<unsigned> width);
json::Value timeline_data(const std::vector<sim::TimelineLine>& lines, Time start);

/// What became of a history: for people, as data.
Fields verdict_fields(const sim::Verdict& verdict);
json::Object verdict_data(const sim::Verdict& verdict, std::string_view machines_words);

}  // namespace rhizome::cli::simulate
