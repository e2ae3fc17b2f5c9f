// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rhizome::script::detail {

/// The operand of a relative time lock as people write it, `5d`: the roughest text that gives the same operand. Nothing
/// when it is no such operand.
std::optional<std::string> duration_text(std::int64_t operand);

/// Unix seconds as RFC 3339; nothing when that does not read back.
std::optional<std::string> moment_text(std::int64_t unix_seconds);

}  // namespace rhizome::script::detail
