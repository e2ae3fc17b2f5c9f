// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/field_set.h"
#include "api/managed_fields.h"
#include "api/status.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/schema.h"

/// Server-side apply: somebody says which fields they care about and what they want there. What they name is theirs
/// from then on, what they no longer name goes unless somebody else has it, and what another one has is a conflict
/// unless both want the same or force is used. Pure functions of documents; ownership stands in
/// `metadata.managedFields`.
namespace rhizome::api {

/// The fields that somebody names in what they apply, as they wrote it.
struct NamedFields {
    FieldSet named{};  ///< leaves, entries of maps, elements of lists; nobody owns the structs on the way
    FieldSet unset{};  ///< those of them that are null: owned, and nothing is to stand there
};
/// Reads them. Refuses unknown fields of Kubernetes' own kinds, elements without their keys, and elements that stand
/// twice; the sentence has the places. What types the values have is not looked at.
Result<NamedFields> named_fields(const json::Value& written, const cluster::Schema* schema, bool custom);

/// What is applied.
struct Configuration {
    json::Value object{};  ///< decoded, without nulls
    NamedFields fields{};
};

struct FieldConflict {
    std::string manager{};  ///< as people read it: `"kubectl-edit" using v1`
    std::string field{};    ///< `.data.a`
    std::size_t also = 0;   ///< of the last one: so many more are not told
    friend bool operator==(const FieldConflict&, const FieldConflict&) = default;
};
using FieldConflicts = std::vector<FieldConflict>;
/// 409, with a cause for each.
Status apply_conflict(const FieldConflicts& conflicts);

struct Applied {
    json::Value object{};   ///< not filled in and not validated yet; `metadata.managedFields` is as it was
    json::Array entries{};  ///< of `metadata.managedFields`
};
/// `live` as it is shown (an empty object when it is to be created) with the configuration applied by `manager`.
/// `entries` are the live object's; malformed ones count for nothing. With `force` fields of others are taken instead
/// of reported; those in `free` are taken anyway. An apply that changes nothing leaves object, entries and their times
/// as they are.
Result<Applied, FieldConflicts> apply_configuration(const json::Value& live, const Configuration& wanted,
                                                    const cluster::Schema* schema, const json::Array& entries,
                                                    const FieldManager& manager, bool force, const FieldSet& free = {});

}  // namespace rhizome::api
