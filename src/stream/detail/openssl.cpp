// SPDX-License-Identifier: Apache-2.0
#include "stream/detail/openssl.h"

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace rhizome::stream::detail {

void OpenSslFree::operator()(bio_st* object) const { BIO_free_all(object); }
void OpenSslFree::operator()(evp_pkey_st* object) const { EVP_PKEY_free(object); }
void OpenSslFree::operator()(ssl_ctx_st* object) const { SSL_CTX_free(object); }
void OpenSslFree::operator()(ssl_st* object) const { SSL_free(object); }
void OpenSslFree::operator()(x509_st* object) const { X509_free(object); }
void OpenSslFree::operator()(x509_store_st* object) const { X509_STORE_free(object); }

std::string openssl_reason(std::string_view fallback) {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    std::string text{reason != nullptr ? std::string_view(reason) : fallback};
    ERR_clear_error();
    return text;
}

Fail<Error> openssl_fail(ErrorKind kind, std::string_view doing) {
    return fail(kind, fmt::format("cannot {}: {}", doing, openssl_reason()));
}

std::string text_of(bio_st* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string{};
}

}  // namespace rhizome::stream::detail
