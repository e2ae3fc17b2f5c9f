// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/field_set.h"
#include "base/json.h"
#include "cluster/kinds.h"

/// The annotation in which `kubectl apply` without `--server-side` keeps what it applied last. When kubectl begins to
/// apply on the server, what it wrote there before is not in its way, and the annotation follows for clients that
/// still read it. Only for the manager `kubectl`: others opt out by their name.
namespace rhizome::api {

inline constexpr std::string_view kLastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
inline constexpr std::string_view kKubectlManager = "kubectl";

/// The fields that were applied last by a client and still are what was applied. Empty without a readable annotation
/// of the kind's version.
FieldSet last_applied_fields(const json::Value& live, const cluster::Kind& kind);

/// Where `object` has the annotation: makes it `written`, which was applied now. An annotation that would make them too
/// large goes.
void follow_last_applied(json::Value& object, json::Value written);

}  // namespace rhizome::api
