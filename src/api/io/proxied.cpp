// SPDX-License-Identifier: Apache-2.0
// Requests that are passed on to what a Service, a Pod or a Node stands for. Bodies go through piece by piece in both
// directions, so that neither side can make us hold more than one; every wait has an end.
#include "api/proxied.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "api/io/access.h"
#include "api/io/service.h"
#include "api/shown.h"
#include "http/client.h"

namespace rhizome::api {
namespace {

using http::Exchange;
using http::Response;
using stream::Task;

constexpr std::size_t kPieceBytes = 32u << 10;

std::vector<Header> fields_of(const http::Headers& headers) {
    std::vector<Header> out;
    for (const auto& [name, value] : headers) out.push_back({name, value});
    return out;
}

http::Headers headers_of(const HeaderFields& fields) {
    http::Headers headers;
    for (const auto& [name, value] : fields) headers.add(name, value);
    return headers;
}

/// What this machine answers of itself: it has no agent that could be asked.
std::optional<Response> answer_of_this_machine(const Service& service, const Call& call, const ProxiedName& asked,
                                               const http::Request& request) {
    constexpr std::array<std::string_view, 5> kOpen{"/healthz", "/livez", "/readyz", "/version", "/metrics"};
    if (call.kind->kind != "Node" || !asked.port.empty() || service.backend.machines().me != asked.name) return {};
    if (request.method != "GET" && request.method != "HEAD") return {};
    if (std::find(kOpen.begin(), kOpen.end(), call.path.rest) == kOpen.end()) return {};
    http::Request inside{.target = call.path.rest};
    if (!request.query().empty()) inside.target += fmt::format("?{}", request.query());
    if (auto open = answer_open(service, inside)) return open;
    return answer_discovery(service, inside);
}

/// Who may: whoever could change the object. Then where it is.
Result<ProxiedTo, Status> resolve(const Service& service, const Call& call, const ProxiedName& asked) {
    const auto path = path_of(*call.kind, call.path.name_space, asked.name);
    if (!path) return Fail{path.error()};
    const auto [object, chain] = service.backend.live().read([&](const Revisions& now) {
        return std::pair{now.find(Selection{.kind = call.kind}.layer(), *path), now.view(Layer::Chain)};
    });
    if (!object) return Fail{not_found(*call.kind, asked.name)};
    const bool loopback = service.options.proxy.to_loopback;
    if (call.kind->kind == "Service")
        return proxied_service(chain, call.path.name_space, asked, call.entropy[0], loopback);
    const json::Value shown = shown_value(*call.kind, object, service.backend.heard_of());
    if (call.kind->kind == "Pod") return proxied_pod(shown, asked, loopback);
    return proxied_node(shown, asked, loopback || service.backend.machines().me == asked.name);
}

/// Whoever is behind shows a certificate of its own making, if any: nobody in the cluster vouches for pods. What is
/// read through here is as good as the network between.
Result<std::shared_ptr<const stream::TlsContext>> any_server() {
    stream::TlsClientOptions tls;
    tls.version_min = stream::TlsVersion::Tls12;
    tls.trust.verify = [](const stream::Certificate&) -> Result<void> { return ok(); };
    return stream::TlsContext::client(std::move(tls));
}

/// The request's body, and why it ended too soon, which is the client's fault and not that of whoever is behind.
struct BodyOfRequest {
    Exchange& exchange;
    std::optional<Error> failed{};
    Task<Result<std::size_t>> operator()(std::span<std::uint8_t> into) {
        auto got = co_await exchange.read_some(into);
        if (!got) failed = got.error();
        co_return got;
    }
};

Task<void> refuse(Exchange& exchange, Status status) {
    auto response = http_response(reply_of(status));
    (void)co_await exchange.respond(std::move(response));
}

/// The answer's body, until one of the three has enough.
Task<void> stream_back(Exchange& exchange, http::Answer& answer, Response head, milliseconds gap) {
    answer.set_deadline(stream::after(gap));
    exchange.when_ending([&answer](http::Ending) { answer.cancel(); });
    auto good = co_await exchange.start(std::move(head));
    Bytes piece(kPieceBytes);
    while (good) {
        answer.set_deadline(stream::after(gap));
        const auto got = co_await answer.read_some(piece);
        if (!got) break;  // what is not finished is cut, so that the client sees it
        if (*got == 0) {
            (void)co_await exchange.finish();
            break;
        }
        good = co_await exchange.write(ByteView{piece.data(), *got});
    }
    exchange.when_ending({});
}

Task<void> pass_on(SharedService service, Exchange& exchange, ProxiedFrom from, ProxiedTo to) {
    const ProxyOptions& options = service->options.proxy;
    const http::Request& asked = exchange.request();
    http::Origin origin;
    origin.address = {.host = to.host, .port = to.port};
    if (to.tls) {
        auto tls = any_server();
        if (!tls) co_return co_await refuse(exchange, from_error(tls.error()));
        origin.tls = *std::move(tls);
    }
    http::Request request{.method = asked.method, .target = from.rest.empty() ? "/" : from.rest};
    if (!asked.query().empty()) request.target += fmt::format("?{}", asked.query());
    request.headers = headers_of(fields_passed_on(fields_of(asked.headers), from));
    BodyOfRequest body{exchange};
    http::Client::BodySource source;
    if (asked.headers.contains("Content-Length") || asked.headers.contains("Transfer-Encoding"))
        source = std::ref(body);
    http::ClientOptions client_options{.idle_max = 0};
    client_options.limits.body_bytes_max = std::numeric_limits<std::uint64_t>::max();  // it goes through
    http::Client client{client_options};
    const auto deadline = stream::after(options.answer_time);
    auto answer = co_await client.send(std::move(origin), std::move(request), deadline, std::move(source));
    if (body.failed) co_return co_await refuse(exchange, body_refusal(*service, *body.failed));
    if (!answer)
        co_return co_await refuse(
            exchange, unavailable(fmt::format("error trying to reach service: {}", answer.error().message)));
    const unsigned status = (*answer)->status();
    if (status < 200)
        co_return co_await refuse(exchange, unavailable("error trying to reach service: it changes the protocol"));
    Response head{.status = status,
                  .headers = headers_of(fields_passed_back(fields_of((*answer)->headers()), from, to))};
    if (asked.method == "HEAD" || status == 204 || status == 304) {
        (void)co_await exchange.respond(std::move(head));
        co_return;
    }
    co_await stream_back(exchange, **answer, std::move(head), options.gap_time);
}

}  // namespace

Task<void> serve_proxied(SharedService service, Exchange& exchange, Call call) {
    const http::Request& request = exchange.request();
    const auto asked = parse_proxied_name(call.path.name);
    if (!asked)
        co_return co_await refuse(
            exchange, bad_request(fmt::format("invalid {} request \"{}\"", call.kind->singular, call.path.name)));
    call.path.name = asked->name;
    if (const auto may = require_access(*service, call, name(call.verb)); !may)
        co_return co_await refuse(exchange, may.error());
    const UnderWay under_way{service->proxying};
    if (under_way.count() > service->options.proxy.at_once_max)
        co_return co_await refuse(exchange, too_many_requests("too many requests are being passed on", 1));
    if (auto here = answer_of_this_machine(*service, call, *asked, request)) {
        (void)co_await exchange.respond(*std::move(here));
        co_return;
    }
    const auto to = resolve(*service, call, *asked);
    if (!to) co_return co_await refuse(exchange, to.error());
    const std::string_view path = request.path();
    ProxiedFrom from{.host = std::string{request.headers.find("Host").value_or("")},
                     .prefix = std::string{path.substr(0, path.size() - call.path.rest.size())},
                     .rest = call.path.rest,
                     .client = exchange.peer().host};
    // Pages behind say where their parts are from where they are themselves.
    if (from.rest.empty() && (request.method == "GET" || request.method == "HEAD")) {
        const std::string query = request.query().empty() ? "" : fmt::format("?{}", request.query());
        Response moved{.status = 301, .headers = {{"Location", fmt::format("{}/{}", path, query)}}};
        (void)co_await exchange.respond(std::move(moved));
        co_return;
    }
    co_await pass_on(service, exchange, std::move(from), *to);
}

}  // namespace rhizome::api
