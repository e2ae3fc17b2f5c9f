// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/io/backend.h"
#include "base/log.h"
#include "cluster/kinds.h"
#include "http/exchange.h"

namespace rhizome::api {

/// Of requests to the subresource `proxy`.
struct ProxyOptions {
    bool to_loopback = false;          ///< this machine's own addresses are dialled too: for tests
    milliseconds answer_time{60'000};  ///< until whoever is behind begins to answer
    milliseconds gap_time{600'000};    ///< between two pieces of an answer: streams may be silent for a while
    std::size_t at_once_max = 100;     ///< more are told 429
};

struct FrontOptions {
    std::vector<TokenUser> tokens{};
    std::string version{};                  ///< of Rhizome
    seconds wait_max{60};                   ///< for a write to reach its stage, where the client says nothing
    std::size_t body_bytes_max = 3u << 20;  ///< as kube-apiserver
    std::size_t writing_max = 200;          ///< writes under way, each with its body in memory; more are told 429
    milliseconds bookmark_every{60'000};
    ProxyOptions proxy{};
    /// Takes a line of the audit log and says whether it was written; none: there is no such log. From any thread.
    std::function<bool(const std::string& line)> audit{};
    Log log{};
};

/// What all parts of the API of one backend share.
struct Service;
using SharedService = std::shared_ptr<Service>;
SharedService make_service(Backend& backend, FrontOptions options);

/// Answers the Kubernetes API (docs/spec/kubernetes.md): who asks, what for, then the verbs of `api/verbs`. The
/// backend outlives the handler.
///
/// Who asks is known by a client certificate that the listener's TLS has checked, or by a token; without either only
/// `/healthz`, `/livez`, `/readyz` and `/version` answer.
http::Handler make_front(SharedService service);

/// The API's form of a refusal, for what never reaches the handler (`http::ServerOptions::refuse`).
http::Response front_refusal(unsigned status, std::string_view message);

}  // namespace rhizome::api
