// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

/// The file in which kubectl keeps whom it asks and as whom.
namespace rhizome::api {

/// One context: a node, a user, and what makes them believe each other.
struct KubeContext {
    std::string name{};    ///< of context and cluster; the user is NAME-USER
    std::string server{};  ///< `https://127.0.0.1:6443`
    std::string user{};
    std::string authority_pem{};
    std::string certificate_pem{};
    std::string key_pem{};
};

/// `file` with the context put in or replaced, and made the current one; all else stays as it is. Null makes a new
/// file. Invalid when it is no kubeconfig.
Result<json::Value> with_kube_context(json::Value file, const KubeContext& context);

}  // namespace rhizome::api
