// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/commands/sim/seeds.h"
#include "sim/timeline.h"

/// Histories as one page for a browser: nothing is loaded from anywhere, so the file can be sent around and kept.
namespace rhizome::cli::simulate {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// One history on a page.
struct PageHistory {
    std::string title{};
    std::vector<std::string> faults{};  ///< shown in red; none: clean
    Facts facts{};
    json::Value drawing{};
};
PageHistory page_history(const sim::Recorded& recorded, std::string_view machines_words);
/// What the page's script draws. Times are whole milliseconds since the start; see page.js for the members.
json::Value drawing_of(const sim::Timeline& timeline);

struct Page {
    std::string title{};
    Facts facts{};
    std::vector<SeedRow> rows{};      ///< a line for each seed
    std::uint64_t rows_left_out = 0;  ///< how many more there were
    std::vector<sim::Verdict> failures{};
    std::string machines_words{};  ///< for the lines that replay
    std::vector<PageHistory> histories{};
    std::uint64_t histories_left_out = 0;  ///< failures without a drawing
};
std::string render(const Page& page);

/// Text between tags or in a quoted attribute.
std::string html_text(std::string_view text);
/// JSON inside a script element: nothing in it can end the element.
std::string script_json(const json::Value& value);

}  // namespace rhizome::cli::simulate
