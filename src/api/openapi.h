// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"
#include "cluster/kinds.h"

/// The OpenAPI v3 documents of the kinds, as far as clients read them: kubectl looks for the query parameter
/// `fieldValidation` of a kind's PATCH before it sends a manifest, and for merge keys and types (`apply` of custom
/// kinds, `explain`). Functions of the registry, as discovery is.
namespace rhizome::api {

/// One version's document, `GET /openapi/v3/apis/apps/v1`: paths and the closure of its schemas. Null when there is no
/// such version. Costs milliseconds and some megabytes for the core group: keep the printed text, not the value.
json::Value openapi_document(const cluster::Kinds& kinds, std::string_view group, std::string_view version);

/// `api/v1`, `apis/apps/v1`: how the index names a version.
std::string openapi_path(std::string_view group, std::string_view version);

/// `GET /openapi/v3` from the paths and the hashes of their documents.
struct OpenapiEntry {
    std::string path{};
    std::string hash{};
};
json::Value openapi_index(const std::vector<OpenapiEntry>& entries);

/// `GET /openapi/v2`: the same of all versions in one document of the older form, with a definition for every list.
/// Large: made when somebody asks.
json::Value openapi_v2_document(const cluster::Kinds& kinds);
/// Its definitions as the protobuf message that kubectl asks for (`explain --output=plaintext-openapiv2`, and before it
/// sends a kind that the newer documents do not have).
/// It is asked for under one name and answered under another, since `@` is no letter of a media type.
inline constexpr std::string_view kOpenapiV2Asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
inline constexpr std::string_view kOpenapiV2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
std::string openapi_v2_protobuf(const json::Value& document);

}  // namespace rhizome::api
