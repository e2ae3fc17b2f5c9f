// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "stream/detail/socket_address.h"
#include "stream/detail/socket_stream.h"
#include "stream/tcp.h"

namespace rhizome::stream {

using detail::Poller;
using detail::socket_error;

namespace {

/// How long to wait when the process has no descriptors left: others end meanwhile.
constexpr milliseconds kPauseWhenExhausted{100};

/// `fd:N` instead of a host's number.
constexpr std::string_view kInherited = "fd";

Result<Address> local_of(int number, const std::string& where) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(number, reinterpret_cast<sockaddr*>(&bound), &size) != 0)
        return Fail{socket_error("ask for the address of " + where, errno)};
    return detail::address_of(&bound, size);
}

/// A local socket whose owner is gone refuses connections; its file is in the way of the next one.
bool is_abandoned(const detail::SocketAddress& at) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe < 0) return false;
    const bool refused = ::connect(probe, at.get(), at.size) != 0 && errno == ECONNREFUSED;
    ::close(probe);
    return refused;
}

/// A socket that listens already, given to this process by whoever started it.
Result<int> inherited(int number) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0)
        return fail(ErrorKind::Invalid,
                    "descriptor " + std::to_string(number) +
                        " is no socket that listens: fd:N is for programs that start this one with it");
    const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return Fail{socket_error("use descriptor " + std::to_string(number), errno)};
    (void)::fcntl(number, F_SETFD, FD_CLOEXEC);  // for us, not for what we start
    (void)::fcntl(copy, F_SETFL, ::fcntl(copy, F_GETFL) | O_NONBLOCK);
    return copy;
}

}  // namespace

struct Listener::Inside {
    /// Shared with the streams, which may outlive the listener.
    struct Count {
        explicit Count(const Strand& strand_in) : strand(strand_in), fewer(strand_in) {}
        Strand strand;
        Event fewer;
        std::atomic<std::size_t> now{0};
    };

    Inside(IoContext& context_in, ListenOptions options_in, int descriptor)
        : context(context_in),
          options(std::move(options_in)),
          strand(context.make_strand()),
          poller(strand, descriptor),
          count(std::make_shared<Count>(strand)) {}

    IoContext& context;
    ListenOptions options;
    Strand strand;
    Poller poller;
    Address local;
    std::shared_ptr<Count> count;
};

Listener::Listener(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Listener::~Listener() { close(); }

Result<std::unique_ptr<Listener>> Listener::open(IoContext& context, ListenOptions options) {
    const std::string where = options.address.text();
    if (options.address.host == kInherited) {
        TRY(const int given, inherited(options.address.port));
        auto inside = std::make_unique<Inside>(context, std::move(options), given);
        TRY(inside->local, local_of(given, where));
        return std::unique_ptr<Listener>(new Listener(std::move(inside)));
    }
    TRY(const auto at, detail::to_socket_address(options.address));
    const int number = ::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (number < 0) return Fail{socket_error("open a socket", errno)};
    auto inside = std::make_unique<Inside>(context, std::move(options), number);  // closes it when we fail
    const int yes = 1;
    if (!inside->options.address.is_local) {
        ::setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (inside->options.reuse_port) ::setsockopt(number, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
        if (at.family() == AF_INET6) {
            const int only = inside->options.v6_only ? 1 : 0;
            ::setsockopt(number, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
        }
    } else if (is_abandoned(at)) {
        ::unlink(inside->options.address.host.c_str());
    }
    if (::bind(number, at.get(), at.size) != 0 || ::listen(number, inside->options.backlog) != 0) {
        Error error = socket_error("listen on " + where, errno);
        if (error.kind == ErrorKind::Conflict) error.message += "; choose another port or stop the program that has it";
        return Fail{std::move(error)};
    }
    if (inside->options.address.is_local) {
        inside->local = inside->options.address;
    } else {
        TRY(inside->local, local_of(number, where));
    }
    return std::unique_ptr<Listener>(new Listener(std::move(inside)));
}

const Address& Listener::local() const { return inside_->local; }
const Strand& Listener::strand() const { return inside_->strand; }
std::size_t Listener::connections_now() const { return inside_->count->now.load(); }

void Listener::close() {
    if (inside_->poller.descriptor() < 0) return;
    if (inside_->local.is_local) ::unlink(inside_->local.host.c_str());
    inside_->poller.close();
    inside_->count->fewer.set();
}

Task<Result<std::unique_ptr<Stream>>> Listener::accept() {
    Inside& in = *inside_;
    for (;;) {
        while (in.count->now.load() >= in.options.connections_max && in.poller.descriptor() >= 0) {
            in.count->fewer.reset();
            if (in.count->now.load() >= in.options.connections_max) co_await in.count->fewer.wait();
        }
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const int number =
            ::accept4(in.poller.descriptor(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (number >= 0) {
            in.count->now.fetch_add(1);
            const std::shared_ptr<void> keep{nullptr, [count = in.count](void*) {
                                                 count->now.fetch_sub(1);
                                                 count->strand.post([count] { count->fewer.set(); });
                                             }};
            Address peer = in.local.is_local ? in.local : detail::address_of(&from, size);
            co_return detail::make_socket_stream(in.context.make_strand(), number, std::move(peer), keep);
        }
        switch (errno) {
            case EAGAIN:
            case EBADF: CO_TRY(co_await in.poller.wait(Poller::Side::Read)); break;
            case EMFILE:
            case ENFILE:
            case ENOBUFS:
            case ENOMEM:
                in.options.log.warn("no connection can be taken", {{"why", socket_error("accept", errno).message}});
                co_await sleep_for(kPauseWhenExhausted);
                break;
            default: break;  // that connection broke while it waited; the next one may be whole
        }
    }
}

}  // namespace rhizome::stream
