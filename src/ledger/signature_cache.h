// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_set>

#include "base/bytes.h"
#include "crypto/hash.h"

namespace rhizome::crypto {
class RecentKeys;
}

namespace rhizome::ledger {

/// Signatures known to be good: (digest, key, signature) and nothing else, so an answer never depends on where it was
/// asked. Bounded: two generations, the older of which is forgotten when the newer is full. Only good ones are kept,
/// because a bad one ends its transaction anyway and a stranger could fill the cache with them.
class SignatureCache {
public:
    /// 100,000 signatures take about 10 MB.
    explicit SignatureCache(std::size_t generation_max = 50'000);
    ~SignatureCache();
    SignatureCache(SignatureCache&&) noexcept;
    SignatureCache& operator=(SignatureCache&&) noexcept;

    using Key = crypto::Hash256;
    static Key key_of(const crypto::Hash256& digest, ByteView public_key, ByteView signature);

    [[nodiscard]] bool contains(const Key& key) const { return newer_.contains(key) || older_.contains(key); }
    void insert(const Key& key);
    [[nodiscard]] std::size_t size() const { return newer_.size() + older_.size(); }

    /// For whoever verifies what is not known yet, to find the points of keys by; on the thread that also inserts.
    crypto::RecentKeys& keys();

private:
    std::unordered_set<Key> newer_;
    std::unordered_set<Key> older_;
    std::size_t generation_max_;
    std::unique_ptr<crypto::RecentKeys> keys_;  ///< made when somebody verifies: many caches only remember
};

}  // namespace rhizome::ledger
