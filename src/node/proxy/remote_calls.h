// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "node/rpc_client.h"

namespace rhizome::node {

/// Calls to a node from several threads: each has a connection of its own, made anew when it fails.
class RemoteCalls {
public:
    using Connect = std::function<Result<std::unique_ptr<RpcClient>>()>;
    using Work = std::function<void(RpcClient* client)>;  ///< null: nobody could be asked

    RemoteCalls(Connect connect, unsigned threads);
    /// Waits for what is under way; what waits is told that nobody could be asked.
    ~RemoteCalls();
    RemoteCalls(const RemoteCalls&) = delete;
    RemoteCalls& operator=(const RemoteCalls&) = delete;

    /// Soon, on one of the threads. From any thread.
    void post(Work work);

private:
    void run();

    Connect connect_;
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<Work> waiting_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace rhizome::node
