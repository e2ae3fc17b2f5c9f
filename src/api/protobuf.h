// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/json.h"
#include "base/result.h"
#include "cluster/schema.h"

/// Protobuf request bodies: kubectl from 1.32 on sends them for `create namespace`, `auth can-i` and others, and does
/// not fall back to JSON when they are refused. Only read, never written: clients take JSON answers.
namespace rhizome::api {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

/// The JSON document that a body of this type means: the envelope (`k8s\0`, then `runtime.Unknown`) names the kind, its
/// schema has the numbers of the fields. Strict about form, depth and size; fields that the schema has no number for
/// are skipped, as protobuf wants it. Zero values that Go's JSON leaves out are left out here too.
Result<json::Value> decode_protobuf(ByteView body);

/// One message without an envelope.
Result<json::Value> transcode(ByteView message, const cluster::Schema& schema);

}  // namespace rhizome::api
