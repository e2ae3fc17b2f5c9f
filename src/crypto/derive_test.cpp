// SPDX-License-Identifier: Apache-2.0
#include "crypto/derive.h"

#include <set>

#include <gtest/gtest.h>

#include "crypto/detail/derive_steps.h"

namespace rhizome::crypto {
namespace {

NodeSeed seed_of(std::uint8_t fill) {
    NodeSeed seed;
    for (auto& byte : seed.writable()) byte = fill;
    return seed;
}

TEST(Derive, TheSameSeedGivesTheSameKeys) {
    EXPECT_EQ(derive(seed_of(1)).public_keys(), derive(seed_of(1)).public_keys());
}

TEST(Derive, EverySeedAndPurposeHasItsOwnSecret) {
    std::set<std::string> secrets;
    for (std::uint8_t fill = 0; fill < 2; ++fill) {
        const NodeKeys keys = derive(seed_of(fill));
        secrets.insert(to_hex(keys.chain.reveal()));
        secrets.insert(to_hex(keys.transport.reveal()));
        secrets.insert(to_hex(keys.vrf.seed()));
        secrets.insert(to_hex(keys.wireguard.view()));
    }
    EXPECT_EQ(secrets.size(), 8u);
}

TEST(Derive, ACandidateThatIsNoScalarIsPassedOver) {
    const auto candidate = [](std::uint8_t counter) {
        SecretArray<32> bytes;  // 0 is no scalar, nor is 2^256 − 1
        for (auto& byte : bytes.writable()) byte = counter == 0 ? 0 : counter == 1 ? 0xff : counter;
        return bytes;
    };
    EXPECT_EQ(to_hex(detail::first_secret_key(candidate).reveal()), to_hex(candidate(2).view()));
}

}  // namespace
}  // namespace rhizome::crypto
