// SPDX-License-Identifier: Apache-2.0
#include "crypto/hash.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "crypto/detail/sha256_engine.h"

namespace rhizome::crypto {
namespace {

// FIPS 180-2 and the papers of RIPEMD-160 have these values; longer lists are in tests/vectors/crypto/hash.json.
TEST(Hash, KnownAnswers) {
    EXPECT_EQ(sha256(as_bytes("abc")).hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(ByteView{}).hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha1(as_bytes("abc")).hex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(ripemd160(as_bytes("abc")).hex(), "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
    EXPECT_EQ(sha512(as_bytes("abc")).hex(),
              "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
              "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

TEST(Hash, PartsHashLikeTheirConcatenation) {
    EXPECT_EQ(sha256(as_bytes("a"), as_bytes("bc")), sha256(as_bytes("abc")));
    EXPECT_EQ(sha256(as_bytes("a"), ByteView{}, as_bytes("b"), as_bytes("c")), sha256(as_bytes("abc")));
    EXPECT_EQ(hmac_sha256(as_bytes("key"), {as_bytes("ab"), as_bytes("c")}),
              hmac_sha256(as_bytes("key"), as_bytes("abc")));
}

TEST(Hash, FinishingChangesNothing) {
    Sha256 hasher;
    hasher.update(as_bytes("ab"));
    EXPECT_EQ(hasher.finish(), sha256(as_bytes("ab")));
    EXPECT_EQ(hasher.finish(), sha256(as_bytes("ab")));
    EXPECT_EQ(hasher.update(as_bytes("c")).finish(), sha256(as_bytes("abc")));
}

TEST(Hash, ACopyIsAMidstate) {
    const std::string front(100, 'x');
    Sha256 common;
    common.update(as_bytes(front));
    Sha256 copy = common;
    EXPECT_EQ(copy.update(as_bytes("1")).finish(), sha256(as_bytes(front + "1")));
    EXPECT_EQ(common.update(as_bytes("2")).finish(), sha256(as_bytes(front + "2")));
}

TEST(Hash, TagsSeparatePurposes) {
    const auto message = as_bytes("same");
    EXPECT_NE(tagged_hash(HashTag::Seal, message), tagged_hash(HashTag::KeyFile, message));
    EXPECT_NE(tagged_hash(HashTag::Seal, message), sha256(message));
    EXPECT_EQ(tagged_hash(HashTag::Seal, as_bytes("sa"), as_bytes("me")), tagged_hash(HashTag::Seal, message));
}

TEST(Hash, ManyNoncesOfOneHeader) {
    std::array<std::uint8_t, 161> header;
    Random{1}.fill(header);
    const Sha256Midstate midstate{ByteView{header}.first(128)};
    const ByteView tail = ByteView{header}.subspan(128);
    EXPECT_EQ(midstate.finish(tail), sha256(header));
    for (const std::size_t count : {0, 1, 2, 3, 8}) {
        std::vector<Hash256> hashes(count);
        const std::uint64_t first = UINT64_MAX - 1;  // goes past the end
        midstate.finish_nonces(tail, first, hashes);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t nonce = first + i;
            for (unsigned byte = 0; byte < 8; ++byte) {
                header[153 + byte] = static_cast<std::uint8_t>(nonce >> (8 * byte));
            }
            EXPECT_EQ(hashes[i], sha256(header)) << "nonce " << nonce;
        }
    }
}

TEST(Hash, MidstatesOfAnyFrontAndTail) {
    Bytes message(64 * 3 + Sha256Midstate::kTailBytesMax);
    Random{2}.fill(message);
    for (std::size_t front = 0; front <= 192; front += 64) {
        const Sha256Midstate midstate{ByteView{message}.first(front)};
        for (std::size_t tail = 0; tail <= Sha256Midstate::kTailBytesMax; ++tail) {
            EXPECT_EQ(midstate.finish(ByteView{message}.subspan(front, tail)),
                      sha256(ByteView{message}.first(front + tail)));
        }
    }
}

TEST(HashDeathTest, MidstatesStandBetweenBlocks) {
    const Bytes bytes(200);
    EXPECT_DEATH(Sha256Midstate{ByteView{bytes}.first(63)}, "between two blocks");
    const Sha256Midstate midstate{ByteView{bytes}.first(64)};
    EXPECT_DEATH((void)midstate.finish(ByteView{bytes}.first(56)), "fits one block");
    std::array<Hash256, 1> out;
    EXPECT_DEATH(midstate.finish_nonces(ByteView{bytes}.first(7), 0, out), "room for a nonce");
    EXPECT_DEATH(sha256_many(bytes, 100, out), "as many messages");
}

// ---- the implementations ----------------------------------------------------------------------------------------

TEST(Sha256Engines, TheSpecsExampleOnEach) {
    for (const detail::Sha256Engine* engine : {&detail::openssl_engine(), detail::sha_ni_engine()}) {
        if (engine == nullptr) continue;
        SCOPED_TRACE(engine->name);
        const detail::EngineForTest use{*engine};
        EXPECT_STREQ(detail::engine().name, engine->name);
        EXPECT_EQ(sha256(as_bytes("abc")).hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).hex(),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}

TEST(Sha256Engines, AgreeOnRandomBlocks) {
    const detail::Sha256Engine* fast = detail::sha_ni_engine();
    if (fast == nullptr) GTEST_SKIP() << "this processor has no SHA instructions: there is one implementation only";
    const detail::Sha256Engine& plain = detail::openssl_engine();
    Random random{256};
    for (int round = 0; round < 2000; ++round) {
        const std::size_t blocks = random.below(5);
        Bytes one(64 * blocks + 1), two(64 * blocks + 1);  // the extra byte lets the data start at odd addresses
        random.fill(one);
        random.fill(two);
        const std::size_t offset = random.below(2);
        std::array<std::uint32_t, 8> start_a, start_b;
        for (auto& word : start_a) word = static_cast<std::uint32_t>(random.next());
        for (auto& word : start_b) word = static_cast<std::uint32_t>(random.next());

        auto expected_a = start_a, expected_b = start_b;
        plain.compress(expected_a.data(), one.data() + offset, blocks);
        plain.compress(expected_b.data(), two.data() + offset, blocks);

        auto a = start_a, b = start_b;
        fast->compress(a.data(), one.data() + offset, blocks);
        EXPECT_EQ(a, expected_a);
        a = start_a;
        fast->compress_two(a.data(), one.data() + offset, b.data(), two.data() + offset, blocks);
        EXPECT_EQ(a, expected_a);
        EXPECT_EQ(b, expected_b);
        a = start_a, b = start_b;
        plain.compress_two(a.data(), one.data() + offset, b.data(), two.data() + offset, blocks);
        EXPECT_EQ(a, expected_a);
        EXPECT_EQ(b, expected_b);
    }
}

}  // namespace
}  // namespace rhizome::crypto
