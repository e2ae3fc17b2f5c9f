// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

// OpenSSL's own headers stay in .cpp files.
struct bio_st;
struct evp_pkey_st;
struct ssl_ctx_st;
struct ssl_st;
struct x509_st;
struct x509_store_st;

namespace rhizome::stream::detail {

struct OpenSslFree {
    void operator()(bio_st* object) const;
    void operator()(evp_pkey_st* object) const;
    void operator()(ssl_ctx_st* object) const;
    void operator()(ssl_st* object) const;
    void operator()(x509_st* object) const;
    void operator()(x509_store_st* object) const;
};
template <class T>
using Owned = std::unique_ptr<T, OpenSslFree>;

/// What OpenSSL says went wrong on this thread, and forgets; a fallback when it says nothing.
std::string openssl_reason(std::string_view fallback = "no reason was given");

/// `cannot <doing>: <reason>`.
Fail<Error> openssl_fail(ErrorKind kind, std::string_view doing);

/// What a memory BIO holds.
std::string text_of(bio_st* bio);

}  // namespace rhizome::stream::detail
