// SPDX-License-Identifier: Apache-2.0
#include "p2p/link_messages.h"

#include <gtest/gtest.h>

#include "crypto/hash.h"

namespace rhizome::p2p {
namespace {

using ledger::RejectCode;

const Time kMessageTime = Time::from_unix_seconds(1'800'000'000);

std::vector<LinkMessage> one_of_each() {
    return {Hello{.lowest = 1,
                  .highest = 3,
                  .chain = ledger::ChainId{crypto::sha256(as_bytes("chain")).view()},
                  .purpose = Purpose::Test,
                  .port = 7700,
                  .nonce = 0x0123456789abcdef,
                  .clock = kMessageTime},
            Ping{.nonce = 7, .clock = kMessageTime},
            Pong{.nonce = 7, .clock = kMessageTime},
            GetPeers{},
            Peers{{Address::v4(10, 0, 0, 1, 7700), Address::parse("[fe80::1]:7700").value()}},
            Bye{.reason = ByeReason::WrongChain, .text = "another chain"}};
}

TEST(LinkMessages, EveryMessageIsReadAsItWasWritten) {
    const auto messages = one_of_each();
    ASSERT_EQ(messages.size(), std::variant_size_v<LinkMessage>) << "a message of each type";
    for (const LinkMessage& message : messages) {
        const Bytes bytes = encode(message);
        EXPECT_EQ(bytes[0], kFirstLinkType + message.index());
        EXPECT_LE(bytes.size(), link_bytes_max(bytes[0]));
        const auto read = decode_link_message(bytes);
        ASSERT_TRUE(read) << to_text(read.error());
        EXPECT_EQ(*read, message);
    }
}

TEST(LinkMessages, NoPieceOfAMessageIsOne) {
    for (const LinkMessage& message : one_of_each()) {
        const Bytes bytes = encode(message);
        for (std::size_t size = 0; size < bytes.size(); ++size)
            EXPECT_FALSE(decode_link_message(ByteView{bytes}.first(size))) << int{bytes[0]} << " of " << size;
        Bytes longer = bytes;
        longer.push_back(0);
        EXPECT_FALSE(decode_link_message(longer)) << int{bytes[0]};
    }
}

TEST(LinkMessages, ThereIsOneEncodingOfEach) {
    const auto refused = [](Bytes bytes) { return !decode_link_message(bytes).has_value(); };
    Bytes peers = encode(Peers{{Address::v4(10, 0, 0, 1, 1), Address::v4(10, 0, 0, 2, 1)}});
    std::swap_ranges(peers.begin() + 2, peers.begin() + 20, peers.begin() + 20);
    EXPECT_TRUE(refused(peers)) << "not in order";
    std::copy_n(peers.begin() + 2, 18, peers.begin() + 20);
    EXPECT_TRUE(refused(peers)) << "twice";
    EXPECT_TRUE(refused(encode(Hello{.lowest = 2, .highest = 1}))) << "no version at all";
    Bytes hello = encode(Hello{});
    hello[1 + 4 + 32] = 2;
    EXPECT_TRUE(refused(hello)) << "no such purpose";
    hello = encode(Hello{});
    hello.back() = 0x80;
    EXPECT_TRUE(refused(hello)) << "a clock beyond all years";
    EXPECT_TRUE(refused(Bytes{69, 1, 1, '\n'})) << "not for a log";
    EXPECT_TRUE(refused(Bytes{70}));
    EXPECT_TRUE(refused(Bytes{63}));
}

TEST(LinkMessages, SizesAreBounded) {
    Peers many;
    for (int i = 0; i < 200; ++i) many.addresses.push_back(Address::v4(10, 0, 0, static_cast<std::uint8_t>(i), 1));
    const auto read = decode_link_message(encode(many));
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<Peers>(*read).addresses.size(), kPeersMax);
    const auto bye = decode_link_message(encode(Bye{.text = std::string(1'000, '\n')}));
    ASSERT_TRUE(bye);
    EXPECT_EQ(std::get<Bye>(*bye).text, std::string(kByeTextMax, '?'));
    EXPECT_FALSE(decode_link_message(Bytes{68, 65}));
    EXPECT_EQ(decode_link_message(Bytes(link_bytes_max(65) + 1, 65)).error().code, RejectCode::TooLarge);
    for (unsigned type = 0; type < 64; ++type) EXPECT_EQ(link_bytes_max(static_cast<std::uint8_t>(type)), 0u);
}

TEST(LinkMessages, AreTheseBytes) {
    EXPECT_EQ(to_hex(encode(one_of_each()[0])),
              "40010003009414886b1ebf025db067a4cbd13a0903fbd9733a5372bba1b58bd72c1699b79801141eefcdab8967452301"
              "0080982817650600");
    EXPECT_EQ(to_hex(encode(GetPeers{})), "43");
    EXPECT_EQ(to_hex(encode(Ping{.nonce = 7, .clock = Time{microseconds{258}}})), "4107000000000000000201000000000000");
    EXPECT_EQ(to_hex(encode(Peers{{Address::v4(10, 0, 0, 1, 7700)}})), "440100000000000000000000ffff0a000001141e");
    EXPECT_EQ(to_hex(encode(Bye{.reason = ByeReason::Full, .text = "no"})), "4506026e6f");
}

}  // namespace
}  // namespace rhizome::p2p
