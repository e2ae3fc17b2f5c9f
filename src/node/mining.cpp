// SPDX-License-Identifier: Apache-2.0
#include "node/mining.h"

#include "consensus/miner.h"
#include "runtime/clock.h"

namespace rhizome::node {
namespace {

constexpr microseconds kSlice{20'000};
/// A guess that the first slices correct.
constexpr std::uint64_t kFirstRate = 1'000'000;

}  // namespace

MiningWorker::MiningWorker(unsigned percent, std::uint64_t first_nonce, Found found)
    : percent_(percent), found_(std::move(found)), nonce_(first_nonce), thread_([this] { work(); }) {}

MiningWorker::~MiningWorker() {
    {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void MiningWorker::look_for(const core::Mine& order) {
    {
        const std::lock_guard hold{mutex_};
        order_ = order;
    }
    changed_.notify_all();
}

std::uint64_t MiningWorker::nonce() const {
    const std::lock_guard hold{mutex_};
    return nonce_;
}

void MiningWorker::work() {
    consensus::MiningShare share{percent_, kFirstRate};
    std::optional<consensus::Miner> miner;
    core::MiningId id{};
    std::unique_lock hold{mutex_};
    for (;;) {
        if (!miner) changed_.wait(hold, [&] { return stopping_ || order_.has_value(); });
        if (stopping_) return;
        if (order_) {
            id = order_->id;
            if (order_->header && percent_ > 0) {
                miner.emplace(*order_->header, nonce_);
            } else {
                miner.reset();
            }
            order_.reset();
            continue;
        }
        hold.unlock();
        const auto begun = runtime::instant_now();
        const auto progress = miner->step(share.hashes_for(kSlice));
        const auto took = std::chrono::duration_cast<microseconds>(runtime::instant_now() - begun);
        share.measured(progress.tried, took);
        if (progress.found) found_({.id = id, .nonce = *progress.found});
        hold.lock();
        nonce_ = miner->nonce();
        if (progress.found) {
            miner.reset();
        } else if (took < kSlice) {
            changed_.wait_for(hold, kSlice - took, [&] { return stopping_ || order_.has_value(); });
        }
    }
}

}  // namespace rhizome::node
