// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"
#include "api/managed_fields.h"

/// Who owns what after a request: `managed_fields.h` for the verbs.
namespace rhizome::api {

/// Who writes: `fieldManager`, else the client's name. 422 for names that are none, for an apply without one, and for
/// `force` with anything but an apply.
Result<FieldManager, Status> manager_of(const Call& call);

/// Puts the entries in that a creation or a change by any verb but apply leaves. `object` was admitted.
void track_creation(const Call& call, const FieldManager& manager, json::Value& object);
/// The same of a change to what this request itself made so far.
void track_change(const Call& call, const FieldManager& manager, const json::Value& before, json::Value& object);
/// The same of a change to what stands there; `before` is what was shown of `standing`.
void track_change(const Call& call, const FieldManager& manager, const Standing& standing, const json::Value& before,
                  json::Value& object);

/// Puts entries in as they are; none takes the member out.
void set_entries(json::Value& object, json::Array entries);

/// Whether writes of the object leave `status` to its subresource.
bool keeps_status_apart(const Kind& kind);

}  // namespace rhizome::api
