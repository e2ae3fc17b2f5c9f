// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.h"

#include <fmt/core.h>

namespace rhizome::http {

std::string_view name(Ending ending) { return ending == Ending::ClientLeft ? "client left" : "draining"; }

Task<Result<std::string>> Exchange::read_body(std::size_t bytes_max) {
    std::string out;
    std::array<std::uint8_t, 8 * 1024> piece{};
    for (;;) {
        CO_TRY(const std::size_t got, co_await read_some(piece));
        if (got == 0) co_return out;
        if (got > bytes_max - out.size())
            co_return fail(ErrorKind::Exhausted,
                           fmt::format("the body is larger than the {} bytes that are taken here", bytes_max));
        out.append(as_text(ByteView{piece.data(), got}));
    }
}

Task<Result<void>> Exchange::respond_error(unsigned status, std::string_view message) {
    return respond(error_response(status, message, &request().headers));
}

Task<Result<void>> Exchange::respond_error(Error error) { return respond_error(status_of(error.kind), error.message); }

unsigned status_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::Invalid:
        case ErrorKind::Usage: return 400;
        case ErrorKind::NotFound: return 404;
        case ErrorKind::Denied: return 403;
        case ErrorKind::Conflict: return 409;
        case ErrorKind::Unavailable: return 503;
        case ErrorKind::Exhausted: return 413;
        case ErrorKind::Unsupported: return 501;
        case ErrorKind::Corrupt:
        case ErrorKind::Failed: break;
    }
    return 500;
}

}  // namespace rhizome::http
