// SPDX-License-Identifier: Apache-2.0
#include "p2p/addr_book.h"

#include <set>

#include <gtest/gtest.h>

namespace rhizome::p2p {
namespace {

const Time kNow = Time::from_unix_seconds(1'800'000'000);
const AddrBook::Key kKey{4, 4, 1, 7};
const AddrBook::Fits kAny = [](const KnownAddress&) { return true; };

Address world(unsigned group, unsigned host = 1) {
    return Address::v4(static_cast<std::uint8_t>(20 + group / 256), static_cast<std::uint8_t>(group),
                       static_cast<std::uint8_t>(host / 256), static_cast<std::uint8_t>(host), 7700);
}
ledger::MemberKey member(std::uint8_t number) {
    ledger::MemberKey key{2};
    key[32] = number;
    return key;
}

TEST(AddrBook, TakesWhatItIsToldOnce) {
    AddrBook book{kKey};
    EXPECT_TRUE(book.add(world(1), world(9), kNow));
    EXPECT_FALSE(book.add(world(1), world(8), kNow));
    EXPECT_EQ(book.size(), 1u);
    EXPECT_FALSE(book.find(world(1))->good);
    EXPECT_FALSE(book.add(Address::v4(224, 0, 0, 1, 1), world(9), kNow)) << "nobody listens there";
    EXPECT_FALSE(book.add(Address::v4(20, 0, 0, 1, 0), world(9), kNow)) << "no port";
}

TEST(AddrBook, TakesNoWordForAddressesCloserThanTheTeller) {
    const Address host = Address::v4(127, 0, 0, 1, 1);
    const Address lan = Address::v4(192, 168, 0, 1, 1);
    const struct {
        Address told, by;
        bool taken;
    } rows[] = {{host, world(1), false}, {host, lan, false}, {host, host, true},     {lan, world(1), false},
                {lan, lan, true},        {lan, host, true},  {world(2), host, true}, {world(2), world(1), true}};
    for (const auto& row : rows) {
        AddrBook book{kKey};
        EXPECT_EQ(book.add(row.told, row.by, kNow), row.taken) << to_text(row.told) << " by " << to_text(row.by);
        book.note_good(row.told, member(1), kNow);
        Random random{1};
        EXPECT_EQ(book.sample(random, 9, Address{row.by.ip, 9}, kNow).size(), row.taken ? 1u : 0u)
            << "and tells none either";
    }
}

TEST(AddrBook, HandsOnOnlyWhatItFoundGoodItself) {
    AddrBook book{kKey};
    Random random{1};
    for (unsigned i = 0; i < 20; ++i) book.add(world(i), world(i), kNow);
    EXPECT_TRUE(book.sample(random, 64, world(99), kNow).empty());
    book.note_good(world(3), member(3), kNow);
    book.note_good(world(4), member(4), kNow);
    EXPECT_EQ(book.tried_size(), 2u);
    const auto told = book.sample(random, 64, world(99), kNow);
    EXPECT_EQ(std::set<Address>(told.begin(), told.end()), (std::set<Address>{world(3), world(4)}));
    EXPECT_EQ(book.sample(random, 1, world(99), kNow).size(), 1u);
    EXPECT_EQ(book.sample(random, 64, world(3), kNow).size(), 1u) << "not its own";
    book.note_failed(world(3), random, kNow);
    EXPECT_EQ(book.sample(random, 64, world(99), kNow), std::vector{world(4)});
    EXPECT_TRUE(book.sample(random, 64, world(99), kNow + hours{73}).empty()) << "too long ago";
}

TEST(AddrBook, WaitsLongerAfterEachFailureUpToFiveMinutes) {
    AddrBook book{kKey};
    Random random{1};
    book.note_good(world(1), member(1), kNow);
    microseconds longest{0};
    Time now = kNow;
    for (int i = 0; i < 20; ++i) {
        book.note_failed(world(1), random, now);
        ASSERT_NE(book.find(world(1)), nullptr) << "nobody else was reached: the fault is ours";
        EXPECT_FALSE(book.choose(random, now, kAny));
        const microseconds wait = book.find(world(1))->not_before - now;
        EXPECT_GE(wait, seconds{2});
        EXPECT_LE(wait, minutes{5});
        longest = std::max(longest, wait);
        now += wait;
        EXPECT_TRUE(book.choose(random, now, kAny));
    }
    EXPECT_GE(longest, minutes{2});
    book.note_failed(world(1), random, now);
    EXPECT_TRUE(book.choose(random, now - hours{24}, kAny)) << "a clock set back is no back-off of a day";
}

TEST(AddrBook, ForgetsWhatFailsWhileOthersDoNot) {
    AddrBook book{kKey};
    Random random{1};
    Time now = kNow;
    book.add(world(1), world(9), now);
    for (int i = 0; i < 3; ++i) {
        now += minutes{6};
        book.note_good(world(2), member(2), now);
        now += seconds{1};
        book.note_failed(world(1), random, now);
    }
    EXPECT_EQ(book.find(world(1)), nullptr);
    EXPECT_NE(book.find(world(2)), nullptr);
}

TEST(AddrBook, TestsWhatNobodyWasFoundAtYet) {
    AddrBook book{kKey};
    Random random{1};
    book.note_good(world(1), member(1), kNow);
    EXPECT_FALSE(book.choose_feeler(random, kNow, kAny));
    EXPECT_EQ(book.choose_feeler(random, kNow + hours{25}, kAny)->address, world(1)) << "not found for a day";
    book.add(world(2), world(9), kNow);
    EXPECT_EQ(book.choose_feeler(random, kNow + hours{25}, kAny)->address, world(2));
    book.note_tried(world(2), kNow);
    EXPECT_FALSE(book.choose_feeler(random, kNow, kAny));
}

TEST(AddrBook, AGoodOneKeepsItsPlaceWhileItIsGood) {
    AddrBook book{kKey};
    Random random{1};
    const Address first = world(0, 1);
    book.note_good(first, member(1), kNow);
    for (unsigned i = 2; i < 3'000; ++i) book.note_good(world(0, i), member(2), kNow + hours{1});
    EXPECT_TRUE(book.find(first)->tried);
    EXPECT_LE(book.tried_size(), 4 * AddrBook::kBucketSlots) << "one network has a share of the table";
    EXPECT_LE(book.size() - book.tried_size(), AddrBook::kSide * AddrBook::kBucketSlots);
    book.note_failed(first, random, kNow + hours{1});
    for (unsigned i = 2; i < 3'000; ++i) book.note_good(world(0, i), member(2), kNow + hours{2});
    EXPECT_TRUE(book.find(first) == nullptr || !book.find(first)->tried) << "it failed, another has not";
}

TEST(AddrBook, IsTheSameAfterTheDisk) {
    AddrBook book{kKey};
    for (unsigned i = 0; i < 200; ++i) book.add(world(i), world(i / 20), kNow);
    for (unsigned i = 0; i < 30; ++i) book.note_good(world(i), member(static_cast<std::uint8_t>(i)), kNow);
    for (unsigned i = 0; i < 8; ++i) book.note_linked(world(i));
    const Bytes written = book.encode();
    const auto read = AddrBook::decode(written, kKey);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->size(), book.size());
    EXPECT_EQ(read->tried_size(), book.tried_size());
    EXPECT_EQ(read->encode(), written) << "a run that made no links keeps what the last one had";
    EXPECT_EQ(read->anchors(), (std::vector{world(0), world(1)}));
    EXPECT_EQ(read->find(world(3))->identity, member(3));
    for (std::size_t size = 0; size < written.size(); ++size)
        EXPECT_FALSE(AddrBook::decode(ByteView{written}.first(size), kKey)) << size;
    const auto other = AddrBook::decode(written, AddrBook::Key{});
    ASSERT_TRUE(other) << "another key: some have no place, the others are there";
    EXPECT_GT(other->size(), book.size() / 2);
}

TEST(AddrBook, ARestartMeetsOthersFirst) {
    AddrBook book{kKey};
    for (unsigned i = 0; i < 12; ++i) book.note_good(world(i), member(static_cast<std::uint8_t>(i)), kNow);
    for (unsigned i = 0; i < 8; ++i) book.note_linked(world(i));
    book.note_unlinked(world(0));
    AddrBook next = AddrBook::decode(book.encode(), kKey).value();
    EXPECT_EQ(next.anchors(), (std::vector{world(1), world(2)}));
    Random random{1};
    std::set<Address> chosen;
    for (int i = 0; i < 5; ++i) {
        const auto one = next.choose(random, kNow, kAny);
        ASSERT_TRUE(one);
        chosen.insert(one->address);
        next.note_tried(one->address, kNow);
    }
    EXPECT_EQ(chosen, (std::set<Address>{world(0), world(8), world(9), world(10), world(11)}));
    EXPECT_TRUE(next.choose(random, kNow, kAny)) << "then those of the last run, rather than none";
}

}  // namespace
}  // namespace rhizome::p2p
