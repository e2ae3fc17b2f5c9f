// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "cluster/field_error.h"
#include "cluster/kinds.h"

/// Whether a document says something sensible: the rules of Kubernetes that users meet, with its causes and words. For
/// documents that were decoded and filled in; all faults are found, not only the first.
namespace rhizome::cluster {

/// A new object: metadata and content. Empty when all is well.
FieldErrors validate_create(const json::Value& object, const Kind& kind);

/// A changed object against the stored one: content as for a new one, and what may not change (`field is immutable`).
FieldErrors validate_update(const json::Value& object, const json::Value& before, const Kind& kind);

}  // namespace rhizome::cluster
