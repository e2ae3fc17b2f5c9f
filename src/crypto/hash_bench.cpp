// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#define OPENSSL_SUPPRESS_DEPRECATED  // the low-level functions are the honest anchor: their successors are slower
#include <openssl/ripemd.h>
#include <openssl/sha.h>

#include "base/random.h"
#include "crypto/hash.h"
#include "support/bench.h"

namespace rhizome::crypto {
namespace {

using Header = std::array<std::uint8_t, 161>;  // docs/spec/chain.md, 4: bits and nonce are its last twelve bytes
using PublicKey = std::array<std::uint8_t, 33>;

template <class Data>
Data filled(std::uint64_t seed) {
    Data data;
    Random{seed}.fill(data);
    return data;
}

// As a miner calls it: batches of nonces, the front absorbed anew for each batch.
void header_hash(std::uint64_t times) {
    const Header header = filled<Header>(161);
    std::array<Hash256, 256> hashes;
    for (std::uint64_t nonce = 0; nonce < times;) {
        const std::size_t batch = std::min<std::uint64_t>(hashes.size(), times - nonce);
        const Sha256Midstate midstate{ByteView{header}.first(128)};
        midstate.finish_nonces(ByteView{header}.subspan(128), nonce, std::span{hashes}.first(batch));
        bench::keep(hashes);
        nonce += batch;
    }
}

void header_hash_openssl(std::uint64_t times) {
    Header header = filled<Header>(161);
    for (std::uint64_t nonce = 0; nonce < times; ++nonce) {
        std::memcpy(header.data() + 153, &nonce, sizeof nonce);
        SHA256_CTX context;
        std::array<std::uint8_t, 32> hash;
        SHA256_Init(&context);
        SHA256_Update(&context, header.data(), header.size());
        SHA256_Final(hash.data(), &context);
        bench::keep(hash);
    }
}

void hash160_ours(std::uint64_t times) {
    PublicKey key = filled<PublicKey>(33);
    for (std::uint64_t i = 0; i < times; ++i) {
        std::memcpy(key.data() + 1, &i, sizeof i);
        bench::keep(hash160(key));
    }
}

void hash160_openssl(std::uint64_t times) {
    PublicKey key = filled<PublicKey>(33);
    for (std::uint64_t i = 0; i < times; ++i) {
        std::memcpy(key.data() + 1, &i, sizeof i);
        std::array<std::uint8_t, 32> inner;
        std::array<std::uint8_t, 20> hash;
        SHA256_CTX sha;
        SHA256_Init(&sha);
        SHA256_Update(&sha, key.data(), key.size());
        SHA256_Final(inner.data(), &sha);
        RIPEMD160_CTX ripemd;
        RIPEMD160_Init(&ripemd);
        RIPEMD160_Update(&ripemd, inner.data(), inner.size());
        RIPEMD160_Final(hash.data(), &ripemd);
        bench::keep(hash);
    }
}

const bool registered = bench::add({"crypto.header_hash_midstate", "hashes", header_hash, header_hash_openssl, 2.5}) &&
                        bench::add({"crypto.hash160", "hashes", hash160_ours, hash160_openssl, 0.90});

}  // namespace
}  // namespace rhizome::crypto
