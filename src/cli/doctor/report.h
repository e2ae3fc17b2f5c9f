// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/doctor/checks.h"
#include "cli/style.h"

/// The checks as people and programs read them.
namespace rhizome::cli::doctor {

json::Value report_data(const std::vector<Check>& checks, const Summary& summary);

/// A table, then what to do about each thing that is not well, then one line that sums up.
std::string report_text(const std::vector<Check>& checks, const Summary& summary, const Style& style,
                        std::optional<unsigned> width);

/// Why the exit code is not 0.
std::string missing_sentence(const std::vector<std::string>& titles, const Summary& summary);

}  // namespace rhizome::cli::doctor
