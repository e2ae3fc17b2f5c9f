// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "node/daemon.h"
#include "node/keystore.h"
#include "node/kube/authority.h"
#include "runtime/clock.h"
#include "stream/tls.h"
#include "support/running_node.h"
#include "support/temp_folder.h"

/// The Kubernetes API of a whole node in this process, asked over TLS as clients do. Its keystore has the owner's key
/// and alice's; tokens are alice's, bob's (who has no key) and root's, who is of `system:masters`.
namespace rhizome::test {

struct Answered {
    unsigned status = 0;
    json::Value body{};
    std::string text{};
    std::string txid{};
    std::vector<std::string> warnings{};
    [[nodiscard]] std::string_view reason() const { return body.text_at({"reason"}); }
};

class KubeWorld : public ::testing::Test {
protected:
    void SetUp() override {
        const node::Keystore keys{temp_.path() / "keys"};
        ASSERT_TRUE(keys.add("admin", owner_, std::nullopt, runtime::now()));
        ASSERT_TRUE(keys.add("alice", alice_, std::nullopt, runtime::now()));
        found_node(folder(), owner_);
        std::ofstream{temp_.path() / "tokens"} << "t-alice,alice\nt-bob,bob\nt-root,root,,\"system:masters\"\n";
        node::DaemonOptions options;
        options.data = folder();
        options.version = "test";
        options.api_listen = {{.host = "127.0.0.1", .port = 0}};
        options.api_keys = temp_.path() / "keys";
        options.api_token_file = (temp_.path() / "tokens").native();
        auto made = node::Daemon::start(std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        daemon_ = *std::move(made);
        auto authority = node::open_authority(folder(), runtime::now());
        ASSERT_TRUE(authority) << authority.error().message;
        authority_.emplace(*std::move(authority));
    }
    void TearDown() override {
        if (daemon_) {
            EXPECT_TRUE(daemon_->stop());
        }
    }
    [[nodiscard]] std::filesystem::path folder() const { return temp_.path() / "data"; }

    std::shared_ptr<const stream::TlsContext> tls(std::optional<stream::Identity> identity) {
        stream::TlsClientOptions options;
        options.identity = std::move(identity);
        options.trust.authorities = {authority_->chain.front()};
        return *stream::TlsContext::client(std::move(options));
    }
    Answered ask(http::Request request, std::optional<stream::Identity> identity = {}) {
        stream::IoContext io{{.threads = 0}};
        return stream::block_on(io, ask_task(std::move(request), tls(std::move(identity))));
    }
    Answered with_token(std::string method, std::string target, std::string_view token, std::string body = {},
                        std::string media = "application/json") {
        http::Request request{.method = std::move(method), .target = std::move(target)};
        request.headers.add("Authorization", "Bearer " + std::string{token});
        if (!body.empty()) request.headers.add("Content-Type", media);
        request.body = std::move(body);
        return ask(std::move(request));
    }
    Answered root(std::string method, std::string target, std::string body = {},
                  std::string media = "application/json") {
        return with_token(std::move(method), std::move(target), "t-root", std::move(body), std::move(media));
    }
    static std::string config_map(std::string_view name, std::string_view value, std::string_view metadata = "") {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"{}}},"data":{{"v":"{}"}}}})", name,
            metadata, value);
    }

    TempFolder temp_;
    crypto::SecretKey owner_ = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    crypto::SecretKey alice_ = *crypto::SecretKey::from_bytes(Bytes(32, 8));
    std::unique_ptr<node::Daemon> daemon_;
    std::optional<stream::Identity> authority_;

private:
    stream::Task<Answered> ask_task(http::Request request, std::shared_ptr<const stream::TlsContext> context) {
        http::Client client;
        http::Origin origin;
        origin.address = daemon_->api_addresses().front();
        origin.tls = std::move(context);
        origin.server_name = "127.0.0.1";
        auto answer = co_await client.send(origin, std::move(request), stream::after(seconds{180}));
        Answered out;
        if (!answer) {
            out.text = answer.error().message;
            co_return out;
        }
        out.status = (*answer)->status();
        out.txid = (*answer)->headers().find("Rhizome-Txid").value_or("");
        for (const std::string_view one : (*answer)->headers().all("Warning")) out.warnings.emplace_back(one);
        auto body = co_await (*answer)->read_body(64u << 20);
        if (body) out.text = *std::move(body);
        auto value = json::parse(out.text);
        if (value) out.body = *std::move(value);
        co_return out;
    }
};

}  // namespace rhizome::test
