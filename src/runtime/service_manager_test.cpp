// SPDX-License-Identifier: Apache-2.0
#include "runtime/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/descriptor.h"
#include "support/temp_folder.h"

namespace rhizome::runtime {
namespace {

/// What systemd is to a service: a datagram socket under a name.
class Manager {
public:
    explicit Manager(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path, name.data(), name.size());
        if (at.sun_path[0] == '@') at.sun_path[0] = '\0';
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        bound_ = ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), length) == 0;
    }
    bool bound() const { return bound_; }
    /// The next message; empty when there is none.
    std::string next() const {
        std::array<char, 4'096> bytes{};
        const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        return size < 0 ? "" : std::string{bytes.data(), static_cast<std::size_t>(size)};
    }

private:
    Descriptor socket_;
    bool bound_ = false;
};

TEST(ServiceManager, IsToldOverARealSocket) {
    const test::TempFolder folder;
    for (const std::string& name :
         {(folder / "notify").native(), "@rhizome-test-" + folder.path().filename().native()}) {
        const Manager manager{name};
        ASSERT_TRUE(manager.bound()) << name;
        const ServiceManager told{Environment{{{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "30000000"}}}};
        ASSERT_TRUE(told.is_there());
        told.ready("height 7\nREADY=0");
        EXPECT_EQ(manager.next(), "READY=1\nSTATUS=height 7 READY=0") << "a status cannot forge a message";
        told.status("height 8");
        EXPECT_EQ(manager.next(), "STATUS=height 8");
        told.alive();
        EXPECT_EQ(manager.next(), "WATCHDOG=1");
        told.stopping();
        EXPECT_TRUE(manager.next().starts_with("STOPPING=1\n"));
        EXPECT_EQ(told.watchdog(), microseconds{15'000'000});
        EXPECT_EQ(manager.next(), "");
    }
}

TEST(ServiceManager, NobodyThereIsNoFault) {
    const ServiceManager none{Environment{}};
    EXPECT_FALSE(none.is_there());
    none.ready("all is well");
    const ServiceManager gone{Environment{{{"NOTIFY_SOCKET", "/nowhere/notify"}}}};
    gone.ready("all is well");
    EXPECT_FALSE(gone.watchdog());
    EXPECT_FALSE(ServiceManager(Environment{{{"NOTIFY_SOCKET", "vsock:2:1"}}}).is_there());
    EXPECT_FALSE(ServiceManager(Environment{{{"NOTIFY_SOCKET", "/x"}, {"WATCHDOG_USEC", "soon"}}}).watchdog());
}

}  // namespace
}  // namespace rhizome::runtime
