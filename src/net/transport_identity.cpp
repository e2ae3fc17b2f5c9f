// SPDX-License-Identifier: Apache-2.0
#include "net/transport_identity.h"

namespace rhizome::net {
namespace {

/// A number of our own, made from a random UUID (ITU-T X.667), so that nobody had to be asked for it.
constexpr std::string_view kExtension = "2.25.213968152704612348821137955372846281339";
constexpr Time kBegin = Time::from_unix_seconds(0);
constexpr Time kEnd = Time::from_unix_seconds(253'402'300'799);  ///< 9999-12-31: "no well-defined end" (RFC 5280)
constexpr std::size_t kSignatureBytes = std::tuple_size_v<crypto::Signature::Compact>;

crypto::Digest transport_digest(ByteView transport) {
    return crypto::Digest{crypto::tagged_hash(crypto::HashTag::Transport, transport).view()};
}

}  // namespace

Result<stream::Identity> make_transport_identity(const crypto::NodeKeys& keys) {
    const crypto::NodePublicKeys known = keys.public_keys();
    Bytes value = to_bytes(known.chain.bytes());
    const auto signature = crypto::sign(keys.chain, transport_digest(known.transport.bytes())).to_compact();
    value.insert(value.end(), signature.begin(), signature.end());
    TRY(auto key, stream::PrivateKey::from(keys.transport));
    stream::CertificateSpec spec;
    spec.common_name = "rhizome-" + to_hex(known.chain.bytes()).substr(0, 16);
    spec.not_before = kBegin;
    spec.not_after = kEnd;
    spec.extensions = {{.oid = std::string{kExtension}, .value = std::move(value)}};
    TRY(auto certificate, stream::make_self_signed(spec, key));
    return stream::Identity{.chain = {std::move(certificate)}, .key = std::move(key)};
}

Result<ChainKey> read_transport_identity(const stream::Certificate& certificate) {
    const auto transport = certificate.ed25519_key();
    const auto value = certificate.extension(kExtension);
    ChainKey key{};
    if (!transport || !value || value->size() != key.size() + kSignatureBytes)
        return fail(ErrorKind::Denied, "the peer's certificate names no node");
    // A node's certificate stands for its key and never ends. One that does was made by something else, and whether it
    // has ended already would depend on whose clock is asked.
    if (certificate.not_before() != kBegin || certificate.not_after() != kEnd)
        return fail(ErrorKind::Denied, "the peer's certificate can expire: it is not one that a node makes");
    std::copy_n(value->begin(), key.size(), key.begin());
    const auto chain_key = crypto::PublicKey::parse(key);
    const auto signature = crypto::Signature::from_compact(ByteView{*value}.subspan(key.size()));
    if (!chain_key || !signature || !crypto::verify(*chain_key, transport_digest(*transport), *signature))
        return fail(ErrorKind::Denied, "the node that the peer's certificate names did not sign its key");
    return key;
}

}  // namespace rhizome::net
