// SPDX-License-Identifier: Apache-2.0
#include "crypto/seal.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome::crypto {
namespace {

X25519Secret secret_of(std::uint64_t number) {
    SecretArray<32> bytes;
    Random{number}.fill(bytes.writable());
    return X25519Secret{std::move(bytes)};
}

std::array<std::uint8_t, kSealEntropyBytes> entropy_of(std::uint8_t fill) {
    std::array<std::uint8_t, kSealEntropyBytes> entropy;
    entropy.fill(fill);
    return entropy;
}

const Bytes kPlain = to_bytes(as_bytes("correct horse battery staple"));
const Bytes kPlace = to_bytes(as_bytes("default/secrets/db"));

TEST(Seal, EveryRecipientOpensAndNobodyElse) {
    std::vector<X25519Public> recipients;
    for (std::uint64_t i = 0; i < 20; ++i) recipients.push_back(secret_of(i).public_key());
    const auto envelope = seal(kPlain, recipients, kPlace, entropy_of(1));
    ASSERT_TRUE(envelope);
    for (std::uint64_t i = 0; i < 20; ++i) {
        const auto opened = open(*envelope, secret_of(i), kPlace);
        ASSERT_TRUE(opened);
        EXPECT_EQ(to_bytes(opened->view()), kPlain);
    }
    EXPECT_EQ(open(*envelope, secret_of(20), kPlace).error(), SealFault::NotForMe);
}

TEST(Seal, OrderAndRepetitionOfRecipientsDoNotCount) {
    const auto a = secret_of(1).public_key();
    const auto b = secret_of(2).public_key();
    const std::vector<X25519Public> once{a, b};
    const std::vector<X25519Public> twice{b, a, b, b};
    EXPECT_EQ(*seal(kPlain, once, kPlace, entropy_of(1)), *seal(kPlain, twice, kPlace, entropy_of(1)));
}

TEST(Seal, NothingCanBeSealedWithNothingAssociated) {
    const X25519Secret secret = secret_of(1);
    const auto envelope = seal({}, {{secret.public_key()}}, {}, entropy_of(1));
    ASSERT_TRUE(envelope);
    const auto opened = open(*envelope, secret, {});
    ASSERT_TRUE(opened);
    EXPECT_TRUE(opened->empty());
}

TEST(Seal, ARecipientCannotBeToldFromTheEnvelope) {
    const auto recipient = secret_of(1).public_key();
    const auto envelope = *seal(kPlain, {{recipient}}, kPlace, entropy_of(1));
    const std::string hex = to_hex(envelope);
    EXPECT_EQ(hex.find(to_hex(recipient.view().first<8>())), std::string::npos);
    EXPECT_EQ(hex.find(to_hex(kPlain)), std::string::npos);
}

// A machine started twice from one image has the same entropy once; two messages must not share a key stream then.
TEST(Seal, RepeatedEntropyDoesNotRepeatKeys) {
    const std::vector<X25519Public> recipients{secret_of(1).public_key()};
    const Bytes other_plain(kPlain.size(), 'x');
    const auto one = *seal(kPlain, recipients, kPlace, entropy_of(1));
    const auto two = *seal(other_plain, recipients, kPlace, entropy_of(1));
    const auto three = *seal(kPlain, recipients, Bytes{1}, entropy_of(1));
    const auto ephemeral = [](const Bytes& envelope) { return to_hex(ByteView{envelope}.subspan(5, 32)); };
    EXPECT_NE(ephemeral(one), ephemeral(two));
    EXPECT_NE(ephemeral(one), ephemeral(three));
}

TEST(Seal, RefusesWhatItCannotSeal) {
    const auto good = secret_of(1).public_key();
    const auto seal_to = [](std::vector<X25519Public> recipients) {
        return seal(kPlain, recipients, kPlace, entropy_of(1));
    };
    EXPECT_EQ(seal_to({}).error(), SealFault::BadRecipient);
    EXPECT_EQ(seal_to({good, X25519Public{}}).error(), SealFault::BadRecipient);
    X25519Public base_point_plus_p;
    base_point_plus_p.writable()[0] = 0xed + 9;
    for (std::size_t i = 1; i < 32; ++i) base_point_plus_p.writable()[i] = i == 31 ? 0x7f : 0xff;
    EXPECT_EQ(seal_to({base_point_plus_p}).error(), SealFault::BadRecipient);

    const std::vector<X25519Public> one{good};
    EXPECT_EQ(seal(Bytes(kSealPlaintextBytesMax + 1), one, kPlace, entropy_of(1)).error(), SealFault::TooLarge);
    EXPECT_EQ(seal(kPlain, one, Bytes(kSealAssociatedBytesMax + 1), entropy_of(1)).error(), SealFault::TooLarge);
    std::vector<X25519Public> many(kSealRecipientsMax + 1);
    for (std::size_t i = 0; i < many.size(); ++i) {
        many[i].writable()[0] = static_cast<std::uint8_t>(i);
        many[i].writable()[1] = static_cast<std::uint8_t>(i >> 8);
    }
    EXPECT_EQ(seal_to(many).error(), SealFault::TooLarge);
}

TEST(Seal, TheLargestEnvelopeIsWithinTheStatedBound) {
    const X25519Secret secret = secret_of(1);
    const Bytes plain(kSealPlaintextBytesMax, 'p');
    const auto envelope = seal(plain, {{secret.public_key()}}, Bytes(kSealAssociatedBytesMax), entropy_of(1));
    ASSERT_TRUE(envelope);
    EXPECT_LE(envelope->size() + (kSealRecipientsMax - 1) * 56 + 1, kSealEnvelopeBytesMax);
    const auto opened = open(*envelope, secret, Bytes(kSealAssociatedBytesMax));
    ASSERT_TRUE(opened);
    EXPECT_EQ(to_bytes(opened->view()), plain);
    EXPECT_EQ(open(Bytes(kSealEnvelopeBytesMax + 1), secret, {}).error(), SealFault::TooLarge);
    EXPECT_EQ(open(*envelope, secret, Bytes(kSealAssociatedBytesMax + 1)).error(), SealFault::TooLarge);
}

TEST(Seal, EverySingleBitCounts) {
    const X25519Secret first = secret_of(1);
    const std::vector<X25519Public> recipients{first.public_key(), secret_of(2).public_key()};
    Bytes envelope = *seal(Bytes{1, 2, 3}, recipients, kPlace, entropy_of(1));
    for (std::size_t bit = 0; bit < envelope.size() * 8; ++bit) {
        envelope[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        EXPECT_FALSE(open(envelope, first, kPlace)) << "bit " << bit;
        envelope[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    }
    EXPECT_TRUE(open(envelope, first, kPlace));
}

TEST(Seal, EveryPrefixIsRefused) {
    const X25519Secret secret = secret_of(1);
    const Bytes envelope = *seal(kPlain, {{secret.public_key()}}, kPlace, entropy_of(1));
    for (std::size_t size = 0; size < envelope.size(); ++size)
        EXPECT_EQ(open(ByteView{envelope}.first(size), secret, kPlace).error(), SealFault::BadEncoding);
}

}  // namespace
}  // namespace rhizome::crypto
