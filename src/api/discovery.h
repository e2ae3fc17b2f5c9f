// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"
#include "cluster/kinds.h"

/// What clients learn about the kinds there are. All documents are functions of the registry: two registries with the
/// same kinds give the same bytes, and one that learns a kind gives others, so their hash can be an ETag.
namespace rhizome::api {

/// `GET /api` and `GET /apis` for clients that ask for `as=APIGroupDiscoveryList` (kubectl since 1.26): everything in
/// one document. `core` for /api, else all named groups.
json::Value aggregated_discovery(const cluster::Kinds& kinds, bool core);
/// What the answer's Content-Type must be for it; `version` is the one the client asked for (`v2`, `v2beta1`).
std::string aggregated_content_type(std::string_view version);

/// `GET /api`. `address` is where clients reach this server: `10.0.0.1:6443`.
json::Value api_versions(std::string_view address);
/// `GET /apis`
json::Value api_group_list(const cluster::Kinds& kinds);
/// `GET /apis/GROUP`; null when there is no such group.
json::Value api_group(const cluster::Kinds& kinds, std::string_view group);
/// `GET /api/v1`, `GET /apis/GROUP/VERSION`; null when there is no such version.
json::Value api_resource_list(const cluster::Kinds& kinds, std::string_view group, std::string_view version);

/// Named groups in the order in which Kubernetes lists them (clients take the first that fits a short name), custom
/// ones behind by name.
std::vector<std::string_view> listed_groups(const cluster::Kinds& kinds);

/// FNV-1a of a text in hexadecimal: for ETags and the `hash` of OpenAPI documents, which tell versions apart and
/// protect against nobody.
std::string text_hash(std::string_view text);

}  // namespace rhizome::api
