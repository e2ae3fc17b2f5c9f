// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rhizome::cli {

/// The unit of systemd that runs a node: packaging/rhizome.service is this with the places of a package.
std::string service_unit(std::string_view program, std::string_view data);

/// Whether a path can be written into a unit as it is: systemd gives a meaning to blanks, quotes, `$`, `%` and `\`.
[[nodiscard]] bool can_stand_in_unit(std::string_view path);

}  // namespace rhizome::cli
