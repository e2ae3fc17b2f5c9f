// SPDX-License-Identifier: Apache-2.0
#include "stream/certificate.h"

#include <arpa/inet.h>
#include <time.h>

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "stream/certificate_request.h"
#include "stream/detail/openssl.h"

namespace rhizome::stream {
namespace {

/// 512 certificates of 2 KiB each.
constexpr std::size_t kPemBytesMax = 1024 * 1024;

std::string text_of(const ASN1_STRING* text) {
    std::uint8_t* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, text);
    if (size < 0) return {};
    std::string out(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
    return out;
}

std::vector<std::string> entries_of(const X509_NAME* subject, int nid) {
    std::vector<std::string> out;
    for (int at = X509_NAME_get_index_by_NID(subject, nid, -1); at >= 0;
         at = X509_NAME_get_index_by_NID(subject, nid, at))
        out.push_back(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
    return out;
}

std::vector<std::string> subject_entries(x509_st* certificate, int nid) {
    return entries_of(X509_get_subject_name(certificate), nid);
}

std::vector<std::string> alternative_names(x509_st* certificate, int type) {
    std::vector<std::string> out;
    auto* names = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
        const GENERAL_NAME* each = sk_GENERAL_NAME_value(names, i);
        if (each->type != type) continue;
        const ASN1_STRING* value = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(each, nullptr));
        if (type != GEN_IPADD) {
            out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                             static_cast<std::size_t>(ASN1_STRING_length(value)));
            continue;
        }
        std::array<char, INET6_ADDRSTRLEN> text{};
        const int family = ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
        if (family == AF_INET6 && ASN1_STRING_length(value) != 16) continue;
        inet_ntop(family, ASN1_STRING_get0_data(value), text.data(), text.size());
        out.emplace_back(text.data());
    }
    GENERAL_NAMES_free(names);
    return out;
}

Time time_of(const ASN1_TIME* time) {
    tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return Time{};
    return Time::from_unix_seconds(timegm(&parts));
}

Bytes fingerprint_of(const x509_st* certificate) {
    Bytes out(32);
    unsigned size = 32;
    ensure(X509_digest(certificate, EVP_sha256(), out.data(), &size) == 1 && size == 32, "a certificate has a digest");
    return out;
}

}  // namespace

/// OpenSSL's object, and what reading takes it microseconds each time.
struct Certificate::Inside {
    explicit Inside(x509_st* read) : certificate(read) {
        if (auto names = subject_entries(read, NID_commonName); !names.empty()) common_name = std::move(names.front());
    }

    detail::Owned<x509_st> certificate;
    std::string common_name{};
    std::vector<std::string> organizations = subject_entries(certificate.get(), NID_organizationName);
    Time not_before = time_of(X509_get0_notBefore(certificate.get()));
    Time not_after = time_of(X509_get0_notAfter(certificate.get()));
    Bytes fingerprint = fingerprint_of(certificate.get());
};

x509_st* Certificate::native() const { return inside_->certificate.get(); }
const std::string& Certificate::common_name() const { return inside_->common_name; }
const std::vector<std::string>& Certificate::organizations() const { return inside_->organizations; }
Time Certificate::not_before() const { return inside_->not_before; }
Time Certificate::not_after() const { return inside_->not_after; }
const Bytes& Certificate::fingerprint() const { return inside_->fingerprint; }

Certificate Certificate::share(x509_st* certificate) {
    X509_up_ref(certificate);
    return Certificate{std::make_shared<const Inside>(certificate)};
}

Result<std::vector<Certificate>> Certificate::chain_from_pem(std::string_view pem) {
    if (pem.size() > kPemBytesMax) return fail(ErrorKind::Exhausted, "a PEM text of certificates is at most 1 MiB");
    ERR_clear_error();
    const detail::Owned<bio_st> bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
    std::vector<Certificate> out;
    while (x509_st* each = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
        out.push_back(Certificate{std::make_shared<const Inside>(each)});
        if (out.size() > kChainMax) return fail(ErrorKind::Exhausted, "more than 512 certificates in one PEM text");
    }
    const unsigned long last = ERR_peek_last_error();
    const bool at_end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (!at_end || out.empty())
        return fail(ErrorKind::Invalid,
                    fmt::format("certificate {} of the PEM text cannot be read ({}); a certificate begins with "
                                "-----BEGIN CERTIFICATE-----",
                                out.size() + 1, detail::openssl_reason()));
    ERR_clear_error();
    return out;
}

Result<Certificate> Certificate::from_pem(std::string_view pem) {
    TRY(const auto chain, chain_from_pem(pem));
    return chain.front();
}

Result<Certificate> Certificate::from_der(ByteView der) {
    const std::uint8_t* at = der.data();
    const auto size = static_cast<long>(std::min(der.size(), kPemBytesMax));
    x509_st* read = d2i_X509(nullptr, &at, size);
    if (read == nullptr) return detail::openssl_fail(ErrorKind::Invalid, "read the certificate");
    Certificate out{std::make_shared<const Inside>(read)};
    if (at != der.data() + der.size()) return fail(ErrorKind::Invalid, "there are bytes behind the certificate");
    return out;
}

std::string Certificate::to_pem() const {
    const detail::Owned<bio_st> bio{BIO_new(BIO_s_mem())};
    ensure(PEM_write_bio_X509(bio.get(), native()) == 1, "a certificate can be written");
    return detail::text_of(bio.get());
}

Bytes Certificate::to_der() const {
    std::uint8_t* der = nullptr;
    const int size = i2d_X509(native(), &der);
    ensure(size > 0, "a certificate has a DER form");
    Bytes out(der, der + size);
    OPENSSL_free(der);
    return out;
}

std::vector<std::string> Certificate::dns_names() const { return alternative_names(native(), GEN_DNS); }
std::vector<std::string> Certificate::addresses() const { return alternative_names(native(), GEN_IPADD); }
std::vector<std::string> Certificate::uris() const { return alternative_names(native(), GEN_URI); }
bool Certificate::is_authority() const { return X509_check_ca(native()) == 1; }

KeyKind Certificate::key_kind() const {
    const evp_pkey_st* key = X509_get0_pubkey(native());
    if (key == nullptr) return KeyKind::Other;
    if (EVP_PKEY_is_a(key, "ED25519") == 1) return KeyKind::Ed25519;
    return EVP_PKEY_is_a(key, "EC") == 1 && EVP_PKEY_get_bits(key) == 256 ? KeyKind::P256 : KeyKind::Other;
}

Bytes Certificate::public_der() const {
    std::uint8_t* der = nullptr;
    const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(native()), &der);
    if (size <= 0) return {};
    Bytes out(der, der + size);
    OPENSSL_free(der);
    return out;
}

std::optional<std::array<std::uint8_t, 32>> Certificate::ed25519_key() const {
    std::array<std::uint8_t, 32> out{};
    std::size_t size = out.size();
    evp_pkey_st* key = X509_get0_pubkey(native());
    if (key == nullptr || EVP_PKEY_is_a(key, "ED25519") != 1 ||
        EVP_PKEY_get_raw_public_key(key, out.data(), &size) != 1 || size != out.size())
        return std::nullopt;
    return out;
}

std::optional<Bytes> Certificate::extension(std::string_view oid) const {
    ASN1_OBJECT* wanted = OBJ_txt2obj(std::string(oid).c_str(), 1);
    if (wanted == nullptr) return std::nullopt;
    const int at = X509_get_ext_by_OBJ(native(), wanted, -1);
    ASN1_OBJECT_free(wanted);
    if (at < 0) return std::nullopt;
    const ASN1_OCTET_STRING* value = X509_EXTENSION_get_data(X509_get_ext(native(), at));
    const std::uint8_t* data = ASN1_STRING_get0_data(value);
    return Bytes(data, data + ASN1_STRING_length(value));
}

bool Certificate::signed_by(const Certificate& authority) const {
    evp_pkey_st* key = X509_get0_pubkey(authority.native());
    const bool good = key != nullptr && X509_verify(native(), key) == 1;
    ERR_clear_error();
    return good;
}

bool Certificate::is_client_of(const Certificate& authority, Time now) const {
    const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(), &X509_STORE_free};
    const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check{X509_STORE_CTX_new(),
                                                                                &X509_STORE_CTX_free};
    bool good = store && check && X509_STORE_add_cert(store.get(), authority.native()) == 1 &&
                X509_STORE_CTX_init(check.get(), store.get(), native(), nullptr) == 1 &&
                X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_CLIENT) == 1;
    if (good) {
        X509_STORE_CTX_set_time(check.get(), 0, static_cast<std::time_t>(now.unix_seconds()));
        good = X509_verify_cert(check.get()) == 1;
    }
    ERR_clear_error();
    return good;
}

bool Certificate::belongs_to(const PrivateKey& key) const { return public_der() == key.public_der(); }

Result<Identity> Identity::from_pem(std::string_view chain_pem, std::string_view key_pem) {
    TRY(auto chain, Certificate::chain_from_pem(chain_pem));
    TRY(auto key, PrivateKey::from_pem(key_pem));
    if (!chain.front().belongs_to(key))
        return fail(ErrorKind::Invalid,
                    fmt::format("the private key does not belong to the certificate of \"{}\"; give "
                                "the key it was made for, with its own certificate first",
                                chain.front().common_name()));
    return Identity{std::move(chain), std::move(key)};
}

Result<CertificateRequest> CertificateRequest::from_pem(std::string_view pem) {
    constexpr std::size_t kRequestBytesMax = 64u << 10;
    if (pem.size() > kRequestBytesMax) return fail(ErrorKind::Exhausted, "a certificate request is at most 64 KiB");
    ERR_clear_error();
    const detail::Owned<bio_st> bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
    X509_REQ* read = PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr);
    if (read == nullptr)
        return fail(ErrorKind::Invalid,
                    fmt::format("PEM block type must be CERTIFICATE REQUEST ({})", detail::openssl_reason()));
    CertificateRequest request{std::shared_ptr<X509_REQ>{read, X509_REQ_free}};
    std::array<char, 4096> rest{};
    int more = 0;
    while ((more = BIO_read(bio.get(), rest.data(), rest.size())) > 0)
        if (std::string_view{rest.data(), static_cast<std::size_t>(more)}.find_first_not_of(" \t\r\n") !=
            std::string_view::npos)
            return fail(ErrorKind::Invalid, "there is something behind the certificate request");
    EVP_PKEY* key = X509_REQ_get0_pubkey(read);
    if (key == nullptr || X509_REQ_verify(read, key) != 1) {
        ERR_clear_error();
        return fail(ErrorKind::Invalid, "the certificate request is not signed by its own key");
    }
    return request;
}

std::string CertificateRequest::common_name() const {
    const auto names = entries_of(X509_REQ_get_subject_name(native()), NID_commonName);
    return names.empty() ? std::string{} : names.front();
}

std::vector<std::string> CertificateRequest::organizations() const {
    return entries_of(X509_REQ_get_subject_name(native()), NID_organizationName);
}

std::string CertificateRequest::to_pem() const {
    const detail::Owned<bio_st> bio{BIO_new(BIO_s_mem())};
    ensure(PEM_write_bio_X509_REQ(bio.get(), native()) == 1, "a request can be written");
    return detail::text_of(bio.get());
}

bool CertificateRequest::has_alternative_names() const {
    auto* extensions = X509_REQ_get_extensions(native());
    const bool has = X509v3_get_ext_by_NID(extensions, NID_subject_alt_name, -1) >= 0;
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    return has;
}

}  // namespace rhizome::stream
