// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/derive.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::text;

// Nodes would no longer be who they were if this changed.
TEST(DeriveVectors, KeysOfSeedsStayWhatTheyAre) {
    const auto file = test::own_vectors("crypto/derive.json");
    for (const auto& row : file.at("rows").as_array()) {
        NodeSeed seed;
        ASSERT_TRUE(from_hex_into(text(row, "seed"), seed.writable()));
        const NodeKeys keys = derive(seed);
        EXPECT_EQ(to_hex(keys.chain.reveal()), text(row, "chain_secret"));
        EXPECT_EQ(to_hex(keys.transport.reveal()), text(row, "transport_seed"));
        EXPECT_EQ(to_hex(keys.vrf.seed()), text(row, "vrf_seed"));
        EXPECT_EQ(to_hex(keys.wireguard.view()), text(row, "wireguard_secret"));
        const NodePublicKeys publics = keys.public_keys();
        EXPECT_EQ(publics.chain.hex(), text(row, "chain_public"));
        EXPECT_EQ(to_hex(publics.transport.bytes()), text(row, "transport_public"));
        EXPECT_EQ(publics.vrf.hex(), text(row, "vrf_public"));
        EXPECT_EQ(publics.wireguard.hex(), text(row, "wireguard_public"));
    }
}

}  // namespace
}  // namespace rhizome::crypto
