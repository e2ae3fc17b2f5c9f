// SPDX-License-Identifier: Apache-2.0
#include "ledger/signature_cache.h"

#include "base/codec.h"

namespace rhizome::ledger {

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
