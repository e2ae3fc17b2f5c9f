// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/kube_client.h"
#include "support/kube_node.h"

/// What strangers and mistakes send to the Kubernetes API of a whole node, over TLS: the answer is a `Status` that says
/// why, nothing is stored, and memory stays bounded.
namespace rhizome::node {
namespace {

using stream::Task;
using test::KubeConnection;
using test::KubeReply;

using test::kMaps;

class KubeAbuse : public test::KubeNode {
protected:
    /// Refused with this code and reason, in the API's form, and nothing is stored.
    void expect_refused(const KubeReply& reply, unsigned code, std::string_view reason, std::string_view what) {
        SCOPED_TRACE(what);
        const json::Value status = reply.value();
        EXPECT_EQ(reply.status, code) << reply.head << reply.body;
        EXPECT_EQ(status.text_at({"kind"}), "Status") << reply.body;
        EXPECT_EQ(status.text_at({"apiVersion"}), "v1");
        EXPECT_EQ(status.text_at({"status"}), "Failure");
        EXPECT_EQ(status.text_at({"reason"}), reason) << reply.body;
        EXPECT_FALSE(status.text_at({"message"}).empty());
        EXPECT_EQ(documents(), before_);
    }
    /// Says exactly these bytes, then `more` of the same piece, and reads whatever comes.
    KubeReply raw(std::string first, std::string piece = {}, std::size_t more = 0) {
        stream::IoContext io{{.threads = 0}};
        auto reply = stream::block_on(io, raw_task(access_, std::move(first), std::move(piece), more));
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? *std::move(reply) : KubeReply{};
    }
    static std::string head(std::string_view more) {
        return fmt::format(
            "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t-root\r\nContent-Type: "
            "application/json\r\n{}\r\n",
            kMaps, more);
    }
    void SetUp() override {
        KubeNode::SetUp();
        before_ = documents();
    }
    std::uint64_t before_ = 0;

private:
    static Task<Result<KubeReply>> raw_task(test::KubeAccess access, std::string first, std::string piece,
                                            std::size_t more) {
        CO_TRY(const auto connection, co_await KubeConnection::open(std::move(access), stream::after(seconds{180})));
        connection->bytes().set_write_deadline(stream::after(seconds{180}));
        bool open = (co_await stream::write_all(connection->bytes(), as_bytes(first))).has_value();
        // A server that has heard enough stops reading: what it said before is there to be read all the same.
        for (std::size_t i = 0; i < more && open; ++i)
            open = (co_await stream::write_all(connection->bytes(), as_bytes(piece))).has_value();
        auto reply = co_await connection->ask({});
        co_return reply;
    }
};

TEST_F(KubeAbuse, BodiesThatAreTooLargeAreRefusedBeforeTheyAreHeld) {
    const std::string megabyte(1u << 20, 'x');
    expect_refused(raw(head(fmt::format("Content-Length: {}\r\n", 10u << 20)), megabyte, 10), 413,
                   "RequestEntityTooLarge", "10 MB, announced");
    const std::string chunk = fmt::format("{:x}\r\n{}\r\n", megabyte.size(), megabyte);
    expect_refused(raw(head("Transfer-Encoding: chunked\r\n"), chunk, 10), 413, "RequestEntityTooLarge",
                   "10 MB, in pieces");
    expect_refused(raw(head("Content-Length: 100000000000000\r\n")), 413, "RequestEntityTooLarge", "100 TB, announced");
}

TEST_F(KubeAbuse, WhatCannotBeReadIsABadRequest) {
    const auto map = [](std::string_view data) {
        return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"x"}},"data":{}}})", data);
    };
    const std::pair<std::string_view, std::string> bodies[] = {
        {"nothing", " "},
        {"no JSON", "not json"},
        {"no object", "[1,2]"},
        {"cut short", R"({"apiVersion":"v1","kind":"Conf)"},
        {"deep lists", std::string(100'000, '[')},
        {"deep objects",
         [] {
             std::string all;
             for (int i = 0; i < 50'000; ++i) all += R"({"a":)";
             return all;
         }()},
        {"no UTF-8", map("{\"v\":\"\xff\xfe\"}")},
        {"half a surrogate", map(R"({"v":"\ud800"})")},
        {"a name twice", R"({"apiVersion":"v1","apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})"},
        {"another type", map(R"({"v":1})")},
        {"another kind", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}})"},
    };
    for (const auto& [what, body] : bodies) expect_refused(ask("POST", kMaps, body), 400, "BadRequest", what);
    expect_refused(ask("POST", kMaps, std::string(200'000, '['), "application/yaml"), 400, "BadRequest", "deep YAML");
    expect_refused(ask("POST", kMaps, "a: &a [*a, *a]", "application/yaml"), 400, "BadRequest", "YAML that grows");
    expect_refused(ask("POST", kMaps, "k8s\0\xff\xff\xff", "application/vnd.kubernetes.protobuf"), 400, "BadRequest",
                   "broken protobuf");
    expect_refused(ask("POST", kMaps, "{}", "text/plain"), 415, "UnsupportedMediaType", "another media type");
    expect_refused(ask("POST", fmt::format("{}?fieldValidation=Strict", kMaps),
                       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"bogus":1})"),
                   400, "BadRequest", "an unknown field, strictly");
    expect_refused(ask("POST", kMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A/b"}})"), 422,
                   "Invalid", "no name");
    expect_refused(
        ask("PATCH", fmt::format("{}/none", kMaps), std::string(100'000, '['), "application/json-patch+json"), 404,
        "NotFound", "a patch of nothing");
    // Unless it says otherwise, a client is only told of a field that nobody knows.
    const KubeReply warned =
        ask("POST", kMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"bogus":1})");
    EXPECT_EQ(warned.status, 201u) << warned.body;
    EXPECT_NE(warned.header("Warning").find("unknown field"), std::string::npos) << warned.head;
}

TEST_F(KubeAbuse, HeadersThatNeverEndAreRefused) {
    std::string many;
    for (int i = 0; i < 1'000; ++i) many += fmt::format("X-{}: y\r\n", i);
    expect_refused(raw(head(many)), 431, "RequestHeaderFieldsTooLarge", "a thousand fields");
    expect_refused(raw(head("X-Long: " + std::string(100'000, 'x') + "\r\n")), 431, "RequestHeaderFieldsTooLarge",
                   "a field of 100,000 bytes");
    expect_refused(raw("GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n"), 414, "URITooLong", "a long target");
    expect_refused(raw("\x16\x03\x01 what is this\r\n\r\n"), 400, "BadRequest", "no HTTP");
    expect_refused(raw(head("Content-Length: 5\r\nContent-Length: 6\r\n") + "hello"), 400, "BadRequest", "two lengths");
}

/// A node that waits so shortly for the next piece of a body that a busy machine may keep it waiting as long.
class KubeAbuseOfTheImpatient : public KubeAbuse {
protected:
    void change(DaemonOptions& options) override { options.rpc_limits.body_gap = milliseconds{200}; }
};

TEST_F(KubeAbuseOfTheImpatient, ABodyThatDoesNotComeIsNotWaitedFor) {
    expect_refused(raw(head("Content-Length: 100\r\n") + R"({"apiVersion")"), 408, "Timeout", "a slow body");
}

TEST_F(KubeAbuse, ManyLargeBodiesAtOnceAreAnsweredAllTheSame) {
    // Each is refused when it has more than may be held; what waits meanwhile is bounded by how many may be under way.
    constexpr int kAtOnce = 24;
    const std::string megabyte(1u << 20, ' ');
    std::vector<std::thread> threads;
    std::atomic<int> refused = 0;
    for (int i = 0; i < kAtOnce; ++i)
        threads.emplace_back([&] {
            const std::string chunk = fmt::format("{:x}\r\n{}\r\n", megabyte.size(), megabyte);
            const KubeReply reply = raw(head("Transfer-Encoding: chunked\r\n"), chunk, 10);
            refused += reply.status == 413 || reply.status == 429 ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(refused, kAtOnce);
    EXPECT_EQ(documents(), before_);
    EXPECT_EQ(ask("GET", kMaps).status, 200u);
}

}  // namespace
}  // namespace rhizome::node
