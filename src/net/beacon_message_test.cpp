// SPDX-License-Identifier: Apache-2.0
#include "net/beacon_message.h"

#include <gtest/gtest.h>

#include "crypto/hash.h"

namespace rhizome::net {
namespace {

const Time kNow = Time::from_unix_seconds(1'800'000'000);

crypto::SecretKey key_of(std::uint8_t number) { return *crypto::SecretKey::from_bytes(Bytes(32, number)); }
BeaconMessage message_of(std::uint8_t number, Time time = kNow) {
    BeaconMessage message{.key = key_of(number).public_key().bytes(), .port = 7700, .time = time};
    message.chain.fill(9);
    return message;
}
BeaconGate gate_of(std::uint8_t number) { return BeaconGate{message_of(number).chain, message_of(number).key}; }

TEST(Beacon, IsReadBackAndItsSignatureHolds) {
    const BeaconMessage message = message_of(1);
    const Bytes bytes = encode_beacon(message, key_of(1));
    ASSERT_EQ(bytes.size(), kBeaconBytes);
    EXPECT_EQ(decode_beacon(bytes).value(), message);
    EXPECT_TRUE(is_beacon_signed(message, bytes));
    EXPECT_EQ(to_hex(crypto::sha256(bytes).view()).substr(0, 16), "3f514f66e9a3441f") << "the format is kept";
}

TEST(Beacon, AnyChangedBitIsRefused) {
    const Bytes good = encode_beacon(message_of(1), key_of(1));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        Bytes bytes = good;
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        BeaconGate gate = gate_of(2);
        EXPECT_FALSE(gate.hear(bytes, "10.0.0.1", kNow)) << bit;
    }
    for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(decode_beacon(ByteView{good}.first(size)));
    Bytes longer = good;
    longer.push_back(0);
    EXPECT_FALSE(decode_beacon(longer));
    EXPECT_FALSE(is_beacon_signed(message_of(1), encode_beacon(message_of(1), key_of(3)))) << "another's signature";
}

TEST(Beacon, OnlyOthersOfTheSameChainWithARecentClockAreHeard) {
    BeaconGate gate = gate_of(1);
    EXPECT_FALSE(gate.hear(encode_beacon(message_of(1), key_of(1)), "10.0.0.1", kNow)) << "ourselves";
    BeaconMessage foreign = message_of(2);
    foreign.chain[0] = 1;
    EXPECT_FALSE(gate.hear(encode_beacon(foreign, key_of(2)), "10.0.0.2", kNow));
    EXPECT_EQ(gate.counts().foreign, 1u);
    for (const seconds apart : {-BeaconGate::kClockApart - seconds{1}, BeaconGate::kClockApart + seconds{1}})
        EXPECT_FALSE(gate.hear(encode_beacon(message_of(2, kNow + apart), key_of(2)), "10.0.0.2", kNow));
    EXPECT_EQ(gate.counts().checked, 0u) << "no signature was looked at for all that";
    EXPECT_TRUE(gate.hear(encode_beacon(message_of(2), key_of(2)), "10.0.0.2", kNow));
}

TEST(Beacon, WhoeverRepeatsItselfCostsNothing) {
    BeaconGate gate = gate_of(1);
    const Bytes bytes = encode_beacon(message_of(2), key_of(2));
    EXPECT_TRUE(gate.hear(bytes, "10.0.0.2", kNow));
    for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(gate.hear(bytes, "10.0.0.2", kNow + milliseconds{i}));
    EXPECT_EQ(gate.counts().checked, 1u);
    EXPECT_TRUE(gate.hear(bytes, "10.0.0.3", kNow + seconds{2})) << "it has moved";
    EXPECT_TRUE(gate.hear(bytes, "10.0.0.3", kNow + seconds{2} + BeaconGate::kAgain)) << "it is still there";
}

TEST(Beacon, AFloodOfForgeriesIsLookedAtSixteenTimesASecond) {
    BeaconGate gate = gate_of(1);
    for (int i = 0; i < 1'000; ++i) {
        BeaconMessage forged = message_of(2);
        forged.key[5] = static_cast<std::uint8_t>(i);
        forged.key[6] = static_cast<std::uint8_t>(i >> 8);
        EXPECT_FALSE(gate.hear(encode_beacon(forged, key_of(3)), "10.0.0.9", kNow));
    }
    EXPECT_EQ(gate.counts().checked, BeaconGate::kChecksPerSecond);
    EXPECT_EQ(gate.counts().too_many, 1'000u - BeaconGate::kChecksPerSecond);
    EXPECT_TRUE(gate.hear(encode_beacon(message_of(2), key_of(2)), "10.0.0.2", kNow + seconds{1}));
}

}  // namespace
}  // namespace rhizome::net
