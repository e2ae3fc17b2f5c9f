// SPDX-License-Identifier: Apache-2.0
// What subscribers are told, over real sockets.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/websocket.h"
#include "node/rpc/draft_wish.h"
#include "node/rpc/subscription.h"
#include "support/rpc_world.h"
#include "support/stored_chain.h"
#include "support/waiting.h"

namespace rhizome::node::rpc {
namespace {

class Subscribe : public test::RpcWorld {
protected:
    /// Events until `enough`.
    std::vector<json::Value> events(const json::Object& wish, const std::function<bool(const json::Value&)>& enough) {
        std::vector<json::Value> seen;
        const auto ended = local->subscribe(wish, [&](const json::Value& event) {
            seen.push_back(event);
            return !enough(event);
        });
        EXPECT_TRUE(ended) << ended.error().message;
        return seen;
    }
    static std::int64_t height_of(const json::Value& event) { return event.find("height")->if_int64().value(); }
};

TEST_F(Subscribe, BlocksAreToldOneByOneFromAHeightOn) {
    make_namespace("a");
    make_namespace("b");
    const auto tip = static_cast<std::int64_t>(daemon->host().view()->tip.height.number());
    const auto seen = events({{"events", json::Array{"blocks", "changes"}}, {"after", json::Object{{"height", 0}}}},
                             [&](const json::Value& event) { return height_of(event) >= tip; });
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(tip) + 1);
    EXPECT_EQ(seen.front().text_at({"type"}), "start");
    std::string paths;
    for (std::size_t i = 1; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].text_at({"type"}), "block");
        EXPECT_EQ(height_of(seen[i]), static_cast<std::int64_t>(i));
        EXPECT_EQ(seen[i].text_at({"previous"}), seen[i - 1].text_at({"hash"}));
        for (const json::Value& change : *seen[i].find("changes")->if_array())
            paths += std::string{change.text_at({"verb"})} + " " + std::string{change.text_at({"path"})} + "\n";
    }
    EXPECT_NE(paths.find("created /namespaces/a\ncreated /namespaces/b\n"), std::string::npos) << paths;
}

TEST_F(Subscribe, OnlyChangesBelowThePrefixAreTold) {
    // The start is told before the change is made: what comes is live, not replayed.
    bool made = false;
    const auto seen =
        events({{"events", json::Array{"changes"}}, {"prefix", "/namespaces/b"}}, [&](const json::Value& event) {
            if (event.text_at({"type"}) == "start" && !made) {
                made = true;
                auto other = RpcClient::connect(folder()).value();
                for (const auto* name : {"a", "b"})
                    EXPECT_TRUE(other->post("/rhizome/v1/txs?wait=final", text_of(namespace_tx(name))));
            }
            return event.text_at({"type"}) == "block";
        });
    ASSERT_EQ(seen.size(), 2u);
    const auto& changes = *seen.back().find("changes")->if_array();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes.front().text_at({"path"}), "/namespaces/b");
}

TEST_F(Subscribe, SignedOverTheNetworkAndRefusedToStrangers) {
    const auto admin = remote(owner).value();
    const auto told = admin->subscribe({}, [](const json::Value&) { return false; });
    EXPECT_TRUE(told) << told.error().message;
    const auto refused = remote(stranger).value()->subscribe({}, [](const json::Value&) { return true; });
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("401"), std::string::npos) << refused.error().message;
}

TEST_F(Subscribe, WhatMakesNoSenseIsClosedWithAReason) {
    const auto anything = [](const json::Value&) { return true; };
    const auto odd = local->subscribe({{"events", json::Array{"rumours"}}}, anything);
    ASSERT_FALSE(odd);
    EXPECT_NE(odd.error().message.find("events are blocks"), std::string::npos) << odd.error().message;
    const auto unknown = local->subscribe({{"after", json::Object{{"hash", std::string(64, 'a')}}}}, anything);
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("no such block"), std::string::npos) << unknown.error().message;
}

TEST_F(Subscribe, OneThatIsTooFarBehindIsDroppedWithAReason) {
    start({.subscriber_resume_max = 1});
    make_namespace("a");
    make_namespace("b");
    const auto ended =
        local->subscribe({{"after", json::Object{{"height", 0}}}}, [](const json::Value&) { return true; });
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().message.find("more than 1 blocks behind"), std::string::npos) << ended.error().message;
}

stream::Task<Result<void>> open_and_dawdle(http::Client* client, http::Origin origin, std::function<void()> meanwhile,
                                           std::size_t* messages) {
    http::Request request;
    request.target = "/rhizome/v1/subscribe";
    http::WebSocketLimits limits;
    limits.message_bytes_max = 16u << 20;
    std::vector<std::string> protocols(1, "rhizome.v1");
    CO_TRY(const auto socket, co_await http::connect_websocket(*client, std::move(origin), std::move(request),
                                                               protocols, stream::after(seconds{180}), limits));
    const std::string wish = R"({"type":"subscribe","events":["changes"],"prefix":"/namespaces/large"})";
    CO_TRY(co_await socket->write(http::WebSocket::Kind::Text, as_bytes(wish)));
    CO_TRY(const auto begun, co_await socket->read());
    meanwhile();
    for (*messages = 0; *messages < 1; ++*messages) {
        CO_TRY(const auto message, co_await socket->read());
        if (!message) co_return fail(ErrorKind::Unavailable, "closed");
    }
    (void)co_await socket->close();
    co_return ok();
}

/// Sockets of this process, the node's among them.
std::size_t open_sockets() {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        std::error_code gone;
        found += std::filesystem::read_symlink(entry.path(), gone).native().starts_with("socket:") ? 1 : 0;
    }
    return found;
}

/// An event larger than what sockets hold is taken in pieces: whoever takes none of them in time is cut, with nothing
/// kept for it.
TEST_F(Subscribe, OneThatReadsTooSlowlyIsCut) {
    make_namespace("large");
    const auto grow = [&](const std::string& tag) {
        WishForm form;
        for (int i = 0; i < 4'000; ++i)
            form.changes.push_back({.document = fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":)"
                                                            R"({{"name":"{}-{}","namespace":"large"}}}})",
                                                            tag, i)});
        const auto view = daemon->host().view();
        auto wish = draft_wish_from_json(json::print(to_json(form)), view->state).value();
        wish.now = runtime::now();
        const auto tx = sign(ledger::make_draft(wish, view->state).value());
        auto reply = local->ask("POST", "/rhizome/v1/txs?wait=final", text_of(tx), seconds{180});
        ASSERT_TRUE(reply && reply->is_good()) << (reply ? json::print(reply->body) : reply.error().message);
    };
    for (const bool slow : {false, true}) {
        start({.subscriber_write_time = slow ? milliseconds{300} : milliseconds{180'000}});
        stream::IoContext io{{.threads = 0}};
        http::Client client;
        http::Origin origin;
        origin.address = {.host = socket_file(folder()).native(), .is_local = true};
        origin.server_name = "localhost";
        std::size_t messages = 0;
        const auto meanwhile = [&] {
            const std::size_t before = open_sockets();
            grow(slow ? "b" : "a");
            // Nobody reads until the node has had enough of it.
            EXPECT_TRUE(!slow || test::eventually([&] { return open_sockets() < before; }));
        };
        const auto ended = stream::block_on(io, open_and_dawdle(&client, origin, meanwhile, &messages));
        EXPECT_EQ(ended.has_value(), !slow) << messages;
        EXPECT_EQ(messages, slow ? 0u : 1u);
    }
}

/// A real store with two branches: what is undone, newest first, then what is applied, oldest first; changes turned
/// round where they are undone.
TEST(Subscription, TheWayToAnotherBranchIsExact) {
    const test::TempFolder temp;
    test::StoredChain stored{temp / "data"};
    stored.grow(1);
    auto other = stored.fork();
    const auto common = hash_of(stored.chain().tip());
    stored.grow(1);
    stored.grow(1);
    for (int i = 0; i < 3; ++i) {
        test::grow(other, "other", 1);
        ASSERT_TRUE(stored.chain().store().keep(other.blocks().back()));
    }
    const store::Store& store = stored.chain().store();
    const auto tip = hash_of(stored.chain().tip());
    const auto elsewhere = hash_of(other.blocks().back().header);
    const auto way = way_between(store, tip, elsewhere, 100);
    ASSERT_TRUE(way) << way.error().message;
    ASSERT_EQ(way->undone.size(), 2u);
    EXPECT_EQ(way->undone.front().hash, tip);
    EXPECT_EQ(way->undone.back().header.previous, common);
    ASSERT_EQ(way->applied.size(), 3u);
    EXPECT_EQ(way->applied.front().header.previous, common);
    EXPECT_EQ(way->applied.back().hash, elsewhere);
    const auto back = way_between(store, elsewhere, tip, 100);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->undone.size(), 3u);
    EXPECT_EQ(back->applied.size(), 2u);
    EXPECT_TRUE(way_between(store, tip, tip, 0)->undone.empty());
    EXPECT_EQ(way_between(store, tip, elsewhere, 4).error().kind, ErrorKind::Exhausted);

    const auto change = store.change(tip);
    ASSERT_TRUE(change);
    const auto came = block_event({}, way->undone.front(), false, &*change);
    const auto went = block_event({}, way->undone.front(), true, &*change);
    ASSERT_TRUE(came && went);
    EXPECT_EQ(came->find("changes")->if_array()->front().text_at({"verb"}), "created");
    EXPECT_EQ(went->find("changes")->if_array()->front().text_at({"verb"}), "deleted");
    EXPECT_EQ(json::Value{*went}.text_at({"type"}), "undone");
    EXPECT_NE(block_event({}, way->undone.front(), true, nullptr)->find("changesUnknown"), nullptr);
}

TEST(Subscription, IsReadInOneWayOrRefused) {
    const auto all = parse_subscription(R"({"type":"subscribe"})");
    ASSERT_TRUE(all);
    EXPECT_TRUE(all->blocks && all->final_blocks && all->changes && all->conditions);
    const auto some =
        parse_subscription(R"({"type":"subscribe","events":["final"],"prefix":"/nodes","after":{"height":7}})");
    ASSERT_TRUE(some);
    EXPECT_TRUE(!some->blocks && some->final_blocks && !some->changes && !some->conditions);
    EXPECT_EQ(some->after_height, ledger::Height{7});
    EXPECT_TRUE(some->prefix.covers(state::Path::parse("/nodes/n1")->key()));
    EXPECT_FALSE(some->prefix.covers(state::Path::parse("/namespaces/a")->key()));
    for (const auto* text : {"", "[]", "{}", R"({"type":"watch"})", R"({"type":"subscribe","events":"blocks"})",
                             R"({"type":"subscribe","events":[1]})", R"({"type":"subscribe","prefix":"nodes"})",
                             R"({"type":"subscribe","after":{}})", R"({"type":"subscribe","after":{"height":-1}})",
                             R"({"type":"subscribe","after":{"hash":"00"}})", R"({"type":"subscribe","more":1})"})
        EXPECT_FALSE(parse_subscription(text)) << text;
}

}  // namespace
}  // namespace rhizome::node::rpc
