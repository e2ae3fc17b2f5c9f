// SPDX-License-Identifier: Apache-2.0
// The server on real sockets and threads: TLS, draining, long answers.
#include <atomic>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "http/server.h"
#include "http/websocket.h"
#include "support/http_samples.h"
#include "support/temp_folder.h"

namespace rhizome::http {
namespace {

using namespace test;
using stream::after;
using stream::block_on;
using stream::IoContext;

TEST(ServerSocket, AnswersOverTlsAndKnowsTheClient) {
    IoContext context{{.threads = 2}};
    const auto server =
        std::move(Server::start(context, local(server_tls(stream::ClientCertificate::Optional)), &hello).value());
    const auto strand = context.make_strand();
    Client client;
    EXPECT_EQ(block_on(context, strand, fetch(&client, to(*server, client_tls()), get("/"))).value(),
              "200 hello stranger");
    const auto alice = sample_identity(authority(), sample_spec("alice"));
    const auto as_alice = client_tls(alice);
    EXPECT_EQ(block_on(context, strand, fetch(&client, to(*server, as_alice), get("/"))).value(), "200 hello alice");
    EXPECT_EQ(client.idle_now(), 2u);
    EXPECT_EQ(block_on(context, strand, fetch(&client, to(*server, as_alice), get("/"))).value(), "200 hello alice");
    EXPECT_EQ(client.idle_now(), 2u) << "the connection was used again";
    // In plain to a TLS port: refused, not hung.
    EXPECT_FALSE(block_on(context, strand, fetch(&client, to(*server), get("/"))));
}

TEST(ServerSocket, ServesALocalSocket) {
    const TempFolder folder;
    IoContext context;
    ServerOptions options;
    options.listen.push_back({.address = {(folder.path() / "api").string(), 0, true}});
    const auto server = std::move(Server::start(context, std::move(options), &hello).value());
    Client client;
    EXPECT_EQ(block_on(context, fetch(&client, to(*server), get("/"))).value(), "200 hello stranger");
}

/// A long answer that ends when it is told to.
struct Slow {
    std::atomic<int> running{0};
    std::atomic<int> drained{0};
    std::atomic<int> left{0};
    bool obeys = true;

    Task<void> operator()(Exchange& exchange) {
        ++running;
        stream::Event wake{exchange.strand()};
        Ending why = Ending::ClientLeft;
        Response head;
        head.body = "begun";
        auto sent = co_await exchange.start(std::move(head));
        exchange.when_ending([&](Ending ending) {
            why = ending;
            if (obeys || ending == Ending::ClientLeft) wake.set();
        });
        co_await wake.wait();
        why == Ending::Draining ? ++drained : ++left;
        if (why == Ending::Draining) sent = co_await exchange.finish();
    }
};

Task<Result<std::string>> begin_slow(Client* client, Origin origin, std::unique_ptr<Answer>* out) {
    Request request;
    request.target = "/slow";
    CO_TRY(*out, co_await client->send(std::move(origin), std::move(request), after(seconds{180})));
    Bytes buffer(100);
    CO_TRY(const std::size_t got, co_await (*out)->read_some(buffer));
    co_return std::string(as_text(ByteView{buffer.data(), got}));
}

Task<Result<std::string>> rest(Answer* answer) { co_return co_await answer->read_body(1000); }
Task<void> drop(std::unique_ptr<Answer>* answer) {
    answer->reset();
    co_return;
}

TEST(ServerSocket, DrainLetsAnswersEndInOrder) {
    IoContext context{{.threads = 2}};
    Slow slow;
    const auto server = std::move(Server::start(context, local(server_tls()), std::ref(slow)).value());
    const auto strand = context.make_strand();
    Client client;
    std::unique_ptr<Answer> answer;
    EXPECT_EQ(block_on(context, strand, begin_slow(&client, to(*server, client_tls()), &answer)).value(), "begun");
    EXPECT_EQ(server->connections_now(), 1u);
    server->stop(seconds{20});
    EXPECT_EQ(slow.drained, 1);
    EXPECT_EQ(block_on(context, strand, rest(answer.get())).value(), "") << "the answer ended in order";
    EXPECT_FALSE(block_on(context, strand, fetch(&client, to(*server, client_tls()), get("/"))));
    block_on(context, strand, drop(&answer));
}

TEST(ServerSocket, DrainCutsWhatDoesNotEnd) {
    IoContext context{{.threads = 2}};
    Slow slow;
    slow.obeys = false;
    const auto server = std::move(Server::start(context, local(), std::ref(slow)).value());
    const auto strand = context.make_strand();
    Client client;
    std::unique_ptr<Answer> answer;
    EXPECT_EQ(block_on(context, strand, begin_slow(&client, to(*server), &answer)).value(), "begun");
    server->stop(milliseconds{20});
    EXPECT_EQ(slow.left, 1);
    EXPECT_FALSE(block_on(context, strand, rest(answer.get()))) << "a cut answer must not look whole";
    block_on(context, strand, drop(&answer));
}

TEST(ServerSocket, AClientThatLeavesEndsItsLongAnswer) {
    IoContext context{{.threads = 2}};
    Slow slow;
    for (const auto& tls : {std::shared_ptr<const stream::TlsContext>{}, server_tls()}) {
        slow.left = 0;
        const auto server = std::move(Server::start(context, local(tls), std::ref(slow)).value());
        const auto strand = context.make_strand();
        Client client;
        std::unique_ptr<Answer> answer;
        const auto origin = to(*server, tls ? client_tls() : nullptr);
        EXPECT_EQ(block_on(context, strand, begin_slow(&client, origin, &answer)).value(), "begun");
        block_on(context, strand, drop(&answer));
        while (slow.left == 0) block_on(context, stream::yield());
        EXPECT_EQ(client.idle_now(), 0u);
    }
}

Task<void> many(Client* client, Origin origin, int count, std::atomic<int>* good) {
    for (int i = 0; i < count; ++i) {
        Request request;
        request.method = "POST";
        request.target = "/echo";
        request.body.assign(static_cast<std::size_t>(i) * 977 % 100'000, 'x');
        const std::string expected = "200 " + request.body;
        const auto got = co_await fetch(client, origin, std::move(request));
        if (got && *got == expected) ++*good;
    }
}

TEST(ServerSocket, ManyClientsOnManyThreads) {
    IoContext context{{.threads = 4}};
    const auto server = std::move(Server::start(context, local(server_tls()), &echo).value());
    const auto origin = to(*server, client_tls());
    std::vector<std::unique_ptr<Client>> clients;
    std::atomic<int> good{0};
    std::atomic<int> ended{0};
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<Client>());
        stream::spawn(context.make_strand(), many(clients.back().get(), origin, 50, &good), [&] { ++ended; });
    }
    while (ended < 8) block_on(context, stream::yield());
    EXPECT_EQ(good, 400);
}

Task<Result<std::string>> talk_websocket(Client* client, Origin origin) {
    Request request;
    request.target = "/exec";
    std::vector<std::string> protocols{"v5.channel.k8s.io"};
    CO_TRY(const auto socket, co_await connect_websocket(*client, std::move(origin), std::move(request),
                                                         std::move(protocols), after(seconds{180})));
    std::string out = socket->protocol();
    const std::string large(100'000, 'z');
    CO_TRY(co_await socket->write(WebSocket::Kind::Text, as_bytes("hi")));
    CO_TRY(co_await socket->write(WebSocket::Kind::Binary, as_bytes(large)));
    for (int i = 0; i < 2; ++i) {
        CO_TRY(const auto message, co_await socket->read());
        if (!message) co_return fail(ErrorKind::Failed, "closed too early");
        out += fmt::format(" {}{}", message->kind == WebSocket::Kind::Text ? "T" : "B", message->payload.size());
    }
    CO_TRY(co_await socket->close(1000, "done"));
    co_return out + " " + std::to_string(socket->ended()->code);
}

Task<void> echo_websocket(Exchange& exchange) {
    std::vector<std::string> protocols{"v5.channel.k8s.io"};
    const auto socket = co_await accept_websocket(exchange, std::move(protocols));
    if (!socket) co_return;
    for (;;) {
        const auto message = co_await (*socket)->read();
        if (!message || !*message) co_return;
        auto ignored = co_await (*socket)->write((*message)->kind, (*message)->payload);
    }
}

TEST(ServerSocket, WebSocketsOverTlsFromClientToServer) {
    IoContext context{{.threads = 2}};
    const auto server = std::move(Server::start(context, local(server_tls()), &echo_websocket).value());
    Client client;
    const auto got = block_on(context, talk_websocket(&client, to(*server, client_tls())));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, "v5.channel.k8s.io T2 B100000 1000");
}

}  // namespace
}  // namespace rhizome::http
