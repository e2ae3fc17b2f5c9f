// SPDX-License-Identifier: Apache-2.0
#include "net/dns_sd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "support/waiting.h"

namespace rhizome::net {
namespace {

/// A bus with an Avahi daemon on it that has found some places, for one client after another.
class ScriptedBus {
public:
    ScriptedBus(std::string path, std::vector<std::vector<std::string>> places)
        : path_(std::move(path)), places_(std::move(places)) {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        path_.copy(name.sun_path, sizeof name.sun_path - 1);
        listening_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
        EXPECT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
        EXPECT_EQ(::listen(listening_, 4), 0);
        thread_ = std::thread{[this] { run(); }};
    }
    ~ScriptedBus() {
        ::shutdown(listening_, SHUT_RDWR);
        thread_.join();
        ::close(listening_);
    }
    std::size_t clients() {
        const auto hold = clients_.lock();
        return clients_.value();
    }

private:
    void run() {
        for (;;) {
            const int client = ::accept(listening_, nullptr, nullptr);
            if (client < 0) return;
            {
                const auto hold = clients_.lock();
                ++clients_.value();
            }
            serve(client);
            ::close(client);
        }
    }
    static bool read_all(int client, std::span<std::uint8_t> into) {
        for (std::size_t at = 0; at < into.size();) {
            const auto got = ::read(client, into.data() + at, into.size() - at);
            if (got <= 0) return false;
            at += static_cast<std::size_t>(got);
        }
        return true;
    }
    static void read_line(int client) {
        std::uint8_t byte = 0;
        while (byte != '\n' && read_all(client, {&byte, 1})) {
        }
    }
    static void send(int client, DbusMessage message) {
        message.serial = 1;
        const Bytes bytes = encode(message);
        (void)!::write(client, bytes.data(), bytes.size());
    }
    void serve(int client) {
        read_line(client);
        (void)!::write(client, "OK 1\r\n", 6);
        read_line(client);
        std::size_t resolved = 0;
        for (;;) {
            Bytes bytes(kDbusHeadBytes);
            if (!read_all(client, bytes)) return;
            bytes.resize(dbus_size(bytes).value());
            if (!read_all(client, std::span{bytes}.subspan(kDbusHeadBytes))) return;
            const auto asked = decode_dbus(bytes).value();
            DbusMessage reply{.kind = DbusKind::Return, .reply_to = asked.serial};
            if (asked.member == "GetNameOwner") {
                reply.signature = "s";
                reply.body = DbusWriter{}.text(":1.1").bytes();
            } else if (asked.member == "ServiceBrowserNew") {
                reply.signature = "o";
                reply.body = DbusWriter{}.text("/browser").bytes();
            } else if (asked.member == "ResolveService") {
                reply.signature = "iissssisqaayu";
                reply.body = DbusWriter{}
                                 .i32(1)
                                 .i32(0)
                                 .text("a")
                                 .text("_rhizome._tcp")
                                 .text("local")
                                 .text("a.local")
                                 .i32(0)
                                 .text("10.0.0.9")
                                 .u16(7700)
                                 .byte_arrays(places_[resolved++])
                                 .u32(0)
                                 .bytes();
            }
            send(client, reply);
            if (asked.member == "ServiceBrowserNew")
                for (std::size_t i = 0; i < places_.size(); ++i)
                    send(client,
                         {.kind = DbusKind::Signal,
                          .path = "/browser",
                          .interface = "org.freedesktop.Avahi.ServiceBrowser",
                          .member = "ItemNew",
                          .signature = "iisssu",
                          .body =
                              DbusWriter{}.i32(1).i32(0).text("a").text("_rhizome._tcp").text("local").u32(0).bytes()});
        }
    }

    std::string path_;
    std::vector<std::vector<std::string>> places_;
    test::Waited<std::size_t> clients_;
    int listening_ = -1;
    std::thread thread_;
};

TEST(DnsSd, AnAnnouncementWithTooMuchInItEndsNothing) {
    const test::TempFolder temp;
    ScriptedBus bus{(temp.path() / "bus").native(), {std::vector<std::string>(40, "a=b"), {"node=1"}}};
    stream::IoContext io{{.threads = 1}};
    test::Waited<std::vector<DnsSdFound>> found;
    const auto sd = DnsSd::start(io.make_strand(), {.bus = (temp.path() / "bus").native(), .again = seconds{1}},
                                 [&](const DnsSdFound& one) {
                                     const auto hold = found.lock();
                                     found.value().push_back(one);
                                     found.notify();
                                 });
    ASSERT_TRUE(found.wait([](const auto& all) { return !all.empty(); }));
    EXPECT_EQ(found.copy().front().texts, std::vector<std::string>{"node=1"});
    EXPECT_EQ(bus.clients(), 1u);
    sd->stop();
}

}  // namespace
}  // namespace rhizome::net
