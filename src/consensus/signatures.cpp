// SPDX-License-Identifier: Apache-2.0
#include "consensus/signatures.h"

#include "base/ensure.h"
#include "crypto/derive.h"

namespace rhizome::consensus {

bool CurveSignatures::is_good(const MemberKey& key, const crypto::Digest& digest,
                              const CompactSignature& signature) const {
    const auto point = crypto::PublicKey::parse(key);
    const auto numbers = crypto::Signature::from_compact(signature);
    return point && numbers && crypto::verify(*point, digest, *numbers);
}

std::optional<crypto::VrfOutput> CurveSignatures::vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                             const crypto::VrfProof& proof) const {
    const auto point = crypto::VrfPublic::from_bytes(key);
    if (!point) return std::nullopt;
    const auto output = crypto::verify(*point, alpha, proof);
    if (!output) return std::nullopt;
    return *output;
}

bool RememberedSignatures::is_good(const MemberKey& key, const crypto::Digest& digest,
                                   const CompactSignature& signature) const {
    const auto name = ledger::SignatureCache::key_of(digest, key, signature);
    if (known_.contains(name)) return true;
    if (!inner_.is_good(key, digest, signature)) return false;
    known_.insert(name);
    return true;
}

std::optional<crypto::VrfOutput> RememberedSignatures::vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                                  const crypto::VrfProof& proof) const {
    return inner_.vrf_output(key, alpha, proof);  // one in a block: not worth a memory
}

void RememberedSignatures::remember(const MemberKey& key, const crypto::Digest& digest,
                                    const CompactSignature& signature) const {
    known_.insert(ledger::SignatureCache::key_of(digest, key, signature));
}

bool RememberedSignatures::knows(const MemberKey& key, const crypto::Digest& digest,
                                 const CompactSignature& signature) const {
    return known_.contains(ledger::SignatureCache::key_of(digest, key, signature));
}

KeySigner::KeySigner(const crypto::NodeKeys& keys) : keys_(keys), key_(keys.chain.public_key().bytes()) {}

CompactSignature KeySigner::sign(const crypto::Digest& digest) const {
    return crypto::sign(keys_.chain, digest).to_compact();
}

crypto::VrfProof KeySigner::prove(ByteView alpha) const {
    auto proof = crypto::prove(keys_.vrf, alpha);
    ensure(proof.has_value(), "a seed can be proved over");
    return *proof;
}

}  // namespace rhizome::consensus
