// SPDX-License-Identifier: Apache-2.0
#include "runtime/network_namespace.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/core.h>

#include "base/bytes.h"
#include "runtime/os_error.h"

namespace rhizome::runtime {
namespace {

/// Runs on a thread that lives in that network and does nothing else in its life: nobody can be left in a wrong one.
Result<Descriptor> inside(int network, const std::function<Result<Descriptor>()>& work) {
    Result<Descriptor> result = Descriptor{};
    std::thread{[&] {
        if (::setns(network, CLONE_NEWNET) != 0) {
            result = Fail{os_error("enter a network namespace", errno)};
            return;
        }
        result = work();
    }}.join();
    return result;
}

/// One request to the kernel: a header, then attributes that may hold others.
class Message {
public:
    template <class Body>
    Message(std::uint16_t type, std::uint16_t flags, const Body& body) {
        nlmsghdr header{};
        header.nlmsg_type = type;
        header.nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST);
        append(&header, sizeof header);
        append(&body, sizeof body);
    }

    void add(std::uint16_t type, const void* bytes, std::size_t size) {
        const std::size_t start = begin(type);
        append(bytes, size);
        end(start);
    }
    void add(std::uint16_t type, std::uint32_t number) { add(type, &number, sizeof number); }
    void add(std::uint16_t type, std::string_view text) {
        const std::size_t start = begin(type);
        append(text.data(), text.size());
        append("", 1);
        end(start);
    }
    /// An attribute that holds what is added until `end` with the same number.
    std::size_t begin(std::uint16_t type) {
        const std::size_t start = bytes_.size();
        const rtattr attribute{0, type};
        append(&attribute, sizeof attribute);
        return start;
    }
    template <class Body>
    void append_body(const Body& body) {
        append(&body, sizeof body);
    }
    void end(std::size_t start) {
        const auto size = static_cast<std::uint16_t>(bytes_.size() - start);
        std::memcpy(bytes_.data() + start, &size, sizeof size);
        while (bytes_.size() % RTA_ALIGNTO != 0) bytes_.push_back(0);
    }

    /// With its own size and number in the header.
    const Bytes& finish(std::uint32_t sequence) {
        const auto size = static_cast<std::uint32_t>(bytes_.size());
        std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &size, sizeof size);
        std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
        return bytes_;
    }

private:
    void append(const void* bytes, std::size_t size) {
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        bytes_.insert(bytes_.end(), first, first + size);
    }
    Bytes bytes_{};
};

constexpr std::size_t kAnswerBytes = 16u << 10;

/// Sends it and waits for what the kernel says: 0 or an error's number; the body of another answer in `body`.
Result<void> ask(int socket, Message& message, std::uint32_t sequence, const std::string& doing,
                 Bytes* body = nullptr) {
    const Bytes& bytes = message.finish(sequence);
    if (::send(socket, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return Fail{os_error(doing, errno)};
    std::array<std::uint8_t, kAnswerBytes> answer{};
    for (;;) {
        const ssize_t got = ::recv(socket, answer.data(), answer.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return Fail{os_error(doing, got < 0 ? errno : EPROTO)};
        nlmsghdr header{};
        std::memcpy(&header, answer.data(), sizeof header);
        if (header.nlmsg_seq != sequence) continue;
        if (header.nlmsg_type == NLMSG_ERROR) {
            nlmsgerr error{};
            std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error);
            return error.error == 0 ? ok() : Result<void>{Fail{os_error(doing, -error.error)}};
        }
        if (body == nullptr) continue;
        body->assign(answer.begin() + NLMSG_HDRLEN, answer.begin() + got);
        return ok();
    }
}

/// Before the rule that routes (32,766), after the one for the router's own addresses (0).
constexpr std::uint32_t kRulePriority = 100;

Message rule_message(std::uint16_t type, std::uint16_t flags, std::string_view interface, Ipv4 destination) {
    fib_rule_hdr rule{};
    rule.family = AF_INET;
    rule.dst_len = 32;
    rule.action = FR_ACT_BLACKHOLE;
    Message message{type, static_cast<std::uint16_t>(flags | NLM_F_ACK), rule};
    message.add(FRA_IIFNAME, interface);
    message.add(FRA_DST, htonl(destination));
    message.add(FRA_PRIORITY, kRulePriority);  // without one the kernel keeps equal rules beside each other
    return message;
}

}  // namespace

std::string ipv4_text(Ipv4 address) {
    return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff);
}

Result<Descriptor> make_network() {
    Result<Descriptor> made = Descriptor{};
    std::thread{[&] {
        if (::unshare(CLONE_NEWNET) != 0) {
            made = Fail{os_error("make a network namespace", errno)};
            return;
        }
        Descriptor network{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
        made = network ? Result<Descriptor>{std::move(network)}
                       : Result<Descriptor>{Fail{os_error("open a network namespace", errno)}};
    }}.join();
    if (!made) return made;
    TRY(auto control, NetworkControl::open(made->get()));
    TRY(control.bring_up("lo"));
    return made;
}

Result<Descriptor> open_held_network(int pid, int number) {
    const std::string path = fmt::format("/proc/{}/fd/{}", pid, number);
    Descriptor network{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!network) return Fail{os_error("open the network namespace " + path, errno)};
    return network;
}

Result<void> forward_packets(int network) {
    // /proc/sys/net is that of the thread that looks.
    TRY(const auto done, inside(network, []() -> Result<Descriptor> {
            constexpr const char* kSwitch = "/proc/sys/net/ipv4/ip_forward";
            Descriptor file{::open(kSwitch, O_WRONLY | O_CLOEXEC)};
            if (!file || ::write(file.get(), "1\n", 2) != 2)
                return Fail{os_error(fmt::format("write {}", kSwitch), errno)};
            return file;
        }));
    return ok();
}

Result<NetworkControl> NetworkControl::open(int network) {
    // A socket belongs to the network it was made in, whoever uses it.
    TRY(auto socket, inside(network, []() -> Result<Descriptor> {
            Descriptor made{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
            if (!made) return Fail{os_error("talk to the kernel about networks", errno)};
            return made;
        }));
    return NetworkControl{std::move(socket)};
}

Result<std::uint32_t> NetworkControl::index_of(std::string_view interface) {
    Message message{RTM_GETLINK, 0, ifinfomsg{}};
    message.add(IFLA_IFNAME, interface);
    Bytes body;
    TRY(ask(socket_.get(), message, ++sequence_, fmt::format("find the interface {}", interface), &body));
    ifinfomsg found{};
    if (body.size() < sizeof found)
        return fail(ErrorKind::Failed, "the kernel's answer about an interface is too short");
    std::memcpy(&found, body.data(), sizeof found);
    return static_cast<std::uint32_t>(found.ifi_index);
}

Result<void> NetworkControl::add_cable(std::string_view interface, std::string_view other_interface, int other) {
    Message message{RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{}};
    message.add(IFLA_IFNAME, interface);
    const auto info = message.begin(IFLA_LINKINFO);
    message.add(IFLA_INFO_KIND, std::string_view{"veth"});
    const auto data = message.begin(IFLA_INFO_DATA);
    const auto peer = message.begin(VETH_INFO_PEER);
    message.append_body(ifinfomsg{});
    message.add(IFLA_IFNAME, other_interface);
    message.add(IFLA_NET_NS_FD, static_cast<std::uint32_t>(other));
    message.end(peer);
    message.end(data);
    message.end(info);
    return ask(socket_.get(), message, ++sequence_, fmt::format("make the virtual cable {}", interface));
}

Result<void> NetworkControl::bring_up(std::string_view interface) {
    ifinfomsg wanted{};
    wanted.ifi_flags = IFF_UP;
    wanted.ifi_change = IFF_UP;
    Message message{RTM_NEWLINK, NLM_F_ACK, wanted};
    message.add(IFLA_IFNAME, interface);
    return ask(socket_.get(), message, ++sequence_, fmt::format("bring up the interface {}", interface));
}

Result<void> NetworkControl::add_address(std::string_view interface, Ipv4 address, unsigned prefix_bits) {
    TRY(const auto index, index_of(interface));
    ifaddrmsg wanted{};
    wanted.ifa_family = AF_INET;
    wanted.ifa_prefixlen = static_cast<unsigned char>(prefix_bits);
    wanted.ifa_index = index;
    Message message{RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, wanted};
    message.add(IFA_LOCAL, htonl(address));
    message.add(IFA_ADDRESS, htonl(address));
    return ask(socket_.get(), message, ++sequence_,
               fmt::format("give the interface {} the address {}", interface, ipv4_text(address)));
}

Result<void> NetworkControl::add_default_route(Ipv4 gateway) {
    rtmsg wanted{};
    wanted.rtm_family = AF_INET;
    wanted.rtm_table = RT_TABLE_MAIN;
    wanted.rtm_protocol = RTPROT_BOOT;
    wanted.rtm_scope = RT_SCOPE_UNIVERSE;
    wanted.rtm_type = RTN_UNICAST;
    Message message{RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, wanted};
    message.add(RTA_GATEWAY, htonl(gateway));
    return ask(socket_.get(), message, ++sequence_, fmt::format("route by {}", ipv4_text(gateway)));
}

Result<void> NetworkControl::lose_packets(std::string_view interface, Ipv4 destination) {
    Message message = rule_message(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, interface, destination);
    return ask(socket_.get(), message, ++sequence_,
               fmt::format("lose packets from {} to {}", interface, ipv4_text(destination)));
}

Result<void> NetworkControl::pass_packets(std::string_view interface, Ipv4 destination) {
    Message message = rule_message(RTM_DELRULE, 0, interface, destination);
    return ask(socket_.get(), message, ++sequence_,
               fmt::format("pass packets from {} to {}", interface, ipv4_text(destination)));
}

}  // namespace rhizome::runtime
