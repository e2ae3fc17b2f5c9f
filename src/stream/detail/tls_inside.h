// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "stream/detail/openssl.h"
#include "stream/tls.h"

namespace rhizome::stream {

struct TlsContext::Inside {
    detail::Owned<ssl_ctx_st> context;
    TlsTrust trust;
    bool has_authorities = false;
    std::string protocols;  ///< as ALPN writes them: a length byte before each
    bool protocol_required = false;
    std::function<std::shared_ptr<const TlsContext>(std::string_view name)> choose;
};

namespace detail {

/// What callbacks of one handshake leave behind; hangs on the SSL object.
struct Handshake {
    const TlsContext::Inside* context = nullptr;
    std::shared_ptr<const TlsContext> chosen;  ///< by SNI; kept as long as the connection
    std::string refusal;                       ///< why our own check said no
};

/// Where the SSL object keeps its `Handshake`.
int handshake_index();

}  // namespace detail
}  // namespace rhizome::stream
