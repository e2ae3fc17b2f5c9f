// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/bounded.h"

namespace rhizome::net {

/// Knows the hosts whose connections have not said who they are yet: none may have so many at once that others find no
/// room, and those that keep failing are named, once. Any thread.
class Doorkeeper {
public:
    explicit Doorkeeper(std::size_t host_max) : host_max_(host_max) {}

    /// One connection's time at the door.
    class Visit {
    public:
        Visit(Doorkeeper& keeper, std::string host) : keeper_(&keeper), host_(std::move(host)) {}
        Visit(Visit&& other) noexcept : keeper_(std::exchange(other.keeper_, nullptr)), host_(std::move(other.host_)) {}
        Visit& operator=(Visit&&) = delete;
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;
        ~Visit() {
            if (keeper_ != nullptr) keeper_->leave(host_);
        }

    private:
        Doorkeeper* keeper_;
        std::string host_;
    };
    /// Nothing when too many of this host's stand there already. The keeper outlives the visit.
    std::optional<Visit> let_in(const std::string& host);

    /// A connection of this host ended without having said who it is. How often so far, when that is worth telling: at
    /// the 8th time, of at most 64 hosts, so that strangers cannot fill a log.
    std::optional<std::uint64_t> failed(const std::string& host);

private:
    static constexpr std::uint64_t kFailuresTold = 8;
    static constexpr std::size_t kHostsTold = 64;
    static constexpr std::size_t kHostsKnown = 1'024;

    void leave(const std::string& host);

    std::size_t host_max_;
    std::mutex mutex_;
    std::map<std::string, std::size_t> visits_;  ///< by host; none that has none
    LruCache<std::string, std::uint64_t> failures_{kHostsKnown};
    std::size_t told_ = 0;
};

}  // namespace rhizome::net
