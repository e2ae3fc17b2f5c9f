// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "cluster/field_error.h"
#include "cluster/kinds.h"

/// What all objects have in common: `metadata`. Reads are views into the document and live as long as it; they take
/// documents that may be anything, and answer "nothing" for what is not there or no string.
namespace rhizome::cluster {

std::string_view name_of(const json::Value& object);
std::string_view namespace_of(const json::Value& object);
std::string_view uid_of(const json::Value& object);
std::string_view resource_version_of(const json::Value& object);
/// A label's value; nothing when the object has no such label.
std::optional<std::string_view> label(const json::Value& object, std::string_view key);
std::optional<std::string_view> annotation(const json::Value& object, std::string_view key);
std::optional<Time> creation_time(const json::Value& object);
bool is_terminating(const json::Value& object);

/// The owner with `controller: true`; null when there is none.
const json::Value* controller_of(const json::Value& object);
bool has_finalizer(const json::Value& object, std::string_view finalizer);
/// The status of a condition in `status.conditions`: `True`, `False`, `Unknown`, or empty when there is no such one.
std::string_view condition(const json::Value& object, std::string_view type);

/// The member of an object, made an empty object where something else stands. For writing into stored documents: the
/// ledger asks only that one is JSON and names its path, so any other part of it may be anything, and
/// `parent["key"]["x"]` would stop the node. `parent` is an object.
json::Value& object_in(json::Value& parent, std::string_view key);
/// The same of a list.
json::Array& array_in(json::Value& parent, std::string_view key);

/// All annotations of an object together: 256 KiB.
inline constexpr std::size_t kAnnotationBytesMax = 256u << 10;

/// Whether the metadata of an object of this kind is as Kubernetes wants it: its name by the rule of the kind,
/// namespace, labels, annotations, owners, finalizers. For creation, after a generated name was filled in.
FieldErrors check_metadata(const json::Value& object, const Kind& kind);
/// Labels as they stand at `where`: also those of pod templates and selectors.
FieldErrors check_labels(const json::Value& labels, const Where& where);
FieldErrors check_annotations(const json::Value& annotations, const Where& where);

/// What may not change between two versions of one object: name, namespace, uid, creation time; and a terminating
/// object gains no finalizers.
FieldErrors check_metadata_update(const json::Value& after, const json::Value& before);

}  // namespace rhizome::cluster
