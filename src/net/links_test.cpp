// SPDX-License-Identifier: Apache-2.0
#include "net/links.h"

#include <future>

#include <gtest/gtest.h>

#include "crypto/hash.h"
#include "support/waiting.h"

namespace rhizome::net {
namespace {

crypto::NodeKeys keys_of(std::string_view name) {
    return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(name)).view()});
}
ChainKey key_of(std::string_view name) { return keys_of(name).public_keys().chain.bytes(); }

std::size_t limit_of(std::uint8_t type) { return type == 1 ? 1'000 : type == 2 ? 4u << 20 : 0; }

std::shared_ptr<const Bytes> frame(std::uint8_t type, std::size_t size, std::uint8_t fill = 7) {
    Bytes payload(size, fill);
    payload[0] = type;
    return std::make_shared<const Bytes>(p2p::frame_of(payload));
}

/// One node's end: collects what it is told.
class End final : public LinkOwner {
public:
    End(stream::IoContext& io, std::string_view name, LinkOptions options = {})
        : strand(io.make_strand()), keys(keys_of(name)) {
        if (options.listen.empty()) options.listen = {{.host = "127.0.0.1", .port = 0}};
        auto made = Links::start(io, strand, std::move(options), keys, limit_of, *this);
        ensure(made.has_value(), made ? "" : made.error().message);
        links = *std::move(made);
    }
    ~End() override { links->stop(); }

    void linked(LinkNumber link, bool dialled, const stream::Address&, const ChainKey& identity) override {
        const auto hold = seen.lock();
        seen.value().links.push_back({link, dialled, identity});
        seen.notify();
    }
    void dial_failed(const stream::Address&, const Error& why) override {
        const auto hold = seen.lock();
        seen.value().failures.push_back(why.message);
        seen.notify();
    }
    void heard(LinkNumber, Bytes payload) override {
        const auto hold = seen.lock();
        seen.value().payloads.push_back(std::move(payload));
        seen.notify();
    }
    void closed(LinkNumber, const std::string& why) override {
        const auto hold = seen.lock();
        seen.value().ends.push_back(why);
        seen.notify();
    }

    void dial(const End& other, std::optional<ChainKey> expected = {}) {
        const auto address = other.links->addresses().front();
        strand.post([this, address, expected] { links->dial(address, expected); });
    }
    void send(LinkNumber link, std::shared_ptr<const Bytes> what) {
        strand.post([this, link, what] { links->send(link, what); });
    }

    struct Seen {
        struct Made {
            LinkNumber link = 0;
            bool dialled = false;
            ChainKey identity{};
        };
        std::vector<Made> links{};
        std::vector<std::string> failures{};
        std::vector<Bytes> payloads{};
        std::vector<std::string> ends{};
    };
    test::Waited<Seen> seen;
    stream::Strand strand;
    crypto::NodeKeys keys;
    std::unique_ptr<Links> links;
};

class LinksTest : public ::testing::Test {
protected:
    void connect() {
        a.dial(b);
        ASSERT_TRUE(a.seen.wait([](const auto& seen) { return seen.links.size() == 1; }));
        ASSERT_TRUE(b.seen.wait([](const auto& seen) { return seen.links.size() == 1; }));
    }
    stream::IoContext io{{.threads = 2}};
    End a{io, "a"};
    End b{io, "b"};
};

TEST_F(LinksTest, BothKnowWhomTheyTalkTo) {
    connect();
    const auto at_a = a.seen.copy().links.front();
    const auto at_b = b.seen.copy().links.front();
    EXPECT_TRUE(at_a.dialled);
    EXPECT_FALSE(at_b.dialled);
    EXPECT_EQ(at_a.identity, key_of("b"));
    EXPECT_EQ(at_b.identity, key_of("a"));
}

TEST_F(LinksTest, FramesArriveWholeAndInOrder) {
    connect();
    const auto link = a.seen.copy().links.front().link;
    for (std::uint8_t i = 0; i < 100; ++i) a.send(link, frame(2, i % 10 == 0 ? 1'000'000 : 10, i));
    ASSERT_TRUE(b.seen.wait([](const auto& seen) { return seen.payloads.size() == 100; }));
    const auto payloads = b.seen.copy().payloads;
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(payloads[i].size(), i % 10 == 0 ? 1'000'000u : 10u);
        EXPECT_EQ(payloads[i].back(), i);
    }
}

TEST_F(LinksTest, AnotherNodeThanTheExpectedIsAFailure) {
    a.dial(b, key_of("c"));
    ASSERT_TRUE(a.seen.wait([](const auto& seen) { return seen.failures.size() == 1; }));
    EXPECT_NE(a.seen.copy().failures.front().find("another node listens"), std::string::npos);
    EXPECT_TRUE(a.seen.copy().links.empty());
}

TEST_F(LinksTest, NobodyThereIsAFailure) {
    a.strand.post([&] { a.links->dial({.host = "127.0.0.1", .port = 1}, {}); });
    ASSERT_TRUE(a.seen.wait([](const auto& seen) { return seen.failures.size() == 1; }));
}

TEST_F(LinksTest, WhoSendsWhatThereIsNotIsCutOff) {
    connect();
    const auto link = a.seen.copy().links.front().link;
    a.send(link, frame(9, 10));
    ASSERT_TRUE(b.seen.wait([](const auto& seen) { return seen.ends.size() == 1; }));
    ASSERT_TRUE(a.seen.wait([](const auto& seen) { return seen.ends.size() == 1; }));
    EXPECT_TRUE(b.seen.copy().payloads.empty());
}

TEST_F(LinksTest, WhoSendsMoreThanItsTypeMayHaveIsCutOff) {
    connect();
    a.send(a.seen.copy().links.front().link, frame(1, 1'001));
    ASSERT_TRUE(b.seen.wait([](const auto& seen) { return seen.ends.size() == 1; }));
    EXPECT_TRUE(b.seen.copy().payloads.empty());
}

TEST_F(LinksTest, WhatWasSentBeforeClosingArrives) {
    connect();
    const auto link = a.seen.copy().links.front().link;
    a.send(link, frame(2, 500'000, 5));
    a.strand.post([&] { a.links->close(link, "that was all"); });
    ASSERT_TRUE(b.seen.wait([](const auto& seen) { return seen.ends.size() == 1; }));
    ASSERT_EQ(b.seen.copy().payloads.size(), 1u);
    ASSERT_TRUE(a.seen.wait([](const auto& seen) { return seen.ends.size() == 1; }));
    EXPECT_EQ(a.seen.copy().ends.front(), "that was all");
}

TEST_F(LinksTest, WhoReadsNothingIsDroppedInsteadOfBuffered) {
    connect();
    // The other strand is held: nothing is heard, so nothing more is read, so nothing more can be sent.
    std::promise<void> go_on;
    b.strand.post([until = go_on.get_future().share()] { until.wait(); });
    const auto link = a.seen.copy().links.front().link;
    const auto large = frame(2, 4'000'000);
    for (int i = 0; i < 30; ++i) a.send(link, large);
    EXPECT_TRUE(a.seen.wait([](const auto& seen) { return seen.ends.size() == 1; }));
    EXPECT_NE(a.seen.copy().ends.front().find("too slowly"), std::string::npos);
    go_on.set_value();
}

TEST(TransportIdentity, IsBoundToTheChainKey) {
    const auto a = make_transport_identity(keys_of("a")).value();
    EXPECT_EQ(read_transport_identity(a.chain.front()).value(), key_of("a"));
    // A certificate of somebody else's that claims to be a.
    const auto key = stream::PrivateKey::generate(stream::KeyKind::Ed25519).value();
    const auto value = a.chain.front().extension("2.25.213968152704612348821137955372846281339").value();
    stream::CertificateSpec spec{.common_name = "thief",
                                 .not_before = Time::from_unix_seconds(0),
                                 .not_after = Time::from_unix_seconds(4'000'000'000),
                                 .extensions = {{"2.25.213968152704612348821137955372846281339", value}}};
    EXPECT_EQ(read_transport_identity(stream::make_self_signed(spec, key).value()).error().kind, ErrorKind::Denied);
    spec.extensions.clear();
    EXPECT_EQ(read_transport_identity(stream::make_self_signed(spec, key).value()).error().kind, ErrorKind::Denied);
}

}  // namespace
}  // namespace rhizome::net
