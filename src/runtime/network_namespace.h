// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/descriptor.h"

/// Networks of their own on one machine (Linux network namespaces), joined by virtual cables. Needs root.
///
/// A namespace has no name and no place in the file system: it lives as long as a process is in it or holds a
/// descriptor of it (`/proc/PID/fd/N`), and takes its cables, addresses and rules with it when it goes. So nothing is
/// ever left behind that somebody would have to delete, and the machine's own network is not touched.
namespace rhizome::runtime {

/// An IPv4 address, first byte first: `10.0.0.1` is 0x0a000001.
using Ipv4 = std::uint32_t;
std::string ipv4_text(Ipv4 address);

/// A new namespace with its loopback up. Denied without root.
Result<Descriptor> make_network();
/// The descriptor `number` of another process that holds a namespace. NotFound when the process is gone.
Result<Descriptor> open_held_network(int pid, int number);
/// Packets that come to one interface of that network may leave it by another: it is a router.
Result<void> forward_packets(int network);

/// Asks the kernel to change one network (rtnetlink). Errors say what was wanted and what the kernel answered.
class NetworkControl {
public:
    static Result<NetworkControl> open(int network);

    /// A cable between an interface here and one in `other`; both are down.
    Result<void> add_cable(std::string_view interface, std::string_view other_interface, int other);
    Result<void> bring_up(std::string_view interface);
    Result<void> add_address(std::string_view interface, Ipv4 address, unsigned prefix_bits);
    Result<void> add_default_route(Ipv4 gateway);

    /// Packets that came in by `interface` for `destination` are lost from now on, silently as on a broken cable: no
    /// answer tells the sender. One way; connections stay until somebody notices.
    Result<void> lose_packets(std::string_view interface, Ipv4 destination);
    /// No longer. NotFound when none were lost.
    Result<void> pass_packets(std::string_view interface, Ipv4 destination);

private:
    explicit NetworkControl(Descriptor socket) : socket_(std::move(socket)) {}
    Result<std::uint32_t> index_of(std::string_view interface);
    Descriptor socket_;
    std::uint32_t sequence_ = 0;
};

}  // namespace rhizome::runtime
