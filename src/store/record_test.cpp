// SPDX-License-Identifier: Apache-2.0
#include "store/record.h"

#include <gtest/gtest.h>

#include "store/facts.h"

namespace rhizome::store {
namespace {

Bytes record(RecordHead head, ByteView payload, std::uint64_t salt = 0) {
    const auto front = encode_head(head, std::span{&payload, 1}, salt);
    Writer out;
    out.raw(front).raw(payload);
    Bytes bytes = std::move(out).take();
    bytes.resize(record_bytes(payload.size()));
    return bytes;
}

const RecordHead kHead{.kind = RecordKind::Vote, .sequence = 7, .durable = 5, .link = 0x1122334455667788};

TEST(Records, ComeBackAsTheyWereWritten) {
    for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 1000U}) {
        const Bytes payload(size, 0xab);
        const Bytes bytes = record(kHead, payload);
        EXPECT_EQ(bytes.size() % kRecordAlignment, 0U);
        const auto read = decode_record(bytes);
        ASSERT_TRUE(read) << size;
        EXPECT_EQ(Bytes(read->payload.begin(), read->payload.end()), payload);
        EXPECT_EQ(read->head.kind, RecordKind::Vote);
        EXPECT_EQ(read->head.length, size);
        EXPECT_EQ(read->head.sequence, 7U);
        EXPECT_EQ(read->head.durable, 5U);
        EXPECT_EQ(read->head.link, kHead.link);
        Bytes longer = bytes;
        longer.push_back(9);  // what follows is another record's business
        EXPECT_TRUE(decode_record(longer));
    }
}

TEST(Records, HaveOneOfTheKnownKinds) {
    for (unsigned kind = 0; kind < 256; ++kind) {
        RecordHead head = kHead;
        head.kind = static_cast<RecordKind>(kind);
        const auto read = decode_record(record(head, {}));
        ASSERT_EQ(read.has_value(), kind >= 1 && kind <= 11) << kind;
        EXPECT_TRUE(!read || read->head.kind == head.kind);
    }
}

TEST(Records, MayConsistOfSeveralParts) {
    const Bytes whole{1, 2, 3, 4, 5, 6};
    const std::array<ByteView, 3> parts{ByteView{whole}.first(2), ByteView{}, ByteView{whole}.subspan(2)};
    RecordHead one = kHead;
    RecordHead several = kHead;
    const ByteView view{whole};
    EXPECT_EQ(encode_head(one, std::span{&view, 1}), encode_head(several, parts));
    EXPECT_EQ(one, several);
}

/// Changes a few bytes of what an earlier call left on the stack.
[[gnu::noinline]] void spoil_stack(std::size_t where) {
    std::array<volatile std::uint8_t, 2048> room;
    for (std::size_t i = 0; i < 16; ++i) room[where + i] = static_cast<std::uint8_t>(where + i);
}

TEST(Records, HaveTheSameChecksumHoweverTheyAreCutAndWhateverWasBefore) {
    const Bytes whole(3'000, 0x5a);
    for (const std::uint64_t salt : {0UL, 1UL, 0x0123456789abcdefUL})
        for (const std::size_t size : {0U, 100U, 241U, 700U, 3'000U}) {
            const ByteView view = ByteView{whole}.first(size);
            const std::array<ByteView, 2> parts{view.first(size / 3), view.subspan(size / 3)};
            const std::uint64_t once = checksum_of(std::span{&view, 1}, salt);
            for (std::size_t where = 0; where + 16 <= 2048; where += 16) {
                (void)checksum_of(parts, salt);
                spoil_stack(where);
                ASSERT_EQ(checksum_of(parts, salt), once) << size << " bytes, salt " << salt;
            }
        }
}

TEST(Records, NoticeEveryChangedBit) {
    const Bytes payload{1, 2, 3, 4, 5};
    const Bytes bytes = record(kHead, payload, 99);
    for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
        Bytes changed = bytes;
        changed[i / 8] = static_cast<std::uint8_t>(changed[i / 8] ^ (1U << (i % 8)));
        EXPECT_FALSE(decode_record(changed, 99)) << "bit " << i;
    }
    EXPECT_EQ(decode_record(bytes, 98).error(), RecordFault::BadChecksum);  // a record of another segment
}

TEST(Records, SayWhatIsWrong) {
    const Bytes payload(40, 1);
    const Bytes good = record(kHead, payload);
    const auto fault = [&](std::size_t offset, std::uint8_t value) {
        Bytes bytes = good;
        bytes[offset] = value;
        return decode_record(bytes).error();
    };
    EXPECT_EQ(fault(0, 'X'), RecordFault::BadMagic);
    EXPECT_EQ(fault(4, 0), RecordFault::BadHead);    // no such kind
    EXPECT_EQ(fault(4, 12), RecordFault::BadHead);   // nor this
    EXPECT_EQ(fault(6, 1), RecordFault::BadHead);    // must be zero
    EXPECT_EQ(fault(12, 1), RecordFault::BadHead);   // must be zero
    EXPECT_EQ(fault(11, 1), RecordFault::BadHead);   // 16 MiB and more
    EXPECT_EQ(fault(9, 1), RecordFault::Truncated);  // longer than there is
    EXPECT_EQ(fault(16, 9), RecordFault::BadChecksum);
    EXPECT_EQ(fault(good.size() - 1, 1), RecordFault::BadChecksum);  // padding
    EXPECT_EQ(decode_record(Bytes(200)).error(), RecordFault::Empty);
    EXPECT_EQ(decode_record(Bytes(3)).error(), RecordFault::Empty);
    EXPECT_EQ(decode_record({}).error(), RecordFault::Empty);
    EXPECT_EQ(decode_record(ByteView{good}.first(20)).error(), RecordFault::Truncated);
    EXPECT_EQ(decode_record(ByteView{good}.first(good.size() - 1)).error(), RecordFault::Truncated);
}

TEST(SegmentHeads, ComeBackAndNoticeEveryChangedBit) {
    SegmentHead head{.schema = 1, .number = 77, .salt = 0x0102030405060708};
    head.chain.fill(5);
    const auto bytes = encode_head(head);
    EXPECT_EQ(decode_segment_head(bytes).value(), head);
    for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
        auto changed = bytes;
        changed[i / 8] = static_cast<std::uint8_t>(changed[i / 8] ^ (1U << (i % 8)));
        EXPECT_FALSE(decode_segment_head(changed)) << "bit " << i;
    }
    EXPECT_EQ(decode_segment_head(ByteView{bytes}.first(63)).error(), RecordFault::Truncated);
    EXPECT_EQ(decode_segment_head(Bytes(64)).error(), RecordFault::Empty);
    EXPECT_EQ(decode_segment_head({}).error(), RecordFault::Empty);
}

TEST(FactsTest, HaveOneForm) {
    Facts facts{.votes_complete = true, .vote = {1, 2, 3}};
    facts.tip.height = ledger::Height{9};
    const Bytes bytes = encode(facts);
    EXPECT_EQ(decode_facts(bytes).value(), facts);
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_facts(ByteView{bytes}.first(size)));
    Bytes changed = bytes;
    changed.push_back(0);
    EXPECT_EQ(decode_facts(changed).error(), DecodeFault::Trailing);
    changed = bytes;
    changed[120] = 3;  // neither complete, nor not complete with or without an id
    EXPECT_FALSE(decode_facts(changed));
    facts.votes_complete = false;
    EXPECT_EQ(decode_facts(encode(facts)).value(), facts);
    facts.record_id = {7};
    const Bytes named = encode(facts);
    EXPECT_EQ(decode_facts(named).value(), facts);
    for (std::size_t size = 0; size < named.size(); ++size) EXPECT_FALSE(decode_facts(ByteView{named}.first(size)));
    facts.vote.resize(kVoteBytesMax + 1);
    EXPECT_FALSE(decode_facts(encode(facts)));
}

/// Leaves rubbish where the next call's variables will be.
[[gnu::noinline]] std::size_t scribble(std::uint8_t with) {
    std::array<volatile std::uint8_t, 4096> rubbish;
    for (auto& byte : rubbish) byte = with;
    return rubbish[with % rubbish.size()];
}

TEST(Records, HaveTheSameChecksumWhateverWasOnTheStack) {
    const Bytes large(3u << 20, 7);  // long ones use a secret that is made from the salt
    const ByteView whole{large};
    const std::array<ByteView, 3> parts{whole.first(40), whole.subspan(40, 1000), whole.subspan(1040)};
    constexpr std::uint64_t kSalt = 0x123456789abcdef;
    const std::uint64_t expected = checksum_of(std::span{&whole, 1}, kSalt);
    for (std::uint8_t with = 0; with < 20; ++with) {
        EXPECT_EQ(checksum_of(parts, kSalt), expected);
        EXPECT_EQ(scribble(with), with);
        EXPECT_EQ(checksum_of(parts, kSalt), expected);
    }
}

}  // namespace
}  // namespace rhizome::store
