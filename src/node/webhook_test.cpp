// SPDX-License-Identifier: Apache-2.0
#include "node/webhook.h"

#include <gtest/gtest.h>

#include "http/router.h"
#include "http/server.h"
#include "support/waiting.h"

namespace rhizome::node {
namespace {

/// Somebody's server, which answers as it is told.
class WebhookTest : public ::testing::Test {
protected:
    struct Seen {
        std::vector<std::string> bodies{};
        std::vector<unsigned> answers{};  ///< for the next ones; 200 when there are none
    };
    void SetUp() override {
        auto router = std::make_shared<http::Router>();
        router->route("POST", "/hook", [this](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
            auto body = co_await exchange.read_body(1u << 20);
            http::Response response{.status = take(body ? *body : "unreadable")};
            response.body = std::string(answer_bytes, 'x');
            (void)co_await exchange.respond(std::move(response));
        });
        auto made = http::Server::start(io, {.listen = {{.address = {.host = "127.0.0.1", .port = 0}}}},
                                        http::Router::handler(std::shared_ptr<const http::Router>(std::move(router))));
        ASSERT_TRUE(made) << made.error().message;
        server = *std::move(made);
        url = "http://" + server->addresses().front().text() + "/hook";
    }
    void TearDown() override {
        hook.reset();
        server->stop(milliseconds{500});
    }
    unsigned take(const std::string& body) {
        const auto hold = seen.lock();
        seen.value().bodies.push_back(body);
        unsigned status = 200;
        if (!seen.value().answers.empty()) {
            status = seen.value().answers.front();
            seen.value().answers.erase(seen.value().answers.begin());
        }
        seen.notify();
        return status;
    }
    void start(std::size_t waiting_max = 256) {
        auto made = Webhook::start(io, {.url = url,
                                        .waiting_max = waiting_max,
                                        .again_first = milliseconds{5},
                                        .again_most = milliseconds{20},
                                        .answer_bytes_max = 4'096});
        ASSERT_TRUE(made) << made.error().message;
        hook = *std::move(made);
    }
    void post(std::string_view word) { hook->post({{"say", word}}); }
    bool came(std::size_t count) {
        return seen.wait([&](const Seen& now) { return now.bodies.size() >= count; });
    }

    stream::IoContext io{{.threads = 2}};
    std::size_t answer_bytes = 2;
    test::Waited<Seen> seen;
    std::unique_ptr<http::Server> server;
    std::unique_ptr<Webhook> hook;
    std::string url;
};

TEST_F(WebhookTest, TriesUntilSomebodyTakesItAndKeepsTheOrder) {
    {
        const auto hold = seen.lock();
        seen.value().answers = {500, 503, 200, 429, 200};
    }
    start();
    post("one");
    post("two");
    ASSERT_TRUE(came(5));
    const auto bodies = seen.copy().bodies;
    const std::string one = R"({"say":"one"})";
    const std::string two = R"({"say":"two"})";
    EXPECT_EQ(bodies, (std::vector{one, one, one, two, two}));
}

TEST_F(WebhookTest, ARefusalIsNotRepeated) {
    {
        const auto hold = seen.lock();
        seen.value().answers = {400};
    }
    start();
    post("bad");
    post("good");
    ASSERT_TRUE(came(2));
    EXPECT_EQ(seen.copy().bodies, (std::vector<std::string>{R"({"say":"bad"})", R"({"say":"good"})"}));
    EXPECT_EQ(hook->counts().refused, 1u);
}

TEST_F(WebhookTest, WithNobodyThereTheNewestWaitBounded) {
    server->stop(milliseconds{0});
    start(3);
    for (int i = 0; i < 10; ++i) post(std::to_string(i));
    EXPECT_EQ(hook->counts().waiting, 3u);
    EXPECT_EQ(hook->counts().given_up, 7u);
    EXPECT_EQ(hook->counts().delivered, 0u);
}

TEST_F(WebhookTest, AnAnswerWithoutEndIsNotReadForEver) {
    answer_bytes = 100'000;
    start();
    post("one");
    ASSERT_TRUE(came(3)) << "it is tried again: nobody knows whether it was taken";
    EXPECT_GE(hook->counts().failed, 1u);
}

TEST_F(WebhookTest, AnAddressThatIsNoneIsAnErrorAtOnce) {
    for (const std::string bad : {"http://", "ftp://host/x", "host"}) {
        url = bad;
        const auto made = Webhook::start(io, {.url = url});
        ASSERT_FALSE(made) << bad;
        EXPECT_EQ(made.error().kind, ErrorKind::Invalid);
    }
}

}  // namespace
}  // namespace rhizome::node
