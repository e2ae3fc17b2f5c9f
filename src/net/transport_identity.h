// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crypto/derive.h"
#include "stream/certificate.h"

/// How two nodes know each other on a link. TLS shows that the peer holds the transport key of its certificate; the
/// certificate carries its chain key and that key's signature over the transport key. So who the peer is on the chain
/// is known before a byte of its is read, and nobody else has to sign anything.
namespace rhizome::net {

using ChainKey = crypto::PublicKey::Array;

/// The certificate that a node shows to its peers. Without end: it is believed for its keys, not for its dates, and a
/// machine without a battery in its clock has to find its cluster first.
Result<stream::Identity> make_transport_identity(const crypto::NodeKeys& keys);

/// The chain key of whoever showed this certificate; Denied when it names none, or one that did not sign.
Result<ChainKey> read_transport_identity(const stream::Certificate& certificate);

}  // namespace rhizome::net
