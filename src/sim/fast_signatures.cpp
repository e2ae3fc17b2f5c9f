// SPDX-License-Identifier: Apache-2.0
#include "sim/fast_signatures.h"

#include <algorithm>
#include <cstring>

namespace rhizome::sim {
namespace {

consensus::CompactSignature fast_sign(const consensus::MemberKey& key, const crypto::Digest& digest) {
    // Four words of the digest and the key, each spread over 64 bits: as many different signatures as there are things
    // to sign, for a tenth of a hash's price. Every machine checks every vote.
    std::uint64_t words[8]{};
    std::memcpy(words, digest.view().data(), 32);
    std::memcpy(words + 4, key.data() + 1, 32);
    std::uint64_t sum = key[0];
    consensus::CompactSignature signature{};
    for (std::size_t i = 0; i < 8; ++i) {
        sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
        if (i >= 4) std::memcpy(signature.data() + 8 * (i - 4), &sum, sizeof sum);
    }
    return signature;
}

crypto::VrfProof fast_prove(ByteView key, ByteView alpha) {
    crypto::VrfProof proof;
    const auto hash = crypto::sha256(key, alpha);
    std::copy(hash.view().begin(), hash.view().end(), proof.writable().begin());
    return proof;
}

}  // namespace

bool FastSignatures::is_good(const consensus::MemberKey& key, const crypto::Digest& digest,
                             const consensus::CompactSignature& signature) const {
    return signature == fast_sign(key, digest);
}

std::optional<crypto::VrfOutput> FastSignatures::vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                            const crypto::VrfProof& proof) const {
    if (proof != fast_prove(key, alpha)) return std::nullopt;
    crypto::VrfOutput output;
    std::copy_n(proof.view().begin(), output.view().size(), output.writable().begin());
    return output;
}

consensus::CompactSignature FastSigner::sign(const crypto::Digest& digest) const { return fast_sign(key_, digest); }
crypto::VrfProof FastSigner::prove(ByteView alpha) const { return fast_prove(vrf_, alpha); }

}  // namespace rhizome::sim
