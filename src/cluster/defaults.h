// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "cluster/kinds.h"

/// What Kubernetes fills in where a document says nothing. Every default is a function of the document alone; what
/// needs the state of the cluster (service addresses, the default storage class, quotas) is not done here.
namespace rhizome::cluster {

/// Fills a decoded document in: the schema's own values (structs that are always there, fields that are always
/// printed), then the rules of its kind (pods, workloads, services, volumes, …). Filling in twice changes nothing.
void apply_defaults(json::Value& object, const Kind& kind);

/// What a new object begins with, before it is validated: `status` is not the creator's to write where it is a
/// subresource and begins as Kubernetes begins it (a pod is Pending, a namespace Active); `generation` is 1;
/// what only the server sets (uid, resourceVersion, creation and deletion time, managedFields of others) goes.
void prepare_for_create(json::Value& object, const Kind& kind);

/// What an update keeps of the stored object: the server's own metadata; `status` when the object is written and
/// everything but `status` when the subresource is (`status_only`); `generation` grows when the spec changes.
void prepare_for_update(json::Value& object, const json::Value& before, const Kind& kind, bool status_only);

/// What of a new object follows from its name and uid: the labels and the selector of a Job.
void fill_identity(json::Value& object, const Kind& kind);

}  // namespace rhizome::cluster
