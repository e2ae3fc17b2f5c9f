// SPDX-License-Identifier: Apache-2.0
#include "net/beacon.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "runtime/clock.h"
#include "runtime/descriptor.h"
#include "runtime/process.h"
#include "support/waiting.h"

/// Two machines on one cable: network namespaces joined by a pair of virtual interfaces.
namespace rhizome::net {
namespace {

class BeaconRoot : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
        lay_cable("10.77.0.1/24", "10.77.0.2/24");
    }
    void lay_cable(const char* left, const char* right) {
        const std::string tag = std::to_string(::getpid());
        left_ = "rzl" + tag;
        right_ = "rzr" + tag;
        ip({"netns", "add", left_});
        ip({"netns", "add", right_});
        ip({"link", "add", "veth0", "netns", left_, "type", "veth", "peer", "name", "veth0", "netns", right_});
        for (const auto& [name, address] : {std::pair{left_, left}, std::pair{right_, right}}) {
            // Nobody waits for an address that nobody else can have.
            ip({"-n", name, "address", "add", address, "dev", "veth0", "nodad"});
            ip({"-n", name, "link", "set", "veth0", "up"});
        }
    }
    void TearDown() override {
        for (const std::string& name : {left_, right_})
            if (!name.empty()) ip({"netns", "delete", name});
    }
    static void ip(std::vector<std::string> words) {
        const auto end = runtime::run_process({.program = "ip", .arguments = std::move(words)});
        ASSERT_TRUE(end && end->succeeded()) << (end ? end->err : end.error().message);
    }
    /// Runs in that namespace; the thread that goes there does nothing else in its life.
    template <class Work>
    static void inside(const std::string& name, const Work& work) {
        std::thread{[&] {
            const runtime::Descriptor space{::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC)};
            ASSERT_TRUE(space && ::setns(space.get(), CLONE_NEWNET) == 0);
            work();
        }}.join();
    }

    using Calls = std::vector<std::pair<ChainKey, std::string>>;
    /// A node in that namespace. A context's threads are born where it is made, and so are its sockets.
    struct Caller {
        std::unique_ptr<stream::IoContext> io{};
        test::Waited<Calls> heard{};
        std::unique_ptr<LanBeacon> beacon{};
    };
    static std::unique_ptr<Caller> start(const std::string& name, std::uint8_t chain, std::uint8_t key,
                                         std::uint16_t port) {
        auto caller = std::make_unique<Caller>();
        inside(name, [&] {
            caller->io = std::make_unique<stream::IoContext>(stream::IoOptions{.threads = 1});
            BeaconChain id{};
            id.fill(chain);
            const auto secret = crypto::SecretKey::from_bytes(Bytes(32, key));
            auto started = LanBeacon::start(caller->io->make_strand(), id, *secret,
                                            {.links_port = port, .every = seconds{1}, .now = runtime::now},
                                            [to = caller.get()](const ChainKey& who, const stream::Address& at) {
                                                const auto hold = to->heard.lock();
                                                to->heard.value().emplace_back(who, at.text());
                                                to->heard.notify();
                                            });
            ASSERT_TRUE(started) << started.error().message;
            caller->beacon = *std::move(started);
        });
        return caller;
    }
    static ChainKey public_key(std::uint8_t key) {
        return crypto::SecretKey::from_bytes(Bytes(32, key))->public_key().bytes();
    }

    std::string left_{};
    std::string right_{};
};

TEST_F(BeaconRoot, TwoMachinesOnOneCableFindEachOther) {
    const auto one = start(left_, 1, 11, 7700);
    const auto other = start(right_, 1, 12, 7711);
    const auto some = [](const Calls& calls) { return !calls.empty(); };
    ASSERT_TRUE(one->heard.wait(some));
    ASSERT_TRUE(other->heard.wait(some));
    EXPECT_EQ(one->heard.copy().front(), std::pair(public_key(12), std::string{"10.77.0.2:7711"}));
    EXPECT_EQ(other->heard.copy().front(), std::pair(public_key(11), std::string{"10.77.0.1:7700"}));
}

class BeaconIpv6Root : public BeaconRoot {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
        lay_cable("fd00:77::1/64", "fd00:77::2/64");
    }
};

TEST_F(BeaconIpv6Root, TwoMachinesWithoutIpv4FindEachOtherByAddressesThatCanBeDialled) {
    const auto one = start(left_, 1, 11, 7700);
    const auto other = start(right_, 1, 12, 7711);
    const auto some = [](const Calls& calls) { return !calls.empty(); };
    ASSERT_TRUE(one->heard.wait(some));
    ASSERT_TRUE(other->heard.wait(some));
    EXPECT_EQ(one->heard.copy().front(), std::pair(public_key(12), std::string{"[fd00:77::2]:7711"}));
    EXPECT_EQ(other->heard.copy().front(), std::pair(public_key(11), std::string{"[fd00:77::1]:7700"}));
}

TEST_F(BeaconRoot, WhoOnlyHearsIsNotHeardAndOtherChainsAreNobody) {
    const auto listener = start(left_, 1, 11, 0);
    const auto stranger = start(right_, 2, 12, 7711);
    const auto member = start(right_, 1, 13, 7712);
    // Both are on the same machine and call at the same times: when the member was heard, the stranger was, too.
    ASSERT_TRUE(listener->heard.wait([](const Calls& calls) { return !calls.empty(); }));
    for (const auto& [key, address] : listener->heard.copy()) EXPECT_EQ(key, public_key(13)) << address;
    EXPECT_TRUE(member->heard.copy().empty()) << "the listener calls nobody";
}

}  // namespace
}  // namespace rhizome::net
