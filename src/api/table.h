// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "cluster/kinds.h"

/// What `kubectl get` prints: objects as rows of a `meta.k8s.io/v1 Table`, with the cells that Kubernetes' own server
/// makes. Whoever calls says what time it is: ages are the server's to print.
namespace rhizome::api {

/// What a row carries besides its cells: the query parameter `includeObject`.
enum class RowObject : std::uint8_t { None, Metadata, Object };
/// Empty is Metadata; nothing for other words.
std::optional<RowObject> parse_row_object(std::string_view text);

/// The columns of a kind as `columnDefinitions` has them.
json::Array table_columns(const cluster::Kind& kind);
/// One cell for each column: strings and numbers. Never fails: what an object lacks is printed as Kubernetes does,
/// `<none>` or `<unknown>`.
json::Array table_cells(const json::Value& object, const cluster::Kind& kind, Time now);
json::Value table_row(const json::Value& object, const cluster::Kind& kind, RowObject carried, Time now);
/// A whole table; `metadata` is that of the list (resourceVersion, continue, remainingItemCount). Watch events after
/// the first one leave the columns out.
json::Value make_table(const cluster::Kind& kind, json::Array rows, json::Value metadata, bool with_columns = true);

/// The kind `autoscaling/v1 Scale`, for its columns: it is shown, never listed, and so among no registry's kinds.
const cluster::Kind& scale_kind();

/// An object reduced to its metadata, `meta.k8s.io/v1 PartialObjectMetadata`.
json::Value partial_metadata(const json::Value& object);

/// `5s`, `2m11s`, `3h`, `5d12h`: how Kubernetes prints ages.
std::string human_duration(microseconds duration);

}  // namespace rhizome::api
