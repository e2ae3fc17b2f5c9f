// SPDX-License-Identifier: Apache-2.0
#include "stream/detail/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

#include <fmt/core.h>

namespace rhizome::stream::detail {

Result<SocketAddress> to_socket_address(const Address& address) {
    SocketAddress out;
    if (address.is_local) {
        auto* local = reinterpret_cast<sockaddr_un*>(&out.storage);
        if (address.host.size() >= sizeof local->sun_path)
            return fail(ErrorKind::Invalid, fmt::format("the path of the socket {} is too long", address.host));
        local->sun_family = AF_UNIX;
        std::memcpy(local->sun_path, address.host.c_str(), address.host.size() + 1);
        out.size = sizeof *local;
        return out;
    }
    auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
    if (inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address.port);
        out.size = sizeof *v4;
        return out;
    }
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
    std::memset(&out.storage, 0, sizeof out.storage);
    if (inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(address.port);
        out.size = sizeof *v6;
        return out;
    }
    return fail(ErrorKind::Invalid, fmt::format("\"{}\" is no IPv4 or IPv6 number", address.host));
}

}  // namespace rhizome::stream::detail
