// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/still_backend.h"

/// How long writes are waited for when nobody answers.
namespace rhizome::api {
namespace {

constexpr std::string_view kDefinition =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
    R"("metadata":{"name":"widgets.example.com","uid":"d"},"spec":{"group":"example.com","scope":"Namespaced",)"
    R"("names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},)"
    R"("versions":[{"name":"v1","served":true,"storage":true,)"
    R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})";

/// A request of root's, and what ends it.
class Asked final : public http::Exchange {
public:
    Asked(const stream::Strand& strand, std::string method, std::string target, std::string body)
        : strand_(strand), body_(std::move(body)) {
        request_.method = std::move(method);
        request_.target = std::move(target);
        request_.headers.add("Authorization", "Bearer t");
        request_.headers.add("Content-Type", "application/json");
    }
    [[nodiscard]] const http::Request& request() const override { return request_; }
    [[nodiscard]] const stream::Address& peer() const override { return peer_; }
    [[nodiscard]] const stream::TlsSession* tls() const override { return nullptr; }
    [[nodiscard]] const stream::Strand& strand() const override { return strand_; }
    stream::Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        const std::size_t size = std::min(into.size(), body_.size());
        std::copy_n(body_.begin(), size, into.begin());
        body_.erase(0, size);
        co_return size;
    }
    stream::Task<Result<void>> respond(http::Response response) override {
        answer = std::move(response);
        co_return ok();
    }
    stream::Task<Result<void>> start(http::Response) override { co_return ok(); }
    stream::Task<Result<void>> write(ByteView) override { co_return ok(); }
    stream::Task<Result<void>> finish() override { co_return ok(); }
    void when_ending(std::function<void(http::Ending)> call) override { ending = std::move(call); }
    [[nodiscard]] bool client_left() const override { return false; }
    [[nodiscard]] bool answered() const override { return answer.has_value(); }
    stream::Task<Result<stream::Stream*>> upgrade(http::Response) override {
        co_return fail(ErrorKind::Unsupported, "no upgrades here");
    }

    std::optional<http::Response> answer{};
    std::function<void(http::Ending)> ending{};

private:
    stream::Strand strand_;
    http::Request request_{};
    stream::Address peer_{};
    std::string body_;
};

class GatewayTest : public ::testing::Test {
protected:
    void begin(Asked& asked) { stream::spawn(strand_, front_(asked)); }
    /// As far as it goes without waiting.
    void run() {
        while (io_.run_ready() != 0) continue;
    }
    void define_widgets(int count) {
        backend_.write(std::string{kDefinition});
        for (int i = 0; i < count; ++i)
            backend_.write(fmt::format(R"({{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{)"
                                       R"("namespace":"default","name":"w{}","uid":"w{}"{}}}}})",
                                       i, i, i == 0 ? R"(,"finalizers":["example.com/x"])" : ""));
    }

    test::StillBackend backend_;
    stream::IoContext io_{{.threads = 0}};
    stream::Strand strand_ = io_.make_strand();
    http::Handler front_ = make_front(make_service(
        backend_, {.tokens = {{.token = "t", .user = {.name = "root", .groups = {std::string{kMasters}}}}}}));
};

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kWidgets = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";

TEST_F(GatewayTest, AWriteThatIsWaitedForIsAnsweredWhenTheServerEnds) {
    Asked asked{strand_, "POST", kMaps, R"({"metadata":{"name":"a"}})"};
    begin(asked);
    run();
    ASSERT_EQ(backend_.submitted.size(), 1u);
    ASSERT_FALSE(asked.answered());
    ASSERT_TRUE(asked.ending);
    asked.ending(http::Ending::Draining);
    run();
    ASSERT_TRUE(asked.answered());
    EXPECT_EQ(asked.answer->status, 504u) << asked.answer->body;
    EXPECT_EQ(asked.answer->headers.find("Rhizome-Txid"), backend_.submitted[0]->id.hex());
}

TEST_F(GatewayTest, NothingMoreIsDeletedWhenWhoeverAskedHasLeft) {
    define_widgets(5);
    backend_.answer = Progress{.stage = Stage::Final};
    backend_.answered_max = 2;
    for (const char* target : {kWidgets, "/apis/example.com/v1/namespaces/default/widgets"}) {
        SCOPED_TRACE(target);
        backend_.submitted.clear();
        Asked asked{strand_, "DELETE", target, ""};
        begin(asked);
        run();
        EXPECT_EQ(backend_.submitted.size(), 3u) << "the third is waited for";
        ASSERT_TRUE(asked.ending);
        asked.ending(http::Ending::ClientLeft);
        run();
        EXPECT_EQ(backend_.submitted.size(), 3u);
        EXPECT_TRUE(asked.answered());
    }
}

TEST_F(GatewayTest, TheObjectsOfADefinitionHaveTheTimeOfItsDeletion) {
    define_widgets(5);
    backend_.answer = Progress{.stage = Stage::Final};
    backend_.answered_max = 1;
    Asked asked{strand_, "DELETE", fmt::format("{}?timeout=50ms", kWidgets), ""};
    stream::block_on(io_, strand_, front_(asked));
    ASSERT_TRUE(asked.answered());
    EXPECT_EQ(asked.answer->status, 200u) << asked.answer->body;
    EXPECT_EQ(backend_.submitted.size(), 2u) << "the first of them took all that was left";
}

TEST_F(GatewayTest, ADefinitionThatIsDeletedAgainGoesOnWithItsObjects) {
    define_widgets(3);
    std::string ends{kDefinition};
    ends.replace(ends.find(R"("uid":"d")"), 9,
                 R"("uid":"d","deletionTimestamp":"2026-01-01T00:00:00Z",)"
                 R"("finalizers":["customresourcecleanup.apiextensions.k8s.io"])");
    backend_.write(ends);
    backend_.answer = Progress{.stage = Stage::Final};
    Asked asked{strand_, "DELETE", kWidgets, ""};
    begin(asked);
    run();
    ASSERT_TRUE(asked.answered());
    EXPECT_EQ(asked.answer->status, 200u) << asked.answer->body;
    EXPECT_EQ(backend_.submitted.size(), 3u);
}

}  // namespace
}  // namespace rhizome::api
