// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "crypto/hash.h"
#include "crypto/key_bytes.h"
#include "ledger/member.h"
#include "ledger/signature_cache.h"

/// Who checks and who makes the signatures and proofs of consensus: handed in, so that the simulator can run hundreds
/// of members without paying for curves, and a node's secrets stay behind one door.
namespace rhizome::consensus {

using crypto::CompactSignature;
using ledger::MemberKey;

class Signatures {
public:
    virtual ~Signatures() = default;
    [[nodiscard]] virtual bool is_good(const MemberKey& key, const crypto::Digest& digest,
                                       const CompactSignature& signature) const = 0;
    /// What `proof` proves for `alpha` under a member's VRF key; nothing when it proves nothing.
    [[nodiscard]] virtual std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32> key,
                                                                      ByteView alpha,
                                                                      const crypto::VrfProof& proof) const = 0;
};

/// The curves themselves. Any thread.
class CurveSignatures final : public Signatures {
public:
    [[nodiscard]] bool is_good(const MemberKey& key, const crypto::Digest& digest,
                               const CompactSignature& signature) const override;
    [[nodiscard]] std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                              const crypto::VrfProof& proof) const override;
};

/// Asks another once for each good signature: votes are checked when they arrive and again in the block that carries
/// them. Bounded; bad ones are not kept. Confined to one thread. Borrows `inner`.
class RememberedSignatures final : public Signatures {
public:
    explicit RememberedSignatures(const Signatures& inner, std::size_t generation_max = 20'000)
        : inner_(inner), known_(generation_max) {}
    [[nodiscard]] bool is_good(const MemberKey& key, const crypto::Digest& digest,
                               const CompactSignature& signature) const override;
    [[nodiscard]] std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32> key, ByteView alpha,
                                                              const crypto::VrfProof& proof) const override;
    /// Somebody else checked it: another thread of the host.
    void remember(const MemberKey& key, const crypto::Digest& digest, const CompactSignature& signature) const;
    [[nodiscard]] bool knows(const MemberKey& key, const crypto::Digest& digest,
                             const CompactSignature& signature) const;

private:
    const Signatures& inner_;
    mutable ledger::SignatureCache known_;
};

/// What a member signs with.
class Signer {
public:
    virtual ~Signer() = default;
    [[nodiscard]] virtual const MemberKey& key() const = 0;
    [[nodiscard]] virtual CompactSignature sign(const crypto::Digest& digest) const = 0;
    [[nodiscard]] virtual crypto::VrfProof prove(ByteView alpha) const = 0;
};

/// A node's own keys. Borrows them.
class KeySigner final : public Signer {
public:
    explicit KeySigner(const crypto::NodeKeys& keys);
    [[nodiscard]] const MemberKey& key() const override { return key_; }
    [[nodiscard]] CompactSignature sign(const crypto::Digest& digest) const override;
    [[nodiscard]] crypto::VrfProof prove(ByteView alpha) const override;

private:
    const crypto::NodeKeys& keys_;
    MemberKey key_;
};

}  // namespace rhizome::consensus
