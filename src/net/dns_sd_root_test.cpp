// SPDX-License-Identifier: Apache-2.0
#include "net/dns_sd.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "runtime/descriptor.h"
#include "runtime/process.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

/// Two machines on one cable, each with a message bus and the real Avahi daemon.
namespace rhizome::net {
namespace {

using Found = std::vector<DnsSdFound>;

/// A program for as long as this lives.
class Program {
public:
    explicit Program(std::vector<std::string> words) {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        posix_spawn_file_actions_t actions{};
        ::posix_spawn_file_actions_init(&actions);
        for (const int output : {STDOUT_FILENO, STDERR_FILENO})
            ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
        if (::posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = 0;
        ::posix_spawn_file_actions_destroy(&actions);
    }
    ~Program() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

private:
    pid_t pid_ = 0;
};

class DnsSdRoot : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
        for (const char* program : {"avahi-daemon", "dbus-daemon", "nsenter", "unshare"}) {
            const auto there = runtime::run_process({.program = "which", .arguments = {program}});
            if (!there || !there->succeeded()) GTEST_SKIP() << "needs " << program << " (Debian: avahi-daemon, dbus)";
        }
        const std::string tag = std::to_string(::getpid());
        names_ = {"rzda" + tag, "rzdb" + tag};
        for (const std::string& name : names_) ip({"netns", "add", name});
        ip({"link", "add", "veth0", "netns", names_[0], "type", "veth", "peer", "name", "veth0", "netns", names_[1]});
        for (int i = 0; i < 2; ++i) {
            ip({"-n", names_[i], "address", "add", fmt::format("10.78.0.{}/24", i + 1), "dev", "veth0"});
            ip({"-n", names_[i], "link", "set", "veth0", "up"});
            ip({"-n", names_[i], "link", "set", "lo", "up"});
            std::ofstream{temp_.path() / fmt::format("bus{}.conf", i)} << fmt::format(
                "<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>"
                "<policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/><allow send_type=\"method_call\"/>"
                "<allow send_type=\"signal\"/><allow send_type=\"method_return\"/><allow send_type=\"error\"/>"
                "<allow receive_type=\"method_call\"/><allow receive_type=\"signal\"/>"
                "<allow receive_type=\"method_return\"/><allow receive_type=\"error\"/></policy></busconfig>",
                bus(i));
            std::ofstream{temp_.path() / fmt::format("avahi{}.conf", i)} << fmt::format(
                "[server]\nhost-name=machine{}\nuse-ipv4=yes\nuse-ipv6=no\nallow-interfaces=veth0\n"
                "[wide-area]\nenable-wide-area=no\n[publish]\n[rlimits]\n",
                i);
        }
    }
    void TearDown() override {
        avahi_.clear();
        buses_.clear();
        for (const std::string& name : names_) ip({"netns", "delete", name});
    }
    static void ip(std::vector<std::string> words) {
        const auto end = runtime::run_process({.program = "ip", .arguments = std::move(words)});
        ASSERT_TRUE(end && end->succeeded()) << (end ? end->err : end.error().message);
    }
    std::string bus(int machine) const { return (temp_.path() / fmt::format("bus{}", machine)).native(); }
    void start_bus(int machine) {
        buses_.push_back(std::make_unique<Program>(std::vector<std::string>{
            "nsenter", "--net=/run/netns/" + names_[machine], "dbus-daemon", "--nofork", "--nopidfile",
            "--config-file=" + (temp_.path() / fmt::format("bus{}.conf", machine)).native()}));
        ASSERT_TRUE(test::eventually([&] { return ::access(bus(machine).c_str(), F_OK) == 0; })) << "no bus";
    }
    void start_avahi(int machine) {
        // Its own idea of /run: the daemon keeps one file for each machine there.
        avahi_.push_back(std::make_unique<Program>(std::vector<std::string>{
            "unshare", "--mount", "nsenter", "--net=/run/netns/" + names_[machine], "sh", "-c",
            fmt::format("mount -t tmpfs none /run && DBUS_SYSTEM_BUS_ADDRESS=unix:path={} exec avahi-daemon "
                        "--no-drop-root --no-chroot --no-rlimits --file {}",
                        bus(machine), (temp_.path() / fmt::format("avahi{}.conf", machine)).native())}));
    }

    struct Node {
        std::unique_ptr<stream::IoContext> io{};
        test::Waited<Found> found{};
        std::unique_ptr<DnsSd> sd{};
    };
    std::unique_ptr<Node> start_node(int machine, std::uint16_t port) {
        auto node = std::make_unique<Node>();
        node->io = std::make_unique<stream::IoContext>(stream::IoOptions{.threads = 1});
        node->sd = DnsSd::start(node->io->make_strand(),
                                {.bus = bus(machine),
                                 .name = fmt::format("node {}", machine),
                                 .port = port,
                                 .texts = {fmt::format("node={}", machine)},
                                 .again = seconds{1}},
                                [to = node.get()](const DnsSdFound& one) {
                                    const auto hold = to->found.lock();
                                    to->found.value().push_back(one);
                                    to->found.notify();
                                });
        return node;
    }

    test::TempFolder temp_;
    std::vector<std::string> names_;
    std::vector<std::unique_ptr<Program>> buses_;
    std::vector<std::unique_ptr<Program>> avahi_;
};

TEST_F(DnsSdRoot, NodesFindEachOtherThroughTheDaemonsAlsoWhenThoseStartLater) {
    // The first finds no bus at all, the second a bus without Avahi.
    const auto one = start_node(0, 7700);
    start_bus(1);
    const auto other = start_node(1, 7711);
    start_bus(0);
    start_avahi(0);
    start_avahi(1);
    const auto some = [](const Found& found) { return !found.empty(); };
    ASSERT_TRUE(one->found.wait(some));
    ASSERT_TRUE(other->found.wait(some));
    EXPECT_EQ(one->found.copy().front().address.text(), "10.78.0.2:7711");
    EXPECT_EQ(one->found.copy().front().texts, std::vector<std::string>{"node=1"});
    EXPECT_EQ(other->found.copy().front().address.text(), "10.78.0.1:7700");
    EXPECT_EQ(other->found.copy().front().texts, std::vector<std::string>{"node=0"});
    // A daemon that restarts knows nothing: it is asked again.
    const std::size_t before = other->found.copy().size();
    avahi_.pop_back();
    start_avahi(1);
    EXPECT_TRUE(other->found.wait([&](const Found& found) { return found.size() > before; }));
}

TEST_F(DnsSdRoot, WhoOnlyLooksIsNotFound) {
    start_bus(0);
    start_bus(1);
    start_avahi(0);
    start_avahi(1);
    const auto listener = start_node(0, 0);
    const auto node = start_node(1, 7711);
    ASSERT_TRUE(listener->found.wait([](const Found& found) { return !found.empty(); }));
    EXPECT_TRUE(node->found.copy().empty());
}

}  // namespace
}  // namespace rhizome::net
