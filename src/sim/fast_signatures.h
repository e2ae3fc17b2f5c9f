// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/signatures.h"

/// Signatures that cost a hash: anybody could forge them, and nobody in the simulation does. A hundred thousand events
/// a second leave no room for curves; the rules around them are the real ones.
namespace rhizome::sim {

class FastSignatures final : public consensus::Signatures {
public:
    [[nodiscard]] bool is_good(const consensus::MemberKey& key, const crypto::Digest& digest,
                               const consensus::CompactSignature& signature) const override;
    [[nodiscard]] std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                              const crypto::VrfProof& proof) const override;
};

class FastSigner final : public consensus::Signer {
public:
    FastSigner(const consensus::MemberKey& key, const std::array<std::uint8_t, 32>& vrf) : key_(key), vrf_(vrf) {}
    [[nodiscard]] const consensus::MemberKey& key() const override { return key_; }
    [[nodiscard]] consensus::CompactSignature sign(const crypto::Digest& digest) const override;
    [[nodiscard]] crypto::VrfProof prove(ByteView alpha) const override;

private:
    consensus::MemberKey key_;
    std::array<std::uint8_t, 32> vrf_;
};

}  // namespace rhizome::sim
