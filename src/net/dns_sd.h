// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "net/dbus_message.h"
#include "stream/tcp.h"

namespace rhizome::net {

struct DnsSdOptions {
    std::string bus = "/run/dbus/system_bus_socket";
    std::string name{};                ///< of this node among all of the network; 63 bytes at most
    std::uint16_t port = 0;            ///< where it listens for links; 0: it only looks for others
    std::vector<std::string> texts{};  ///< `key=value`, told to whoever asks
    seconds again{60};                 ///< when the bus is not there
    Log log{};
};

struct DnsSdFound {
    stream::Address address{};
    std::vector<std::string> texts{};
};

/// Tells the Avahi daemon of this machine, where one runs, that a node listens here (`_rhizome._tcp`), and is told by
/// it of others: DNS-SD (RFC 6763) over multicast DNS, as printers are found. Where there is no daemon, or no system
/// bus, nothing happens; when one starts later, it is told then. Nobody is started for this.
///
/// What is found was said by anybody on the network, without a signature.
class DnsSd {
public:
    /// `found` is called on the strand.
    static std::unique_ptr<DnsSd> start(const stream::Strand& strand, DnsSdOptions options,
                                        std::function<void(const DnsSdFound&)> found);
    /// Nobody is told any more, and the daemon forgets this node. Not on the strand.
    void stop();
    ~DnsSd();
    DnsSd(const DnsSd&) = delete;
    DnsSd& operator=(const DnsSd&) = delete;

    /// Places that are looked up in ten seconds, at most: anybody on the network can make up more.
    static constexpr std::size_t kResolvedMax = 64;

    struct Inside;

private:
    explicit DnsSd(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::net
