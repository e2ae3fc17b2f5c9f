// SPDX-License-Identifier: Apache-2.0
#include "net/beacon.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <set>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fmt/core.h>

#include "stream/timers.h"

namespace rhizome::net {
namespace {

/// Between two calls of ours, whoever asks.
constexpr seconds kBetweenCalls{1};
/// Datagrams read before others on the strand get their turn.
constexpr int kReadAtOnce = 64;

Error socket_error(std::string_view doing) {
    return {ErrorKind::Unavailable, fmt::format("cannot {}: {}", doing, std::strerror(errno))};
}

/// Interfaces that others may be on: up, able to multicast, with an IPv4 address, not this machine's own loop.
std::set<int> lan_interfaces() {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all{found, &::freeifaddrs};
    std::set<int> numbers;
    for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
        const unsigned flags = at->ifa_flags;
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET || (flags & IFF_UP) == 0 ||
            (flags & IFF_MULTICAST) == 0 || (flags & IFF_LOOPBACK) != 0)
            continue;
        if (const unsigned number = ::if_nametoindex(at->ifa_name); number != 0)
            numbers.insert(static_cast<int>(number));
    }
    return numbers;
}

}  // namespace

struct LanBeacon::Inside : std::enable_shared_from_this<Inside> {
    Inside(const stream::Strand& strand_in, const BeaconChain& chain_in, const crypto::SecretKey& key_in,
           BeaconOptions options_in, BeaconHeard heard_in)
        : strand(strand_in),
          chain(chain_in),
          secret(key_in.clone()),
          self(key_in.public_key().bytes()),
          options(std::move(options_in)),
          heard(std::move(heard_in)),
          gate(chain, self),
          socket(strand.executor()) {}

    const stream::Strand strand;
    const BeaconChain chain;
    const crypto::SecretKey secret;
    const ChainKey self;
    const BeaconOptions options;
    const BeaconHeard heard;
    BeaconGate gate;
    boost::asio::posix::stream_descriptor socket;
    sockaddr_in group{};
    std::unique_ptr<stream::Timer> timer{};
    stream::Deadline next_answer{};
    std::set<ChainKey> answered{};
    bool told_trouble = false;
    bool stopped = false;

    Result<void> open() {
        group.sin_family = AF_INET;
        group.sin_port = htons(options.group.port);
        if (::inet_pton(AF_INET, options.group.host.c_str(), &group.sin_addr) != 1)
            return fail(ErrorKind::Invalid, "the beacon's group is no IPv4 address: " + options.group.host);
        const int made = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (made < 0) return Fail{socket_error("make a socket for beacons")};
        socket.assign(made);
        const int on = 1;
        // Several nodes on one machine hear the same group.
        ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const int one_hop = 1;
        ::setsockopt(made, IPPROTO_IP, IP_MULTICAST_TTL, &one_hop, sizeof one_hop);
        // Only what is sent to the group, not whatever comes to the port.
        if (::bind(made, reinterpret_cast<const sockaddr*>(&group), sizeof group) != 0)
            return Fail{socket_error(fmt::format("listen for beacons on {}", options.group.text()))};
        return ok();
    }

    void begin() {
        timer = std::make_unique<stream::Timer>(strand, [this] { call(); });
        call();
        wait();
    }

    void call() {
        if (stopped) return;
        timer->set(stream::after(options.every));
        const std::set<int> interfaces = lan_interfaces();
        Bytes bytes;
        if (options.links_port != 0) bytes = encode_beacon({chain, self, options.links_port, options.now()}, secret);
        std::string trouble;
        for (const int number : interfaces) {
            ip_mreqn where{};
            where.imr_multiaddr = group.sin_addr;
            where.imr_ifindex = number;
            // Again and again, since an interface may be a new one under an old number; being there already is fine.
            if (::setsockopt(socket.native_handle(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &where, sizeof where) != 0 &&
                errno != EADDRINUSE)
                trouble = std::strerror(errno);
            if (bytes.empty()) continue;
            ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_MULTICAST_IF, &where, sizeof where);
            if (::sendto(socket.native_handle(), bytes.data(), bytes.size(), 0,
                         reinterpret_cast<const sockaddr*>(&group), sizeof group) < 0)
                trouble = std::strerror(errno);
        }
        if (trouble.empty()) {
            told_trouble = false;
        } else if (!told_trouble) {
            told_trouble = true;
            options.log.warn("beacons do not reach every local network", {{"why", trouble}});
        }
        next_answer = stream::after(kBetweenCalls);
    }

    void wait() {
        socket.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self_kept = shared_from_this()](const boost::system::error_code& failed) {
                              if (failed || self_kept->stopped) return;
                              self_kept->read();
                              self_kept->wait();
                          });
    }

    void read() {
        // One byte more than a beacon has, so that longer ones are seen to be longer.
        std::array<std::uint8_t, kBeaconBytes + 1> buffer{};
        for (int i = 0; i < kReadAtOnce && !stopped; ++i) {
            sockaddr_in from{};
            socklen_t size = sizeof from;
            const ssize_t got = ::recvfrom(socket.native_handle(), buffer.data(), buffer.size(), 0,
                                           reinterpret_cast<sockaddr*>(&from), &size);
            if (got < 0) return;
            std::array<char, INET_ADDRSTRLEN> text{};
            if (from.sin_family != AF_INET || ::inet_ntop(AF_INET, &from.sin_addr, text.data(), text.size()) == nullptr)
                continue;
            take(ByteView{buffer}.first(static_cast<std::size_t>(got)), text.data());
        }
    }

    void take(ByteView bytes, const std::string& from) {
        const auto message = gate.hear(bytes, from, options.now());
        if (!message) return;
        options.log.debug("heard a beacon", {{"from", from}, {"port", message->port}});
        heard(message->key, {.host = from, .port = message->port});
        // It may have started after our last call; whoever is known waits for the next one.
        if (answered.size() >= BeaconGate::kKnownMax) answered.clear();
        if (answered.insert(message->key).second) timer->set(next_answer);
    }
};

LanBeacon::LanBeacon(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
LanBeacon::~LanBeacon() { stop(); }

Result<std::unique_ptr<LanBeacon>> LanBeacon::start(const stream::Strand& strand, const BeaconChain& chain,
                                                    const crypto::SecretKey& key, BeaconOptions options,
                                                    BeaconHeard heard) {
    auto inside = std::make_shared<Inside>(strand, chain, key, std::move(options), std::move(heard));
    TRY(inside->open());
    strand.post([inside] {
        if (!inside->stopped) inside->begin();
    });
    return std::unique_ptr<LanBeacon>{new LanBeacon{std::move(inside)}};
}

void LanBeacon::stop() {
    if (!inside_) return;
    const auto in = std::move(inside_);
    stream::run_on(in->strand, [&] {
        in->stopped = true;
        in->timer.reset();
        boost::system::error_code ignored;
        in->socket.close(ignored);
    });
}

}  // namespace rhizome::net
