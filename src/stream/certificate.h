// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "stream/private_key.h"

struct x509_st;

/// X.509 certificates: reading what a peer shows, and making our own.
namespace rhizome::stream {

/// One certificate. Copies share it. Immutable; any thread. Reading fields checks no signature: whoever trusts a field
/// has had TLS or `signed_by` check the certificate before.
class Certificate {
public:
    /// The first certificate of a PEM text, and all of them in their order (at most `kChainMax`).
    static Result<Certificate> from_pem(std::string_view pem);
    static Result<std::vector<Certificate>> chain_from_pem(std::string_view pem);
    static Result<Certificate> from_der(ByteView der);
    static constexpr std::size_t kChainMax = 512;  ///< a system's bundle of authorities has about 150

    [[nodiscard]] std::string to_pem() const;
    [[nodiscard]] Bytes to_der() const;

    // What is asked with every request of a connection was read when the certificate was.
    [[nodiscard]] const std::string& common_name() const;                 ///< empty when there is none
    [[nodiscard]] const std::vector<std::string>& organizations() const;  ///< Kubernetes' groups
    [[nodiscard]] Time not_before() const;
    [[nodiscard]] Time not_after() const;
    /// SHA-256 of the DER form.
    [[nodiscard]] const Bytes& fingerprint() const;

    [[nodiscard]] std::vector<std::string> dns_names() const;  ///< subject alternative names
    [[nodiscard]] std::vector<std::string> addresses() const;  ///< the same, IPv4 and IPv6 numbers
    [[nodiscard]] std::vector<std::string> uris() const;       ///< the same
    [[nodiscard]] bool is_authority() const;                   ///< may sign certificates
    [[nodiscard]] KeyKind key_kind() const;
    [[nodiscard]] Bytes public_der() const;  ///< as `PrivateKey::public_der`
    /// The 32 bytes of an Ed25519 key; nothing for other kinds. What a peer is known by.
    [[nodiscard]] std::optional<std::array<std::uint8_t, 32>> ed25519_key() const;
    /// The value of an extension named by its dotted number (`1.3.6.1.4.1.…`).
    [[nodiscard]] std::optional<Bytes> extension(std::string_view oid) const;

    /// Whether `authority`'s key signed it. Nothing else is checked.
    [[nodiscard]] bool signed_by(const Certificate& authority) const;
    /// Whether `authority` vouches for a client that shows this at `now`: signed by it, both in time, good for clients.
    /// What TLS checks with that authority alone.
    [[nodiscard]] bool is_client_of(const Certificate& authority, Time now) const;
    [[nodiscard]] bool belongs_to(const PrivateKey& key) const;

    friend bool operator==(const Certificate& left, const Certificate& right) {
        return left.to_der() == right.to_der();
    }

    [[nodiscard]] x509_st* native() const;  ///< for this module
    /// Takes a share of OpenSSL's object; for this module.
    static Certificate share(x509_st* certificate);

private:
    struct Inside;
    explicit Certificate(std::shared_ptr<const Inside> inside) : inside_(std::move(inside)) {}
    std::shared_ptr<const Inside> inside_;  ///< never null
};

/// What a new certificate says.
struct CertificateSpec {
    struct Extension {
        std::string oid;  ///< dotted number
        Bytes value;
        bool critical = false;
    };

    std::string common_name;
    std::vector<std::string> organizations{};
    std::vector<std::string> dns_names{};
    std::vector<std::string> addresses{};  ///< IPv4 or IPv6 numbers
    std::vector<std::string> uris{};
    Time not_before;
    Time not_after;
    bool authority = false;   ///< may sign others, but no further authorities
    bool server_auth = true;  ///< may be shown by servers
    bool client_auth = true;  ///< may be shown by clients
    std::vector<Extension> extensions{};
};

/// Who signs: a certificate and its key.
struct Identity {
    std::vector<Certificate> chain;  ///< the own one first, then those who signed it
    PrivateKey key;

    static Result<Identity> from_pem(std::string_view chain_pem, std::string_view key_pem);
};

/// A certificate for `key` that it signs itself.
Result<Certificate> make_self_signed(const CertificateSpec& spec, const PrivateKey& key);
/// A certificate for the owner of `key` (only its public half is used), signed by `issuer`.
Result<Certificate> make_certificate(const CertificateSpec& spec, const PrivateKey& key, const Identity& issuer);

}  // namespace rhizome::stream
