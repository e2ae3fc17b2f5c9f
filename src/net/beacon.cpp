// SPDX-License-Identifier: Apache-2.0
#include "net/beacon.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <vector>

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

/// Whether somebody else could dial what is sent from there. Link-local addresses of IPv6 mean something only together
/// with the name of an interface.
bool is_dialable(const sockaddr& address) {
    if (address.sa_family == AF_INET) return true;
    if (address.sa_family != AF_INET6) return false;
    return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) == 0;
}

/// Interfaces that others may be on: up, able to multicast, with an address of this family that can be dialled, not
/// this machine's own loop.
std::set<int> lan_interfaces(int family) {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all{found, &::freeifaddrs};
    std::set<int> numbers;
    for (const ifaddrs* at = found; at != nullptr; at = at->ifa_next) {
        const unsigned flags = at->ifa_flags;
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != family || !is_dialable(*at->ifa_addr) ||
            (flags & IFF_UP) == 0 || (flags & IFF_MULTICAST) == 0 || (flags & IFF_LOOPBACK) != 0)
            continue;
        if (const unsigned number = ::if_nametoindex(at->ifa_name); number != 0)
            numbers.insert(static_cast<int>(number));
    }
    return numbers;
}

/// A group of one family: where calls go and are heard.
class Ear {
public:
    Ear(const stream::Strand& strand, int family) : family_(family), socket(strand.executor()) {}

    Result<void> open(const stream::Address& address) {
        void* const place = family_ == AF_INET ? static_cast<void*>(&v4().sin_addr) : &v6().sin6_addr;
        group_.ss_family = static_cast<sa_family_t>(family_);
        (family_ == AF_INET ? v4().sin_port : v6().sin6_port) = htons(address.port);
        if (::inet_pton(family_, address.host.c_str(), place) != 1)
            return fail(ErrorKind::Invalid, "the beacon's group is no address of its family: " + address.host);
        const int made = ::socket(family_, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (made < 0) return Fail{socket_error("make a socket for beacons")};
        socket.assign(made);
        const int on = 1;
        // Several nodes on one machine hear the same group.
        ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const int one_hop = 1;
        if (family_ == AF_INET) {
            ::setsockopt(made, IPPROTO_IP, IP_MULTICAST_TTL, &one_hop, sizeof one_hop);
        } else {
            ::setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
            ::setsockopt(made, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &one_hop, sizeof one_hop);
        }
        // Only what is sent to the group, not whatever comes to the port.
        if (::bind(made, sockaddr_of(), size()) != 0)
            return Fail{socket_error(fmt::format("listen for beacons on {}", address.text()))};
        return ok();
    }

    /// Hears the group on every interface from now on, and says this there; nothing to say: no bytes. What went wrong.
    std::string call(ByteView bytes) {
        std::string trouble;
        for (const int number : lan_interfaces(family_)) {
            // Again and again, since an interface may be a new one under an old number; being there already is fine.
            if (!choose(number, Choice::Hear) && errno != EADDRINUSE) trouble = std::strerror(errno);
            if (bytes.empty()) continue;
            (void)choose(number, Choice::Call);
            if (::sendto(socket.native_handle(), bytes.data(), bytes.size(), 0, sockaddr_of(), size()) < 0)
                trouble = std::strerror(errno);
        }
        return trouble;
    }

    /// The next datagram that is here, and where it came from; nothing when there is none.
    std::optional<std::pair<std::size_t, std::string>> read(std::span<std::uint8_t> into) {
        for (;;) {
            sockaddr_storage from{};
            socklen_t from_size = sizeof from;
            const ssize_t got = ::recvfrom(socket.native_handle(), into.data(), into.size(), 0,
                                           reinterpret_cast<sockaddr*>(&from), &from_size);
            if (got < 0) return std::nullopt;
            const auto& sender = reinterpret_cast<const sockaddr&>(from);
            std::array<char, INET6_ADDRSTRLEN> text{};
            const void* const address =
                family_ == AF_INET ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(from).sin_addr)
                                   : &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
            if (sender.sa_family != family_ || !is_dialable(sender) ||
                ::inet_ntop(family_, address, text.data(), text.size()) == nullptr)
                continue;
            return std::pair{static_cast<std::size_t>(got), std::string{text.data()}};
        }
    }

private:
    enum class Choice : std::uint8_t { Hear, Call };
    bool choose(int interface, Choice choice) {
        if (family_ == AF_INET) {
            ip_mreqn where{};
            where.imr_multiaddr = v4().sin_addr;
            where.imr_ifindex = interface;
            return ::setsockopt(socket.native_handle(), IPPROTO_IP,
                                choice == Choice::Hear ? IP_ADD_MEMBERSHIP : IP_MULTICAST_IF, &where,
                                sizeof where) == 0;
        }
        if (choice == Choice::Call)
            return ::setsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_MULTICAST_IF, &interface,
                                sizeof interface) == 0;
        ipv6_mreq where{};
        where.ipv6mr_multiaddr = v6().sin6_addr;
        where.ipv6mr_interface = static_cast<unsigned>(interface);
        return ::setsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &where, sizeof where) == 0;
    }
    sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(group_); }
    sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(group_); }
    [[nodiscard]] const sockaddr* sockaddr_of() const { return reinterpret_cast<const sockaddr*>(&group_); }
    [[nodiscard]] socklen_t size() const { return family_ == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }

    int family_;
    sockaddr_storage group_{};

public:
    boost::asio::posix::stream_descriptor socket;
};

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
          gate(chain, self) {}

    const stream::Strand strand;
    const BeaconChain chain;
    const crypto::SecretKey secret;
    const ChainKey self;
    const BeaconOptions options;
    const BeaconHeard heard;
    BeaconGate gate;
    std::vector<std::unique_ptr<Ear>> ears{};
    std::unique_ptr<stream::Timer> timer{};
    stream::Deadline next_answer{};
    std::set<ChainKey> answered{};
    bool told_trouble = false;
    bool stopped = false;

    Result<void> open() {
        auto v4 = std::make_unique<Ear>(strand, AF_INET);
        auto opened = v4->open(options.group);
        if (opened) ears.push_back(std::move(v4));
        // A machine may have one family only.
        auto v6 = std::make_unique<Ear>(strand, AF_INET6);
        if (v6->open(options.group6)) ears.push_back(std::move(v6));
        return ears.empty() ? std::move(opened) : Result<void>{ok()};
    }

    void begin() {
        timer = std::make_unique<stream::Timer>(strand, [this] { call(); });
        call();
        for (const auto& ear : ears) wait(*ear);
    }

    void call() {
        if (stopped) return;
        timer->set(stream::after(options.every));
        Bytes bytes;
        if (options.links_port != 0) bytes = encode_beacon({chain, self, options.links_port, options.now()}, secret);
        std::string trouble;
        for (const auto& ear : ears)
            if (std::string why = ear->call(bytes); !why.empty()) trouble = std::move(why);
        if (trouble.empty()) {
            told_trouble = false;
        } else if (!told_trouble) {
            told_trouble = true;
            options.log.warn("beacons do not reach every local network", {{"why", trouble}});
        }
        next_answer = stream::after(kBetweenCalls);
    }

    void wait(Ear& ear) {
        ear.socket.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                              [self_kept = shared_from_this(), &ear](const boost::system::error_code& failed) {
                                  if (failed || self_kept->stopped) return;
                                  self_kept->read(ear);
                                  self_kept->wait(ear);
                              });
    }

    void read(Ear& ear) {
        // One byte more than a beacon has, so that longer ones are seen to be longer.
        std::array<std::uint8_t, kBeaconBytes + 1> buffer{};
        for (int i = 0; i < kReadAtOnce && !stopped; ++i) {
            const auto got = ear.read(buffer);
            if (!got) return;
            take(ByteView{buffer}.first(got->first), got->second);
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
        for (const auto& ear : in->ears) ear->socket.close(ignored);
    });
}

}  // namespace rhizome::net
