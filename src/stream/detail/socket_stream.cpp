// SPDX-License-Identifier: Apache-2.0
#include "stream/detail/socket_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/core.h>

namespace rhizome::stream::detail {

namespace asio = boost::asio;

namespace {

/// Parts handed to one system call.
constexpr std::size_t kPartsMax = 16;

ErrorKind kind_of(int number) {
    switch (number) {
        case EACCES:
        case EPERM: return ErrorKind::Denied;
        case ENOENT: return ErrorKind::NotFound;
        case EADDRINUSE: return ErrorKind::Conflict;
        case EINVAL:
        case EAFNOSUPPORT:
        case EADDRNOTAVAIL: return ErrorKind::Invalid;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM: return ErrorKind::Exhausted;
        default: return ErrorKind::Unavailable;
    }
}

}  // namespace

Error socket_error(std::string_view doing, int number) {
    return {kind_of(number), fmt::format("cannot {}: {}", doing, std::generic_category().message(number))};
}

Address address_of(const void* sockaddr, std::size_t size) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    sockaddr_storage any{};
    std::memcpy(&any, sockaddr, std::min(size, sizeof any));
    if (any.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&any);
        inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
        return {text.data(), ntohs(v4->sin_port), false};
    }
    if (any.ss_family == AF_INET6) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&any);
        if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {  // one machine has one spelling, whichever socket it came by
            inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text.data(), text.size());
        } else {
            inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
        }
        return {text.data(), ntohs(v6->sin6_port), false};
    }
    const auto* local = reinterpret_cast<const sockaddr_un*>(&any);
    return {any.ss_family == AF_UNIX ? local->sun_path : "", 0, true};
}

struct Poller::Core : std::enable_shared_from_this<Poller::Core> {
    struct Direction {
        Deadline deadline = kNever;
        asio::cancellation_signal cancel;
        bool waiting = false;
    };

    Core(const Strand& strand_in, int number)
        : strand(strand_in), descriptor(strand.executor(), number), timer(strand, [this] { fired(); }) {}

    Direction& side(Side which) { return which == Side::Read ? reading : writing; }

    void arm() {
        Deadline first = kNever;
        for (const Direction* each : {&reading, &writing})
            if (each->waiting) first = std::min(first, each->deadline);
        if (first != kNever) timer.set(first);
    }
    void fired() {
        for (Direction* each : {&reading, &writing})
            if (each->waiting && passed(each->deadline)) each->cancel.emit(asio::cancellation_type::all);
        arm();
    }

    Strand strand;
    asio::posix::stream_descriptor descriptor;
    Direction reading;
    Direction writing;
    Timer timer;
    bool closed = false;
};

Poller::Poller(const Strand& strand, int descriptor) : core_(std::make_shared<Core>(strand, descriptor)) {
    boost::system::error_code ignored;
    core_->descriptor.non_blocking(true, ignored);
}
Poller::~Poller() { close(); }

int Poller::descriptor() const { return core_->closed ? -1 : core_->descriptor.native_handle(); }
const Strand& Poller::strand() const { return core_->strand; }

bool Poller::expired(Side side) const { return passed(core_->side(side).deadline); }

void Poller::set_deadline(Side side, Deadline deadline) {
    core_->side(side).deadline = deadline;
    if (core_->side(side).waiting) core_->arm();
}

void Poller::close() {
    if (core_->closed) return;
    core_->closed = true;
    core_->timer.cancel();
    boost::system::error_code ignored;
    core_->descriptor.close(ignored);
}

Task<Result<void>> Poller::wait(Side side) {
    const auto core = core_;  // the poller may go while we wait, the core may not
    Core::Direction& direction = core->side(side);
    if (core->closed) co_return fail(ErrorKind::Unavailable, "the connection was closed on this side");
    ensure(!direction.waiting, "one read and one write wait on a stream at the same time");
    if (!passed(direction.deadline)) {
        direction.waiting = true;
        core->arm();
        const auto [failed] = co_await core->descriptor.async_wait(
            side == Side::Read ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write,
            asio::bind_cancellation_slot(direction.cancel.slot(), asio::as_tuple(asio::use_awaitable)));
        direction.waiting = false;
        if (!failed && !core->closed) co_return ok();
    }
    if (core->closed) co_return fail(ErrorKind::Unavailable, "the connection was closed on this side");
    co_return fail(ErrorKind::Unavailable, side == Side::Read ? "the peer sent nothing in the time it had"
                                                              : "the peer took nothing in the time it had");
}

namespace {

/// After a network was cut, TCP alone waits twice as long before each further try: when the cut is healed after half a
/// minute, another half may go by before anything moves. So it tries again every second (Linux 6.15), or else gives the
/// connection up early, for whoever uses it to dial anew.
void bound_silence(int descriptor) {
    constexpr int kRtoMaxOption = 44;  // TCP_RTO_MAX_MS, which glibc does not name yet
    constexpr int kTryAgainMillis = 1'000;
    // Longer than the ten seconds that slow readers are given elsewhere: it counts for those as well.
    constexpr unsigned kGiveUpMillis = 15'000;
    if (::setsockopt(descriptor, IPPROTO_TCP, kRtoMaxOption, &kTryAgainMillis, sizeof kTryAgainMillis) != 0)
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &kGiveUpMillis, sizeof kGiveUpMillis);
}

class SocketStream final : public Stream {
public:
    SocketStream(const Strand& strand, int descriptor, Address peer, std::shared_ptr<void> keep)
        : poller_(strand, descriptor), peer_(std::move(peer)), keep_(std::move(keep)) {
        if (!peer_.is_local) {
            const int yes = 1;  // small answers leave at once; whoever writes much writes it together
            ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            bound_silence(descriptor);
        }
    }

    Task<Result<void>> readable() override {
        if (ready_ && !poller_.expired(Poller::Side::Read)) co_return ok();
        CO_TRY(co_await poller_.wait(Poller::Side::Read));
        ready_ = true;
        co_return ok();
    }

    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        for (;;) {
            if (poller_.expired(Poller::Side::Read)) CO_TRY(co_await poller_.wait(Poller::Side::Read));
            const ::ssize_t got = ::recv(poller_.descriptor(), into.data(), into.size(), 0);
            const int failed = errno;
            // A read that did not fill its room took all there was; the end of the stream stays.
            ready_ = got == 0 || got == static_cast<::ssize_t>(into.size());
            if (got >= 0) co_return static_cast<std::size_t>(got);
            if (failed == EINTR) continue;
            if (failed != EAGAIN && failed != EBADF) co_return Fail{socket_error("read from " + peer_.text(), failed)};
            CO_TRY(co_await poller_.wait(Poller::Side::Read));
        }
    }

    Task<Result<void>> write(std::span<const ByteView> parts) override {
        std::array<iovec, kPartsMax> row{};
        std::size_t part = 0;
        std::size_t offset = 0;  // sent of parts[part]
        for (;;) {
            while (part < parts.size() && offset == parts[part].size()) {
                ++part;
                offset = 0;
            }
            if (part == parts.size()) co_return ok();
            std::size_t count = 0;
            for (std::size_t i = part; i < parts.size() && count < kPartsMax; ++i) {
                const ByteView view = i == part ? parts[i].subspan(offset) : parts[i];
                if (!view.empty()) row[count++] = {const_cast<std::uint8_t*>(view.data()), view.size()};
            }
            if (poller_.expired(Poller::Side::Write)) CO_TRY(co_await poller_.wait(Poller::Side::Write));
            msghdr message{};
            message.msg_iov = row.data();
            message.msg_iovlen = count;
            const ::ssize_t sent = ::sendmsg(poller_.descriptor(), &message, MSG_NOSIGNAL);
            if (sent < 0) {
                if (errno == EINTR) continue;
                if (errno != EAGAIN && errno != EBADF) co_return Fail{socket_error("write to " + peer_.text(), errno)};
                CO_TRY(co_await poller_.wait(Poller::Side::Write));
                continue;
            }
            auto left = static_cast<std::size_t>(sent);
            while (left > 0) {
                const std::size_t here = std::min(left, parts[part].size() - offset);
                offset += here;
                left -= here;
                if (offset == parts[part].size()) {
                    ++part;
                    offset = 0;
                }
            }
        }
    }

    Task<Result<void>> shutdown() override {
        if (::shutdown(poller_.descriptor(), SHUT_WR) != 0)
            co_return Fail{socket_error("end the connection to " + peer_.text(), errno)};
        co_return ok();
    }

    Task<Result<void>> writable() { return poller_.wait(Poller::Side::Write); }

    void close() override {
        ready_ = false;
        poller_.close();
    }
    void set_read_deadline(Deadline deadline) override { poller_.set_deadline(Poller::Side::Read, deadline); }
    void set_write_deadline(Deadline deadline) override { poller_.set_deadline(Poller::Side::Write, deadline); }
    [[nodiscard]] const Address& peer() const override { return peer_; }
    [[nodiscard]] const Strand& strand() const override { return poller_.strand(); }

private:
    Poller poller_;
    Address peer_;
    std::shared_ptr<void> keep_;
    bool ready_ = false;  ///< there may be something to read: nobody needs to be asked
};

}  // namespace

std::unique_ptr<Stream> make_socket_stream(const Strand& strand, int descriptor, Address peer,
                                           std::shared_ptr<void> keep) {
    return std::make_unique<SocketStream>(strand, descriptor, std::move(peer), std::move(keep));
}

Task<Result<void>> wait_writable(Stream& socket_stream) { return static_cast<SocketStream&>(socket_stream).writable(); }

}  // namespace rhizome::stream::detail
