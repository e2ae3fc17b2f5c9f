// SPDX-License-Identifier: Apache-2.0
#include "api/io/webhook_client.h"

#include <fmt/core.h>

#include "api/service_address.h"
#include "cluster/base64.h"
#include "stream/timers.h"

namespace rhizome::api {
namespace {

using stream::Task;

struct Reached {
    std::string url{};          ///< with an address that can be dialled
    std::string server_name{};  ///< that the certificate is for
    std::string shown{};
};

/// A Service's address as the state has it.
Result<Reached> reach_service(const json::Value& service, const state::StateView& chain, std::size_t turn) {
    const std::string name{service.text_at({"name"})};
    const std::string space{service.text_at({"namespace"})};
    const json::Value* port = service.find("port");
    const std::int64_t number = port == nullptr ? 443 : port->if_int64().value_or(443);
    std::string path{service.text_at({"path"})};
    if (!path.starts_with('/')) path.insert(path.begin(), '/');
    Reached reached{.server_name = fmt::format("{}.{}.svc", name, space)};
    reached.shown = fmt::format("https://{}:{}{}", reached.server_name, number, path);
    TRY(const auto addresses, addresses_of_service(chain, space, name, number));
    const ServiceAddress& chosen = addresses[turn % addresses.size()];
    std::string address = chosen.host;
    if (address.find(':') != std::string::npos) address = fmt::format("[{}]", address);
    reached.url = fmt::format("https://{}:{}{}", address, chosen.port, path);
    return reached;
}

}  // namespace

Result<WebhookTarget> webhook_target(const json::Value& client_config, const state::StateView& chain,
                                     std::size_t turn) {
    Reached reached;
    if (const json::Value* service = client_config.find("service"); service != nullptr && service->is_object()) {
        TRY(reached, reach_service(*service, chain, turn));
    } else {
        reached.url = client_config.text_at({"url"});
        reached.shown = reached.url;
    }
    WebhookTarget target{.shown = reached.shown};
    TRY(target.origin, http::Origin::parse(reached.url, &target.path));
    if (target.path.empty()) target.path = "/";
    if (!reached.server_name.empty()) target.origin.server_name = reached.server_name;
    if (!target.origin.wants_tls)
        return fail(ErrorKind::Invalid, fmt::format("the webhook {} is not asked without TLS", target.shown));
    stream::TlsClientOptions tls;
    tls.version_min = stream::TlsVersion::Tls12;  // others' servers, not ours
    if (const std::string_view bundle = client_config.text_at({"caBundle"}); !bundle.empty()) {
        const auto pem = cluster::from_base64(bundle);
        if (!pem) return fail(ErrorKind::Invalid, "caBundle is no base64");
        TRY(tls.trust.authorities, stream::Certificate::chain_from_pem(as_text(*pem)));
    } else {
        tls.trust.system_authorities = true;
    }
    TRY(target.origin.tls, stream::TlsContext::client(std::move(tls)));
    return target;
}

Task<Result<json::Value>> ask_webhook(WebhookTarget target, json::Value review, WebhookLimits limits) {
    http::Client client{{.idle_max = 0}};
    http::Request request{.method = "POST", .target = target.path, .body = json::print(review)};
    request.headers.set("Content-Type", "application/json");
    request.headers.set("Accept", "application/json");
    request.headers.set("User-Agent", "rhizome");
    const auto deadline = stream::after(limits.timeout);
    auto answer = co_await client.send(target.origin, std::move(request), deadline);
    if (!answer) co_return Fail{with_context(target.shown, answer.error())};
    auto body = co_await (*answer)->read_body(limits.answer_bytes_max);
    if (!body) co_return Fail{with_context(target.shown, body.error())};
    if ((*answer)->status() < 200 || (*answer)->status() >= 300)
        co_return fail(ErrorKind::Unavailable,
                       fmt::format("{} answered with status {}", target.shown, (*answer)->status()));
    auto value = json::parse(*body, {.bytes = limits.answer_bytes_max, .depth = limits.answer_depth_max});
    if (!value)
        co_return fail(ErrorKind::Invalid,
                       fmt::format("what {} answered is no JSON: {}", target.shown, to_error(value.error()).message));
    if (!value->is_object())
        co_return fail(ErrorKind::Invalid, fmt::format("what {} answered is no object", target.shown));
    co_return *std::move(value);
}

}  // namespace rhizome::api
