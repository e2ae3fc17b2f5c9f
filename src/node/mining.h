// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/effects.h"

namespace rhizome::node {

/// Looks for nonces on a thread of its own, with a share of one core (`consensus::MiningShare`).
class MiningWorker {
public:
    using Found = std::function<void(const core::Mined&)>;
    /// Nonces are tried from `first_nonce` on. `found` is called on the worker's thread.
    MiningWorker(unsigned percent, std::uint64_t first_nonce, Found found);
    ~MiningWorker();
    MiningWorker(const MiningWorker&) = delete;
    MiningWorker& operator=(const MiningWorker&) = delete;

    /// Instead of whatever it looked for before. Any thread.
    void look_for(const core::Mine& order);
    /// Where it would go on: kept over restarts.
    [[nodiscard]] std::uint64_t nonce() const;

private:
    void work();

    unsigned percent_;
    Found found_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<core::Mine> order_{};  ///< not looked at yet
    std::uint64_t nonce_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace rhizome::node
