// SPDX-License-Identifier: Apache-2.0
#include "node/kube/front_server.h"

#include "node/kube/authority.h"
#include "runtime/clock.h"

namespace rhizome::node {
namespace {

http::Response refuse(unsigned status, std::string_view message, const http::Headers*) {
    return api::front_refusal(status, message);
}

}  // namespace

Result<std::unique_ptr<http::Server>> start_front(stream::IoContext& io, const api::SharedService& service,
                                                  FrontServerOptions options) {
    const Time now = runtime::now();
    TRY(const auto authority, open_authority(options.data, now));
    TRY(auto identity, server_identity(authority, options.names, now));
    stream::TlsServerOptions tls{.identity = std::move(identity), .protocols = {"http/1.1"}};
    tls.client_certificate = stream::ClientCertificate::Optional;
    if (options.believes) {
        tls.trust.verify = std::move(options.believes);
    } else {
        tls.trust.authorities = {authority.chain.front()};
    }
    TRY(auto context, stream::TlsContext::server(std::move(tls)));
    http::ServerOptions server{.tls = std::move(context),
                               .connections_max = options.limits.connections_max,
                               .address_connections_max = options.limits.connections_max,
                               .refuse = refuse,
                               .log = options.log};
    server.limits.handshake_time = options.limits.handshake_time;
    server.limits.head_time = options.limits.header_time;
    server.limits.idle_time = options.limits.idle_time;
    server.limits.body_gap = options.limits.body_gap;
    for (const stream::Address& address : options.listen)
        server.listen.push_back({.address = address, .log = options.log});
    return http::Server::start(io, std::move(server), api::make_front(service));
}

}  // namespace rhizome::node
