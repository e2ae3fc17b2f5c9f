// SPDX-License-Identifier: Apache-2.0
#include "stream/private_key.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "crypto/ed25519.h"
#include "stream/detail/openssl.h"

namespace rhizome::stream {
namespace {

/// Larger than any key file; a stranger's file is not read into OpenSSL whole.
constexpr std::size_t kPemBytesMax = 64 * 1024;

std::shared_ptr<evp_pkey_st> shared(evp_pkey_st* key) { return {key, detail::OpenSslFree{}}; }

/// Never ask a person: there may be none.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

}  // namespace

std::string_view name(KeyKind kind) {
    switch (kind) {
        case KeyKind::Ed25519: return "Ed25519";
        case KeyKind::P256: return "P-256";
        case KeyKind::Other: break;
    }
    return "another kind";
}

Result<PrivateKey> PrivateKey::generate(KeyKind kind) {
    if (kind == KeyKind::Other) return fail(ErrorKind::Unsupported, "only Ed25519 and P-256 keys can be made");
    evp_pkey_st* key = kind == KeyKind::Ed25519 ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")
                                                : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    if (key == nullptr) return detail::openssl_fail(ErrorKind::Failed, "make a key");
    return PrivateKey{shared(key)};
}

Result<PrivateKey> PrivateKey::from(const crypto::Ed25519Secret& secret) {
    const auto seed = secret.reveal();
    evp_pkey_st* key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size());
    if (key == nullptr) return detail::openssl_fail(ErrorKind::Failed, "use the transport key for TLS");
    return PrivateKey{shared(key)};
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem) {
    if (pem.size() > kPemBytesMax) return fail(ErrorKind::Exhausted, "a private key's PEM is at most 64 KiB");
    ERR_clear_error();
    const detail::Owned<bio_st> bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
    evp_pkey_st* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_passphrase, nullptr);
    if (key == nullptr)
        return fail(ErrorKind::Invalid, "no private key can be read from the PEM text (" + detail::openssl_reason() +
                                            "); it must be unencrypted: openssl pkey -in key.pem shows what it is");
    return PrivateKey{shared(key)};
}

SecretBytes PrivateKey::to_pem() const {
    const detail::Owned<bio_st> bio{BIO_new(BIO_s_secmem())};
    ensure(PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
           "a key can be written");
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return SecretBytes{ByteView{reinterpret_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)}};
}

KeyKind PrivateKey::kind() const {
    if (EVP_PKEY_is_a(key_.get(), "ED25519") == 1) return KeyKind::Ed25519;
    if (EVP_PKEY_is_a(key_.get(), "EC") == 1 && EVP_PKEY_get_bits(key_.get()) == 256) return KeyKind::P256;
    return KeyKind::Other;
}

Bytes PrivateKey::public_der() const {
    std::uint8_t* der = nullptr;
    const int size = i2d_PUBKEY(key_.get(), &der);
    ensure(size > 0, "a public key has a DER form");
    Bytes out(der, der + size);
    OPENSSL_free(der);
    return out;
}

}  // namespace rhizome::stream
