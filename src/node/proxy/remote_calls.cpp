// SPDX-License-Identifier: Apache-2.0
#include "node/proxy/remote_calls.h"

namespace rhizome::node {

RemoteCalls::RemoteCalls(Connect connect, unsigned threads) : connect_(std::move(connect)) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

RemoteCalls::~RemoteCalls() {
    {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        came_.notify_all();
    }
    for (std::thread& one : threads_) one.join();
    for (const Work& work : waiting_) work(nullptr);
}

void RemoteCalls::post(Work work) {
    const std::lock_guard hold{mutex_};
    waiting_.push_back(std::move(work));
    came_.notify_one();
}

void RemoteCalls::run() {
    std::unique_ptr<RpcClient> client;
    for (;;) {
        Work work;
        {
            std::unique_lock hold{mutex_};
            came_.wait(hold, [&] { return stopping_ || !waiting_.empty(); });
            if (stopping_) return;
            work = std::move(waiting_.front());
            waiting_.pop_front();
        }
        // A connection that was idle may be gone without a word: asking whether it lives costs one round.
        if (client && !client->ask("GET", "/livez", {}, seconds{5})) client.reset();
        if (!client) {
            auto made = connect_();
            if (made) client = *std::move(made);
        }
        work(client.get());
    }
}

}  // namespace rhizome::node
