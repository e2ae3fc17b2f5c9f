// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "base/json.h"

/// Shared by the files that fill in defaults. All of them take places that may be missing or of another type, and do
/// nothing then: decoding has said so.
namespace rhizome::cluster::detail {

/// The member that is an object; null otherwise.
json::Object* object_at(json::Object& parent, std::string_view key);
/// The same, made when it is missing or null.
json::Object* made_object(json::Object& parent, std::string_view key);
/// Sets the member when it is missing, null, or an empty text (which Go cannot tell from a missing one).
void fill(json::Object& object, std::string_view key, json::Value value);
/// Calls for every object in the list at `key`.
void each(json::Object& parent, std::string_view key, const std::function<void(json::Object&)>& visit);
std::string_view text(const json::Object& object, std::string_view key);

/// A pod's spec, in a Pod or in a template.
void fill_pod_spec(json::Object& spec, bool in_pod);
/// A claim's spec.
void fill_claim_spec(json::Object& spec);
/// The rules of kinds other than pods; true when there are some.
void fill_kind(json::Object& object, std::string_view group, std::string_view kind, std::string_view version);

/// Calls with every pod spec that a document of a kind holds, and where it stands.
void each_pod_spec(json::Object& object, std::string_view group, std::string_view kind,
                   const std::function<void(json::Object& spec, bool in_pod)>& visit);

}  // namespace rhizome::cluster::detail
