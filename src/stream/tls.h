// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stream/certificate.h"
#include "stream/stream.h"

struct ssl_ctx_st;

/// TLS over any stream. An idle connection holds no buffers: about 20 KB on either side (`./run bench stream`).
namespace rhizome::stream {

/// Says whether the holder of a certificate is welcome; the sentence of a refusal reaches our own error, never the
/// peer. TLS has checked that the peer holds the certificate's key; who that is, is decided here. Called on the
/// connection's strand; does not block.
using VerifyPeer = std::function<Result<void>(const Certificate& certificate)>;

enum class TlsVersion : unsigned char { Tls12, Tls13 };

/// What is believed of a peer's certificate. Checks add up: with authorities the chain must lead to one of them and
/// must be in time; with pins the key must be one of them; `verify` is asked last. With none of the three nothing is
/// believed.
struct TlsTrust {
    std::vector<Certificate> authorities{};
    bool system_authorities = false;   ///< those of the operating system as well
    std::vector<Bytes> pinned_keys{};  ///< `public_der()` of the keys that are welcome, whoever signed them
    VerifyPeer verify{};
};

enum class ClientCertificate : unsigned char {
    None,      ///< not asked for
    Optional,  ///< asked for; who has none is let in, who shows a bad one is not
    Required,
};

class TlsContext;

struct TlsServerOptions {
    Identity identity;
    TlsVersion version_min = TlsVersion::Tls13;
    std::vector<std::string> protocols{};  ///< ALPN, the most wanted first; empty: not spoken
    /// A client that offers only other protocols is refused when set, else goes on without one.
    bool protocol_required = false;
    ClientCertificate client_certificate = ClientCertificate::None;
    TlsTrust trust{};  ///< of clients' certificates
    /// Another context for the name a client asks for (SNI); none: this one. Also how certificates are renewed while
    /// running.
    std::function<std::shared_ptr<const TlsContext>(std::string_view name)> choose{};
    /// Tickets let a client come back without a full handshake, at the price of memory, of a key that opens old
    /// sessions, and of certificates that are not looked at again. None is right for peers and for clients with
    /// certificates.
    unsigned session_tickets = 0;
};

struct TlsClientOptions {
    std::optional<Identity> identity{};  ///< shown when the server asks
    TlsVersion version_min = TlsVersion::Tls13;
    std::vector<std::string> protocols{};
    TlsTrust trust{};  ///< of the server's certificate
};

/// Keys, trust and settings that many connections share. Immutable; any thread. Outlives nothing in particular:
/// connections keep what they need.
class TlsContext {
public:
    static Result<std::shared_ptr<const TlsContext>> server(TlsServerOptions options);
    static Result<std::shared_ptr<const TlsContext>> client(TlsClientOptions options);
    ~TlsContext();

    struct Inside;
    [[nodiscard]] const Inside& inside() const { return *inside_; }  ///< for this module

private:
    explicit TlsContext(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

/// What the handshake agreed on.
class TlsSession {
public:
    TlsVersion version = TlsVersion::Tls13;
    std::string protocol{};     ///< ALPN; empty when none was agreed
    std::string server_name{};  ///< SNI: what the client asked for
    /// The peer's own certificate; none when it showed none. It passed the context's trust.
    std::optional<Certificate> peer{};
};

/// The server's side of a handshake over `lower`. On failure the reason has been sent to the peer as far as TLS has
/// words for it, and `lower` is closed. Runs on the strand of `lower`.
Task<Result<std::unique_ptr<Stream>>> tls_accept(std::unique_ptr<Stream> lower,
                                                 std::shared_ptr<const TlsContext> context, Deadline deadline);

/// The client's side. `server_name` goes into SNI and, with authorities, must be among the certificate's names; a
/// number is compared with its addresses. Empty: neither, for peers known by their key.
Task<Result<std::unique_ptr<Stream>>> tls_connect(std::unique_ptr<Stream> lower,
                                                  std::shared_ptr<const TlsContext> context, std::string server_name,
                                                  Deadline deadline);

}  // namespace rhizome::stream
