// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include "stream/detail/tls_inside.h"

namespace rhizome::stream {

namespace detail {

int handshake_index() {
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

}  // namespace detail

namespace {

using detail::Handshake;
using detail::openssl_fail;

/// Protocols one side may offer, and the bytes of one name (ALPN's own limit is 255).
constexpr std::size_t kProtocolsMax = 8;
constexpr std::size_t kProtocolBytesMax = 64;

Handshake& handshake_of(SSL* ssl) { return *static_cast<Handshake*>(SSL_get_ex_data(ssl, detail::handshake_index())); }

/// Decides about a peer's certificate: 1 is yes.
int verify(X509_STORE_CTX* store, void* /*unused*/) {
    auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    Handshake& handshake = handshake_of(ssl);
    const TlsContext::Inside& context = *handshake.context;
    const auto refuse = [&](int code, std::string why) {
        X509_STORE_CTX_set_error(store, code);
        handshake.refusal = std::move(why);
        return 0;
    };
    X509* leaf = X509_STORE_CTX_get0_cert(store);
    if (leaf == nullptr) return refuse(X509_V_ERR_UNSPECIFIED, "the peer showed no certificate");
    const Certificate certificate = Certificate::share(leaf);
    if (context.has_authorities && X509_verify_cert(store) != 1) {
        const int code = X509_STORE_CTX_get_error(store);
        return refuse(code, fmt::format("the certificate of \"{}\" is not trusted: {}", certificate.common_name(),
                                        X509_verify_cert_error_string(code)));
    }
    const TlsTrust& trust = context.trust;
    if (!context.has_authorities && trust.pinned_keys.empty() && !trust.verify)
        return refuse(X509_V_ERR_CERT_UNTRUSTED,
                      "no authority, key or check was given to trust the peer by; name one of them");
    if (!trust.pinned_keys.empty() && std::find(trust.pinned_keys.begin(), trust.pinned_keys.end(),
                                                certificate.public_der()) == trust.pinned_keys.end())
        return refuse(X509_V_ERR_CERT_REJECTED,
                      fmt::format("the key of \"{}\" is not the one expected", certificate.common_name()));
    if (trust.verify) {
        auto verdict = trust.verify(certificate);
        if (!verdict) return refuse(X509_V_ERR_CERT_REJECTED, std::move(verdict).error().message);
    }
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
}

int choose_protocol(SSL* ssl, const std::uint8_t** out, std::uint8_t* out_size, const std::uint8_t* offered,
                    unsigned offered_size, void* /*unused*/) {
    const TlsContext::Inside& context = *handshake_of(ssl).context;
    if (context.protocols.empty()) return SSL_TLSEXT_ERR_NOACK;
    std::uint8_t* chosen = nullptr;
    const int found =
        SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const std::uint8_t*>(context.protocols.data()),
                              static_cast<unsigned>(context.protocols.size()), offered, offered_size);
    if (found == OPENSSL_NPN_NEGOTIATED) {
        *out = chosen;
        return SSL_TLSEXT_ERR_OK;
    }
    return context.protocol_required ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_NOACK;
}

int choose_name(SSL* ssl, int* /*alert*/, void* /*unused*/) {
    Handshake& handshake = handshake_of(ssl);
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr || !handshake.context->choose || handshake.chosen) return SSL_TLSEXT_ERR_OK;
    handshake.chosen = handshake.context->choose(name);
    if (handshake.chosen) {
        handshake.context = &handshake.chosen->inside();
        SSL_set_SSL_CTX(ssl, handshake.context->context.get());
        SSL_set_verify(ssl, SSL_CTX_get_verify_mode(handshake.context->context.get()), nullptr);
    }
    return SSL_TLSEXT_ERR_OK;
}

Result<std::string> alpn_form(const std::vector<std::string>& protocols) {
    if (protocols.size() > kProtocolsMax) return fail(ErrorKind::Exhausted, "at most 8 protocols are offered in TLS");
    std::string out;
    for (const std::string& each : protocols) {
        if (each.empty() || each.size() > kProtocolBytesMax)
            return fail(ErrorKind::Invalid, fmt::format("\"{}\" is no protocol name for TLS: 1 to 64 bytes", each));
        out += static_cast<char>(each.size());
        out += each;
    }
    return out;
}

Result<void> use_identity(SSL_CTX* context, const Identity& identity) {
    if (identity.chain.empty()) return fail(ErrorKind::Usage, "a TLS identity has a certificate");
    if (SSL_CTX_use_certificate(context, identity.chain.front().native()) != 1)
        return openssl_fail(ErrorKind::Invalid, "use the certificate for TLS");
    for (std::size_t i = 1; i < identity.chain.size(); ++i)
        if (SSL_CTX_add1_chain_cert(context, identity.chain[i].native()) != 1)
            return openssl_fail(ErrorKind::Invalid, "use the certificates above ours for TLS");
    if (SSL_CTX_use_PrivateKey(context, identity.key.native()) != 1 || SSL_CTX_check_private_key(context) != 1)
        return openssl_fail(ErrorKind::Invalid, "use the private key for TLS; is it the certificate's?");
    return {};
}

Result<void> use_trust(TlsContext::Inside& inside, bool we_serve) {
    SSL_CTX* context = inside.context.get();
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    for (const Certificate& each : inside.trust.authorities) {
        if (X509_STORE_add_cert(store, each.native()) != 1)
            return openssl_fail(ErrorKind::Invalid, "trust the authority " + each.common_name());
        // What clients choose a certificate by: kubectl shows the one signed by a name it hears here.
        if (we_serve) SSL_CTX_add_client_CA(context, each.native());
    }
    if (inside.trust.system_authorities && SSL_CTX_set_default_verify_paths(context) != 1)
        return openssl_fail(ErrorKind::NotFound, "find the system's certificate authorities");
    inside.has_authorities = inside.trust.system_authorities || !inside.trust.authorities.empty();
    SSL_CTX_set_cert_verify_callback(context, &verify, nullptr);
    return {};
}

Result<std::unique_ptr<TlsContext::Inside>> make(const SSL_METHOD* method, TlsVersion version_min,
                                                 const std::vector<std::string>& protocols) {
    ERR_clear_error();
    auto inside = std::make_unique<TlsContext::Inside>();
    inside->context.reset(SSL_CTX_new(method));
    if (!inside->context) return openssl_fail(ErrorKind::Failed, "set up TLS");
    SSL_CTX* context = inside->context.get();
    SSL_CTX_set_min_proto_version(context, version_min == TlsVersion::Tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    // Forward secrecy and authenticated encryption only, as TLS 1.3 has by itself.
    SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    // 34 KB a connection less while nothing is under way.
    SSL_CTX_set_mode(context,
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // 10 KB of a stranger's certificates are enough; OpenSSL's own bound is 100 KB.
    SSL_CTX_set_max_cert_list(context, 16 * 1024);
    TRY(inside->protocols, alpn_form(protocols));
    return inside;
}

}  // namespace

TlsContext::TlsContext(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::server(TlsServerOptions options) {
    TRY(auto inside, make(TLS_server_method(), options.version_min, options.protocols));
    SSL_CTX* context = inside->context.get();
    inside->trust = std::move(options.trust);
    inside->choose = std::move(options.choose);
    inside->protocol_required = options.protocol_required;
    TRY(use_identity(context, options.identity));
    TRY(use_trust(*inside, true));
    SSL_CTX_set_num_tickets(context, options.session_tickets);
    if (options.session_tickets == 0) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    switch (options.client_certificate) {
        case ClientCertificate::None: SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr); break;
        case ClientCertificate::Optional: SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr); break;
        case ClientCertificate::Required:
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
            break;
    }
    SSL_CTX_set_alpn_select_cb(context, &choose_protocol, nullptr);
    SSL_CTX_set_tlsext_servername_callback(context, &choose_name);
    return std::shared_ptr<const TlsContext>(new TlsContext(std::move(inside)));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::client(TlsClientOptions options) {
    TRY(auto inside, make(TLS_client_method(), options.version_min, options.protocols));
    SSL_CTX* context = inside->context.get();
    inside->trust = std::move(options.trust);
    if (options.identity) TRY(use_identity(context, *options.identity));
    TRY(use_trust(*inside, false));
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const auto& offered = inside->protocols;
    if (!offered.empty() && SSL_CTX_set_alpn_protos(context, reinterpret_cast<const std::uint8_t*>(offered.data()),
                                                    static_cast<unsigned>(offered.size())) != 0)
        return openssl_fail(ErrorKind::Invalid, "offer protocols in TLS");
    return std::shared_ptr<const TlsContext>(new TlsContext(std::move(inside)));
}

}  // namespace rhizome::stream
