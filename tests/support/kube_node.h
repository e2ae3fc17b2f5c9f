// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "node/daemon.h"
#include "node/keystore.h"
#include "node/kube/authority.h"
#include "runtime/clock.h"
#include "support/kube_client.h"
#include "support/running_node.h"
#include "support/temp_folder.h"

/// A whole node in this process whose Kubernetes API is asked over TLS, with a token of system:masters.
namespace rhizome::test {

class KubeNode : public ::testing::Test {
protected:
    /// What a test wants to be different; before it starts.
    virtual void change(node::DaemonOptions&) {}

    void SetUp() override {
        const node::Keystore keys{temp_.path() / "keys"};
        ASSERT_TRUE(keys.add("admin", owner_, std::nullopt, runtime::now()));
        found_node(temp_.path() / "data", owner_);
        std::ofstream{temp_.path() / "tokens"} << "t-root,root,,\"system:masters\"\nt-bob,bob\n";
        node::DaemonOptions options;
        options.data = temp_.path() / "data";
        options.version = "test";
        options.api_listen = {{.host = "127.0.0.1", .port = 0}};
        options.api_keys = temp_.path() / "keys";
        options.api_token_file = (temp_.path() / "tokens").native();
        change(options);
        auto made = node::Daemon::start(std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        daemon_ = *std::move(made);
        auto authority = node::open_authority(temp_.path() / "data", runtime::now());
        ASSERT_TRUE(authority) << authority.error().message;
        auto access = KubeAccess::make({.url = "https://" + daemon_->api_addresses().front().text(),
                                        .authority_pem = authority->chain.front().to_pem(),
                                        .token = "t-root"});
        ASSERT_TRUE(access) << access.error().message;
        access_ = *std::move(access);
    }
    void TearDown() override {
        if (daemon_) {
            EXPECT_TRUE(daemon_->stop());
        }
    }

    KubeReply ask(std::string_view method, std::string_view target, std::string_view body = {},
                  std::string_view media = "application/json", std::string_view more = {}) {
        auto reply = ask_kube(access_, method, target, body, media, more);
        EXPECT_TRUE(reply) << reply.error().message;
        return reply ? *std::move(reply) : KubeReply{};
    }
    static std::string config_map(std::string_view name, std::string_view value) {
        return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"v":"{}"}}}})",
                           name, value);
    }
    /// Documents that are stored, of whatever kind.
    std::uint64_t documents() { return daemon_->host().view()->state.totals(state::Prefix::documents()).count; }

    TempFolder temp_;
    crypto::SecretKey owner_ = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    std::unique_ptr<node::Daemon> daemon_;
    KubeAccess access_{};
};

}  // namespace rhizome::test
