// SPDX-License-Identifier: Apache-2.0
#include "stream/tcp.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace rhizome::stream {
namespace {

Address loopback() { return {"127.0.0.1", 0, false}; }

Task<void> echo(std::unique_ptr<Stream> stream) {
    std::array<std::uint8_t, 4096> buffer{};
    for (;;) {
        const auto got = co_await stream->read_some(buffer);
        if (!got || *got == 0) break;
        const auto sent = co_await write_all(*stream, ByteView{buffer.data(), *got});
        if (!sent) break;
    }
    auto ignored = co_await stream->shutdown();
}

Task<void> serve(Listener* listener) {
    for (;;) {
        auto made = co_await listener->accept();
        if (!made) co_return;
        const Strand strand = (*made)->strand();
        spawn(strand, echo(std::move(*made)));
    }
}

Task<Result<std::string>> talk(Address to, std::string text) {
    CO_TRY(const auto stream, co_await connect(to, after(seconds{180})));
    stream->set_read_deadline(after(seconds{180}));
    CO_TRY(co_await write_all(*stream, as_bytes(text)));
    CO_TRY(co_await stream->shutdown());
    std::string out;
    std::array<std::uint8_t, 1000> buffer{};
    for (;;) {
        CO_TRY(const std::size_t got, co_await stream->read_some(buffer));
        if (got == 0) co_return out;
        out.append(as_text(ByteView{buffer.data(), got}));
    }
}

/// A server of echoes that is closed before its context goes.
class EchoServer {
public:
    explicit EchoServer(IoContext& context, Address address = loopback(), std::size_t connections_max = 4096)
        : context_(context) {
        auto opened = Listener::open(context, {.address = std::move(address), .connections_max = connections_max});
        ensure(opened.has_value(), "the test can listen");
        listener_ = std::move(*opened);
        spawn(listener_->strand(), serve(listener_.get()), [this] { ended_ = true; });
    }
    ~EchoServer() {
        block_on(context_, listener_->strand(), end());
        while (!ended_) block_on(context_, listener_->strand(), yield());
    }
    Listener& operator*() { return *listener_; }

private:
    Task<void> end() {
        listener_->close();
        co_return;
    }

    IoContext& context_;
    std::unique_ptr<Listener> listener_;
    std::atomic<bool> ended_ = false;
};

TEST(Tcp, EchoesHalfClosedOverBothFamiliesAndLocalSockets) {
    const test::TempFolder folder;
    IoContext context{{.threads = 2}};
    for (const Address& address :
         {loopback(), Address{"::1", 0, false}, Address{(folder.path() / "s").string(), 0, true}}) {
        EchoServer server{context, address};
        const std::string text(100'000, 'x');
        EXPECT_EQ(block_on(context, talk((*server).local(), text)).value(), text) << address.text();
        EXPECT_EQ(address.is_local, (*server).local().port == 0);
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "s")) << "the socket's file goes with the listener";
}

TEST(Tcp, ASocketThatListensAlreadyIsTakenOver) {
    // As whoever starts this process hands one over, perhaps of another network.
    const int given = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    ASSERT_EQ(::bind(given, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    const Address address{"fd", static_cast<std::uint16_t>(given), false};
    IoContext context;
    const auto early = Listener::open(context, {.address = address});
    ASSERT_FALSE(early) << "it does not listen yet";
    EXPECT_EQ(early.error().kind, ErrorKind::Invalid);
    ASSERT_EQ(::listen(given, 8), 0);
    ASSERT_EQ(::getsockname(given, reinterpret_cast<sockaddr*>(&at), &size), 0);
    const Address there{"127.0.0.1", ntohs(at.sin_port), false};
    // It outlives whoever used it before.
    for (int i = 0; i < 2; ++i) {
        EchoServer server{context, address};
        EXPECT_EQ((*server).local(), there);
        EXPECT_EQ(block_on(context, talk(there, "hello")).value_or("nothing"), "hello");
    }
    ::close(given);
}

TEST(Tcp, NamesAreResolved) {
    IoContext context;
    EchoServer server{context};
    EXPECT_EQ(block_on(context, talk({"localhost", (*server).local().port, false}, "hello")).value(), "hello");
    const auto nowhere = block_on(context, talk({"no-such-host.invalid", 1, false}, ""));
    ASSERT_FALSE(nowhere);
    EXPECT_TRUE(nowhere.error().kind == ErrorKind::NotFound || nowhere.error().kind == ErrorKind::Unavailable);
}

TEST(Tcp, NobodyListensIsAnError) {
    IoContext context;
    std::uint16_t port = 0;
    {
        EchoServer server{context};
        port = (*server).local().port;
    }
    const auto refused = block_on(context, talk({"127.0.0.1", port, false}, ""));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Unavailable);
    EXPECT_NE(refused.error().message.find("refused"), std::string::npos) << refused.error().message;
}

TEST(Tcp, ATakenPortSaysSo) {
    IoContext context;
    EchoServer server{context};
    const auto second = Listener::open(context, {.address = (*server).local()});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::Conflict);
}

Task<Result<std::size_t>> read_late(Address to) {
    CO_TRY(const auto stream, co_await connect(to, after(seconds{180})));
    std::array<std::uint8_t, 10> buffer{};
    stream->set_read_deadline(after(milliseconds{5}));
    const auto late = co_await stream->read_some(buffer);
    if (late) co_return fail(ErrorKind::Failed, "the deadline did nothing");
    const auto still = co_await stream->read_some(buffer);
    if (still) co_return fail(ErrorKind::Failed, "a passed deadline holds");
    stream->set_read_deadline(after(seconds{180}));
    CO_TRY(co_await write_all(*stream, as_bytes("late")));
    co_return co_await stream->read_some(buffer);
}

TEST(Tcp, ADeadlineBreaksNothing) {
    IoContext context;
    EchoServer server{context};
    const auto got = block_on(context, read_late((*server).local()));
    EXPECT_EQ(got.value(), 4u);
}

Task<void> read_noting(Stream* stream, Result<std::size_t>* result) {
    std::array<std::uint8_t, 10> buffer{};
    *result = co_await stream->read_some(buffer);
}

TEST(Tcp, CloseEndsAWaitingRead) {
    IoContext context{{.threads = 0}};
    auto listener = Listener::open(context, {.address = loopback()}).value().release();
    const std::unique_ptr<Listener> owned{listener};
    const Strand strand = context.make_strand();
    auto stream = block_on(context, strand, connect(listener->local(), after(seconds{180}))).value().release();
    const std::unique_ptr<Stream> keep{stream};
    Result<std::size_t> result = 99u;
    spawn(strand, read_noting(stream, &result));
    context.run_ready();
    stream->close();
    context.run_ready();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the connection was closed on this side");
}

Task<void> take_noting(Listener* listener, std::vector<std::unique_ptr<Stream>>* taken) {
    for (;;) {
        auto made = co_await listener->accept();
        if (!made) co_return;
        taken->push_back(std::move(*made));
    }
}

TEST(Tcp, ConnectionsBeyondTheLimitWaitUntilOneEnds) {
    IoContext context{{.threads = 0}};
    auto listener = std::move(Listener::open(context, {.address = loopback(), .connections_max = 2}).value());
    std::vector<std::unique_ptr<Stream>> taken;
    spawn(listener->strand(), take_noting(listener.get(), &taken));
    std::vector<std::unique_ptr<Stream>> clients;
    for (int i = 0; i < 3; ++i)
        clients.push_back(std::move(block_on(context, connect(listener->local(), after(seconds{180}))).value()));
    context.run_until([&] { return taken.size() == 2; });
    context.run_ready();
    EXPECT_EQ(taken.size(), 2u);
    EXPECT_EQ(listener->connections_now(), 2u);
    taken.erase(taken.begin());
    context.run_until([&] { return taken.size() == 2; });
    EXPECT_EQ(listener->connections_now(), 2u);
    listener->close();
    context.run_ready();
}

struct NotingSink final : LogSink {
    void write(const LogRecord& record) override { noted = noted || record.event == "no connection can be taken"; }
    bool noted = false;
};

TEST(Tcp, AcceptSurvivesAProcessWithoutDescriptors) {
    IoContext context{{.threads = 0}};
    NotingSink sink;
    const Log log{sink};
    log.warn("warmed up");  // the sanitizer looks at a virtual call for the first time with the help of a descriptor
    auto listener = std::move(Listener::open(context, {.address = loopback(), .log = log}).value());
    std::vector<std::unique_ptr<Stream>> taken;
    spawn(listener->strand(), take_noting(listener.get(), &taken));
    const auto client = std::move(block_on(context, connect(listener->local(), after(seconds{180}))).value());
    // The client is in the backlog; now every descriptor is used up, then given back.
    context.run_until([&] { return taken.size() == 1; });
    const int extra = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(listener->local().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(extra, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    rlimit none = before;
    none.rlim_cur = 3;
    ::setrlimit(RLIMIT_NOFILE, &none);
    context.run_until([&] { return sink.noted; });
    ::setrlimit(RLIMIT_NOFILE, &before);
    context.run_until([&] { return taken.size() == 2; });
    EXPECT_EQ(taken.size(), 2u);
    ::close(extra);
    listener->close();
    context.run_ready();
}

}  // namespace
}  // namespace rhizome::stream
