// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/probe.h"

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "runtime/descriptor.h"

namespace rhizome::cli::doctor {
namespace {

using runtime::Descriptor;

/// What the child tells: an errno per attempt, 0 when it worked, -1 when it was not tried.
struct Told {
    int network_namespace = -1;
    int veth = -1;
    int bridge = -1;
    int wireguard = -1;
    int nftables = -1;
};

/// A netlink message being written. Attributes are as the kernel wants them: length, type, bytes, padding to four.
class Message {
public:
    template <class Header>
    Message(std::uint16_t type, std::uint16_t flags, const Header& header) {
        nlmsghdr start{};
        start.nlmsg_type = type;
        start.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        put(&start, sizeof start);
        put(&header, sizeof header);
    }
    void text(std::uint16_t type, std::string_view value) {
        const rtattr start{static_cast<unsigned short>(RTA_LENGTH(value.size())), type};
        put(&start, sizeof start);
        put(value.data(), value.size());
    }
    void nested_text(std::uint16_t outer, std::uint16_t inner, std::string_view value) {
        const auto inside = RTA_ALIGN(RTA_LENGTH(value.size()));
        const rtattr start{static_cast<unsigned short>(RTA_LENGTH(inside)), outer};
        put(&start, sizeof start);
        text(inner, value);
    }
    std::string_view bytes() {
        const auto size = static_cast<std::uint32_t>(size_);
        std::memcpy(buffer_.data(), &size, sizeof size);  // nlmsg_len is the first field
        return {buffer_.data(), size_};
    }

private:
    void put(const void* from, std::size_t count) {
        std::memcpy(buffer_.data() + size_, from, count);
        size_ += NLMSG_ALIGN(count);
    }
    alignas(nlmsghdr) std::array<char, 256> buffer_{};  // the largest message here takes 80
    std::size_t size_ = 0;
};

/// Sends the message and gives the errno of the kernel's answer. An answer that is no error counts as success.
int ask_kernel(int protocol, Message message) {
    const Descriptor socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)};
    if (!socket) return errno;
    const auto bytes = message.bytes();
    if (::send(socket.get(), bytes.data(), bytes.size(), 0) < 0) return errno;
    pollfd wait{socket.get(), POLLIN, 0};
    if (::poll(&wait, 1, 2'000) <= 0) return ETIMEDOUT;
    alignas(nlmsghdr) std::array<char, 4096> answer;
    const auto got = ::recv(socket.get(), answer.data(), answer.size(), 0);
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return got < 0 ? errno : EPROTO;
    nlmsghdr start{};
    std::memcpy(&start, answer.data(), sizeof start);
    if (start.nlmsg_type != NLMSG_ERROR) return 0;
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(int))) return EPROTO;
    int problem = 0;
    std::memcpy(&problem, answer.data() + sizeof(nlmsghdr), sizeof problem);
    return -problem;
}

int add_link(std::string_view kind) {
    Message message{RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{}};
    message.nested_text(IFLA_LINKINFO, IFLA_INFO_KIND, kind);
    return ask_kernel(NETLINK_ROUTE, message);
}

int ask_nftables() {
    nfgenmsg header{};
    header.nfgen_family = AF_UNSPEC;
    header.version = NFNETLINK_V0;
    return ask_kernel(NETLINK_NETFILTER, Message{(NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETGEN, NLM_F_ACK, header});
}

Told probe_in_child() {
    Told told;
    told.network_namespace = ::unshare(CLONE_NEWNET) == 0 ? 0 : errno;
    if (told.network_namespace == EPERM) {
        told.network_namespace = ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : errno;
    }
    if (told.network_namespace != 0) return told;
    told.veth = add_link("veth");
    told.bridge = add_link("bridge");
    told.wireguard = add_link("wireguard");
    told.nftables = ask_nftables();
    return told;
}

Attempt attempt(int problem) {
    if (problem == 0) return {.worked = true, .why = {}};
    if (problem == -1) return {.worked = false, .why = "not tried: no network namespace"};
    // What the kernel says about a kind of device that it does not have.
    if (problem == EOPNOTSUPP || problem == EINVAL || problem == EPROTONOSUPPORT) {
        return {.worked = false, .why = "not in the kernel"};
    }
    return {.worked = false, .why = std::generic_category().message(problem)};
}

}  // namespace

NetworkProbe probe_network() {
    const auto lost = [](int problem) {
        const auto why = attempt(problem);
        return NetworkProbe{why, why, why, why, why};
    };
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return lost(errno);
    const Descriptor read_end{ends[0]};
    Descriptor write_end{ends[1]};
    const pid_t child = ::fork();
    if (child < 0) return lost(errno);
    if (child == 0) {
        const auto told = probe_in_child();
        const auto wrote = ::write(write_end.get(), &told, sizeof told);
        ::_exit(wrote == sizeof told ? 0 : 1);
    }
    write_end.close();
    Told told;
    // Modules may be loaded meanwhile; ten seconds are for a kernel that hangs.
    pollfd wait{read_end.get(), POLLIN, 0};
    const bool heard = ::poll(&wait, 1, 10'000) > 0 && ::read(read_end.get(), &told, sizeof told) == sizeof told;
    if (!heard) ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!heard) return lost(ETIMEDOUT);
    return {attempt(told.network_namespace), attempt(told.veth), attempt(told.bridge), attempt(told.wireguard),
            attempt(told.nftables)};
}

}  // namespace rhizome::cli::doctor
