// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "base/time.h"
#include "cluster/field_error.h"
#include "cluster/schema.h"

/// Who wrote which fields: `metadata.managedFields`, kept for every write, so that server-side apply (`apply.h`) and
/// `kubectl diff` find it true.
namespace rhizome::api {

/// Who writes, and how.
struct FieldManager {
    std::string name{};  ///< the query parameter `fieldManager`, else `manager_from_user_agent`
    std::string api_version{};
    std::string subresource{};  ///< empty for the object itself
    Time time{};
};
/// `kubectl` of `kubectl/v1.32.4 (linux/amd64) …`; `unknown` for nothing.
std::string manager_from_user_agent(std::string_view user_agent);
/// At most 128 printable characters; the faults are those of the API server.
cluster::FieldErrors check_manager(std::string_view name);

/// The entries after a write of any kind but apply. Whoever writes a field owns it from then on and takes it from all
/// others; fields that are gone belong to nobody. `before` is null for a creation. `entries` are those to begin with;
/// when one of them is malformed they all count for nothing. At most ten updaters are kept apart: older ones of one
/// version become `ancient-changes`.
json::Array track_update(const json::Value* before, const json::Value& after, const cluster::Schema* schema,
                         const json::Array& entries, const FieldManager& manager);

/// Puts into `after` the entries that this write leaves. A client may send entries back, changed or not: they count
/// when they are well-formed and the object itself is written. `[{}]` forgets them all; an empty list, which clients
/// send that know nothing of them, changes nothing. An object without entries gets none by an update: its first apply
/// begins to keep them.
void track_write(const json::Value* before, json::Value& after, const cluster::Schema* schema,
                 const FieldManager& manager);

/// Whether two versions differ in nothing but the times of their entries.
bool same_but_times(const json::Value& left, const json::Value& right);

}  // namespace rhizome::api
