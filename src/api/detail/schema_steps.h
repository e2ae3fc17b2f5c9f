// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "cluster/schema.h"

/// How a document divides into fields that have owners: what merges member by member or element by element, and the
/// steps of a `FieldSet` that lead to the parts.
namespace rhizome::api::detail {

/// The schema to walk a whole document with: where nothing is known of a kind, its metadata still is.
const cluster::Schema* document_schema(const cluster::Schema* schema);

/// An object whose members have owners of their own. Where nothing is known, every object is one.
bool merges_by_member(const json::Value& value, const cluster::Schema* schema);
/// A list whose elements have owners of their own: by their keys, or of a set.
bool merges_by_element(const json::Value& value, const cluster::Schema* schema);

/// What is known of a member.
struct Inner {
    const cluster::Schema* schema = nullptr;  ///< null: nothing
    bool always = false;                      ///< a struct or list stands there even when nothing was written
    bool named = false;                       ///< a field of a struct; not an entry of a map
};
Inner inner_of(const cluster::Schema* schema, std::string_view key);

/// The step to an element of a list that merges; empty when it lacks a key that has no default.
std::string element_step(const json::Value& element, const cluster::Schema& list);

}  // namespace rhizome::api::detail
