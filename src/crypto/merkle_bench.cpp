// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#define OPENSSL_SUPPRESS_DEPRECATED  // the low-level functions are the honest anchor: their successors are slower
#include <openssl/sha.h>

#include "base/random.h"
#include "crypto/merkle.h"
#include "support/bench.h"

namespace rhizome::crypto {
namespace {

constexpr std::size_t kLeaves = 10'000;  // a block of 4 MiB with transactions of some 420 bytes

const std::vector<Hash256>& leaves() {
    static const std::vector<Hash256> all = [] {
        std::vector<Hash256> made(kLeaves);
        Random random{6962};
        for (Hash256& leaf : made) random.fill(leaf.writable());
        return made;
    }();
    return all;
}

void root(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) bench::keep(merkle_root(leaves()));
}

void openssl_hash(std::uint8_t prefix, const std::uint8_t* data, std::size_t size, std::uint8_t* out) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, &prefix, 1);
    SHA256_Update(&context, data, size);
    SHA256_Final(out, &context);
}

// The same tree by a plain loop over OpenSSL's functions, level by level and in place.
void root_openssl(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
        std::vector<std::array<std::uint8_t, 32>> level(kLeaves);
        for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
            openssl_hash(0x00, leaves()[leaf].view().data(), 32, level[leaf].data());
        }
        for (std::size_t count = kLeaves; count > 1; count = (count + 1) / 2) {
            for (std::size_t pair = 0; pair < count / 2; ++pair) {
                openssl_hash(0x01, level[2 * pair].data(), 64, level[pair].data());
            }
            if (count % 2 != 0) level[count / 2] = level[count - 1];
        }
        bench::keep(level.front());
    }
}

const bool registered = bench::add({"crypto.merkle_root_10000", "roots", root, root_openssl, 1.5});

}  // namespace
}  // namespace rhizome::crypto
