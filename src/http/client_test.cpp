// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/detail/gzip.h"
#include "stream/tcp.h"
#include "support/http_samples.h"
#include "support/raw_http.h"

namespace rhizome::http {
namespace {

using stream::after;
using stream::block_on;
using stream::IoContext;

/// A server that says what it was given, whatever it is asked: one list of answers for each connection, then it ends
/// it.
class Scripted {
public:
    explicit Scripted(std::vector<std::vector<std::string>> script) : script_(std::move(script)) {
        auto opened = stream::Listener::open(context, {.address = {"127.0.0.1", 0, false}});
        ensure(opened.has_value(), "the test can listen");
        listener_ = std::move(*opened);
        stream::spawn(listener_->strand(), run());
    }
    ~Scripted() {
        listener_->close();
        context.run_ready();
    }

    [[nodiscard]] Origin origin() const {
        Origin origin;
        origin.address = listener_->local();
        return origin;
    }

    IoContext context{{.threads = 0}};
    std::vector<std::string> heard;

private:
    Task<void> run() {
        for (const auto& answers : script_) {
            auto made = co_await listener_->accept();
            if (!made) co_return;
            for (const std::string& answer : answers) {
                heard.push_back(co_await test::read_until_end(made->get(), "\r\n\r\n"));
                auto ignored = co_await stream::write_all(**made, as_bytes(answer));
            }
            auto ignored = co_await (*made)->shutdown();
        }
    }

    std::vector<std::vector<std::string>> script_;
    std::unique_ptr<stream::Listener> listener_;
};

Task<Result<std::string>> ask(Client* client, Origin origin, std::string method, std::size_t bytes_max = 1000) {
    Request request;
    request.method = std::move(method);
    CO_TRY(const auto answer, co_await client->send(std::move(origin), std::move(request), after(seconds{180})));
    CO_TRY(auto body, co_await answer->read_body(bytes_max));
    co_return fmt::format("{} {}", answer->status(), body);
}

TEST(Client, ReadsAnswersOfEveryLength) {
    const struct {
        const char* name;
        const char* method;
        std::string answer;
        const char* expected;  // empty: an error
    } rows[] = {
        {"a length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello"},
        {"chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
         "200 hello"},
        {"until the end", "GET", "HTTP/1.1 200 OK\r\n\r\nhello", "200 hello"},
        {"old, until the end", "GET", "HTTP/1.0 200 OK\r\n\r\nhello", "200 hello"},
        {"no body", "GET", "HTTP/1.1 204 No Content\r\n\r\n", "204 "},
        {"not modified", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "304 "},
        {"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 "},
        {"early answers", "GET",
         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 Not Found\r\n"
         "Content-Length: 0\r\n\r\n",
         "404 "},
        {"cut in its body", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", ""},
        {"cut in a chunk", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", ""},
        {"cut after a chunk", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", ""},
        {"cut in its head", "GET", "HTTP/1.1 200 OK\r\nContent-Le", ""},
        {"nothing", "GET", "", ""},
        {"both lengths", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         ""},
        {"two lengths", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", ""},
        {"no HTTP", "GET", "SSH-2.0-OpenSSH_9.2\r\n\r\n", ""},
        {"a head too large", "GET", "HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'x') + "\r\n\r\n", ""},
        {"a body too large", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'), ""},
        {"early answers without end", "GET",
         [] {
             std::string text;
             for (int i = 0; i < 10; ++i) text += "HTTP/1.1 100 Continue\r\n\r\n";
             return text + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
         }(),
         ""},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        Scripted server{{{row.answer}}};
        Client client;
        const auto got = block_on(server.context, ask(&client, server.origin(), row.method));
        EXPECT_EQ(got ? *got : std::string{}, row.expected);
        EXPECT_TRUE(got || !got.error().message.empty());
        const bool until_end = std::string_view(row.name).find("until the end") != std::string_view::npos;
        EXPECT_TRUE(!got || (client.idle_now() == 1) != until_end);
    }
}

TEST(Client, UsesAConnectionAgainAndAsksOnceMoreWhenItIsGone) {
    const std::string one = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1";
    const std::string two = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2";
    Scripted server{{{one, one}, {two}}};
    Client client;
    const auto strand = server.context.make_strand();
    EXPECT_EQ(block_on(server.context, strand, ask(&client, server.origin(), "GET")).value(), "200 1");
    EXPECT_EQ(client.idle_now(), 1u);
    EXPECT_EQ(block_on(server.context, strand, ask(&client, server.origin(), "GET")).value(), "200 1");
    // The server has ended it meanwhile.
    EXPECT_EQ(block_on(server.context, strand, ask(&client, server.origin(), "GET")).value(), "200 2");
    EXPECT_EQ(server.heard.size(), 3u);
    EXPECT_EQ(server.heard[0].substr(0, 31), "GET / HTTP/1.1\r\nHost: 127.0.0.1") << server.heard[0];
}

TEST(Client, NeverRepeatsWhatMayNotBeRepeated) {
    const std::string one = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1";
    Scripted server{{{one}, {one}}};
    Client client;
    const auto strand = server.context.make_strand();
    EXPECT_EQ(block_on(server.context, strand, ask(&client, server.origin(), "POST")).value(), "200 1");
    EXPECT_FALSE(block_on(server.context, strand, ask(&client, server.origin(), "POST")));
}

TEST(Client, UnfoldsCompressedAnswersWithinTheBound) {
    detail::Gzip gzip;
    const std::string packed = gzip.add(std::string(1000, 'x'), true);
    const std::string answer =
        fmt::format("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.size()) + packed;
    Scripted server{{{answer, answer}}};
    Client client;
    const auto strand = server.context.make_strand();
    EXPECT_EQ(block_on(server.context, strand, ask(&client, server.origin(), "GET")).value().size(), 1004u);
    const auto refused = block_on(server.context, strand, ask(&client, server.origin(), "GET", 999));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Exhausted);
}

Task<Result<std::string>> ask_with(Client* client, Origin origin, Request request, stream::Deadline deadline) {
    CO_TRY(const auto answer, co_await client->send(std::move(origin), std::move(request), deadline));
    co_return co_await answer->read_body(1000);
}

TEST(Client, ASilentServerMeetsTheDeadline) {
    Scripted server{{{"HTTP/1.1 100 Continue\r\n\r\n", "never heard"}}};
    Client client;
    const auto got = block_on(server.context, ask_with(&client, server.origin(), {}, after(milliseconds{20})));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::Unavailable);
}

TEST(Client, RefusesRequestsThatWouldBeReadAsTwo) {
    IoContext context{{.threads = 0}};
    Client client;
    const auto refused = [&](Request request) {
        Origin origin;
        origin.address = {"127.0.0.1", 1, false};
        const auto got = block_on(context, ask_with(&client, origin, std::move(request), after(seconds{1})));
        return !got && got.error().kind == ErrorKind::Usage;
    };
    EXPECT_TRUE(refused({.target = "/a b"}));
    EXPECT_TRUE(refused({.target = "/a\r\nX: y"}));
    EXPECT_TRUE(refused({.target = "a"}));
    EXPECT_TRUE(refused({.method = "G ET"}));
    EXPECT_TRUE(refused({.headers = {{"X", "a\r\nY: b"}}}));
    EXPECT_TRUE(refused({.headers = {{"X:", "a"}}}));
}

struct Pieces {
    int left = 3;
    Task<Result<std::size_t>> operator()(std::span<std::uint8_t> into) {
        if (left-- == 0) co_return std::size_t{0};
        into[0] = static_cast<std::uint8_t>('0' + left);
        co_return std::size_t{1};
    }
};

Task<Result<std::string>> upload(Client* client, Origin origin, Client::BodySource source, std::string length = {}) {
    Request request;
    request.method = "POST";
    if (!length.empty()) request.headers.set("Content-Length", length);
    CO_TRY(const auto answer,
           co_await client->send(std::move(origin), std::move(request), after(seconds{180}), std::move(source)));
    co_return co_await answer->read_body(1000);
}

TEST(Client, SendsABodyPieceByPiece) {
    IoContext context;
    const auto server = std::move(Server::start(context, test::local(), &test::echo).value());
    Client client;
    Pieces pieces;
    EXPECT_EQ(block_on(context, upload(&client, test::to(*server), std::ref(pieces))).value(), "210");
}

TEST(Client, PiecesAddUpToTheLengthThatWasSaid) {
    IoContext context;
    const auto server = std::move(Server::start(context, test::local(), &test::echo).value());
    Client client;
    const auto sent = [&](std::string length) {
        Pieces pieces;
        return block_on(context, upload(&client, test::to(*server), std::ref(pieces), std::move(length)));
    };
    EXPECT_EQ(sent("3").value(), "210");
    for (const char* wrong : {"2", "4", "x", "-1"}) {
        const auto refused = sent(wrong);
        ASSERT_FALSE(refused) << wrong;
        EXPECT_EQ(refused.error().kind, ErrorKind::Usage) << wrong;
    }
}

TEST(Origin, ReadsAddressesOfServers) {
    std::string path;
    EXPECT_EQ(Origin::parse("https://a.test/x?y", &path).value().address.text(), "a.test:443");
    EXPECT_EQ(path, "/x?y");
    EXPECT_EQ(Origin::parse("http://[::1]:8080", &path).value().host_field(), "[::1]:8080");
    EXPECT_EQ(path, "/");
    EXPECT_EQ(Origin::parse("http://[::1]").value().host_field(), "[::1]");
    EXPECT_FALSE(Origin::parse("ftp://x"));
    EXPECT_FALSE(Origin::parse("http://"));
    IoContext context{{.threads = 0}};
    Client client;
    const auto origin = Origin::parse("https://127.0.0.1:1").value();
    EXPECT_EQ(block_on(context, ask(&client, origin, "GET")).error().kind, ErrorKind::Usage) << "whom to trust?";
}

}  // namespace
}  // namespace rhizome::http
