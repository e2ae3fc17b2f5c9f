// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/field_set.h"
#include "base/json.h"
#include "cluster/schema.h"

/// What an apply does to a document, before anybody asks who owns what.
namespace rhizome::api::detail {

/// Puts `wanted` over `live`: objects member by member, lists element by element where the schema says so, all else as
/// wholes. Elements that both have stand in the order of `wanted`; others of `live` keep their places among them.
void merge_configuration(json::Value& live, const json::Value& wanted, const cluster::Schema* schema);

/// Takes out of a merged document what its author named before (`last`) and nobody names any more: `owned` is what all
/// managers own now, the author's new fields among them. A struct or list of which nobody owns anything any more goes
/// with all that is in it; what others own inside stays; and so does what was never the author's.
void prune_unowned(json::Value& merged, const FieldSet& last, const FieldSet& owned, const cluster::Schema* schema);

/// Takes the paths of `gone` out. Gives those that stood there.
FieldSet take_out(json::Value& object, const FieldSet& gone, const cluster::Schema* schema);

}  // namespace rhizome::api::detail
