// SPDX-License-Identifier: Apache-2.0
#include "net/links.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include <fmt/core.h>

#include "base/ensure.h"
#include "net/doorkeeper.h"
#include "stream/tls.h"

namespace rhizome::net {
namespace {

using stream::Strand;
using stream::Stream;
using stream::Task;

/// How much is read at once; held only while there is something to read.
constexpr std::size_t kReadBytes = 64u << 10;
/// Frames written together.
constexpr std::size_t kWriteFrames = 64;

}  // namespace

/// One link. Its stream belongs to its own strand; the counters are touched from both sides.
struct Link {
    Link(LinkNumber number_in, std::unique_ptr<Stream> stream_in)
        : number(number_in),
          stream(std::move(stream_in)),
          strand(stream->strand()),
          wake_writer(strand),
          wake_reader(strand) {}

    const LinkNumber number;
    const std::unique_ptr<Stream> stream;
    const Strand strand;
    std::atomic<std::size_t> unsent = 0;
    std::atomic<std::size_t> unheard = 0;

    // On its strand.
    std::deque<std::shared_ptr<const Bytes>> queue{};
    stream::Event wake_writer;
    stream::Event wake_reader;
    bool closing = false;  ///< when the queue is empty
    std::string why{};     ///< it ends
    int tasks = 0;         ///< reader and writer

    void end(std::string reason) {
        if (why.empty()) why = std::move(reason);
        closing = true;
        stream->close();
        wake_writer.set();
        wake_reader.set();
    }
};

struct Links::Inside : std::enable_shared_from_this<Links::Inside> {
    Inside(stream::IoContext& io_in, const Strand& strand_in, LinkOptions options_in, p2p::FrameLimit limit,
           LinkOwner& owner_in)
        : io(io_in),
          strand(strand_in),
          options(std::move(options_in)),
          limit_of(std::move(limit)),
          doorkeeper(options.host_handshakes_max),
          owner(&owner_in) {}

    stream::IoContext& io;
    const Strand strand;  ///< the owner's
    const LinkOptions options;
    const p2p::FrameLimit limit_of;
    Doorkeeper doorkeeper;
    std::shared_ptr<const stream::TlsContext> server_tls{};
    std::shared_ptr<const stream::TlsContext> client_tls{};
    std::vector<std::unique_ptr<stream::Listener>> listeners{};
    std::vector<stream::Address> addresses{};
    std::atomic<LinkNumber> last_number = 0;

    // On the owner's strand.
    LinkOwner* owner;
    std::map<LinkNumber, std::shared_ptr<Link>> links{};

    // Tasks that still run: `stop` waits for them.
    std::mutex mutex{};
    std::condition_variable changed{};
    std::size_t tasks = 0;
    std::atomic<bool> stopping = false;

    void spawn(const Strand& where, Task<void> task) {
        {
            const std::lock_guard hold{mutex};
            ++tasks;
        }
        stream::spawn(where, std::move(task), [self = shared_from_this()] {
            const std::lock_guard hold{self->mutex};
            --self->tasks;
            self->changed.notify_all();
        });
    }

    Task<void> accept_all(stream::Listener* listener);
    Task<void> welcome(std::unique_ptr<Stream> lower);
    void note_failure(const std::string& host, std::string_view why) {
        if (const auto times = doorkeeper.failed(host))
            options.log.warn("a host keeps connecting without saying who it is",
                             {{"from", host}, {"failures", *times}, {"why", why}});
    }
    Task<void> call(stream::Address address, std::optional<ChainKey> expected);
    void begin(std::unique_ptr<Stream> tls, bool dialled, const stream::Address& remote, const ChainKey& identity);
    Task<void> read_all(std::shared_ptr<Link> link);
    Task<Result<void>> read_frames(Link& link);
    Task<void> write_all(std::shared_ptr<Link> link);
    void task_ended(const std::shared_ptr<Link>& link);
};

Task<void> Links::Inside::accept_all(stream::Listener* listener) {
    const auto self = shared_from_this();
    for (;;) {
        auto accepted = co_await listener->accept();
        if (!accepted) co_return;
        const Strand its = (*accepted)->strand();
        spawn(its, welcome(*std::move(accepted)));
    }
}

Task<void> Links::Inside::welcome(std::unique_ptr<Stream> lower) {
    const auto self = shared_from_this();
    const stream::Address remote = lower->peer();
    const auto visit = doorkeeper.let_in(remote.host);
    if (!visit) {
        note_failure(remote.host, "too many of its connections say nothing");
        co_return;
    }
    auto tls = co_await stream::tls_accept(std::move(lower), server_tls, stream::after(options.handshake_time));
    if (!tls) {
        note_failure(remote.host, tls.error().message);
        options.log.debug("a handshake failed", {{"from", remote.text()}, {"why", tls.error()}});
        co_return;
    }
    const auto identity = read_transport_identity(*(*tls)->tls()->peer);
    if (identity && !stopping) begin(*std::move(tls), false, remote, *identity);
}

Task<void> Links::Inside::call(stream::Address address, std::optional<ChainKey> expected) {
    const auto self = shared_from_this();
    const auto deadline = stream::after(options.handshake_time);
    const auto failed = [&](Error why) {
        strand.post([self, address, why = std::move(why)] {
            if (self->owner != nullptr) self->owner->dial_failed(address, why);
        });
    };
    auto lower = co_await stream::connect(address, std::min(deadline, stream::after(options.connect_time)));
    if (!lower) co_return failed(std::move(lower).error());
    auto tls = co_await stream::tls_connect(*std::move(lower), client_tls, "", deadline);
    if (!tls) co_return failed(std::move(tls).error());
    const auto identity = read_transport_identity(*(*tls)->tls()->peer);
    if (!identity) co_return failed(identity.error());
    if (expected && *expected != *identity)
        co_return failed({ErrorKind::Denied, fmt::format("another node listens at {}", address.text())});
    if (!stopping) begin(*std::move(tls), true, address, *identity);
}

void Links::Inside::begin(std::unique_ptr<Stream> tls, bool dialled, const stream::Address& remote,
                          const ChainKey& identity) {
    auto link = std::make_shared<Link>(++last_number, std::move(tls));
    link->tasks = 2;
    // The owner hears of the link before it hears anything of it.
    strand.post([self = shared_from_this(), link, dialled, remote, identity] {
        if (self->owner == nullptr) return link->strand.post([link] { link->end("stopped"); });
        self->links.emplace(link->number, link);
        self->owner->linked(link->number, dialled, remote, identity);
    });
    spawn(link->strand, read_all(link));
    spawn(link->strand, write_all(link));
}

Task<Result<void>> Links::Inside::read_frames(Link& link) {
    p2p::FrameReader frames{limit_of};
    for (;;) {
        if (link.unheard > options.unheard_bytes_max) {
            link.wake_reader.reset();
            // Between the two lines the owner may have caught up.
            if (link.unheard > options.unheard_bytes_max) co_await link.wake_reader.wait();
            if (link.closing) co_return ok();
            continue;
        }
        link.stream->set_read_deadline(frames.in_frame() ? stream::after(options.frame_time) : stream::kNever);
        CO_TRY(co_await link.stream->readable());
        Bytes buffer(kReadBytes);
        CO_TRY(const std::size_t size, co_await link.stream->read_some(buffer));
        if (size == 0) co_return fail(ErrorKind::Unavailable, "the peer has ended the link");
        ByteView input = ByteView{buffer}.first(size);
        for (;;) {
            auto payload = frames.next(input);
            if (!payload) {
                auto why = p2p::to_error(payload.error());
                strand.post([self = shared_from_this(), number = link.number, why] {
                    if (self->owner != nullptr && self->links.contains(number)) self->owner->broke(number, why);
                });
                co_return Fail{std::move(why)};
            }
            if (!*payload) break;
            const std::size_t bytes = (*payload)->size();
            link.unheard += bytes;
            strand.post(
                [self = shared_from_this(), number = link.number, bytes, heard = std::move(**payload)]() mutable {
                    const auto found = self->links.find(number);
                    if (found == self->links.end() || self->owner == nullptr) return;
                    const auto its = found->second;
                    self->owner->heard(number, std::move(heard));
                    const std::size_t before = its->unheard.fetch_sub(bytes);
                    if (before > self->options.unheard_bytes_max) its->strand.post([its] { its->wake_reader.set(); });
                });
        }
    }
}

Task<void> Links::Inside::read_all(std::shared_ptr<Link> link) {
    const auto self = shared_from_this();
    const auto read = co_await read_frames(*link);
    link->end(read ? "closed here" : read.error().message);
    task_ended(link);
}

Task<void> Links::Inside::write_all(std::shared_ptr<Link> link) {
    const auto self = shared_from_this();
    while (!(link->closing && link->queue.empty())) {
        if (link->queue.empty()) {
            link->wake_writer.reset();
            co_await link->wake_writer.wait();
            continue;
        }
        std::vector<std::shared_ptr<const Bytes>> frames;
        std::vector<ByteView> parts;
        std::size_t bytes = 0;
        while (!link->queue.empty() && frames.size() < kWriteFrames) {
            frames.push_back(std::move(link->queue.front()));
            link->queue.pop_front();
            parts.push_back(*frames.back());
            bytes += frames.back()->size();
        }
        link->stream->set_write_deadline(stream::after(options.write_time));
        const auto written = co_await link->stream->write(parts);
        link->unsent -= bytes;
        if (!written) {
            link->queue.clear();
            link->end(written.error().message);
        }
    }
    link->end("closed here");
    task_ended(link);
}

void Links::Inside::task_ended(const std::shared_ptr<Link>& link) {
    if (--link->tasks > 0) return;
    strand.post([self = shared_from_this(), link] {
        if (self->links.erase(link->number) > 0 && self->owner != nullptr) self->owner->closed(link->number, link->why);
    });
}

Links::Links(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
Links::~Links() { stop(); }

Result<std::unique_ptr<Links>> Links::start(stream::IoContext& io, const Strand& strand, LinkOptions options,
                                            const crypto::NodeKeys& keys, p2p::FrameLimit limit_of, LinkOwner& owner) {
    TRY(const auto identity, make_transport_identity(keys));
    const stream::TlsTrust trust{.verify = [](const stream::Certificate& certificate) -> Result<void> {
        TRY(read_transport_identity(certificate));
        return ok();
    }};
    auto inside = std::make_shared<Inside>(io, strand, std::move(options), std::move(limit_of), owner);
    TRY(inside->server_tls, stream::TlsContext::server({.identity = identity,
                                                        .protocols = {"rhizome/1"},
                                                        .protocol_required = true,
                                                        .client_certificate = stream::ClientCertificate::Required,
                                                        .trust = trust}));
    TRY(inside->client_tls,
        stream::TlsContext::client({.identity = identity, .protocols = {"rhizome/1"}, .trust = trust}));
    for (const stream::Address& address : inside->options.listen) {
        TRY(auto listener, stream::Listener::open(io, {.address = address,
                                                       .connections_max = inside->options.connections_max,
                                                       .log = inside->options.log}));
        inside->addresses.push_back(listener->local());
        inside->listeners.push_back(std::move(listener));
    }
    for (const auto& listener : inside->listeners)
        inside->spawn(listener->strand(), inside->accept_all(listener.get()));
    return std::unique_ptr<Links>{new Links{std::move(inside)}};
}

void Links::stop() {
    // Kept until the end: the owner may be about to send something on its strand.
    const auto in = inside_;
    if (in->stopping.exchange(true)) return;
    for (const auto& listener : in->listeners) {
        stream::Listener* one = listener.get();
        one->strand().post([one] { one->close(); });
    }
    // Waited for: what was posted before may be about to tell an owner that is gone when this returns.
    stream::run_on(in->strand, [&] {
        in->owner = nullptr;
        for (const auto& [number, link] : in->links) {
            const auto one = link;
            one->strand.post([one] {
                one->queue.clear();
                one->end("stopped");
            });
        }
        in->links.clear();
    });
    std::unique_lock hold{in->mutex};
    in->changed.wait(hold, [&] { return in->tasks == 0; });
}

const std::vector<stream::Address>& Links::addresses() const { return inside_->addresses; }

void Links::dial(const stream::Address& address, std::optional<ChainKey> expected) {
    if (inside_->stopping) return;
    inside_->spawn(inside_->io.make_strand(), inside_->call(address, expected));
}

void Links::send(LinkNumber number, std::shared_ptr<const Bytes> frame) {
    const auto found = inside_->links.find(number);
    if (found == inside_->links.end()) return;
    const auto link = found->second;
    const std::size_t waiting = link->unsent.fetch_add(frame->size()) + frame->size();
    const bool is_slow = waiting > inside_->options.unsent_bytes_max;
    link->strand.post([link, is_slow, frame = std::move(frame)]() mutable {
        if (is_slow) {
            link->queue.clear();
            return link->end("it takes what is sent too slowly");
        }
        if (link->closing) return;
        link->queue.push_back(std::move(frame));
        link->wake_writer.set();
    });
}

void Links::close(LinkNumber number, std::string why) {
    const auto found = inside_->links.find(number);
    if (found == inside_->links.end()) return;
    const auto link = found->second;
    link->strand.post([link, why = std::move(why)]() mutable {
        if (link->why.empty()) link->why = std::move(why);
        link->closing = true;
        link->wake_writer.set();
        link->wake_reader.set();
    });
}

}  // namespace rhizome::net
