// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "crypto/keys.h"
#include "ledger/member.h"

namespace rhizome::node {

/// Where a node with this data directory is asked by its own machine: a local socket that only its user can open.
std::filesystem::path socket_file(const std::filesystem::path& data);

/// A node elsewhere, and who asks it.
struct RemoteNode {
    std::string address{};         ///< `host:port` of its `--rpc-listen`
    ledger::MemberKey node_key{};  ///< its chain key: whoever shows another certificate is not asked
    crypto::SecretKey secret;      ///< of a key that the cluster knows; signs every request
    crypto::PublicKey key;         ///< its public half
};

/// Asks a running node. For commands: blocks the thread that calls.
class RpcClient {
public:
    /// The node of a data directory on this machine. NotFound when none runs there.
    static Result<std::unique_ptr<RpcClient>> connect(const std::filesystem::path& data);
    /// A node over the network: TLS 1.3, its certificate bound to its chain key. Unavailable when nobody answers,
    /// Denied when somebody else does.
    static Result<std::unique_ptr<RpcClient>> connect(RemoteNode remote);
    /// The chain key that the node at an address shows: to be compared by a person, never to be believed.
    static Result<ledger::MemberKey> shown_key(const std::string& address);
    ~RpcClient();
    RpcClient(const RpcClient&) = delete;
    RpcClient& operator=(const RpcClient&) = delete;

    struct Reply {
        unsigned status = 0;
        json::Value body{};
        /// Whether it is what was asked for; else `body` says why not.
        [[nodiscard]] bool is_good() const { return status >= 200 && status < 300; }
        /// The refusal that `body` is.
        [[nodiscard]] Error error() const;
    };
    /// What the node answered, good or not. Unavailable when it does not.
    Result<Reply> ask(std::string_view method, const std::string& target, std::string body = {},
                      microseconds timeout = seconds{30});
    /// The body of a good answer; its refusal otherwise.
    Result<json::Value> get(const std::string& target);
    Result<json::Value> post(const std::string& target, std::string body);
    /// The same as it came, for what keeps its bytes or is too large to be held twice.
    Result<std::string> text(std::string_view method, const std::string& target, std::string body,
                             std::size_t bytes_max);

    /// What happens (docs/spec/rpc.md), from now on: sends `subscription` and gives every event to `told`, until that
    /// answers false or the node ends it, which is an error that says why.
    Result<void> subscribe(const json::Object& subscription, const std::function<bool(const json::Value& event)>& told);

private:
    struct Inside;
    explicit RpcClient(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::node
