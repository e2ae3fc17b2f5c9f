// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/status.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/schema.h"

/// Changes to a document that are sent as patches. Pure functions of document and patch; both come from strangers, so
/// the work and the growth they can cause are bounded, and a refusal is the Status to answer with. What comes out is
/// not checked against a schema: whoever stores it decodes and validates it.
namespace rhizome::api {

enum class PatchType : std::uint8_t { Json, Merge, StrategicMerge, Apply };
/// By the Content-Type of a request, its parameters left aside; nothing for others.
std::optional<PatchType> patch_type(std::string_view content_type);
/// The Content-Types there are, for the answer 415. Custom kinds take no strategic merge patch.
std::string_view patch_types_accepted(bool custom);

/// RFC 6902: `[{"op":"replace","path":"/spec/replicas","value":3}]`. All of it or nothing. Numbers are compared by
/// value in `test`. Bounds: 10,000 operations, 3 MiB of copies.
Result<json::Value, Status> apply_json_patch(json::Value document, const json::Value& patch);

/// RFC 7386: objects merge, null deletes, all else replaces.
json::Value apply_merge_patch(json::Value document, const json::Value& patch);

/// Kubernetes' own: as a merge patch, but lists merge too where the schema names a merge key, and directives say more:
/// `$patch: delete|replace|merge`, `$setElementOrder/FIELD`, `$deleteFromPrimitiveList/FIELD`, `$retainKeys`.
/// `schema` is that of the document; fields of shape Any merge as in a merge patch.
Result<json::Value, Status> apply_strategic_merge_patch(json::Value document, const json::Value& patch,
                                                        const cluster::Schema& schema);

}  // namespace rhizome::api
