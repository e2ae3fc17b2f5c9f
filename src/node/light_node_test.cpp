// SPDX-License-Identifier: Apache-2.0
// A light node beside a real one, and behind one that lies.
#include "node/light_node.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <thread>

#include "http/router.h"
#include "http/server.h"
#include "node/rpc/route.h"
#include "support/rpc_world.h"
#include "support/waiting.h"

namespace rhizome::node {
namespace {

/// A full node that passes questions on to a real one and bends the answers.
class LyingNode {
public:
    using Bend = std::function<void(const std::string& path, json::Value& answer)>;
    LyingNode(const std::filesystem::path& data, const std::filesystem::path& honest, Bend bend)
        : honest_(RpcClient::connect(honest).value()), bend_(std::move(bend)) {
        std::filesystem::create_directories(data / "node");
        auto router = std::make_shared<http::Router>();
        router->route("GET", "/*", [this](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
            (void)co_await exchange.respond(answer(exchange.request().target));
        });
        auto made =
            http::Server::start(io_, {.listen = {{.address = {.host = socket_file(data).native(), .is_local = true}}}},
                                http::Router::handler(std::shared_ptr<const http::Router>(std::move(router))));
        EXPECT_TRUE(made) << made.error().message;
        server_ = *std::move(made);
    }
    ~LyingNode() { server_->stop(milliseconds{500}); }

private:
    http::Response answer(const std::string& target) {
        const std::lock_guard hold{mutex_};
        auto reply = honest_->ask("GET", target);
        if (!reply) return rpc::refusal(reply.error());
        if (reply->is_good()) bend_(target, reply->body);
        return rpc::json_response(reply->body, reply->status);
    }

    std::mutex mutex_;
    std::unique_ptr<RpcClient> honest_;  ///< its own: a client serves one thread
    Bend bend_;
    stream::IoContext io_{{.threads = 1}};
    std::unique_ptr<http::Server> server_;
};

class LightNodeTest : public test::RpcWorld {
protected:
    [[nodiscard]] std::filesystem::path light_data() const { return temp.path() / "light"; }
    [[nodiscard]] std::filesystem::path liar_data() const { return temp.path() / "liar"; }
    void light_at(const std::filesystem::path& data, std::optional<VouchedBlock> vouched = {}) {
        light.reset();
        std::filesystem::create_directories(light_data());
        auto made = LightNode::start({.data = light_data(),
                                      .connect = [data] { return RpcClient::connect(data); },
                                      .follow = {"/namespaces"},
                                      .vouched = vouched,
                                      .every = milliseconds{20},
                                      .again_most = milliseconds{20}});
        ASSERT_TRUE(made) << made.error().message;
        light = *std::move(made);
    }
    /// Asked again until it holds, or so long that something must be broken.
    template <class Holds>
    bool eventually(const Holds& holds) {
        if (test::eventually([&] { return holds(json::Value{light->status()}); })) return true;
        ADD_FAILURE() << json::print(light->status());
        return false;
    }
    bool has_state() {
        return eventually([](const json::Value& status) { return *status.find("stateHeight")->if_int64() > 0; });
    }
    std::unique_ptr<RpcClient> reader() { return RpcClient::connect(light_data()).value(); }
    [[nodiscard]] VouchedBlock final_now() const {
        const auto view = daemon->host().view();
        return {view->final_height, view->final_block};
    }

    std::unique_ptr<LightNode> light;
};

TEST_F(LightNodeTest, ShowsWhatItFollowsAndNothingElse) {
    make_namespace("web");
    light_at(folder(), final_now());
    ASSERT_TRUE(has_state());
    const auto there = reader()->get("/rhizome/v1/state?path=/namespaces/web");
    ASSERT_TRUE(there) << there.error().message;
    EXPECT_EQ(there->text_at({"document", "metadata", "name"}), "web");
    EXPECT_EQ(reader()->get("/rhizome/v1/state?resource=namespace/web")->text_at({"path"}), "/namespaces/web");
    EXPECT_EQ(reader()->get("/rhizome/v1/state?path=/namespaces/none").error().kind, ErrorKind::NotFound);
    const auto outside = reader()->get("/rhizome/v1/state?path=/nodes/n1");
    ASSERT_FALSE(outside);
    EXPECT_NE(outside.error().message.find("not among what this light node follows: /namespaces"), std::string::npos);
    EXPECT_FALSE(reader()->get("/rhizome/v1/state/list?prefix=/"));
    EXPECT_FALSE(reader()->get("/rhizome/v1/state?path=/namespaces/web&at=1"));
    EXPECT_EQ(reader()->ask("GET", "/readyz")->status, 200u);
    EXPECT_EQ(reader()->ask("GET", "/rhizome/v1/blocks/1")->status, 404u);

    // What changes later comes by itself.
    make_namespace("shop");
    ASSERT_TRUE(eventually(
        [&](const json::Value&) { return reader()->get("/rhizome/v1/state?path=/namespaces/shop").has_value(); }));
    const auto names = reader()->get("/rhizome/v1/state/list?prefix=/namespaces");
    ASSERT_TRUE(names);
    EXPECT_GE(names->find("items")->if_array()->size(), 4u) << "default, kube-system, web, shop";
    EXPECT_FALSE(*json::Value{light->status()}.find("trustsFirstPeer")->if_boolean());
}

TEST_F(LightNodeTest, GoesOnFromWhereItWasAndSaysWhomItTrusted) {
    make_namespace("web");
    light_at(folder());
    ASSERT_TRUE(has_state());
    EXPECT_TRUE(*json::Value{light->status()}.find("trustsFirstPeer")->if_boolean());
    light_at(folder());
    EXPECT_TRUE(has_state());
    EXPECT_TRUE(*json::Value{light->status()}.find("trustsFirstPeer")->if_boolean()) << "also after a restart";
    light_at(folder(), final_now());
    EXPECT_TRUE(has_state());
    EXPECT_FALSE(*json::Value{light->status()}.find("trustsFirstPeer")->if_boolean());
    // Another block than the chain has there.
    auto wrong = final_now();
    wrong.hash = ledger::BlockHash{crypto::sha256(as_bytes("another")).view()};
    light_at(folder(), wrong);
    EXPECT_TRUE(eventually([](const json::Value& status) {
        return status.find_path({"refusals", "WrongBlock"}) != nullptr;
    }));
    EXPECT_EQ(reader()->ask("GET", "/readyz")->status, 503u);
}

TEST_F(LightNodeTest, ALyingNodeIsRefusedByName) {
    make_namespace("web");
    const struct {
        std::string_view fault;
        LyingNode::Bend bend;
    } lies[] = {
        {"WrongSignature",
         [](const std::string& target, json::Value& answer) {
             // The signature stands behind version, chain id and header.
             if (!target.starts_with("/rhizome/v1/finality")) return;
             for (json::Value& link : *answer["links"].if_array()) {
                 std::string digits = *link.if_string();
                 char& digit = digits[2 * (1 + 32 + ledger::kHeaderBytes + 10)];
                 digit = digit == '0' ? '1' : '0';
                 link = json::Value{digits};
             }
         }},
        {"ForgedDocument",
         [](const std::string& target, json::Value& answer) {
             if (!target.starts_with("/rhizome/v1/state/subtree")) return;
             // The last byte of the last document is its closing brace.
             std::string digits = *answer["proof"].if_string();
             digits.replace(digits.size() - 2, 2, "20");
             answer["proof"] = json::Value{digits};
         }},
        {"Malformed",
         [](const std::string& target, json::Value& answer) {
             if (target.starts_with("/rhizome/v1/state/subtree")) answer["proof"] = json::Value{"00ff"};
         }},
    };
    for (const auto& [fault, bend] : lies) {
        std::filesystem::remove_all(light_data());
        std::filesystem::remove_all(liar_data());
        LyingNode liar{liar_data(), folder(), bend};
        light_at(liar_data(), final_now());
        EXPECT_TRUE(eventually([&fault = fault](const json::Value& status) {
            return status.find_path({"refusals", fault}) != nullptr;
        })) << fault;
        EXPECT_FALSE(reader()->get("/rhizome/v1/state?path=/namespaces/web")) << fault << ": nothing of it is shown";
        light.reset();
    }
}

TEST_F(LightNodeTest, AStaleProofIsRefusedByNameAndWhatWasProvenStays) {
    make_namespace("web");
    std::optional<json::Value> kept;
    bool replay = false;
    std::mutex mutex;
    LyingNode liar{liar_data(), folder(), [&](const std::string& target, json::Value& answer) {
                       const std::lock_guard hold{mutex};
                       if (!target.starts_with("/rhizome/v1/state/subtree")) return;
                       if (!kept) kept = answer;
                       if (replay) answer = *kept;
                   }};
    light_at(liar_data(), final_now());
    ASSERT_TRUE(has_state());
    {
        const std::lock_guard hold{mutex};
        replay = true;
    }
    make_namespace("shop");
    EXPECT_TRUE(eventually([](const json::Value& status) {
        return status.find_path({"refusals", "Stale"}) != nullptr;
    }));
    EXPECT_TRUE(reader()->get("/rhizome/v1/state?path=/namespaces/web")) << "proven before, for the block it names";
    EXPECT_FALSE(reader()->get("/rhizome/v1/state?path=/namespaces/shop"));
    light.reset();
}

}  // namespace
}  // namespace rhizome::node
