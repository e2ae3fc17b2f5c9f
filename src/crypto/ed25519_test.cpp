// SPDX-License-Identifier: Apache-2.0
#include "crypto/ed25519.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "crypto/hash.h"

namespace rhizome::crypto {
namespace {

Ed25519Secret secret_of(std::string_view text) { return Ed25519Secret::from_seed(sha256(as_bytes(text)).view()); }

TEST(Ed25519, ASecretIsCopiedOnlyByClone) {
    static_assert(!std::is_copy_constructible_v<Ed25519Secret> && !std::is_copy_assignable_v<Ed25519Secret>);
    static_assert(!fmt::is_formattable<Ed25519Secret>::value);
    const Ed25519Secret alice = secret_of("alice");
    EXPECT_EQ(alice.clone(), alice);
    EXPECT_FALSE(alice == secret_of("bob"));
    EXPECT_EQ(to_hex(alice.reveal()), sha256(as_bytes("alice")).hex());
}

TEST(Ed25519, SignsAndVerifies) {
    const Ed25519Secret alice = secret_of("alice");
    const auto signature = alice.sign(as_bytes("text"));
    EXPECT_TRUE(verify(alice.public_key(), as_bytes("text"), signature.view()));
    EXPECT_EQ(verify(alice.public_key(), as_bytes("other"), signature.view()).error(), SignatureFault::WrongSignature);
    EXPECT_EQ(verify(secret_of("bob").public_key(), as_bytes("text"), signature.view()).error(),
              SignatureFault::WrongSignature);
}

TEST(Ed25519, ThePublicKeyOfASeedParses) {
    const Ed25519Public key = secret_of("alice").public_key();
    EXPECT_EQ(Ed25519Public::parse(key.bytes()).value(), key);
}

TEST(Ed25519DeathTest, AMovedSecretDoesNotSign) {
    Ed25519Secret alice = secret_of("alice");
    const Ed25519Secret taken = std::move(alice);
    EXPECT_DEATH((void)alice.sign(as_bytes("text")), "moved from");  // NOLINT
    EXPECT_DEATH((void)alice.public_key(), "moved from");            // NOLINT
}

}  // namespace
}  // namespace rhizome::crypto
