// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <memory>

namespace rhizome::runtime {

std::vector<std::string> host_addresses() {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all{found, &::freeifaddrs};
    std::vector<std::string> v4;
    std::vector<std::string> v6;
    for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) continue;
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (at->ifa_addr->sa_family == AF_INET) {
            const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
            if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr)
                v4.emplace_back(text.data());
        } else if (at->ifa_addr->sa_family == AF_INET6) {
            const auto* address = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr);
            if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) continue;
            if (::inet_ntop(AF_INET6, &address->sin6_addr, text.data(), text.size()) != nullptr)
                v6.push_back("[" + std::string{text.data()} + "]");
        }
    }
    v4.insert(v4.end(), v6.begin(), v6.end());
    return v4;
}

}  // namespace rhizome::runtime
