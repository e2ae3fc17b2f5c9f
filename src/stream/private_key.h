// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

struct evp_pkey_st;

namespace rhizome::crypto {
class Ed25519Secret;
}

namespace rhizome::stream {

enum class KeyKind : unsigned char { Ed25519, P256, Other };
std::string_view name(KeyKind kind);

/// A secret key that TLS signs with. Copies share one key, which is wiped with the last of them. Immutable; any thread.
class PrivateKey {
public:
    /// New, from the system's randomness. `kind` is Ed25519 or P256.
    static Result<PrivateKey> generate(KeyKind kind);
    /// A node's transport key.
    static Result<PrivateKey> from(const crypto::Ed25519Secret& secret);
    /// From an unencrypted PEM block (PKCS #8, or the older forms of EC and RSA keys).
    static Result<PrivateKey> from_pem(std::string_view pem);

    /// PKCS #8 without encryption: a file of it is for its owner only.
    [[nodiscard]] SecretBytes to_pem() const;
    [[nodiscard]] KeyKind kind() const;
    /// The public half as DER (SubjectPublicKeyInfo): what pins and comparisons are made of.
    [[nodiscard]] Bytes public_der() const;

    [[nodiscard]] evp_pkey_st* native() const { return key_.get(); }  ///< for this module

private:
    explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
    std::shared_ptr<evp_pkey_st> key_;  ///< never null
};

}  // namespace rhizome::stream
