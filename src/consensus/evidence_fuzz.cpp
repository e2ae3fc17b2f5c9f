// SPDX-License-Identifier: Apache-2.0
// Evidence from a stranger: what is read has one form, judging it ends, and only a contradiction is ever taken, however
// good the signatures.
#include "consensus/evidence.h"

#include "base/ensure.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::consensus;

namespace {

/// No fuzzer finds a signature: here all are good.
class AllGood final : public Signatures {
public:
    bool is_good(const MemberKey&, const crypto::Digest&, const CompactSignature&) const override { return true; }
    std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32>, ByteView,
                                                const crypto::VrfProof&) const override {
        return std::nullopt;
    }
};

}  // namespace

FUZZ_TARGET(evidence_fuzz) {
    const auto document = json::parse(as_text({data, size}));
    if (!document) return 0;
    const auto evidence = from_document(*document);
    if (!evidence) return 0;
    ensure(json::Value{to_document(*evidence)} == *document, "evidence has one form");
    ensure(json::print(to_document(*evidence)).size() <= kEvidenceBytesMax, "evidence is small");
    (void)time_of(*evidence, milliseconds{250});
    if (!check_evidence(*evidence, {}, AllGood{})) return 0;
    if (const auto* votes = std::get_if<std::array<Vote, 2>>(&evidence->proof)) {
        ensure(contradiction((*votes)[0], (*votes)[1]).has_value(), "taken votes contradict each other");
    } else {
        const auto& [first, second] = std::get<std::array<SignedHeader, 2>>(evidence->proof);
        ensure(first.header.previous == second.header.previous && !first.header.previous.is_zero() &&
                   hash_of(first.header) != hash_of(second.header),
               "taken headers are two on one parent");
    }
    return 0;
}
