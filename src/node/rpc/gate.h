// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "base/bounded.h"
#include "node/rpc/request_auth.h"
#include "node/rpc/route.h"

namespace rhizome::node::rpc {

/// Who is let in from the network, and how often. From any thread.
///
/// In this order: the rate of the address, the form of the field, whether the key is known, the clocks, the signature,
/// whether it was used before, the rate of the key. What costs most comes last, and only what is signed by a known key
/// takes room in the memory of used requests.
class Gate {
public:
    Gate(const Host& host, RpcLimits limits)
        : host_(host), limits_(limits), by_address_(kRatesMax), by_key_(kRatesMax) {}

    /// What the body must hash to; nothing where nobody asked who it is. The error is the answer.
    Result<std::optional<crypto::Hash256>, http::Response> admit(const http::Request& request,
                                                                 const stream::Address& peer, Access access);

    /// A key is known when it is a member's, or can help to open the lock of the Cluster or of a Namespace.
    static bool is_known(const crypto::PublicKey::Array& key, const state::StateView& view);

private:
    static constexpr std::size_t kRatesMax = 16'384;

    struct Rate {
        std::uint64_t tokens = 0;  ///< thousandths of a request
        stream::Clock::time_point filled{};
    };
    template <class Key>
    bool takes(LruCache<Key, Rate>& rates, const Key& key, unsigned per_second);
    /// False when it was used before, or nothing more can be remembered.
    enum class Use : unsigned char { First, Again, NoRoom };
    Use use(const crypto::Digest& digest, Time until, Time now);

    const Host& host_;
    RpcLimits limits_;
    std::mutex mutex_;
    LruCache<std::string, Rate> by_address_;
    LruCache<crypto::PublicKey::Array, Rate> by_key_;
    std::set<crypto::Digest> used_;
    std::multimap<Time, crypto::Digest> used_until_;
};

}  // namespace rhizome::node::rpc
