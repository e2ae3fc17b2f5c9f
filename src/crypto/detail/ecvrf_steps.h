// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "crypto/ecvrf.h"

/// The inner steps of `prove`, apart so that the RFC's intermediate values can be tested. Not for callers: a nonce that
/// leaks gives the key away.
namespace rhizome::crypto::detail {

using VrfPoint = std::array<std::uint8_t, 32>;  ///< an encoded point of the prime-order subgroup
using VrfScalar = SecretArray<32>;              ///< little-endian, below q

struct VrfCandidate {
    VrfPoint point;        ///< H
    std::uint8_t counter;  ///< the try that hit
};

/// ECVRF_encode_to_curve_try_and_increment: H for a key (its bytes are the salt) and alpha.
Result<VrfCandidate, VrfFault> vrf_encode_to_curve(std::span<const std::uint8_t, 32> key, ByteView alpha);

/// ECVRF_nonce_generation_RFC8032: k for a seed and H.
VrfScalar vrf_nonce(const SecretArray<32>& seed, const VrfPoint& h);

/// U = k·B and V = k·H.
struct VrfCommitment {
    VrfPoint u;
    VrfPoint v;
};
VrfCommitment vrf_commit(const VrfScalar& k, const VrfPoint& h);

/// The canonical encoding of a point other than the identity in the subgroup of prime order.
bool vrf_is_good_point(std::span<const std::uint8_t, 32> encoded);

}  // namespace rhizome::crypto::detail
