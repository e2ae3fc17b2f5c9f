// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "http/client.h"
#include "state/view.h"
#include "stream/strand.h"

/// Asks somebody's webhook: one review is posted, one comes back. For admission and for conversion alike, both of which
/// have a `clientConfig`.
namespace rhizome::api {

/// Where a webhook is, from its `clientConfig`: the URL, or an address of a Service in the state (of several the one
/// that `turn` falls on), with what its certificate must be signed by (`caBundle`; else this machine's authorities).
struct WebhookTarget {
    http::Origin origin{};
    std::string path = "/";
    std::string shown{};  ///< for errors: the URL, or `https://NAME.NAMESPACE.svc:443/path`
};
Result<WebhookTarget> webhook_target(const json::Value& client_config, const state::StateView& chain,
                                     std::size_t turn = 0);

struct WebhookLimits {
    milliseconds timeout{10'000};
    std::size_t answer_bytes_max = 3u << 20;
    std::size_t answer_depth_max = 64;
};
/// Posts `review` and gives the answer's body, which is a JSON object. Unavailable for whoever does not answer in time
/// or with another status than 2xx, Exhausted for an answer that is too large, Invalid for one that is no JSON object.
stream::Task<Result<json::Value>> ask_webhook(WebhookTarget target, json::Value review, WebhookLimits limits);

}  // namespace rhizome::api
