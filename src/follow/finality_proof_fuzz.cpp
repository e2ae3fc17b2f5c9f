// SPDX-License-Identifier: Apache-2.0
// What a full node shows a light one: the first byte says which kind of proof the rest is. What is read has one
// encoding, and judging it ends, however good the signatures.
#include "base/ensure.h"
#include "follow/light_chain.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::follow;

namespace {

/// No fuzzer finds a signature: here all are good.
class AllGood final : public consensus::Signatures {
public:
    bool is_good(const consensus::MemberKey&, const crypto::Digest&,
                 const consensus::CompactSignature&) const override {
        return true;
    }
    std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32>, ByteView,
                                                const crypto::VrfProof&) const override {
        return std::nullopt;
    }
};

}  // namespace

FUZZ_TARGET(finality_proof_fuzz) {
    if (size == 0) return 0;
    const ByteView bytes{data + 1, size - 1};
    if (data[0] % 2 == 0) {
        const auto proof = decode_finality_proof(bytes);
        if (!proof) return 0;
        ensure(encode(*proof) == to_bytes(bytes), "a proof has one encoding");
        const AllGood signatures;
        (void)LightChain::begin(proof->chain, *proof, hash_of(proof->header), signatures);
    } else if (const auto proof = decode_subtree_proof(bytes)) {
        ensure(encode(*proof) == to_bytes(bytes), "a proof has one encoding");
    }
    return 0;
}
