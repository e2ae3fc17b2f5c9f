// SPDX-License-Identifier: Apache-2.0
#include "crypto/keys.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace rhizome::crypto {
namespace {

SecretKey secret_of(std::string_view text) { return *SecretKey::from_bytes(sha256(as_bytes(text)).view()); }
Digest digest_of(std::string_view text) { return sha256(as_bytes(text)); }

/// Cuts the work into ranges of three and does them from the last to the first: an order no caller may rely on.
class Backwards final : public Parallel {
public:
    [[nodiscard]] unsigned width() const override { return 3; }
    void for_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) override {
        for (std::size_t end = count; end > 0;) {
            const std::size_t begin = end < 3 ? 0 : end - 3;
            piece(begin, end);
            end = begin;
        }
    }
};

TEST(Keys, ASecretKeyIsCopiedOnlyByClone) {
    static_assert(!std::is_copy_constructible_v<SecretKey> && !std::is_copy_assignable_v<SecretKey>);
    static_assert(!fmt::is_formattable<SecretKey>::value);
    const SecretKey alice = secret_of("alice");
    EXPECT_EQ(alice.clone(), alice);
    EXPECT_FALSE(alice == secret_of("bob"));
}

TEST(Keys, AMovedSecretLeavesZerosBehind) {
    SecretKey alice = secret_of("alice");
    const SecretKey taken = std::move(alice);
    EXPECT_EQ(taken, secret_of("alice"));
    EXPECT_EQ(to_hex(alice.reveal()), std::string(64, '0'));  // NOLINT: what is left is the point
}

TEST(KeysDeathTest, AMovedSecretDoesNotSign) {
    SecretKey alice = secret_of("alice");
    const SecretKey taken = std::move(alice);
    EXPECT_DEATH((void)sign(alice, digest_of("text")), "not moved from");  // NOLINT
    EXPECT_DEATH((void)alice.public_key(), "not moved from");              // NOLINT
}

TEST(Keys, PublicKeysOrderByTheirBytes) {
    const PublicKey alice = secret_of("alice").public_key(), bob = secret_of("bob").public_key();
    EXPECT_NE(alice, bob);
    EXPECT_EQ(alice < bob, alice.bytes() < bob.bytes());
    EXPECT_EQ(alice.address(), hash160(alice.bytes()));
}

TEST(Keys, VerifyDerAndVerifyAllAgreeWithVerify) {
    const SecretKey alice = secret_of("alice");
    const PublicKey key = alice.public_key();
    const Signature signature = sign(alice, digest_of("text"));
    EXPECT_TRUE(verify(key, digest_of("text"), signature));
    EXPECT_TRUE(verify_der(key.bytes(), digest_of("text"), signature.to_der()));
    EXPECT_EQ(verify(key, digest_of("other"), signature).error(), SignatureFault::WrongSignature);
}

TEST(Keys, BatchVerdictsKeepTheOrderOfTheJobs) {
    const SecretKey alice = secret_of("alice");
    const Bytes good = sign(alice, digest_of("text")).to_der();
    const Bytes broken = {0x30, 0x00};
    std::vector<VerifyJob> jobs;
    for (std::size_t i = 0; i < 20; ++i) {
        VerifyJob job{digest_of("text"), alice.public_key().bytes(), good};
        if (i % 4 == 1) job.der = broken;
        if (i % 4 == 2) job.key[0] = 0x05;
        if (i % 4 == 3) job.digest = digest_of("other");
        jobs.push_back(job);
    }
    Backwards backwards;
    Inline alone;
    const auto verdicts = verify_all(jobs, backwards);
    ASSERT_EQ(verdicts.size(), jobs.size());
    EXPECT_EQ(verdicts, verify_all(jobs, alone));
    for (std::size_t i = 0; i < jobs.size(); i += 4) {
        EXPECT_TRUE(verdicts[i]);
        EXPECT_EQ(verdicts[i + 1].error(), SignatureFault::BadDer);
        EXPECT_EQ(verdicts[i + 2].error(), SignatureFault::BadKey);
        EXPECT_EQ(verdicts[i + 3].error(), SignatureFault::WrongSignature);
    }
    EXPECT_TRUE(verify_all({}, backwards).empty());
}

TEST(Keys, BlindingNeverShowsInWhatIsSigned) {
    const SecretKey alice = secret_of("alice");
    SigningContext context{digest_of("first entropy").view()};
    const Signature first = context.sign(alice, digest_of("text"));
    context.reblind(digest_of("second entropy").view());
    EXPECT_EQ(context.sign(alice, digest_of("text")), first);
    EXPECT_EQ(sign(alice, digest_of("text")), first);
    EXPECT_EQ(context.public_key(alice), alice.public_key());
    const SigningContext moved = std::move(context);
    EXPECT_EQ(moved.sign(alice, digest_of("text")), first);
}

TEST(Keys, FaultsHaveNamesAndSentences) {
    std::set<std::string_view> names;
    std::set<std::string> sentences;
    for (const auto fault :
         {SignatureFault::BadSecret, SignatureFault::BadKey, SignatureFault::BadLength, SignatureFault::BadDer,
          SignatureFault::OutOfRange, SignatureFault::HighS, SignatureFault::WrongSignature}) {
        names.insert(name(fault));
        sentences.insert(to_error(fault).message);
    }
    EXPECT_EQ(names.size(), 7u);
    EXPECT_EQ(sentences.size(), 7u);
    const Error error = SignatureFault::HighS;
    EXPECT_EQ(error.kind, ErrorKind::Invalid);
}

}  // namespace
}  // namespace rhizome::crypto
