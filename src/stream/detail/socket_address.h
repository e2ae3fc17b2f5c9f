// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include "base/result.h"
#include "stream/address.h"

namespace rhizome::stream::detail {

/// An address as the system's calls take it.
struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    [[nodiscard]] int family() const { return storage.ss_family; }
    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Invalid when the host is a name.
Result<SocketAddress> to_socket_address(const Address& address);

}  // namespace rhizome::stream::detail
