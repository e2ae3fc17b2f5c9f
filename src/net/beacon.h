// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "base/log.h"
#include "net/beacon_message.h"
#include "stream/strand.h"
#include "stream/tcp.h"

namespace rhizome::net {

struct BeaconOptions {
    std::uint16_t links_port = 0;  ///< called out; 0: this node only hears
    /// IPv4 multicast within the site (RFC 2365); one hop only.
    stream::Address group{.host = "239.255.77.1", .port = 7701};
    /// The same over IPv6 (RFC 4291): of a site, so that the kernel calls from an address that others can dial, and not
    /// from a link-local one.
    stream::Address group6{.host = "ff05::7701", .port = 7701};
    seconds every{30};
    std::function<Time()> now{};
    Log log{};
};

/// Somebody of our chain was heard: who, and where it listens. On the strand.
using BeaconHeard = std::function<void(const ChainKey& key, const stream::Address& address)>;

/// Calls out on every local network that this machine is on, and hears others. A newcomer is answered at once, so two
/// nodes know each other a moment after the second has started. Networks that come and go are noticed with the next
/// call. Not being able to call is no fault: it is logged once, and tried again. Over IPv4 and IPv6; where an interface
/// has link-local addresses only, a link would need its name, and nobody is called there.
class LanBeacon {
public:
    /// Unavailable when there is no such socket to be had.
    static Result<std::unique_ptr<LanBeacon>> start(const stream::Strand& strand, const BeaconChain& chain,
                                                    const crypto::SecretKey& key, BeaconOptions options,
                                                    BeaconHeard heard);
    /// Nobody is told any more. Not on the strand.
    void stop();
    ~LanBeacon();
    LanBeacon(const LanBeacon&) = delete;
    LanBeacon& operator=(const LanBeacon&) = delete;

    struct Inside;

private:
    explicit LanBeacon(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::net
