// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "crypto/ed25519.h"

namespace rhizome::crypto {
namespace {

Ed25519Secret any_secret() {
    const auto seed = *rc::gen::container<std::array<std::uint8_t, 32>>(rc::gen::arbitrary<std::uint8_t>());
    return Ed25519Secret::from_seed(seed);
}

RC_GTEST_PROP(Ed25519Property, WhatIsSignedVerifies, (const Bytes& message)) {
    const Ed25519Secret secret = any_secret();
    RC_ASSERT(verify(secret.public_key(), message, secret.sign(message).view()).has_value());
    RC_ASSERT(Ed25519Public::parse(secret.public_key().bytes()).value() == secret.public_key());
}

RC_GTEST_PROP(Ed25519Property, AFlippedBitIsRefused, (Bytes message)) {
    const Ed25519Secret secret = any_secret();
    auto key = secret.public_key().bytes();
    auto signature = secret.sign(message);
    const auto flip = [](std::span<std::uint8_t> bytes) {
        const auto bit = *rc::gen::inRange<std::size_t>(0, bytes.size() * 8);
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    };
    const int part = message.empty() ? *rc::gen::inRange(0, 2) : *rc::gen::inRange(0, 3);
    if (part == 0) flip(key);
    if (part == 1) flip(signature.writable());
    if (part == 2) flip(message);
    const auto parsed = Ed25519Public::parse(key);
    RC_ASSERT(!(parsed && verify(*parsed, message, signature.view()).has_value()));
}

}  // namespace
}  // namespace rhizome::crypto
