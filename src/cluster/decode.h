// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/kinds.h"
#include "cluster/schema.h"

/// From what a client sent to a document of a kind: the types are checked, unknown fields found, and values brought
/// into their one form. What is missing is not filled in (defaults.h) and what is said not judged (validate.h).
namespace rhizome::cluster {

/// What to do about fields that the schema does not know: the query parameter `fieldValidation`.
enum class FieldValidation : std::uint8_t {
    Strict,  ///< refuse
    Warn,    ///< leave them out and say so
    Ignore,  ///< leave them out
};
/// `Strict`, `Warn`, `Ignore`; empty is Warn, as the API server takes it.
std::optional<FieldValidation> parse_field_validation(std::string_view text);

struct Decoded {
    json::Value object{};
    std::vector<std::string> warnings{};  ///< `unknown field "spec.bogus"`: for the header `Warning`
};

/// Reads JSON text, with Kubernetes' sentence for what is wrong with it. A member named twice is refused whatever
/// the validation says, because two readers of such a text may take different values for the truth.
Result<json::Value> parse_json(std::string_view text);
/// The same for a body that may be YAML (apply patches).
Result<json::Value> parse_yaml(std::string_view text);

/// The document as one of this kind. Nulls are left out, as if they had not been written; quantities, times and numbers
/// get their one form; `apiVersion` and `kind` are filled in when they are missing and refused when they say otherwise.
/// Errors are whole sentences as the API server makes them: `Pod in version "v1" cannot be handled as a Pod: …`.
Result<Decoded> decode(json::Value document, const Kind& kind, FieldValidation validation);
/// The same for what is sent and never stored (Scale, Eviction, DeleteOptions), which have a schema only. `name` is how
/// the sentences call it.
Result<Decoded> decode(json::Value document, const Schema& schema, std::string_view version, std::string_view name,
                       FieldValidation validation);

/// What of a stored document, which may hold anything, is of this kind: the members of the document and of its metadata
/// that `decode` would take. The others are left out whole.
json::Value readable_part(json::Value document, const Kind& kind);

}  // namespace rhizome::cluster
