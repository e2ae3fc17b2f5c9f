// SPDX-License-Identifier: Apache-2.0
// Golden messages of a link, good and bad: tests/vectors/p2p/link_messages.json.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/hash.h"
#include "p2p/frame.h"
#include "p2p/link_messages.h"
#include "support/golden.h"

namespace rhizome::p2p {
namespace {

using test::text;

constexpr std::string_view kFile = "p2p/link_messages.json";

struct Row {
    std::string name;
    Bytes bytes;
};

Address address_at(std::string_view text) { return Address::parse(text).value(); }

std::vector<Row> good() {
    const Time clock = Time::from_unix_seconds(1'800'000'000);
    const ledger::ChainId chain{crypto::sha256(as_bytes("chain")).view()};
    return {
        {"hello",
         encode(Hello{
             .lowest = 1, .highest = 3, .chain = chain, .port = 7700, .nonce = 0x0123456789abcdef, .clock = clock})},
        {"hello of a test",
         encode(Hello{.lowest = 1, .highest = 1, .chain = chain, .purpose = Purpose::Test, .nonce = 1})},
        {"ping", encode(Ping{.nonce = 7, .clock = clock})},
        {"pong", encode(Pong{.nonce = 7, .clock = clock})},
        {"get-peers", encode(GetPeers{})},
        {"no peers", encode(Peers{})},
        {"peers",
         encode(Peers{{address_at("10.0.0.7:7700"), address_at("[fe80::1]:7700"), address_at("192.0.2.1:1")}})},
        {"bye", encode(Bye{.reason = ByeReason::Full, .text = "no room"})},
        {"bye of a later version", encode(Bye{.reason = static_cast<ByeReason>(200), .text = ""})},
    };
}

std::vector<Row> bad() {
    const auto changed = [](Bytes bytes, std::size_t place, std::uint8_t byte) {
        bytes.at(place) = byte;
        return bytes;
    };
    const Bytes hello = encode(Hello{.lowest = 1, .highest = 1});
    const Bytes peers = encode(Peers{{address_at("10.0.0.7:7700"), address_at("10.0.0.8:7700")}});
    return {
        {"nothing", {}},
        {"of the core", {63}},
        {"of nobody", {70}},
        {"no version", changed(hello, 1, 2)},
        {"no such purpose", changed(hello, 37, 2)},
        {"a clock beyond all years", changed(hello, hello.size() - 1, 0x80)},
        {"a hello that ends early", Bytes(hello.begin(), hello.end() - 1)},
        {"get-peers with something", {67, 0}},
        {"peers out of order", changed(peers, 17, 9)},
        {"peers twice", changed(peers, 17, 8)},
        {"fewer peers than said", changed(peers, 1, 3)},
        {"more peers than said", changed(peers, 1, 1)},
        {"peers beyond 64", {68, 65}},
        {"a line feed in a bye", {69, 1, 1, 10}},
        {"a bye that ends early", {69, 1, 2, 65}},
    };
}

std::string rows_of(const std::vector<Row>& rows, bool with_why) {
    std::string list;
    for (const Row& row : rows) {
        list += fmt::format("{}\n  {{\"name\": \"{}\", \"{}\": \"{}\"", list.empty() ? "" : ",", row.name,
                            with_why ? "payload" : "frame", to_hex(with_why ? row.bytes : frame_of(row.bytes)));
        if (with_why) list += fmt::format(", \"why\": \"{}\"", to_text(decode_link_message(row.bytes).error()));
        list += "}";
    }
    return "[" + list + "\n ]";
}

TEST(LinkMessagesVectors, AreAsReviewed) {
    test::expect_golden(kFile, fmt::format("{{\n \"about\": \"docs/spec/p2p.md, Messages of a link. Good ones in their "
                                           "frames; bad ones without.\",\n \"good\": {},\n \"bad\": {}\n}}\n",
                                           rows_of(good(), false), rows_of(bad(), true)));
}

TEST(LinkMessagesVectors, FilesAreReadAsTheySay) {
    const auto file = test::own_vectors(kFile);
    for (const auto& row : file.at("good").as_array()) {
        const Bytes frame = from_hex(text(row, "frame")).value();
        FrameReader reader{link_bytes_max};
        ByteView input{frame};
        const auto payload = reader.next(input);
        ASSERT_TRUE(payload && *payload) << text(row, "name");
        const auto message = decode_link_message(**payload);
        ASSERT_TRUE(message) << text(row, "name");
        EXPECT_EQ(encode(*message), **payload) << text(row, "name");
    }
    for (const auto& row : file.at("bad").as_array()) {
        const auto message = decode_link_message(from_hex(text(row, "payload")).value());
        ASSERT_FALSE(message) << text(row, "name");
        EXPECT_EQ(to_text(message.error()), text(row, "why"));
    }
    EXPECT_GE(file.at("good").as_array().size(), 9u);
    EXPECT_GE(file.at("bad").as_array().size(), 15u);
}

}  // namespace
}  // namespace rhizome::p2p
