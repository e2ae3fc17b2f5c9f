// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json.h"

/// What a new cluster holds besides its machine: the namespaces that Kubernetes' tools expect, and the roles that
/// manifests refer to by name (`cluster-admin`, `admin`, `edit`, `view` and those of `system:`). Rights are decided by
/// locks; roles are documents like any other, there to be named, read and changed.
namespace rhizome::node {

/// `default`, `kube-system`, `kube-public` and `kube-node-lease`.
std::vector<json::Value> first_namespaces();
/// ClusterRoles and their ClusterRoleBindings.
std::vector<json::Value> first_roles();

}  // namespace rhizome::node
