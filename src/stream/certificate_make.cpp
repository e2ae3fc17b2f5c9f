// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "stream/certificate_request.h"
#include "stream/detail/openssl.h"

namespace rhizome::stream {
namespace {

/// X.509 writes at most 64 characters into a common name or an organization.
constexpr std::size_t kNamePartMax = 64;
/// A cluster's API server has a few names; a gateway has dozens.
constexpr std::size_t kNamesMax = 256;

struct FreeNames {
    void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

Result<void> add_name(GENERAL_NAMES* names, int type, ByteView value) {
    GENERAL_NAME* each = GENERAL_NAME_new();
    ASN1_STRING* text = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
    if (each == nullptr || text == nullptr ||
        ASN1_STRING_set(text, value.data(), static_cast<int>(value.size())) != 1) {
        GENERAL_NAME_free(each);
        ASN1_STRING_free(text);
        return detail::openssl_fail(ErrorKind::Failed, "add a name to the certificate");
    }
    GENERAL_NAME_set0_value(each, type, text);
    sk_GENERAL_NAME_push(names, each);
    return {};
}

using Names = std::unique_ptr<GENERAL_NAMES, FreeNames>;

/// Null when there are none.
Result<Names> alternative_names(const CertificateSpec& spec) {
    if (spec.dns_names.empty() && spec.addresses.empty() && spec.uris.empty()) return Names{};
    Names names{GENERAL_NAMES_new()};
    for (const auto& name : spec.dns_names) TRY(add_name(names.get(), GEN_DNS, as_bytes(name)));
    for (const auto& uri : spec.uris) TRY(add_name(names.get(), GEN_URI, as_bytes(uri)));
    for (const auto& address : spec.addresses) {
        std::array<std::uint8_t, 16> number{};
        std::size_t size = 4;
        if (inet_pton(AF_INET, address.c_str(), number.data()) != 1) {
            size = 16;
            if (inet_pton(AF_INET6, address.c_str(), number.data()) != 1)
                return fail(ErrorKind::Invalid, fmt::format("\"{}\" is no IPv4 or IPv6 number", address));
        }
        TRY(add_name(names.get(), GEN_IPADD, ByteView{number.data(), size}));
    }
    return names;
}

Result<void> add_alternative_names(X509* certificate, const CertificateSpec& spec) {
    TRY(const Names names, alternative_names(spec));
    if (names && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) != 1)
        return detail::openssl_fail(ErrorKind::Failed, "write the certificate's names");
    return {};
}

Result<void> add_by_text(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    if (extension == nullptr) return detail::openssl_fail(ErrorKind::Failed, "make a certificate's extension");
    const bool added = X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    if (!added) return detail::openssl_fail(ErrorKind::Failed, "add a certificate's extension");
    return {};
}

Result<void> add_own(X509* certificate, const CertificateSpec::Extension& own) {
    ASN1_OBJECT* oid = OBJ_txt2obj(own.oid.c_str(), 1);
    if (oid == nullptr) {
        ERR_clear_error();
        return fail(ErrorKind::Invalid, fmt::format("\"{}\" is no dotted number of an extension", own.oid));
    }
    ASN1_OCTET_STRING* value = ASN1_OCTET_STRING_new();
    ASN1_OCTET_STRING_set(value, own.value.data(), static_cast<int>(own.value.size()));
    X509_EXTENSION* extension = X509_EXTENSION_create_by_OBJ(nullptr, oid, own.critical ? 1 : 0, value);
    const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    ASN1_OBJECT_free(oid);
    if (!added) return detail::openssl_fail(ErrorKind::Failed, "add a certificate's extension");
    return {};
}

Result<void> add_subject(X509_NAME* subject, const CertificateSpec& spec) {
    const auto add = [&](const char* field, const std::string& value) -> Result<void> {
        if (value.size() > kNamePartMax)
            return fail(ErrorKind::Invalid, fmt::format("\"{}\" is too long for a certificate: {} characters at most",
                                                        value, kNamePartMax));
        if (X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                                       reinterpret_cast<const std::uint8_t*>(value.data()),
                                       static_cast<int>(value.size()), -1, 0) != 1)
            return detail::openssl_fail(ErrorKind::Invalid, fmt::format("write \"{}\" into a certificate", value));
        return {};
    };
    for (const auto& organization : spec.organizations) TRY(add("O", organization));
    if (!spec.common_name.empty()) TRY(add("CN", spec.common_name));
    return {};
}

Result<void> add_times(X509* certificate, const CertificateSpec& spec) {
    if (spec.not_after <= spec.not_before)
        return fail(ErrorKind::Invalid, "a certificate ends after it begins; set not_before and not_after");
    if (ASN1_TIME_set(X509_getm_notBefore(certificate), spec.not_before.unix_seconds()) == nullptr ||
        ASN1_TIME_set(X509_getm_notAfter(certificate), spec.not_after.unix_seconds()) == nullptr)
        return detail::openssl_fail(ErrorKind::Invalid, "write a certificate's times");
    return {};
}

/// 20 bytes at most and positive, as RFC 5280 asks; random, so that nobody can foretell what is signed.
Result<void> add_serial(X509* certificate) {
    std::array<std::uint8_t, 16> random{};
    if (RAND_bytes(random.data(), random.size()) != 1)
        return detail::openssl_fail(ErrorKind::Failed, "draw a serial number");
    random[0] = static_cast<std::uint8_t>((random[0] & 0x7F) | 0x40);
    BIGNUM* number = BN_bin2bn(random.data(), random.size(), nullptr);
    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return {};
}

/// Ed25519 hashes inside itself.
const EVP_MD* digest_of(const PrivateKey& signer) { return signer.kind() == KeyKind::Ed25519 ? nullptr : EVP_sha256(); }

Result<Certificate> make(const CertificateSpec& spec, EVP_PKEY* key, X509* issuer, const PrivateKey& signer) {
    if (spec.dns_names.size() + spec.addresses.size() + spec.uris.size() > kNamesMax)
        return fail(ErrorKind::Exhausted, "a certificate has at most 256 names");
    ERR_clear_error();
    const detail::Owned<x509_st> made{X509_new()};
    X509* certificate = made.get();
    X509_set_version(certificate, 2);  // v3
    TRY(add_serial(certificate));
    TRY(add_times(certificate, spec));
    TRY(add_subject(X509_get_subject_name(certificate), spec));
    X509* signing = issuer == nullptr ? certificate : issuer;
    X509_set_issuer_name(certificate, X509_get_subject_name(signing));
    X509_set_pubkey(certificate, key);
    TRY(add_by_text(certificate, signing, NID_basic_constraints,
                    spec.authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE"));
    TRY(add_by_text(certificate, signing, NID_key_usage,
                    spec.authority ? "critical,keyCertSign,cRLSign,digitalSignature" : "critical,digitalSignature"));
    std::string uses = spec.server_auth ? "serverAuth" : "";
    if (spec.client_auth) uses += uses.empty() ? "clientAuth" : ",clientAuth";
    if (!spec.authority && !uses.empty()) TRY(add_by_text(certificate, signing, NID_ext_key_usage, uses));
    TRY(add_by_text(certificate, signing, NID_subject_key_identifier, "hash"));
    if (issuer != nullptr) TRY(add_by_text(certificate, signing, NID_authority_key_identifier, "keyid"));
    TRY(add_alternative_names(certificate, spec));
    for (const auto& own : spec.extensions) TRY(add_own(certificate, own));
    if (X509_sign(certificate, signer.native(), digest_of(signer)) == 0)
        return detail::openssl_fail(ErrorKind::Failed, "sign the certificate");
    return Certificate::share(certificate);
}

Result<Certificate> make_signed(const CertificateSpec& spec, EVP_PKEY* key, const Identity& issuer) {
    if (issuer.chain.empty()) return fail(ErrorKind::Usage, "whoever signs a certificate has one");
    if (!issuer.chain.front().is_authority())
        return fail(ErrorKind::Denied, fmt::format("the certificate of \"{}\" may not sign others; make it with "
                                                   "`authority` set",
                                                   issuer.chain.front().common_name()));
    return make(spec, key, issuer.chain.front().native(), issuer.key);
}

}  // namespace

Result<CertificateRequest> CertificateRequest::make(const CertificateSpec& spec, const PrivateKey& key) {
    ERR_clear_error();
    CertificateRequest made{std::shared_ptr<X509_REQ>{X509_REQ_new(), X509_REQ_free}};
    X509_REQ* request = made.native();
    X509_REQ_set_version(request, 0);
    TRY(add_subject(X509_REQ_get_subject_name(request), spec));
    X509_REQ_set_pubkey(request, key.native());
    TRY(const Names names, alternative_names(spec));
    if (names) {
        STACK_OF(X509_EXTENSION)* extensions = nullptr;
        const bool added =
            X509V3_add1_i2d(&extensions, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) == 1 &&
            X509_REQ_add_extensions(request, extensions) == 1;
        sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
        if (!added) return detail::openssl_fail(ErrorKind::Failed, "write the request's names");
    }
    if (X509_REQ_sign(request, key.native(), digest_of(key)) == 0)
        return detail::openssl_fail(ErrorKind::Failed, "sign the request");
    return made;
}

Result<Certificate> make_self_signed(const CertificateSpec& spec, const PrivateKey& key) {
    return make(spec, key.native(), nullptr, key);
}

Result<Certificate> make_certificate(const CertificateSpec& spec, const PrivateKey& key, const Identity& issuer) {
    return make_signed(spec, key.native(), issuer);
}

Result<Certificate> make_certificate(const CertificateSpec& spec, const CertificateRequest& request,
                                     const Identity& issuer) {
    return make_signed(spec, X509_REQ_get0_pubkey(request.native()), issuer);
}

}  // namespace rhizome::stream
