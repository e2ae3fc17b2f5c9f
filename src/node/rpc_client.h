// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace rhizome::node {

/// Where a node with this data directory is asked by its own machine: a local socket that only its user can open.
std::filesystem::path socket_file(const std::filesystem::path& data);

/// Asks a running node. For commands: blocks the thread that calls.
class RpcClient {
public:
    /// NotFound when no node runs on this directory.
    static Result<std::unique_ptr<RpcClient>> connect(const std::filesystem::path& data);
    ~RpcClient();
    RpcClient(const RpcClient&) = delete;
    RpcClient& operator=(const RpcClient&) = delete;

    struct Reply {
        unsigned status = 0;
        json::Value body{};
        /// Whether it is what was asked for; else `body` says why not.
        [[nodiscard]] bool is_good() const { return status >= 200 && status < 300; }
    };
    /// What the node answered, good or not. Unavailable when it does not.
    Result<Reply> ask(std::string_view method, const std::string& target, std::string body = {},
                      microseconds timeout = seconds{30});
    /// The body of a good answer; its refusal otherwise.
    Result<json::Value> get(const std::string& target);

    /// The same as it came, for what is no JSON or too large to be held twice.
    Result<std::string> text(const std::string& target, std::size_t bytes_max);

    /// Lines of a long answer as they come, until `line` answers false or the node ends it.
    Result<void> lines(const std::string& target, const std::function<bool(std::string_view line)>& line);

private:
    struct Inside;
    explicit RpcClient(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::node
