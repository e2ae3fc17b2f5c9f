// SPDX-License-Identifier: Apache-2.0
// Reads a stranger's bytes as a public key in every way there is, and checks a signature under what comes out. An
// accepted key is its own encoding, and a key from one form is the same from the other.
#include <algorithm>

#include "crypto/ed25519.h"
#include "crypto/keys.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::crypto;

namespace {

bool same(ByteView left, ByteView right) { return std::equal(left.begin(), left.end(), right.begin(), right.end()); }

/// A well-formed signature that no key made on purpose: r = s = 1.
constexpr std::uint8_t kDer[] = {0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01};

}  // namespace

FUZZ_TARGET(public_key_fuzz) {
    const ByteView input{data, size};
    const Digest digest = sha256(input);

    const auto key = PublicKey::parse(input);
    const auto verdict = verify_der(input, digest, kDer);
    ensure(verdict || (verdict.error() == SignatureFault::BadKey) == !key, "both ways to read a key agree");
    if (key) {
        ensure(same(key->bytes(), input), "a compressed key is its own encoding");
        const auto again = verify(*key, digest, *Signature::from_der(kDer));
        ensure(again.has_value() == verdict.has_value(), "a parsed key and its bytes verify alike");
    } else {
        ensure(key.error() == SignatureFault::BadKey, "a refused key is a bad key");
    }

    if (const auto uncompressed = PublicKey::parse_uncompressed(input)) {
        ensure(size == 65 && data[0] == 4, "only the plain uncompressed form");
        ensure(same(ByteView{uncompressed->bytes()}.subspan(1), input.subspan(1, 32)), "x is kept");
        ensure(uncompressed->bytes()[0] == 2 + (data[64] & 1), "the sign is that of y");
        ensure(PublicKey::parse(uncompressed->bytes()).value() == *uncompressed, "the short form names the same key");
    }

    if (const auto edwards = Ed25519Public::parse(input)) {
        ensure(same(edwards->bytes(), input), "an Ed25519 key is its own encoding");
        const Ed25519Signature zeros;
        ensure(!verify(*edwards, input, zeros.view()), "zeros are no signature");
    }
    return 0;
}
