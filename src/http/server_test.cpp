// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/detail/gzip.h"
#include "support/raw_http.h"

namespace rhizome::http {
namespace {

using test::RawHttp;
using test::statuses;

Task<void> answer(Exchange& exchange) {
    const std::string path{exchange.request().path()};
    Response response;
    if (path == "/echo") {
        auto body = co_await exchange.read_body(1 << 20);
        if (!body) {
            auto ignored = co_await exchange.respond_error(std::move(body).error());
            co_return;
        }
        response.body = "[" + *body + "]";
    } else if (path == "/stream") {
        response.headers.add("X", "y");
        response.body = "one";
        auto ignored = co_await exchange.start(std::move(response));
        ignored = co_await exchange.write(as_bytes("two"));
        ignored = co_await exchange.write({});
        ignored = co_await exchange.finish();
        co_return;
    } else if (path == "/half") {
        response.body = "half";
        auto ignored = co_await exchange.start(std::move(response));
        co_return;
    } else if (path == "/nothing") {
        co_return;
    } else if (path == "/throw") {
        throw std::runtime_error("oh");
    } else if (path == "/large") {
        response.body.assign(300'000, 'x');
    } else if (path == "/empty") {
        response.status = 204;
    } else if (path == "/split") {
        response.headers.add("X", "a\r\nSet-Cookie: b");
        const auto refused = co_await exchange.respond(response);
        response = Response{};
        response.body = refused ? "sent" : "refused";
    } else {
        response.body = "hello";
    }
    auto ignored = co_await exchange.respond(std::move(response));
}

std::string get(std::string_view path, std::string_view more = {}) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", path, more);
}

TEST(Server, AnswersAndKeepsTheConnection) {
    RawHttp raw{&answer};
    const std::string one = raw.talk(get("/"), false, "hello");
    EXPECT_TRUE(one.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << one;
    EXPECT_TRUE(one.ends_with("GMT\r\nContent-Length: 5\r\n\r\nhello")) << one;
    EXPECT_EQ(statuses(raw.talk(get("/empty"), false, "\r\n\r\n")), "204 ");
    EXPECT_EQ(statuses(raw.talk(get("/", "Connection: close\r\n"))), "200 ");
    EXPECT_TRUE(raw.ended);
}

TEST(Server, RequestsSentAtOnceAreAnsweredInOrder) {
    RawHttp raw{&answer};
    const std::string all = raw.talk(get("/") + "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" +
                                     get("/stream") + get("/"));
    EXPECT_EQ(statuses(all), "200 200 200 200 ");
    EXPECT_LT(all.find("[abc]"), all.find("3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
}

TEST(Server, ChunksInAndOut) {
    RawHttp raw{&answer};
    const std::string all = raw.talk(
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
        "3\r\nabc\r\n0A;name=\"v\"\r\n0123456789\r\n0\r\nTrailer: dropped\r\n\r\n" +
        get("/"));
    EXPECT_EQ(statuses(all), "200 200 ");
    EXPECT_NE(all.find("[abc0123456789]"), std::string::npos) << all;
}

TEST(Server, OldClientsGetNoChunksAndAreClosed) {
    RawHttp raw{&answer};
    const std::string all = raw.talk("GET /stream HTTP/1.0\r\n\r\n", false);
    EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(all.ends_with("\r\n\r\nonetwo")) << all;
    RawHttp again{&answer};
    EXPECT_NE(again.talk("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, "hello").find("keep-alive"),
              std::string::npos);
}

TEST(Server, HeadHasTheLengthAndNoBody) {
    RawHttp raw{&answer};
    const std::string all = raw.talk("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(statuses(all), "200 200 ");
    EXPECT_NE(all.find("Content-Length: 5\r\n\r\nHTTP"), std::string::npos) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\n"));
    EXPECT_EQ(all.find("one"), std::string::npos);
}

/// What two readers of one message could read differently is refused, and so is what is too large.
TEST(Server, RefusesMalformedAndOversizedRequests) {
    const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
    const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
    const struct {
        const char* name;
        std::string sent;
        const char* expected;
    } rows[] = {
        {"both lengths", post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400 "},
        {"both lengths, the other way", post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
         "400 "},
        {"two lengths", post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "400 "},
        {"the same length twice", post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "400 "},
        {"a list of lengths", post + "Content-Length: 3, 3\r\n\r\nabc", "400 "},
        {"a signed length", post + "Content-Length: +3\r\n\r\nabc", "400 "},
        {"a negative length", post + "Content-Length: -3\r\n\r\nabc", "400 "},
        {"a hexadecimal length", post + "Content-Length: 0x3\r\n\r\nabc", "400 "},
        {"an empty length", post + "Content-Length: \r\n\r\n", "400 "},
        {"an endless length", post + "Content-Length: 99999999999999999999\r\n\r\n", "400 "},
        {"another encoding", post + "Transfer-Encoding: gzip\r\n\r\n", "501 "},
        {"chunked twice", post + "Transfer-Encoding: chunked, chunked\r\n\r\n", "501 "},
        {"chunked not last", post + "Transfer-Encoding: chunked, identity\r\n\r\n", "501 "},
        {"chunked in two fields", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "400 "},
        {"an encoding with a vertical tab",
         post + "Transfer-Encoding: \x0b"
                "chunked\r\n\r\n",
         "400 "},
        {"chunked in HTTP/1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400 "},
        {"a folded line", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "400 "},
        {"a fold before the first field", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", "400 "},
        {"a blank before the colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "400 "},
        {"a bare LF", "GET / HTTP/1.1\nHost: x\n\n", "400 "},
        {"one bare LF", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", "400 "},
        {"a bare CR", "GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", "400 "},
        {"a zero byte", std::string("GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n", 29), "400 "},
        {"no host", "GET / HTTP/1.1\r\n\r\n", "400 "},
        {"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400 "},
        {"no version", "GET /\r\n\r\n", "400 "},
        {"HTTP/2 in plain", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 "},
        {"HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", "505 "},
        {"a target without slash", "GET x HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
        {"garbage", "\x16\x03\x01\x02\r\n\r\n\r\n", "400 "},
        {"a negative chunk", chunked + "-1\r\n\r\n", "400 "},
        {"a chunk with 0x", chunked + "0x3\r\nabc\r\n0\r\n\r\n", "400 "},
        {"a chunk size that overflows", chunked + "FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n", "400 "},
        {"a chunk longer than it says", chunked + "3\r\nabcd\r\n0\r\n\r\n", "400 "},
        {"a chunk with LF only", chunked + "3\nabc\n0\n\n", "400 "},
        {"a chunk size of blanks", chunked + " 3\r\nabc\r\n0\r\n\r\n", "400 "},
        {"a chunk beyond the limit", chunked + "FFFFFFFF\r\n", "413 "},
        {"a long chunk line", chunked + "3;" + std::string(70'000, 'x') + "\r\nabc\r\n0\r\n\r\n", "400 "},
        {"a long target", "GET /" + std::string(9'000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n", "414 "},
        {"an endless target", "GET /" + std::string(9'000, 'x'), "414 "},
        {"a long header", get("/", "A: " + std::string(70'000, 'x') + "\r\n"), "431 "},
        {"an endless header", "GET / HTTP/1.1\r\nA: " + std::string(70'000, 'x'), "431 "},
        {"a large body", post + "Content-Length: 99999999999\r\n\r\n", "413 "},
        {"an unmet expectation", get("/", "Expect: tea\r\n"), "417 "},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        RawHttp raw{&answer};
        const std::string all = raw.talk(row.sent + get("/smuggled"));
        EXPECT_EQ(statuses(all), row.expected) << all;
        EXPECT_NE(all.find("Connection: close\r\n"), std::string::npos) << all;
        EXPECT_TRUE(raw.ended);
    }
    std::string many;
    for (int i = 0; i < 129; ++i) many += "A: b\r\n";
    RawHttp raw{&answer};
    EXPECT_EQ(statuses(raw.talk(get("/", many))), "431 ");
}

TEST(Server, WhatIsOddButClearIsAnswered) {
    const struct {
        const char* name;
        std::string sent;
    } rows[] = {
        {"an empty line first", "\r\n" + get("/")},
        {"an empty value", get("/", "A:\r\n")},
        {"bytes beyond ASCII in a value", get("/", "A: \xc3\xbc\r\n")},
        {"a host without name in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"},
        {"a cut after the request", get("/")},
    };
    for (const auto& row : rows) {
        RawHttp raw{&answer};
        EXPECT_EQ(statuses(raw.talk(row.sent)), "200 ") << row.name;
    }
}

TEST(Server, ContinueIsSaidToWhoWaitsForIt) {
    const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    RawHttp raw{&answer};
    EXPECT_EQ(raw.talk(head, false, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_NE(raw.talk("abc", false, "]").find("[abc]"), std::string::npos);
    // The body came along: nobody waits.
    RawHttp eager{&answer};
    EXPECT_EQ(statuses(eager.talk(head + "abc")), "200 ");
    // Nobody reads the body: the client must not send it, and the connection cannot go on.
    RawHttp unread{&answer};
    const std::string all =
        unread.talk("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n", false);
    EXPECT_EQ(statuses(all), "200 ");
    EXPECT_NE(all.find("Connection: close"), std::string::npos);
}

TEST(Server, UnreadBodiesAreSkippedWhenSmallAndCutWhenLarge) {
    RawHttp small{&answer};
    EXPECT_EQ(statuses(small.talk("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd" + get("/"))),
              "200 200 ");
    RawHttp large{&answer};
    EXPECT_EQ(statuses(large.talk("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n" +
                                  std::string(400'000, 'x') + get("/"))),
              "200 ");
}

TEST(Server, HandlersThatFailAreAnsweredFor) {
    MemorySink sink;
    for (const char* path : {"/nothing", "/throw"}) {
        RawHttp raw{&answer, {.log = Log{sink}}};
        EXPECT_EQ(statuses(raw.talk(get(path) + get("/"))), "500 200 ") << path;
    }
    EXPECT_EQ(sink.count("a handler threw"), 1u);
    RawHttp half{&answer};
    const std::string all = half.talk(get("/half") + get("/"));
    EXPECT_EQ(statuses(all), "200 ");
    EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos) << "an answer that is not whole must not look whole";
    RawHttp split{&answer};
    EXPECT_NE(split.talk(get("/split")).find("refused"), std::string::npos);
}

TEST(Server, LargeAnswersAreCompressedWhenAskedFor) {
    RawHttp raw{&answer};
    const std::string packed = raw.talk(get("/large", "Accept-Encoding: gzip\r\n"));
    EXPECT_NE(packed.find("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\nTransfer-Encoding: chunked"),
              std::string::npos);
    EXPECT_LT(packed.size(), 10'000u);
    RawHttp plain{&answer};
    EXPECT_GT(plain.talk(get("/large")).size(), 300'000u);
    RawHttp small{&answer};
    EXPECT_EQ(small.talk(get("/", "Accept-Encoding: gzip\r\n")).find("gzip"), std::string::npos);
}

TEST(Server, SlowHeadersAndBodiesMeetDeadlines) {
    ServerOptions options;
    options.limits.head_time = milliseconds{20};
    options.limits.body_gap = milliseconds{20};
    options.limits.idle_time = milliseconds{20};
    RawHttp head{&answer, options};
    EXPECT_EQ(statuses(head.talk("GET / HTTP/1.1\r\nHo", false)), "408 ");
    RawHttp body{&answer, options};
    EXPECT_EQ(statuses(body.talk("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab", false)), "503 ");
    RawHttp idle{&answer, options};
    EXPECT_EQ(statuses(idle.talk(get("/"), false)), "200 ");
    RawHttp silent{&answer, options};
    EXPECT_EQ(silent.talk("", false), "");
}

/// Writes until it is told to end; says why it ended.
struct Watcher {
    explicit Watcher(const stream::Strand& strand) : wake(strand) {}
    stream::Event wake;
    std::optional<Ending> ended;
    bool finished = false;
};

Task<void> watching(Watcher* watcher, Exchange& exchange) {
    Response head;
    head.body = "first";
    auto sent = co_await exchange.start(std::move(head));
    exchange.when_ending([watcher](Ending ending) {
        watcher->ended = ending;
        watcher->wake.set();
    });
    co_await watcher->wake.wait();
    if (watcher->ended == Ending::Draining) sent = co_await exchange.finish();
    watcher->finished = true;
}

TEST(Server, ALongAnswerHearsThatTheClientLeft) {
    Watcher* watcher = nullptr;
    RawHttp raw{[&](Exchange& exchange) { return watching(watcher, exchange); }};
    Watcher held{raw.strand};
    watcher = &held;
    EXPECT_NE(raw.talk(get("/watch"), false, "first").find("first"), std::string::npos);
    EXPECT_FALSE(held.ended);
    raw.client->close();
    raw.context.run_until([&] { return raw.ended; });
    EXPECT_EQ(held.ended, Ending::ClientLeft);
    EXPECT_TRUE(held.finished);
}

TEST(Server, RequestsSentAheadOfALongAnswerWait) {
    Watcher* watcher = nullptr;
    RawHttp raw{[&](Exchange& exchange) {
        return exchange.request().path() == "/watch" ? watching(watcher, exchange) : answer(exchange);
    }};
    Watcher held{raw.strand};
    watcher = &held;
    EXPECT_NE(raw.talk(get("/watch") + get("/"), false, "first").find("first"), std::string::npos);
    raw.context.run_ready();
    EXPECT_FALSE(held.ended);
    held.ended = Ending::Draining;  // as if: the handler ends in order
    held.wake.set();
    EXPECT_NE(raw.talk("", false, "hello").find("HTTP/1.1 200"), std::string::npos);
}

}  // namespace
}  // namespace rhizome::http
