// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "crypto/detail/sha256_engine.h"
#include "crypto/hash.h"

namespace rhizome::crypto {
namespace {

Bytes random_bytes(std::size_t size) {
    Bytes bytes(size);
    Random{*rc::gen::arbitrary<std::uint64_t>()}.fill(bytes);
    return bytes;
}

/// Never an empty piece: RapidCheck's first rounds only draw the low end of a range, which would not get to the end.
template <class Hasher>
void feed_in_pieces(Hasher& hasher, ByteView message) {
    while (!message.empty()) {
        const auto size = *rc::gen::inRange<std::size_t>(1, std::min<std::size_t>(message.size(), 200) + 1);
        hasher.update(message.first(size));
        message = message.subspan(size);
    }
}

RC_GTEST_PROP(HashProperty, StreamingInPiecesIsTheOneShot, ()) {
    const Bytes message = random_bytes(*rc::gen::inRange<std::size_t>(0, 1000));
    Sha256 short_hasher;
    feed_in_pieces(short_hasher, message);
    RC_ASSERT(short_hasher.finish() == sha256(message));
    Sha512 long_hasher;
    feed_in_pieces(long_hasher, message);
    RC_ASSERT(long_hasher.finish() == sha512(message));
}

RC_GTEST_PROP(HashProperty, ManyAreTheSameAsOneByOne, ()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 300);
    const auto count = *rc::gen::inRange<std::size_t>(0, 10);
    const Bytes messages = random_bytes(size * count);
    std::vector<Hash256> hashes(count);
    sha256_many(messages, size, hashes);
    for (std::size_t i = 0; i < count; ++i) {
        RC_ASSERT(hashes[i] == sha256(ByteView{messages}.subspan(i * size, size)));
    }
}

RC_GTEST_PROP(HashProperty, ImplementationsAgree, ()) {
    const detail::Sha256Engine* fast = detail::sha_ni_engine();
    if (fast == nullptr) return;
    const Bytes message = random_bytes(*rc::gen::inRange<std::size_t>(0, 1000));
    const auto hash_with = [&](const detail::Sha256Engine& engine) {
        const detail::EngineForTest use{engine};
        return sha256(message);
    };
    RC_ASSERT(hash_with(*fast) == hash_with(detail::openssl_engine()));
}

RC_GTEST_PROP(HashProperty, Hash160IsRipemdOfSha, ()) {
    const Bytes message = random_bytes(*rc::gen::inRange<std::size_t>(0, 200));
    RC_ASSERT(hash160(message) == ripemd160(sha256(message).view()));
}

}  // namespace
}  // namespace rhizome::crypto
