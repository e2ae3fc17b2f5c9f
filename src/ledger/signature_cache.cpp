// SPDX-License-Identifier: Apache-2.0
#include "ledger/signature_cache.h"

#include "base/codec.h"
#include "crypto/keys.h"

namespace rhizome::ledger {

SignatureCache::SignatureCache(std::size_t generation_max) : generation_max_(generation_max) {}
SignatureCache::~SignatureCache() = default;
SignatureCache::SignatureCache(SignatureCache&&) noexcept = default;
SignatureCache& SignatureCache::operator=(SignatureCache&&) noexcept = default;

crypto::RecentKeys& SignatureCache::keys() {
    if (!keys_) keys_ = std::make_unique<crypto::RecentKeys>();
    return *keys_;
}

SignatureCache::Key SignatureCache::key_of(const crypto::Hash256& digest, ByteView public_key, ByteView signature) {
    Writer out{32 + 34 + 74};
    out.id(digest).short_blob(public_key).short_blob(signature);
    return crypto::sha256(out.view());
}

void SignatureCache::insert(const Key& key) {
    if (contains(key)) return;
    if (newer_.size() >= generation_max_) {
        older_ = std::move(newer_);
        newer_ = {};
    }
    newer_.insert(key);
}

}  // namespace rhizome::ledger
