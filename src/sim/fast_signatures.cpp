// SPDX-License-Identifier: Apache-2.0
#include "sim/fast_signatures.h"

#include <algorithm>

namespace rhizome::sim {
namespace {

consensus::CompactSignature fast_sign(const consensus::MemberKey& key, const crypto::Digest& digest) {
    consensus::CompactSignature signature{};
    const auto hash = crypto::sha256(ByteView{key}, digest.view());
    std::copy(hash.view().begin(), hash.view().end(), signature.begin());
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
