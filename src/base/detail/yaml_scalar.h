// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"

/// What scalars without quotes mean: for the reader, and for the writer, which quotes whatever could mean something
/// else. Not for other modules.
namespace rhizome::yaml::detail {

enum class Plain : unsigned char {
    Value,    ///< null, a boolean, a number or a string
    Merge,    ///< `<<`
    NotJson,  ///< `.inf`, `.nan`: numbers that JSON has not
};

struct Resolved {
    Plain plain = Plain::Value;
    json::Value value;
};

/// As sigs.k8s.io/yaml resolves for kubectl: YAML 1.1 words, integers of base 2, 8, 10 and 16, underscores between
/// digits. What is a JSON number already keeps its text, others become the decimal number of the same value.
Resolved resolve_plain(std::string_view text);

/// Some reader of YAML 1.1 or 1.2 takes this text, unquoted, for something else than a string.
bool is_ambiguous(std::string_view text);

}  // namespace rhizome::yaml::detail
