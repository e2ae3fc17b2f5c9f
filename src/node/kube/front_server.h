// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "api/io/front.h"
#include "http/server.h"
#include "node/rpc.h"

namespace rhizome::node {

struct FrontServerOptions {
    std::filesystem::path data{};      ///< whose authority vouches (`kube/authority.h`); made when there is none
    std::vector<std::string> names{};  ///< what its certificate is good for
    std::vector<stream::Address> listen{};
    /// Whose certificates are good; none: those that the own authority has signed.
    stream::VerifyPeer believes{};
    RpcLimits limits{};  ///< of connections and times; rates are for strangers and do not hold here
    Log log{};
};

/// The Kubernetes API over TLS, in front of a node or of a person's proxy. The backend of `service` outlives it.
Result<std::unique_ptr<http::Server>> start_front(stream::IoContext& io, const api::SharedService& service,
                                                  FrontServerOptions options);

}  // namespace rhizome::node
