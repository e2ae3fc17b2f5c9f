// SPDX-License-Identifier: Apache-2.0
#include "node/rpc_client.h"

#include <fmt/core.h>

#include "http/client.h"
#include "http/websocket.h"
#include "ledger/json_form.h"
#include "net/transport_identity.h"
#include "node/rpc/request_auth.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"
#include "stream/strand.h"
#include "stream/tcp.h"

namespace rhizome::node {
namespace {

using stream::Task;

constexpr std::size_t kReplyBytesMax = ledger::kTxJsonBytesMax;
constexpr std::size_t kEventBytesMax = 64u << 20;
constexpr seconds kConnectTime{10};

ErrorKind kind_of(unsigned status) {
    switch (status) {
        case 400:
        case 422: return ErrorKind::Invalid;
        case 401:
        case 403: return ErrorKind::Denied;
        case 404: return ErrorKind::NotFound;
        case 409: return ErrorKind::Conflict;
        case 413:
        case 507: return ErrorKind::Exhausted;
        case 429:
        case 503:
        case 504: return ErrorKind::Unavailable;
        default: return ErrorKind::Failed;
    }
}

Error error_in(unsigned status, const json::Value& body) {
    Error error{kind_of(status), std::string{body.text_at({"message"})}};
    // What the ledger refuses has a form of its own (docs/spec/rpc.md).
    if (error.message.empty()) error.message = std::string{body.text_at({"refused", "why"})};
    if (error.message.empty()) error.message = fmt::format("the node answered with status {}", status);
    const std::string_view code = body.text_at({"code"});
    for (unsigned i = 0; i <= static_cast<unsigned>(ErrorKind::Failed); ++i)
        if (name(static_cast<ErrorKind>(i)) == code) error.kind = static_cast<ErrorKind>(i);
    return error;
}

Result<stream::Address> address_of(const std::string& text) {
    auto address = stream::Address::parse(text);
    if (!address || address->is_local)
        return fail(ErrorKind::Usage, fmt::format("{} is no address: host:port, as in 10.0.0.7:7701", text));
    return address;
}

/// TLS that believes whom `accept` believes.
Result<std::shared_ptr<const stream::TlsContext>> tls_for(
    std::function<Result<void>(const ledger::MemberKey& shown)> accept) {
    stream::TlsClientOptions options;
    options.trust.verify = [accept = std::move(accept)](const stream::Certificate& certificate) -> Result<void> {
        TRY(const auto shown, net::read_transport_identity(certificate));
        return accept(shown);
    };
    return stream::TlsContext::client(std::move(options));
}

Task<Result<void>> shake_hands(stream::Address address, std::shared_ptr<const stream::TlsContext> tls,
                               stream::Deadline deadline) {
    CO_TRY(auto plain, co_await stream::connect(std::move(address), deadline));
    CO_TRY(auto secured, co_await stream::tls_connect(std::move(plain), std::move(tls), std::string{}, deadline));
    secured->close();
    co_return ok();
}

}  // namespace

std::filesystem::path socket_file(const std::filesystem::path& data) { return data / "node" / "rpc.sock"; }

struct RpcClient::Inside {
    stream::IoContext io{{.threads = 0}};
    stream::Strand strand = io.make_strand();
    http::Client client{};
    http::Origin origin{};
    std::optional<RemoteNode> remote{};  ///< nothing: the local socket

    http::Request make(std::string_view method, const std::string& target, std::string body) const {
        http::Request request{.method = std::string{method}, .target = target, .body = std::move(body)};
        request.headers.set("Accept", "application/json");
        if (!request.body.empty()) request.headers.set("Content-Type", "application/json");
        if (!remote) return request;
        std::array<std::uint8_t, 16> nonce{};
        runtime::fill_with_entropy(nonce);
        request.headers.set("Authorization", sign_request(remote->secret, remote->key, remote->node_key, method, target,
                                                          request.body, runtime::now(), nonce));
        return request;
    }

    Task<Result<Reply>> ask(http::Request request, stream::Deadline deadline) {
        CO_TRY(const auto answer, co_await client.send(origin, std::move(request), deadline));
        CO_TRY(const auto body, co_await answer->read_body(kReplyBytesMax));
        Reply reply{.status = answer->status()};
        auto value = json::parse(body, {.bytes = kReplyBytesMax});
        reply.body = value ? *std::move(value) : json::Value{body};
        co_return reply;
    }

    Task<Result<std::string>> text(http::Request request, std::size_t bytes_max) {
        CO_TRY(const auto answer, co_await client.send(origin, std::move(request), stream::after(seconds{120})));
        CO_TRY(auto body, co_await answer->read_body(bytes_max));
        if (answer->status() == 200) co_return body;
        const auto refusal = json::parse(body);
        co_return Fail{error_in(answer->status(), refusal ? *refusal : json::Value{})};
    }

    Task<Result<void>> subscribe(http::Request request, std::string message,
                                 const std::function<bool(const json::Value&)>* told) {
        http::WebSocketLimits limits;
        limits.message_bytes_max = kEventBytesMax;
        std::vector<std::string> protocols(1, "rhizome.v1");
        CO_TRY(const auto socket, co_await http::connect_websocket(client, origin, std::move(request), protocols,
                                                                   stream::after(kConnectTime), limits));
        CO_TRY(co_await socket->write(http::WebSocket::Kind::Text, as_bytes(message)));
        for (;;) {
            CO_TRY(const auto came, co_await socket->read());
            if (!came) break;
            const auto event = json::parse(as_text(came->payload), {.bytes = kEventBytesMax});
            if (!event) co_return fail(ErrorKind::Failed, "the node sent what is no JSON");
            if ((*told)(*event)) continue;
            (void)co_await socket->close();
            co_return ok();
        }
        const auto& ended = socket->ended();
        co_return fail(
            ended && ended->code >= 4'400 && ended->code < 4'408 ? ErrorKind::Invalid : ErrorKind::Unavailable,
            fmt::format("the node ended it: {}", ended && !ended->reason.empty() ? ended->reason : "no reason given"));
    }
};

Error RpcClient::Reply::error() const { return error_in(status, body); }

RpcClient::RpcClient(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
RpcClient::~RpcClient() = default;

Result<std::unique_ptr<RpcClient>> RpcClient::connect(const std::filesystem::path& data) {
    auto inside = std::make_unique<Inside>();
    inside->origin = {.address = {.host = socket_file(data).native(), .is_local = true}, .server_name = "localhost"};
    std::unique_ptr<RpcClient> client{new RpcClient{std::move(inside)}};
    const auto alive = client->ask("GET", "/livez", {}, seconds{5});
    if (!alive) return fail(ErrorKind::NotFound, fmt::format("no node runs on {}", data.native()));
    return client;
}

Result<std::unique_ptr<RpcClient>> RpcClient::connect(RemoteNode remote) {
    auto inside = std::make_unique<Inside>();
    TRY(auto address, address_of(remote.address));
    const auto expected = remote.node_key;
    const std::string where = remote.address;
    TRY(auto tls, tls_for([expected, where](const ledger::MemberKey& shown) -> Result<void> {
            if (shown == expected) return ok();
            return fail(ErrorKind::Denied, fmt::format("the node at {} is not the one that was meant: it has the key "
                                                       "{}, not {}\nnothing was sent to it",
                                                       where, to_hex(shown), to_hex(expected)));
        }));
    inside->origin = {.address = std::move(address), .tls = std::move(tls)};
    inside->remote = std::move(remote);
    std::unique_ptr<RpcClient> client{new RpcClient{std::move(inside)}};
    const auto alive = client->ask("GET", "/livez", {}, kConnectTime);
    if (!alive) return Fail{with_context(fmt::format("asking the node at {}", where), alive.error())};
    return client;
}

Result<ledger::MemberKey> RpcClient::shown_key(const std::string& text) {
    TRY(auto address, address_of(text));
    const auto seen = std::make_shared<std::optional<ledger::MemberKey>>();
    TRY(auto tls, tls_for([seen](const ledger::MemberKey& shown) -> Result<void> {
            *seen = shown;
            return ok();
        }));
    stream::IoContext io{{.threads = 0}};
    auto shaken = stream::block_on(io, io.make_strand(),
                                   shake_hands(std::move(address), std::move(tls), stream::after(kConnectTime)));
    if (!shaken) return Fail{with_context(fmt::format("asking the node at {}", text), std::move(shaken).error())};
    return **seen;
}

Result<RpcClient::Reply> RpcClient::ask(std::string_view method, const std::string& target, std::string body,
                                        microseconds timeout) {
    return stream::block_on(inside_->io, inside_->strand,
                            inside_->ask(inside_->make(method, target, std::move(body)), stream::after(timeout)));
}

Result<json::Value> RpcClient::get(const std::string& target) {
    TRY(auto reply, ask("GET", target));
    if (reply.is_good()) return std::move(reply.body);
    return Fail{reply.error()};
}

Result<json::Value> RpcClient::post(const std::string& target, std::string body) {
    TRY(auto reply, ask("POST", target, std::move(body)));
    if (reply.is_good()) return std::move(reply.body);
    return Fail{reply.error()};
}

Result<std::string> RpcClient::text(std::string_view method, const std::string& target, std::string body,
                                    std::size_t bytes_max) {
    return stream::block_on(inside_->io, inside_->strand,
                            inside_->text(inside_->make(method, target, std::move(body)), bytes_max));
}

Result<void> RpcClient::subscribe(const json::Object& subscription,
                                  const std::function<bool(const json::Value&)>& told) {
    json::Object message{{"type", "subscribe"}};
    for (const auto& [key, value] : subscription) message.set(key, value);
    return stream::block_on(
        inside_->io, inside_->strand,
        inside_->subscribe(inside_->make("GET", "/rhizome/v1/subscribe", {}), json::print(message), &told));
}

}  // namespace rhizome::node
