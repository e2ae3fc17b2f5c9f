// SPDX-License-Identifier: Apache-2.0
#include "http/detail/frames.h"

#include <gtest/gtest.h>

namespace rhizome::http::detail {
namespace {

constexpr std::array<std::uint8_t, 4> kMask{1, 2, 3, 4};

Bytes client(Opcode opcode, std::string_view payload, bool last = true) {
    return make_frame(opcode, as_bytes(payload), last, kMask);
}

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

/// `T:hello P: C1002`: events in order, then the code of a fault.
std::string read_all(ByteView bytes, std::size_t piece, std::size_t message_max = 1000) {
    FrameReader reader{{.message_bytes_max = message_max}};
    std::string out;
    while (!bytes.empty()) {
        const auto fed = reader.feed(bytes.first(std::min(piece, bytes.size())));
        bytes = bytes.subspan(std::min(piece, bytes.size()));
        for (const FrameEvent& event : fed.events) {
            constexpr std::string_view kLetters = "?TB?????XPO";
            out += kLetters[static_cast<std::size_t>(event.opcode)];
            out += ":";
            out +=
                event.payload.size() > 20 ? std::to_string(event.payload.size()) : std::string(as_text(event.payload));
            out += " ";
        }
        if (fed.fault) return out + "C" + std::to_string(fed.fault->code);
    }
    return out;
}

/// The cases of the Autobahn suite that concern frames: payloads, control frames, reserved bits, opcodes,
/// fragmentation, UTF-8, limits.
TEST(Frames, AreReadAsTheRulesSay) {
    const std::string euro = "\xe2\x82\xac";
    Bytes reserved = client(Opcode::Text, "x");
    reserved[0] |= 0x40;
    Bytes unmasked = make_frame(Opcode::Text, as_bytes("x"));
    Bytes long_form{0x81, 0x80 | 126, 0, 5, 1, 2, 3, 4, 0, 0, 0, 0, 0};
    Bytes longer_form{0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4};
    Bytes high_bit{0x82, 0x80 | 127, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4};
    const struct {
        const char* name;
        Bytes bytes;
        const char* expected;
    } rows[] = {
        {"text", client(Opcode::Text, "hello"), "T:hello "},
        {"empty text", client(Opcode::Text, ""), "T: "},
        {"125", client(Opcode::Binary, std::string(125, 'x')), "B:125 "},
        {"126", client(Opcode::Binary, std::string(126, 'x')), "B:126 "},
        {"127", client(Opcode::Binary, std::string(127, 'x')), "B:127 "},
        {"two messages", client(Opcode::Text, "a") + client(Opcode::Binary, "b"), "T:a B:b "},
        {"ping", client(Opcode::Ping, "p"), "P:p "},
        {"ping of 125", client(Opcode::Ping, std::string(125, 'x')), "P:125 "},
        {"ping of 126", client(Opcode::Ping, std::string(126, 'x')), "C1002"},
        {"pong nobody asked for", client(Opcode::Pong, ""), "O: "},
        {"a reserved bit", reserved, "C1002"},
        {"opcode 3", client(static_cast<Opcode>(3), ""), "C1002"},
        {"opcode 7", client(static_cast<Opcode>(7), ""), "C1002"},
        {"opcode 11", client(static_cast<Opcode>(11), ""), "C1002"},
        {"opcode 15", client(static_cast<Opcode>(15), ""), "C1002"},
        {"a message before a bad opcode", client(Opcode::Text, "a") + client(static_cast<Opcode>(5), ""), "T:a C1002"},
        {"fragments",
         client(Opcode::Text, "a", false) + client(Opcode::Continuation, "b", false) +
             client(Opcode::Continuation, "c"),
         "T:abc "},
        {"a ping between fragments",
         client(Opcode::Text, "a", false) + client(Opcode::Ping, "p") + client(Opcode::Continuation, "b"), "P:p T:ab "},
        {"a ping in fragments", client(Opcode::Ping, "a", false) + client(Opcode::Continuation, "b"), "C1002"},
        {"nothing to continue", client(Opcode::Continuation, "b"), "C1002"},
        {"continued after the end", client(Opcode::Text, "a") + client(Opcode::Continuation, "b"), "T:a C1002"},
        {"a new message between fragments", client(Opcode::Text, "a", false) + client(Opcode::Text, "b"), "C1002"},
        {"empty fragments",
         client(Opcode::Text, "", false) + client(Opcode::Continuation, "", false) + client(Opcode::Continuation, ""),
         "T: "},
        {"UTF-8", client(Opcode::Text, euro), "T:\xe2\x82\xac "},
        {"a character in two frames",
         client(Opcode::Text, euro.substr(0, 1), false) + client(Opcode::Continuation, euro.substr(1)),
         "T:\xe2\x82\xac "},
        {"a cut character", client(Opcode::Text, euro.substr(0, 2)), "C1007"},
        {"a bad character before the end", client(Opcode::Text, "\xf8\x88", false), "C1007"},
        {"an overlong slash", client(Opcode::Text, "\xc0\xaf"), "C1007"},
        {"a surrogate", client(Opcode::Text, "\xed\xa0\x80"), "C1007"},
        {"beyond the last character", client(Opcode::Text, "\xf4\x90\x80\x80"), "C1007"},
        {"the last character", client(Opcode::Text, "\xf4\x8f\xbf\xbf"), "T:\xf4\x8f\xbf\xbf "},
        {"any bytes in binary", client(Opcode::Binary, "\xff\xfe"), "B:\xff\xfe "},
        {"no mask", unmasked, "C1002"},
        {"a length of 16 bits that fits in 7", long_form, "C1002"},
        {"a length of 64 bits that fits in 16", longer_form, "C1002"},
        {"a length with the highest bit", high_bit, "C1002"},
        {"too large", client(Opcode::Binary, std::string(1001, 'x')), "C1009"},
        {"too large in pieces",
         client(Opcode::Binary, std::string(600, 'x'), false) + client(Opcode::Continuation, std::string(401, 'x')),
         "C1009"},
        {"just fits in pieces",
         client(Opcode::Binary, std::string(600, 'x'), false) + client(Opcode::Continuation, std::string(400, 'x')),
         "B:1000 "},
    };
    for (const auto& row : rows)
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{100'000}})
            EXPECT_EQ(read_all(row.bytes, piece), row.expected) << row.name << " in pieces of " << piece;
}

TEST(Frames, ServersFramesAreNotMasked) {
    FrameReader reader{{.expect_masked = false}};
    const auto fed = reader.feed(make_frame(Opcode::Binary, Bytes(70'000, 7)));
    ASSERT_FALSE(fed.fault);
    EXPECT_EQ(fed.events.at(0).payload, Bytes(70'000, 7));
    EXPECT_EQ(reader.held(), 0u);
    EXPECT_TRUE(reader.feed(client(Opcode::Text, "x")).fault);
}

TEST(Frames, CloseCodesAreThoseOfTheRules) {
    for (const int good : {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999}) {
        const auto said = parse_close(close_payload(static_cast<std::uint16_t>(good), "why"));
        ASSERT_TRUE(said) << good;
        EXPECT_EQ(said->code, good);
        EXPECT_EQ(said->reason, "why");
    }
    for (const int bad : {0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535})
        EXPECT_FALSE(parse_close(close_payload(static_cast<std::uint16_t>(bad), ""))) << bad;
    EXPECT_EQ(parse_close({})->code, 1005);
    EXPECT_FALSE(parse_close(Bytes{3}));
    EXPECT_EQ(parse_close(Bytes{3, 0xe8, 0xff}).error().code, 1007);
    std::string umlauts;
    for (int i = 0; i < 100; ++i) umlauts += "\xc3\xbc";
    EXPECT_EQ(parse_close(close_payload(1000, umlauts))->reason.size(), 122u) << "cut between characters";
}

}  // namespace
}  // namespace rhizome::http::detail
