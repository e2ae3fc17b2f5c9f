// SPDX-License-Identifier: Apache-2.0
#include "node/rpc_client.h"

#include <fmt/core.h>

#include "http/client.h"
#include "ledger/json_form.h"
#include "stream/strand.h"

namespace rhizome::node {
namespace {

using stream::Task;

constexpr std::size_t kReplyBytesMax = ledger::kTxJsonBytesMax;
constexpr std::size_t kLineBytesMax = 16u << 20;

ErrorKind kind_of(unsigned status) {
    switch (status) {
        case 400:
        case 422: return ErrorKind::Invalid;
        case 401:
        case 403: return ErrorKind::Denied;
        case 404: return ErrorKind::NotFound;
        case 409: return ErrorKind::Conflict;
        case 413:
        case 429:
        case 507: return ErrorKind::Exhausted;
        case 503:
        case 504: return ErrorKind::Unavailable;
        default: return ErrorKind::Failed;
    }
}

}  // namespace

std::filesystem::path socket_file(const std::filesystem::path& data) { return data / "node" / "rpc.sock"; }

struct RpcClient::Inside {
    stream::IoContext io{{.threads = 0}};
    stream::Strand strand = io.make_strand();
    http::Client client{};
    http::Origin origin{};

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
        if (answer->status() != 200) co_return fail(kind_of(answer->status()), std::move(body));
        co_return body;
    }

    Task<Result<void>> lines(http::Request request, const std::function<bool(std::string_view)>& line) {
        CO_TRY(const auto answer, co_await client.send(origin, std::move(request), stream::after(seconds{30})));
        answer->set_deadline(stream::kNever);
        std::string held;
        Bytes buffer(16u << 10);
        for (;;) {
            CO_TRY(const std::size_t size, co_await answer->read_some(buffer));
            if (size == 0) co_return ok();
            held.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
            std::size_t begin = 0;
            for (std::size_t end = held.find('\n'); end != std::string::npos; end = held.find('\n', begin)) {
                if (!line(std::string_view{held}.substr(begin, end - begin))) co_return ok();
                begin = end + 1;
            }
            held.erase(0, begin);
            if (held.size() > kLineBytesMax) co_return fail(ErrorKind::Exhausted, "the node sends a line without end");
        }
    }
};

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

Result<RpcClient::Reply> RpcClient::ask(std::string_view method, const std::string& target, std::string body,
                                        microseconds timeout) {
    http::Request request{.method = std::string{method}, .target = target, .body = std::move(body)};
    request.headers.set("Accept", "application/json");
    if (!request.body.empty()) request.headers.set("Content-Type", "application/json");
    return stream::block_on(inside_->io, inside_->strand, inside_->ask(std::move(request), stream::after(timeout)));
}

Result<json::Value> RpcClient::get(const std::string& target) {
    TRY(auto reply, ask("GET", target));
    if (reply.is_good()) return std::move(reply.body);
    return fail(kind_of(reply.status), std::string{reply.body.text_at({"message"})});
}

Result<std::string> RpcClient::text(const std::string& target, std::size_t bytes_max) {
    http::Request request{.target = target};
    return stream::block_on(inside_->io, inside_->strand, inside_->text(std::move(request), bytes_max));
}

Result<void> RpcClient::lines(const std::string& target, const std::function<bool(std::string_view)>& line) {
    http::Request request{.target = target};
    return stream::block_on(inside_->io, inside_->strand, inside_->lines(std::move(request), line));
}

}  // namespace rhizome::node
