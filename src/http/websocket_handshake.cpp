// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "http/websocket.h"

namespace rhizome::http {
namespace {

/// Of the body of a refusal, shown in the error.
constexpr std::size_t kRefusalBytesMax = 4 * 1024;
constexpr std::size_t kRefusalShown = 200;

std::string base64(ByteView bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a zero behind it
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes.data(), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

/// What a server answers to a key, so that both know they speak of WebSockets.
std::string accept_text(std::string_view key) {
    const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<std::uint8_t, 20> digest{};
    unsigned size = 0;
    ensure(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1 && size == 20,
           "SHA-1 is there for WebSockets");
    return base64(digest);
}

/// 16 bytes in base64.
bool is_key(std::string_view key) {
    return key.size() == 24 && key.ends_with("==") && std::all_of(key.begin(), key.end() - 2, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
                      c == '/';
           });
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

}  // namespace

Task<Result<std::unique_ptr<WebSocket>>> accept_websocket(Exchange& exchange, std::vector<std::string> protocols,
                                                          WebSocketLimits limits) {
    const Request& request = exchange.request();
    const Headers& headers = request.headers;
    const auto keys = headers.all("Sec-WebSocket-Key");
    const bool asks = request.method == "GET" && headers.has_word("Upgrade", "websocket") &&
                      headers.has_word("Connection", "upgrade");
    if (!asks || keys.size() != 1 || !is_key(keys[0])) {
        const char* why = asks ? "the Sec-WebSocket-Key is no key of 16 bytes" : "this path speaks WebSocket only";
        auto ignored = co_await exchange.respond_error(400, why);
        co_return fail(ErrorKind::Invalid, why);
    }
    if (headers.find("Sec-WebSocket-Version") != std::optional<std::string_view>("13")) {
        Response refusal = error_response(426, "version 13 of WebSocket is spoken here", &headers);
        refusal.headers.add("Sec-WebSocket-Version", "13");
        auto ignored = co_await exchange.respond(std::move(refusal));
        co_return fail(ErrorKind::Unsupported, "the client speaks another version of WebSocket");
    }
    std::string chosen;
    for (const std::string& each : protocols)
        if (chosen.empty() && headers.has_word("Sec-WebSocket-Protocol", each)) chosen = each;
    Response head{.status = 101};
    head.headers.add("Upgrade", "websocket");
    head.headers.add("Connection", "Upgrade");
    head.headers.add("Sec-WebSocket-Accept", accept_text(keys[0]));
    if (!chosen.empty()) head.headers.add("Sec-WebSocket-Protocol", chosen);
    CO_TRY(stream::Stream * behind, co_await exchange.upgrade(std::move(head)));
    co_return std::make_unique<WebSocket>(*behind, WebSocket::Side::Server, std::move(chosen), limits);
}

Task<Result<std::unique_ptr<WebSocket>>> connect_websocket(Client& client, Origin origin, Request request,
                                                           std::vector<std::string> protocols,
                                                           stream::Deadline deadline, WebSocketLimits limits) {
    std::array<std::uint8_t, 16> random{};
    ensure(RAND_bytes(random.data(), random.size()) == 1, "the system gives randomness");
    const std::string key = base64(random);
    request.method = "GET";
    request.headers.set("Upgrade", "websocket");
    request.headers.set("Connection", "Upgrade");
    request.headers.set("Sec-WebSocket-Version", "13");
    request.headers.set("Sec-WebSocket-Key", key);
    if (!protocols.empty()) request.headers.set("Sec-WebSocket-Protocol", joined(protocols));
    CO_TRY(auto answer, co_await client.send(std::move(origin), std::move(request), deadline));
    if (answer->status() != 101) {
        const unsigned status = answer->status();
        const auto body = co_await answer->read_body(kRefusalBytesMax);
        co_return fail(status == 401 || status == 403 ? ErrorKind::Denied : ErrorKind::Unavailable,
                       fmt::format("the server refused the WebSocket: {} {}: {}", status, reason(status),
                                   body ? std::string_view(*body).substr(0, kRefusalShown) : std::string_view("?")));
    }
    const Headers& headers = answer->headers();
    const std::string chosen{headers.find("Sec-WebSocket-Protocol").value_or("")};
    const bool offered = chosen.empty() || std::find(protocols.begin(), protocols.end(), chosen) != protocols.end();
    if (headers.find("Sec-WebSocket-Accept") != std::optional<std::string_view>(accept_text(key)) ||
        !headers.has_word("Upgrade", "websocket") || !headers.has_word("Connection", "upgrade") || !offered ||
        headers.contains("Sec-WebSocket-Extensions"))
        co_return fail(ErrorKind::Invalid, "the server's answer to the WebSocket handshake is wrong");
    auto behind = answer->take_stream();
    stream::Stream& borrowed = *behind;
    co_return std::make_unique<WebSocket>(borrowed, WebSocket::Side::Client, chosen, limits, std::move(behind));
}

}  // namespace rhizome::http
