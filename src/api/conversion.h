// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/status.h"
#include "base/json.h"
#include "cluster/kinds.h"

/// Versions of a custom kind, turned into each other by the webhook that its definition names. Without one they differ
/// in `apiVersion` only, and whoever shows a document writes that.
namespace rhizome::api {

/// Whether documents that are stored in another version must be converted by somebody else.
bool needs_conversion(const cluster::Kind& kind, std::string_view stored_api_version);

/// The review that is posted (`apiextensions.k8s.io/v1 ConversionReview`).
json::Value conversion_review(const std::string& uid, std::string_view wanted_api_version, json::Array objects);

/// The objects of the answer, one for each of `asked` and in their order: of the wanted version and the same kind, with
/// the same name, namespace and uid. What a webhook may change of the metadata is labels and annotations; the rest is
/// put back.
Result<json::Array> converted_objects(const json::Value& answer, const std::string& uid,
                                      std::string_view wanted_api_version, const json::Array& asked);

/// How kube-apiserver says that it went wrong.
Status conversion_failed(const cluster::Kind& kind, std::string_view from, std::string_view to, std::string_view why);

}  // namespace rhizome::api
