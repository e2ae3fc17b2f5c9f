// SPDX-License-Identifier: Apache-2.0
#include "core/passing_messages.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/passing_testing.h"
#include "support/golden.h"

namespace rhizome::core {
namespace {

using passing_testing::event_entry;
using passing_testing::kNow;

SharedRecord record_of(std::string_view name, bool deleted = false) {
    PassingRecord record;
    record.writer.fill(3);
    record.stamp = kNow;
    record.until = kNow + hours{1};
    record.entry = event_entry(name);
    record.path = record.entry->path();
    if (deleted) record.entry = {};
    record.signature.fill(9);
    return std::make_shared<const PassingRecord>(std::move(record));
}

PassingName name_of(std::uint8_t first) {
    PassingName name{.version = {.stamp = kNow}};
    name.version.tag.writable()[15] = 77;
    name.id.writable()[0] = first;
    return name;
}

std::vector<PassingMessage> one_of_each() {
    PassingList list;
    list.groups.set(1);
    list.groups.set(200);
    list.names = {name_of(1), name_of(200)};
    PassingGroups groups;
    groups.sums[7].writable()[0] = 42;
    return {PassingRecords{{record_of("a"), record_of("b", true)}},
            PassingHave{{name_of(1)}},
            PassingWant{{name_of(5).id}},
            PassingSum{3, crypto::sha256(as_bytes("sum"))},
            groups,
            list};
}

TEST(PassingMessages, EachIsReadBackAsItWasWrittenAndHasOneType) {
    std::uint8_t type = kFirstPassingType;
    for (const PassingMessage& message : one_of_each()) {
        const Bytes bytes = encode(message);
        EXPECT_EQ(bytes[0], type++);
        EXPECT_LE(bytes.size(), passing_bytes_max(bytes[0]));
        const auto read = decode_passing(bytes);
        ASSERT_TRUE(read) << read.error().why;
        EXPECT_EQ(encode(*read), bytes);
    }
    EXPECT_EQ(passing_bytes_max(type), 0u);
}

TEST(PassingMessages, HaveTheBytesOfTheVectors) {
    std::string all;
    for (const PassingMessage& message : one_of_each()) {
        const Bytes bytes = encode(message);
        all += fmt::format("{} {}\n", name(static_cast<PassingType>(bytes[0])), to_hex(bytes));
    }
    test::expect_golden("p2p/passing.txt", all);
}

TEST(PassingMessages, CutShortLongerOrOfNoTypeIsRefused) {
    for (const PassingMessage& message : one_of_each()) {
        Bytes bytes = encode(message);
        for (std::size_t size = 0; size < bytes.size(); ++size)
            EXPECT_FALSE(decode_passing(ByteView{bytes}.first(size))) << size;
        bytes.push_back(0);
        EXPECT_FALSE(decode_passing(bytes));
    }
    EXPECT_FALSE(decode_passing(Bytes{127}));
    EXPECT_FALSE(decode_passing(Bytes{134}));
}

TEST(PassingMessages, WhatNoHonestNodeWritesIsRefused) {
    const auto refused = [](const std::function<void(PassingRecord&)>& change) {
        PassingRecord record = *record_of("a");
        change(record);
        return !decode_passing(encode(PassingRecords{{std::make_shared<const PassingRecord>(std::move(record))}}));
    };
    EXPECT_FALSE(refused([](PassingRecord&) {}));
    EXPECT_TRUE(refused([](PassingRecord& record) { record.until = record.stamp; })) << "it never stood";
    EXPECT_TRUE(refused([](PassingRecord& record) { record.until = record.stamp + hours{26}; })) << "for too long";
    const auto standing_at = [&](std::string_view path, std::string_view document) {
        return refused([&](PassingRecord& record) {
            record.entry = passing_testing::entry_at(*state::Path::parse(path), document);
        });
    };
    constexpr std::string_view kEvent =
        R"({"apiVersion":"v1","kind":"Event","metadata":{"namespace":"default","name":"a"}})";
    EXPECT_FALSE(standing_at("/namespaces/default/core/Event/a", kEvent));
    EXPECT_TRUE(standing_at("/namespaces/default/core/Event/b", kEvent)) << "names another";
    EXPECT_TRUE(standing_at("/namespaces/default/core/Event/a", "{")) << "no JSON";
    EXPECT_TRUE(
        standing_at("/namespaces/default", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})"))
        << "what has a place of its own lives on the chain";
    EXPECT_FALSE(standing_at("/global/certificates.k8s.io/CertificateSigningRequest/joe",
                             R"({"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest",)"
                             R"("metadata":{"name":"joe"}})"))
        << "some kinds off the chain have no namespace";
    const std::string large = fmt::format(
        R"({{"apiVersion":"v1","kind":"Event","message":"{}","metadata":{{"namespace":"default","name":"a"}}}})",
        std::string(kPassingDocumentMax, 'x'));
    EXPECT_TRUE(standing_at("/namespaces/default/core/Event/a", large)) << "too large";
}

TEST(PassingMessages, AListIsInOrderAndNamesItsOwnGroupsOnly) {
    PassingList list;
    list.groups.set(1);
    list.names = {name_of(2)};
    EXPECT_FALSE(decode_passing(encode(list)));
    list.names = {name_of(1), name_of(1)};
    EXPECT_FALSE(decode_passing(encode(list)));
}

TEST(PassingMessages, ADigestBindsTheChainAndEverythingButTheSignature) {
    const ledger::ChainId chain{crypto::sha256(as_bytes("chain")).view()};
    const ledger::ChainId other{crypto::sha256(as_bytes("other")).view()};
    const PassingRecord record = *record_of("a");
    const auto digest = digest_of(record, chain);
    EXPECT_NE(digest, digest_of(record, other));
    PassingRecord changed = record;
    changed.signature.fill(1);
    EXPECT_EQ(digest, digest_of(changed, chain));
    changed.until += microseconds{1};
    EXPECT_NE(digest, digest_of(changed, chain));
    EXPECT_NE(digest, digest_of(*record_of("a", true), chain));
    EXPECT_EQ(version_of(record, digest).stamp, record.stamp);
    EXPECT_EQ(version_of(record, digest).tag.hex(), to_hex(digest.view().first(16)));
}

}  // namespace
}  // namespace rhizome::core
