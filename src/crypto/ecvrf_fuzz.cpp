// SPDX-License-Identifier: Apache-2.0
// A stranger's keys and proofs. First byte 0–127: the rest is key, proof and alpha. Else: a good proof of ours for the
// alpha that follows, with some bytes changed; then it may verify only when nothing changed.
#include <algorithm>

#include "crypto/ecvrf.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::crypto;

namespace {

void strangers_bytes(ByteView input) {
    if (input.size() < 32 + 80) return;
    const VrfProof proof{input.subspan<32, 80>()};
    const auto output = proof_to_hash(proof);
    const auto key = VrfPublic::from_bytes(input.first<32>());
    if (!key) return;
    const auto verified = verify(*key, input.subspan(32 + 80), proof);
    ensure(!verified || (output && *output == *verified), "a verified output is the proof's own");
}

void changed_proof(ByteView input) {
    if (input.size() < 8) return;
    static const VrfSecret secret{SecretArray<32>{}};
    const ByteView changes = input.first(8);
    const ByteView alpha = input.subspan(8);
    const auto proof = prove(secret, alpha);
    if (!proof) {
        ensure(alpha.size() > kVrfAlphaBytesMax, "only a long alpha has no proof");
        return;
    }
    VrfProof changed = *proof;
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) changed.writable()[changes[i] % 80] ^= changes[i + 1];
    const auto verified = verify(secret.public_key(), alpha, changed);
    ensure(verified.has_value() == (changed == *proof), "a proof verifies exactly when it is unchanged");
}

}  // namespace

FUZZ_TARGET(ecvrf_fuzz) {
    if (size == 0) return 0;
    const ByteView input{data + 1, size - 1};
    if (data[0] < 128)
        strangers_bytes(input);
    else
        changed_proof(input);
    return 0;
}
