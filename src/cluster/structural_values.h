// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/field_error.h"
#include "cluster/structural_schema.h"

/// What a structural schema does to documents of its kind.
namespace rhizome::cluster {

/// Cuts out members that the schema does not know. `unknown`, when given, gets their places (`spec.bogus`), at most 64.
/// `whole`: it is an object of Kubernetes, whose apiVersion, kind and metadata are always known; else a part of one.
void prune(json::Value& value, const StructuralSchema& schema, std::vector<std::string>* unknown = nullptr,
           bool whole = true);

/// Fills defaults in, where nothing stands and inside them; a null that may not stand there counts as nothing when
/// there is a default. Filling in twice changes nothing, unless it came to more than any stored document has (4 MiB):
/// then some defaults are left out, and the document is refused for its size.
void fill_structural(json::Value& object, const StructuralSchema& schema);

/// What is wrong with a document, in the words of Kubernetes: `spec.replicas in body must be of type integer:
/// "string"`. All faults, at most `kFaultsMax`.
FieldErrors validate_structural(const json::Value& object, const StructuralSchema& schema, const Where& where = {});
inline constexpr std::size_t kFaultsMax = 256;

/// Whether a text is of a format that Kubernetes knows (`date-time`, `ipv4`, `uuid` …); any text is of an unknown one.
bool is_of_format(std::string_view text, std::string_view format);

}  // namespace rhizome::cluster
