// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "http/client.h"
#include "http/server.h"
#include "support/tls_samples.h"

/// Servers on loopback, handlers and clients for tests.
namespace rhizome::test {

using stream::Task;

/// The authority that the contexts below trust.
inline const stream::Identity& authority() {
    static const stream::Identity made = sample_authority();
    return made;
}

inline std::shared_ptr<const stream::TlsContext> server_tls(
    stream::ClientCertificate asked = stream::ClientCertificate::None) {
    auto made = stream::TlsContext::server({.identity = sample_server(authority()),
                                            .version_min = stream::TlsVersion::Tls12,
                                            .protocols = {"http/1.1"},
                                            .client_certificate = asked,
                                            .trust = {.authorities = authority().chain}});
    ensure(made.has_value(), "TLS can be set up");
    return *made;
}

inline std::shared_ptr<const stream::TlsContext> client_tls(std::optional<stream::Identity> identity = std::nullopt) {
    auto made = stream::TlsContext::client(
        {.identity = std::move(identity), .protocols = {"http/1.1"}, .trust = {.authorities = authority().chain}});
    ensure(made.has_value(), "TLS can be set up");
    return *made;
}

inline http::ServerOptions local(std::shared_ptr<const stream::TlsContext> tls = nullptr) {
    http::ServerOptions options;
    options.listen.push_back({.address = {"127.0.0.1", 0, false}});
    options.tls = std::move(tls);
    return options;
}

inline Task<void> hello(http::Exchange& exchange) {
    http::Response response;
    const auto* tls = exchange.tls();
    response.body = "hello " + (tls != nullptr && tls->peer ? tls->peer->common_name() : std::string("stranger"));
    auto ignored = co_await exchange.respond(std::move(response));
}

inline Task<void> echo(http::Exchange& exchange) {
    auto body = co_await exchange.read_body(8 << 20);
    if (!body) {
        auto ignored = co_await exchange.respond_error(std::move(body).error());
        co_return;
    }
    http::Response response;
    response.body = std::move(*body);
    auto ignored = co_await exchange.respond(std::move(response));
}

inline http::Origin to(const http::Server& server, std::shared_ptr<const stream::TlsContext> tls = nullptr) {
    http::Origin origin;
    origin.address = server.addresses().at(0);
    origin.tls = std::move(tls);
    origin.server_name = "localhost";
    return origin;
}

inline Task<Result<std::string>> fetch(http::Client* client, http::Origin origin, http::Request request) {
    CO_TRY(const auto answer,
           co_await client->send(std::move(origin), std::move(request), stream::after(seconds{180})));
    CO_TRY(auto body, co_await answer->read_body(8 << 20));
    co_return fmt::format("{} {}", answer->status(), body);
}

inline http::Request get(std::string target) {
    http::Request request;
    request.target = std::move(target);
    return request;
}

}  // namespace rhizome::test
