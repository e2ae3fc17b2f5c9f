// SPDX-License-Identifier: Apache-2.0
#include "net/doorkeeper.h"

namespace rhizome::net {

std::optional<Doorkeeper::Visit> Doorkeeper::let_in(const std::string& host) {
    const std::lock_guard hold{mutex_};
    const auto now = visits_.try_emplace(host, 0).first;
    if (now->second >= host_max_) {
        if (now->second == 0) visits_.erase(now);
        return std::nullopt;
    }
    ++now->second;
    return Visit{*this, host};
}

void Doorkeeper::leave(const std::string& host) {
    const std::lock_guard hold{mutex_};
    const auto now = visits_.find(host);
    if (now != visits_.end() && --now->second == 0) visits_.erase(now);
}

std::optional<std::uint64_t> Doorkeeper::failed(const std::string& host) {
    const std::lock_guard hold{mutex_};
    const std::uint64_t* before = failures_.get(host);
    const std::uint64_t now = before == nullptr ? 1 : *before + 1;
    failures_.put(host, now);
    if (now != kFailuresTold || told_ >= kHostsTold) return std::nullopt;
    ++told_;
    return now;
}

}  // namespace rhizome::net
