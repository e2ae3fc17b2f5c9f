// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.h"

/// YAML as Kubernetes users write it: the part that maps onto JSON.
namespace rhizome::yaml {

/// Block style, two blanks of indentation, as `kubectl -o yaml` prints: strings are quoted when any YAML 1.1 or 1.2
/// reader could take them for something else (`"1"`, `"yes"`, `"null"`, `"2026-01-01"`), long texts with newlines as
/// `|` blocks. Ends with a newline.
std::string print(const json::Value& value);

/// All documents of a stream (separated by `---`; empty ones are left out). Scalars resolve as sigs.k8s.io/yaml does
/// for kubectl: `true`/`yes`/`on` are booleans, whole and decimal numbers keep their text, quoted scalars are always
/// strings. Duplicate keys, keys that are no scalars, merge loops, aliases that would expand beyond the limits and tags
/// other than the core ones are errors with line and column. Merged members (`<<`) come after those of the map itself.
///
/// Dearer than JSON: a hostile text may take up to 75 bytes of memory for each byte that `limits` allows, for a moment.
Result<std::vector<json::Value>, json::ParseError> parse_all(std::string_view text, json::Limits limits = {});
/// The one document that `text` is.
Result<json::Value, json::ParseError> parse(std::string_view text, json::Limits limits = {});

/// The same with the line of every key, by its way from the root (`log.level`): for files whose errors must say where.
/// What came by an alias or a merge stands at no line; of the keys inside lists the last one of a name counts.
struct Located {
    json::Value value{};
    std::map<std::string, std::size_t, std::less<>> lines{};
};
Result<Located, json::ParseError> parse_located(std::string_view text, json::Limits limits = {});

}  // namespace rhizome::yaml
