// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "stream/certificate.h"
#include "stream/tls.h"

/// Certificates for tests and benchmarks, valid from 2020 to 2090.
namespace rhizome::test {

inline stream::CertificateSpec sample_spec(std::string name) {
    return {.common_name = std::move(name),
            .not_before = Time::from_unix_seconds(1'577'836'800),
            .not_after = Time::from_unix_seconds(3'786'912'000)};
}

inline stream::PrivateKey sample_key(stream::KeyKind kind) {
    auto key = stream::PrivateKey::generate(kind);
    ensure(key.has_value(), "a key can be made");
    return *key;
}

inline stream::Identity sample_authority(std::string name = "test authority",
                                         stream::KeyKind kind = stream::KeyKind::P256) {
    const auto key = sample_key(kind);
    auto spec = sample_spec(std::move(name));
    spec.authority = true;
    auto made = stream::make_self_signed(spec, key);
    ensure(made.has_value(), "an authority can be made");
    return {{*made}, key};
}

inline stream::Identity sample_identity(const stream::Identity& authority, stream::CertificateSpec spec,
                                        stream::KeyKind kind = stream::KeyKind::P256) {
    const auto key = sample_key(kind);
    auto made = stream::make_certificate(spec, key, authority);
    ensure(made.has_value(), "a certificate can be made");
    return {{*made}, key};
}

/// For 127.0.0.1 and localhost.
inline stream::Identity sample_server(const stream::Identity& authority, stream::KeyKind kind = stream::KeyKind::P256) {
    auto spec = sample_spec("server");
    spec.dns_names = {"localhost", "server.test"};
    spec.addresses = {"127.0.0.1", "::1"};
    return sample_identity(authority, std::move(spec), kind);
}

/// A peer: an Ed25519 key that signs for itself.
inline stream::Identity sample_peer(std::string name) {
    const auto key = sample_key(stream::KeyKind::Ed25519);
    auto made = stream::make_self_signed(sample_spec(std::move(name)), key);
    ensure(made.has_value(), "a certificate can be made");
    return {{*made}, key};
}

}  // namespace rhizome::test
