// SPDX-License-Identifier: Apache-2.0
#include "runtime/network_namespace.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "runtime/process.h"

/// Two machines and a router between them, all of them networks of their own.
namespace rhizome::runtime {
namespace {

constexpr Ipv4 kLeft = 0x0a010002;
constexpr Ipv4 kRight = 0x0a020002;

/// A socket for datagrams in that network, bound to the address.
Descriptor datagrams(int network, Ipv4 address) {
    Descriptor made;
    std::thread{[&] {
        ASSERT_EQ(::setns(network, CLONE_NEWNET), 0);
        made = Descriptor{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(7'000);
        at.sin_addr.s_addr = htonl(address);
        ASSERT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0) << std::strerror(errno);
        const timeval patience{.tv_sec = 5, .tv_usec = 0};
        ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }}.join();
    return made;
}
void send_text(const Descriptor& from, Ipv4 to, std::string_view text) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(7'000);
    at.sin_addr.s_addr = htonl(to);
    ASSERT_EQ(::sendto(from.get(), text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&at), sizeof at),
              static_cast<ssize_t>(text.size()))
        << "a cut is not told to the sender: " << std::strerror(errno);
}
/// What comes next; nothing within five seconds is the empty text.
std::string next_text(const Descriptor& at) {
    std::array<char, 64> bytes{};
    const ssize_t got = ::recv(at.get(), bytes.data(), bytes.size(), 0);
    return got > 0 ? std::string{bytes.data(), static_cast<std::size_t>(got)} : "";
}

TEST(NetworkNamespaceRoot, APacketIsLostOneWayAndPassesTheOther) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
    auto router = make_network();
    auto left = make_network();
    auto right = make_network();
    ASSERT_TRUE(router && left && right) << router.error().message;
    ASSERT_TRUE(forward_packets(router->get()));
    auto control = NetworkControl::open(router->get());
    ASSERT_TRUE(control);
    for (const auto& [interface, network, address] :
         {std::tuple{"left", left->get(), kLeft}, std::tuple{"right", right->get(), kRight}}) {
        const Ipv4 gateway = address - 1;
        ASSERT_TRUE(control->add_cable(interface, "eth0", network));
        ASSERT_TRUE(control->add_address(interface, gateway, 24));
        ASSERT_TRUE(control->bring_up(interface));
        auto there = NetworkControl::open(network);
        ASSERT_TRUE(there);
        ASSERT_TRUE(there->add_address("eth0", address, 24));
        ASSERT_TRUE(there->bring_up("eth0"));
        const auto routed = there->add_default_route(gateway);
        ASSERT_TRUE(routed) << routed.error().message;
    }
    const auto at_left = datagrams(left->get(), kLeft);
    const auto at_right = datagrams(right->get(), kRight);
    send_text(at_left, kRight, "whole");
    EXPECT_EQ(next_text(at_right), "whole");

    // What was sent into the cut never comes; what is sent after it comes next. The other way is open.
    ASSERT_TRUE(control->lose_packets("left", kRight));
    send_text(at_left, kRight, "lost");
    send_text(at_right, kLeft, "the other way");
    EXPECT_EQ(next_text(at_left), "the other way");
    ASSERT_TRUE(control->pass_packets("left", kRight));
    send_text(at_left, kRight, "healed");
    EXPECT_EQ(next_text(at_right), "healed");

    ASSERT_TRUE(control->lose_packets("left", kRight));
    const auto twice = control->lose_packets("left", kRight);
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().kind, ErrorKind::Conflict);
    ASSERT_TRUE(control->pass_packets("left", kRight));
    const auto none = control->pass_packets("left", kRight);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::NotFound);
    EXPECT_EQ(none.error().message, "cannot pass packets from left to 10.2.0.2: No such file or directory");
}

TEST(NetworkNamespaceRoot, NothingIsLeftWhenTheLastDescriptorIsClosed) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
    auto network = make_network();
    ASSERT_TRUE(network);
    const std::string mine = fmt::format("/proc/{}/fd/{}", ::getpid(), network->get());
    EXPECT_TRUE(open_held_network(::getpid(), network->get()));
    const int number = network->get();
    network->close();
    const auto gone = open_held_network(::getpid(), number);
    ASSERT_FALSE(gone) << mine;
    EXPECT_EQ(gone.error().kind, ErrorKind::NotFound);
}

}  // namespace
}  // namespace rhizome::runtime
