// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "http/client.h"
#include "node/daemon.h"
#include "node/rpc/request_auth.h"
#include "node/rpc_client.h"
#include "stream/tls.h"
#include "support/fresh.h"
#include "support/running_node.h"
#include "support/temp_folder.h"

/// A whole node in the test's process, asked over real sockets.
namespace rhizome::test {

class RpcWorld : public ::testing::Test {
protected:
    void SetUp() override { start({}); }
    void TearDown() override {
        if (daemon) {
            EXPECT_TRUE(daemon->stop());
        }
    }

    /// Founds a cluster of one and starts its node, with the RPC on its socket and over TLS.
    void start(node::RpcLimits limits, node::DaemonOptions options = {}) {
        if (daemon) {
            ASSERT_TRUE(daemon->stop());
            daemon.reset();
        } else {
            found_node(folder(), owner);
        }
        options.data = folder();
        options.version = "test";
        options.rpc_listen = {{.host = "127.0.0.1", .port = 0}};
        options.rpc_limits = limits;
        auto made = node::Daemon::start(std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        daemon = *std::move(made);
        auto client = node::RpcClient::connect(folder());
        ASSERT_TRUE(client) << client.error().message;
        local = *std::move(client);
    }

    [[nodiscard]] std::filesystem::path folder() const { return temp.path() / "data"; }
    [[nodiscard]] std::string address() const { return daemon->rpc_addresses().front().text(); }
    [[nodiscard]] const consensus::MemberKey& node_key() const { return daemon->host().key(); }

    Result<std::unique_ptr<node::RpcClient>> remote(const crypto::SecretKey& secret) {
        return node::RpcClient::connect(
            {.address = address(), .node_key = node_key(), .secret = secret.clone(), .key = secret.public_key()});
    }

    /// A signed transaction that makes a Namespace.
    ledger::Tx namespace_tx(const std::string& name) { return make_namespace_tx(*daemon->host().view(), owner, name); }
    ledger::Tx sign(ledger::Tx tx) { return sign_tx(*daemon->host().view(), owner, std::move(tx)); }
    static std::string text_of(const ledger::Tx& tx) { return json::print(ledger::to_json(tx)); }
    /// Puts a Namespace on the chain; its transaction's id.
    std::string make_namespace(const std::string& name) {
        auto reply = local->ask("POST", "/rhizome/v1/txs?wait=final", text_of(namespace_tx(name)));
        EXPECT_TRUE(reply && reply->is_good()) << (reply ? json::print(reply->body) : reply.error().message);
        return reply ? std::string{reply->body.text_at({"txid"})} : "";
    }

    /// One request over TLS with headers of the test's own choice.
    struct Raw {
        unsigned status = 0;
        json::Value body{};
        [[nodiscard]] std::string_view code() const { return body.text_at({"code"}); }
    };
    Raw raw(http::Request request) {
        stream::IoContext io{{.threads = 0}};
        return stream::block_on(io, raw_task(std::move(request)));
    }
    /// The field that lets the owner in; `secret` signs.
    [[nodiscard]] std::string field(std::string_view method, std::string_view target, std::string_view body,
                                    Time now = runtime::now()) const {
        return node::sign_request(owner, owner.public_key(), node_key(), method, target, body, now, fresh_bytes<16>());
    }
    [[nodiscard]] std::shared_ptr<const stream::TlsContext> any_tls() const {
        stream::TlsClientOptions options;
        options.trust.verify = [](const stream::Certificate&) -> Result<void> { return ok(); };
        return *stream::TlsContext::client(std::move(options));
    }

    TempFolder temp;
    crypto::SecretKey owner = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    crypto::SecretKey stranger = *crypto::SecretKey::from_bytes(Bytes(32, 9));
    std::unique_ptr<node::Daemon> daemon;
    std::unique_ptr<node::RpcClient> local;

private:
    stream::Task<Raw> raw_task(http::Request request) {
        http::Client client;
        http::Origin origin;
        origin.address = daemon->rpc_addresses().front();
        origin.tls = any_tls();
        auto answer = co_await client.send(origin, std::move(request), stream::after(seconds{180}));
        Raw out;
        if (!answer) co_return out;
        out.status = (*answer)->status();
        auto body = co_await (*answer)->read_body(64u << 20);
        auto value = body ? json::parse(*body) : json::parse("null");
        if (value) out.body = *std::move(value);
        co_return out;
    }
};

}  // namespace rhizome::test
