// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rhizome::stream {

/// Where a socket listens or ends: a host (name or number) and a port, or the path of a local socket.
struct Address {
    std::string host;  ///< `192.0.2.1`, `2001:db8::1`, `example.org`; with `is_local` the path of a socket
    std::uint16_t port = 0;
    bool is_local = false;

    /// `host:port`, `[v6]:port` or `unix:/path`.
    static Result<Address> parse(std::string_view text);
    /// What `parse` reads.
    [[nodiscard]] std::string text() const;

    friend auto operator<=>(const Address&, const Address&) = default;
};

}  // namespace rhizome::stream
