// SPDX-License-Identifier: Apache-2.0
// A person's proxy in front of a node that says what the test wants.
#include "node/proxy/remote_backend.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "http/router.h"
#include "http/server.h"
#include "http/websocket.h"
#include "node/proxy/remote_vault.h"
#include "node/rpc/route.h"
#include "support/rpc_world.h"
#include "support/waiting.h"
#include "support/waiting_task.h"

namespace rhizome::node {
namespace {

using api::Stage;

/// Passes questions on to a real node and bends what comes back; what happens is told when the test says so.
class BentNode {
public:
    /// Instead of the real answer; nothing: ask the real node.
    using Instead = std::function<std::optional<http::Response>(const http::Request& request, const std::string& body)>;
    using Bend = std::function<void(const std::string& target, json::Value& answer)>;

    BentNode(const std::filesystem::path& data, std::filesystem::path real) : real_(std::move(real)) {
        std::filesystem::create_directories(data / "node");
        auto router = std::make_shared<http::Router>();
        router->route("GET", "/rhizome/v1/subscribe",
                      [this](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
                          co_await subscribe(exchange);
                      });
        router->route("*", "/*", [this](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
            co_await pass_on(exchange);
        });
        auto made =
            http::Server::start(io_, {.listen = {{.address = {.host = socket_file(data).native(), .is_local = true}}}},
                                http::Router::handler(std::shared_ptr<const http::Router>(std::move(router))));
        EXPECT_TRUE(made) << made.error().message;
        server_ = *std::move(made);
    }
    ~BentNode() { stop(); }
    /// The connection ends without a word.
    static http::Response silence() { return {.status = 0}; }
    /// It stays open, without a word, until the node ends.
    static http::Response never() { return {.status = 1}; }
    void stop() {
        if (server_) server_->stop(milliseconds{100});
        server_.reset();
    }

    void set_instead(Instead instead) {
        const std::lock_guard hold{mutex_};
        instead_ = std::move(instead);
    }
    void set_bend(Bend bend) {
        const std::lock_guard hold{mutex_};
        bend_ = std::move(bend);
    }
    /// What the subscriber is told next.
    void say(const json::Object& event) {
        const auto hold = said_.lock();
        said_.value().push_back(json::print(event));
    }

    /// Ends the subscriber's connection, and those after it as long as nobody may subscribe; what is said next is said
    /// to the next one.
    void let_subscribe(bool may) { dropped_ = !may; }

private:
    stream::Task<void> pass_on(http::Exchange& exchange) {
        auto body = co_await exchange.read_body(64u << 20);
        auto response = answer(exchange.request(), body ? *body : std::string{});
        bool over = false;
        exchange.when_ending([&over](http::Ending) { over = true; });
        while (response && response->status == 1 && !over) co_await test::until_next_look();
        if (response && !over) (void)co_await exchange.respond(*std::move(response));
    }
    /// Nothing for `silence`.
    std::optional<http::Response> answer(const http::Request& request, const std::string& body) {
        const std::lock_guard hold{mutex_};
        if (instead_)
            if (auto response = instead_(request, body)) return response->status == 0 ? std::nullopt : response;
        if (!client_) client_ = RpcClient::connect(real_).value();
        auto reply = client_->ask(request.method, request.target, body);
        if (!reply) return rpc::refusal(reply.error());
        if (reply->is_good() && bend_) bend_(request.target, reply->body);
        return rpc::json_response(reply->body, reply->status);
    }
    stream::Task<void> subscribe(http::Exchange& exchange) {
        std::vector<std::string> protocols(1, "rhizome.v1");
        auto socket = co_await http::accept_websocket(exchange, protocols, {});
        if (!socket) co_return;
        bool over = false;
        exchange.when_ending([&over](http::Ending) { over = true; });
        while (!over && !dropped_) {
            std::vector<std::string> events;
            {
                const auto hold = said_.lock();
                events = std::exchange(said_.value(), {});
            }
            for (const std::string& event : events) {
                const auto written = co_await (*socket)->write(http::WebSocket::Kind::Text, as_bytes(event));
                if (!written) over = true;
            }
            co_await test::until_next_look();
        }
        (*socket)->abort();
    }

    std::mutex mutex_;
    const std::filesystem::path real_;
    std::unique_ptr<RpcClient> client_;
    Instead instead_;
    Bend bend_;
    test::Waited<std::vector<std::string>> said_;
    std::atomic<bool> dropped_ = false;
    stream::IoContext io_{{.threads = 2}};
    std::unique_ptr<http::Server> server_;
};

/// What a client was told.
class Client {
public:
    std::function<void(const api::Progress&)> ear() {
        return [told = told_](const api::Progress& progress) {
            const auto hold = told->lock();
            told->value().push_back(progress);
            told->notify();
        };
    }
    bool hears(Stage stage) {
        return told_->wait([&](const std::vector<api::Progress>& all) {
            return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.stage == stage; });
        });
    }
    bool heard(Stage stage) {
        const auto all = told_->copy();
        return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.stage == stage; });
    }

private:
    std::shared_ptr<test::Waited<std::vector<api::Progress>>> told_ =
        std::make_shared<test::Waited<std::vector<api::Progress>>>();
};

class RemoteBackendTest : public test::RpcWorld {
protected:
    void TearDown() override {
        end_proxy();
        RpcWorld::TearDown();
    }
    void end_proxy() {
        // What follows the node ends with its connection.
        if (bent) bent->stop();
        backend.reset();
        bent.reset();
    }
    [[nodiscard]] std::filesystem::path bent_data() const { return temp.path() / "bent"; }
    void start_proxy(bool verify, const BentNode::Bend& bend = {}) {
        bent = std::make_unique<BentNode>(bent_data(), folder());
        bent->set_bend(bend);
        ProxyOptions options;
        options.connect = [data = bent_data()] { return RpcClient::connect(data); };
        options.verify = verify;
        options.light_data = temp.path() / "light";
        const auto view = daemon->host().view();
        options.vouched = VouchedBlock{view->final_height, view->final_block};
        auto made = RemoteBackend::start(std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        backend = *std::move(made);
    }
    static ledger::SharedTx checked(const ledger::Tx& tx) { return ledger::check_tx(tx).value(); }
    ledger::Tx tx_for(const std::string& document) {
        ledger::DraftWish wish{.now = runtime::now()};
        wish.changes.push_back({.document = document});
        return sign(ledger::make_draft(wish, daemon->host().view()->state).value());
    }
    bool shows(const std::string& name) {
        return backend->live().read([&](const api::Revisions& now) {
            return now.view(api::Layer::Chain).contains(*state::Path::namespace_(name));
        });
    }
    /// A block told to the proxy as nodes do.
    void say_block() { bent->say({{"type", "block"}, {"height", daemon->host().view()->tip.height.number()}}); }
    /// An answer to a submission, by a node that has done nothing of the kind.
    static BentNode::Instead claims_included(std::uint64_t height) {
        return [height](const http::Request& request, const std::string&) -> std::optional<http::Response> {
            if (request.method != "POST" || !request.target.starts_with("/rhizome/v1/txs")) return std::nullopt;
            return rpc::json_response(json::Object{{"stage", "included"}, {"height", height}});
        };
    }

    std::unique_ptr<BentNode> bent;
    std::unique_ptr<RemoteBackend> backend;
};

TEST_F(RemoteBackendTest, AWriteIsDoneWhenTheStateShowsIt) {
    for (const bool verify : {false, true}) {
        start_proxy(verify);
        const std::string name = verify ? "proven" : "believed";
        Client client;
        backend->submit(checked(namespace_tx(name)), client.ear());
        ASSERT_TRUE(client.hears(Stage::Included));
        EXPECT_TRUE(shows(name)) << "whoever is told sees it";
        if (!verify) {
            const auto final_now = daemon->host().view()->final_height.number();
            bent->say({{"type", "final"}, {"height", final_now}});
        }
        EXPECT_TRUE(client.hears(Stage::Final));
        // Deletions leave no document that would name them.
        Client gone;
        backend->submit(checked(tx_for(ledger::deletion_of(backend->live().read([&](const api::Revisions& now) {
                            const auto path = *state::Path::namespace_(name);
                            return std::string{now.find(api::Layer::Chain, path).document->document()};
                        })))),
                        gone.ear());
        ASSERT_TRUE(gone.hears(Stage::Included));
        EXPECT_FALSE(shows(name));
        if (!verify) {
            const auto final_now = daemon->host().view()->final_height.number();
            bent->say({{"type", "final"}, {"height", final_now}});
        }
        EXPECT_TRUE(gone.hears(Stage::Final));
        end_proxy();
    }
}

TEST_F(RemoteBackendTest, AWriteThatOnlyTheNodeSpeaksOfIsNotDone) {
    for (const bool verify : {false, true}) {
        start_proxy(verify);
        bent->set_instead(claims_included(1));
        Client client;
        backend->submit(checked(namespace_tx("never")), client.ear());
        ASSERT_TRUE(client.hears(Stage::Accepted));
        // More blocks come, and become final.
        const std::string later = verify ? "later" : "sooner";
        make_namespace(later);
        say_block();
        ASSERT_TRUE(test::eventually([&] { return shows(later); }));
        bent->say({{"type", "final"}, {"height", daemon->host().view()->final_height.number()}});
        make_namespace(later + "-still");
        say_block();
        ASSERT_TRUE(test::eventually([&] { return shows(later + "-still"); }));
        EXPECT_FALSE(client.heard(Stage::Included)) << (verify ? "verify" : "believing");
        EXPECT_FALSE(client.heard(Stage::Final));
        end_proxy();
    }
}

TEST_F(RemoteBackendTest, WhatSomebodyWroteOverIsFoundInItsBlock) {
    make_namespace("web");
    const auto labelled = [](int value) {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"web","labels":{{"a":"{}"}}}}}})", value);
    };
    for (const bool verify : {false, true}) {
        start_proxy(verify);
        // When the node says that it is in a block, another has come after it already.
        bent->set_instead([&](const http::Request& request, const std::string& body) -> std::optional<http::Response> {
            if (request.method != "POST" || !request.target.starts_with("/rhizome/v1/txs")) return std::nullopt;
            const auto client = RpcClient::connect(folder()).value();
            const auto first = client->ask("POST", "/rhizome/v1/txs?wait=final", body);
            const auto second =
                client->ask("POST", "/rhizome/v1/txs?wait=final", text_of(tx_for(labelled(verify ? 4 : 2))));
            EXPECT_TRUE(second && second->is_good());
            return rpc::json_response(first->body);
        });
        Client client;
        backend->submit(checked(tx_for(labelled(verify ? 3 : 1))), client.ear());
        EXPECT_TRUE(client.hears(Stage::Included)) << (verify ? "verify" : "believing");
        end_proxy();
    }
}

TEST_F(RemoteBackendTest, FinalIsWhatIsProvenWhenAsked) {
    const BentNode::Bend boast = [](const std::string& target, json::Value& answer) {
        if (!target.starts_with("/rhizome/v1/status")) return;
        answer["final"]["height"] = json::Value{1'000'000};
        answer["chainId"] = json::Value{std::string(64, 'a')};
    };
    start_proxy(true, boast);
    bent->say({{"type", "final"}, {"height", 1'000'000}});
    make_namespace("web");
    bent->say({{"type", "block"}, {"height", 2}});
    ASSERT_TRUE(test::eventually([&] { return shows("web"); }));
    EXPECT_LE(backend->final_height(), daemon->host().view()->final_height);
}

TEST_F(RemoteBackendTest, ABlockThatWasReplacedMakesNothingFinal) {
    start_proxy(false, [](const std::string& target, json::Value& answer) {
        if (target.starts_with("/rhizome/v1/status")) answer["final"]["height"] = json::Value{1};
    });
    Client client;
    backend->submit(checked(namespace_tx("undone")), client.ear());
    ASSERT_TRUE(client.hears(Stage::Included));
    // From here on the node shows a chain without it: nothing at its path, and no block that holds it.
    const auto reply = local->ask(
        "POST", "/rhizome/v1/txs?wait=final",
        text_of(tx_for(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"undone"},"deleted":true})")));
    ASSERT_TRUE(reply && reply->is_good());
    bent->set_instead([](const http::Request& request, const std::string&) -> std::optional<http::Response> {
        if (!request.target.ends_with("/proof")) return std::nullopt;
        return rpc::refusal({ErrorKind::NotFound, "there is no such transaction"});
    });
    make_namespace("instead");
    bent->say({{"type", "final"}, {"height", daemon->host().view()->final_height.number()}});
    ASSERT_TRUE(test::eventually([&] { return shows("instead"); }));
    EXPECT_FALSE(shows("undone"));
    make_namespace("later");
    bent->say({{"type", "final"}, {"height", daemon->host().view()->final_height.number()}});
    ASSERT_TRUE(test::eventually([&] { return shows("later"); }));
    EXPECT_FALSE(client.heard(Stage::Final));
}

TEST_F(RemoteBackendTest, AConnectionThatDiesAfterSendingIsNoRefusal) {
    start_proxy(false);
    int sent = 0;
    // The first time it arrives, and the answer does not.
    bent->set_instead([&](const http::Request& request, const std::string& body) -> std::optional<http::Response> {
        if (request.method != "POST" || ++sent > 1) return std::nullopt;
        const auto client = RpcClient::connect(folder()).value();
        EXPECT_TRUE(client->ask("POST", request.target, body)->is_good());
        return BentNode::silence();
    });
    Client client;
    backend->submit(checked(namespace_tx("once")), client.ear());
    EXPECT_TRUE(client.hears(Stage::Included));
    EXPECT_FALSE(client.heard(Stage::Refused));
}

TEST_F(RemoteBackendTest, WhatNobodyAnswersForIsNeverRefused) {
    start_proxy(false);
    test::Waited<int> sent;
    bent->set_instead([&](const http::Request& request, const std::string&) -> std::optional<http::Response> {
        if (request.method != "POST") return std::nullopt;
        const auto hold = sent.lock();
        ++sent.value();
        sent.notify();
        return BentNode::silence();
    });
    const auto tx = checked(namespace_tx("unknown"));
    Client client;
    backend->submit(tx, client.ear());
    EXPECT_TRUE(sent.wait([](int times) { return times >= 2; })) << "the same once more";
    EXPECT_FALSE(client.heard(Stage::Refused));
    // It had arrived after all: the next block shows it.
    const auto reply = local->ask("POST", "/rhizome/v1/txs?wait=final", text_of(tx->tx));
    ASSERT_TRUE(reply && reply->is_good());
    say_block();
    EXPECT_TRUE(client.hears(Stage::Included));
    EXPECT_FALSE(client.heard(Stage::Refused));
}

TEST_F(RemoteBackendTest, AProxyThatVerifiesIsWellAgainAndIllWithoutProofs) {
    start_proxy(true);
    const auto ill = [&] {
        std::string names;
        for (const auto& check : backend->health())
            if (!check.good) names += check.name + " ";
        return names;
    };
    EXPECT_TRUE(test::eventually([&] { return ill().empty(); }));
    bent->let_subscribe(false);
    EXPECT_TRUE(test::eventually([&] { return ill() == "node "; }));
    bent->let_subscribe(true);
    make_namespace("web");
    EXPECT_TRUE(test::eventually([&] { return ill().empty(); })) << ill();
    bent->set_bend([](const std::string& target, json::Value& answer) {
        if (target.starts_with("/rhizome/v1/state/subtree")) answer["proof"] = json::Value{"00ff"};
    });
    make_namespace("shop");
    EXPECT_TRUE(test::eventually([&] { return ill() == "proofs "; })) << ill();
}

// ---- Secrets

/// A Secret as the chain has it.
api::Standing sealed_secret(const std::string& name) {
    const auto path = state::Path::parse("/namespaces/default/core/Secret/" + name).value();
    const std::string document = fmt::format(
        R"({{"apiVersion":"v1","kind":"Secret","metadata":{{"annotations":{{"rhizome.dev/lock":"p2pkh a"}},"labels":{{)"
        R"("app":"web"}},"name":"{}","namespace":"default","uid":"u-1"}},"sealed":{{"box":"AAAA","key":"00"}},)"
        R"("type":"Opaque"}})",
        name);
    const state::Mark mark{.output = {}, .height = {}, .time = Time::from_unix_seconds(1)};
    const state::Origin origin{.born = mark, .latest = mark, .lock = mark};
    return {.document = state::Entry::written(path, origin, {}, document).value(), .revision = 7};
}

class RemoteSecrets : public RemoteBackendTest {
protected:
    using Opened = Result<api::Standing, api::Withheld>;
    /// What the proxy makes of the node's row.
    Opened open(const json::Object& row) {
        bent->set_instead([row](const http::Request& request, const std::string&) -> std::optional<http::Response> {
            if (!request.target.starts_with("/rhizome/v1/secrets/open")) return std::nullopt;
            json::Array rows;
            rows.emplace_back(row);
            return rpc::json_response(json::Object{{"secrets", std::move(rows)}});
        });
        return open_now();
    }
    Opened open_now() {
        stream::IoContext io{{.threads = 0}};
        auto opened = stream::block_on(io, io.make_strand(), backend->vault()->open({sealed_secret("s1")}, {}));
        return std::move(opened.front());
    }
};

TEST_F(RemoteSecrets, ADeletedOneIsNobodysAndNotATrouble) {
    start_proxy(false);
    const auto missing = open({{"why", "missing"}, {"message", "there is no such Secret"}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().why, api::Withheld::Why::Denied);
    const auto another = open({{"document", json::parse(R"({"metadata":{"uid":"u-2"},"data":{"k":"eA=="}})").value()}});
    ASSERT_FALSE(another);
    EXPECT_EQ(another.error().why, api::Withheld::Why::Denied) << "the name is another's now";
    EXPECT_EQ(open({{"why", "unavailable"}, {"message", "no key"}}).error().why, api::Withheld::Why::Unavailable);
}

TEST_F(RemoteSecrets, OnlyWhatWasSealedComesFromTheNode) {
    start_proxy(false);
    const auto opened =
        open({{"document", json::parse(R"({"apiVersion":"v1","kind":"Secret","type":"forged","metadata":{
        "uid":"u-1","labels":{"app":"forged"},"ownerReferences":[{"uid":"x"}],"managedFields":[{"manager":"m"}],
        "annotations":{"rhizome.dev/lock":"forged","note":"hidden"}},"data":{"k":"eA=="}})")
                               .value()}});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->document->document(),
              R"({"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"rhizome.dev/lock":"p2pkh a",)"
              R"("note":"hidden"},"labels":{"app":"web"},"name":"s1","namespace":"default","uid":"u-1",)"
              R"("managedFields":[{"manager":"m"}]},"type":"Opaque","data":{"k":"eA=="}})");
}

TEST_F(RemoteSecrets, DoNotWaitBehindWrites) {
    start_proxy(false);
    bent->set_instead([](const http::Request& request, const std::string&) -> std::optional<http::Response> {
        if (request.target.starts_with("/rhizome/v1/txs")) return BentNode::never();
        if (!request.target.starts_with("/rhizome/v1/secrets/open")) return std::nullopt;
        return rpc::json_response(
            json::parse(R"({"secrets":[{"document":{"metadata":{"uid":"u-1"},"data":{"k":"eA=="}}}]})").value());
    });
    Client client;
    // As many as are sent at once.
    for (int i = 0; i < 8; ++i) backend->submit(checked(namespace_tx(fmt::format("n{}", i))), client.ear());
    const auto opened = open_now();
    EXPECT_TRUE(opened) << opened.error().message;
}

TEST(RemoteVault, SaysSoWhenTheNodeDoesNotAnswer) {
    test::Waited<bool> over;
    stream::IoContext io{{.threads = 0}};  // outlives the calls, whose late answers come to it
    RemoteCalls calls{[&]() -> Result<std::unique_ptr<RpcClient>> {
                          EXPECT_TRUE(over.wait([](bool is) { return is; }));
                          return fail(ErrorKind::Unavailable, "over");
                      },
                      1};
    RemoteVault vault{calls, ledger::ChainId{}, milliseconds{20}};
    const auto opened = stream::block_on(io, io.make_strand(), vault.open({sealed_secret("s1")}, {}));
    ASSERT_EQ(opened.size(), 1u);
    EXPECT_EQ(opened.front().error().why, api::Withheld::Why::Unavailable);
    const auto sealed = stream::block_on(io, io.make_strand(), vault.seal(json::Object{{"data", json::Object{}}}));
    EXPECT_EQ(sealed.error().kind, ErrorKind::Unavailable);
    const auto hold = over.lock();
    over.value() = true;
    over.notify();
}

}  // namespace
}  // namespace rhizome::node
