// SPDX-License-Identifier: Apache-2.0
// Reads a stranger's bytes as a DER signature. What is accepted encodes back to the same bytes, and libsecp256k1's own
// parser agrees exactly, once its documented laxness is accounted for: it takes well-formed DER of any size, and
// negative numbers, and puts zero in the place of a number that is out of range. So: we accept if and only if it
// accepts and neither of its numbers is zero.
#include <algorithm>

#include <secp256k1.h>

#include "crypto/keys.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::crypto;

FUZZ_TARGET(der_fuzz) {
    const ByteView input{data, size};
    const auto ours = Signature::from_der(input);

    secp256k1_ecdsa_signature parsed;
    Signature::Compact numbers{};
    const bool theirs = secp256k1_ecdsa_signature_parse_der(secp256k1_context_static, &parsed, data, size) == 1;
    if (theirs) secp256k1_ecdsa_signature_serialize_compact(secp256k1_context_static, numbers.data(), &parsed);
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    const bool has_zero = std::all_of(numbers.begin(), numbers.begin() + 32, is_zero) ||
                          std::all_of(numbers.begin() + 32, numbers.end(), is_zero);

    ensure(ours.has_value() == (theirs && !has_zero), "both parsers take the same signatures");
    if (!ours) {
        ensure(ours.error() == SignatureFault::BadDer || ours.error() == SignatureFault::OutOfRange,
               "a refusal says whether form or range is wrong");
        ensure(ours.error() != SignatureFault::OutOfRange || theirs, "what is only out of range is well-formed DER");
        return 0;
    }
    ensure(ours->to_compact() == numbers, "both parsers read the same numbers");
    const Bytes again = ours->to_der();
    ensure(std::equal(again.begin(), again.end(), input.begin(), input.end()), "only canonical DER is accepted");

    secp256k1_ecdsa_signature low;
    const bool was_high = secp256k1_ecdsa_signature_normalize(secp256k1_context_static, &low, &parsed) == 1;
    secp256k1_ecdsa_signature_serialize_compact(secp256k1_context_static, numbers.data(), &low);
    ensure(ours->is_low_s() == !was_high, "both agree on what is low");
    ensure(ours->normalized().to_compact() == numbers, "both normalise alike");
    return 0;
}
