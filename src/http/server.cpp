// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <atomic>
#include <list>
#include <map>
#include <mutex>

#include "http/detail/connection.h"

namespace rhizome::http {

using detail::Connection;
using detail::Serving;
using stream::Strand;

namespace {

/// One request, one refusal.
std::shared_ptr<const Serving> crowded_of(const Serving& serving) {
    Serving out = serving;
    out.options.limits.requests_max = 1;
    const auto refuse = out.options.refuse;
    out.handler = [refuse](Exchange& exchange) -> Task<void> {
        constexpr std::string_view kWhy = "too many connections are open, in all or from this address; close some";
        Response response = refuse ? refuse(429, kWhy, &exchange.request().headers)
                                   : error_response(429, kWhy, &exchange.request().headers);
        response.headers.set("Retry-After", "1");
        auto ignored = co_await exchange.respond(std::move(response));
    };
    return std::make_shared<const Serving>(std::move(out));
}

}  // namespace

struct Server::Inside {
    Inside(stream::IoContext& context_in, std::shared_ptr<const Serving> serving_in)
        : context(context_in),
          serving(std::move(serving_in)),
          crowded(crowded_of(*serving)),
          strand(context.make_strand()),
          quiet(strand) {}

    stream::IoContext& context;
    std::shared_ptr<const Serving> serving;
    std::shared_ptr<const Serving> crowded;  ///< for connections that are too many
    Strand strand;
    std::vector<std::unique_ptr<stream::Listener>> listeners;

    /// Tasks that are not over: one a listener and one a connection.
    std::atomic<std::size_t> tasks{0};
    stream::Event quiet;  ///< no task is left; on `strand`

    std::mutex mutex;  ///< for what follows: connections live on strands of their own
    std::list<std::shared_ptr<Connection>> connections;
    bool draining = false;
    bool cutting = false;
    std::map<std::string, std::size_t> by_address;  ///< connections, handshakes included
    std::size_t connections_all = 0;

    /// Counts a connection in; whether there is room for it.
    bool enter(const std::string& host) {
        const std::lock_guard lock{mutex};
        const ServerOptions& options = serving->options;
        const std::size_t same = ++by_address[host];
        ++connections_all;
        return (options.connections_max == 0 || connections_all <= options.connections_max) &&
               (options.address_connections_max == 0 || same <= options.address_connections_max);
    }
    void leave(const std::string& host) {
        const std::lock_guard lock{mutex};
        --connections_all;
        const auto at = by_address.find(host);
        if (--at->second == 0) by_address.erase(at);
    }

    std::size_t connections_now() {
        const std::lock_guard lock{mutex};
        return connections.size();
    }

    /// Calls `act` on every connection's strand.
    void each_connection(void (Connection::*act)()) {
        const std::lock_guard lock{mutex};
        for (const auto& each : connections) each->strand().post([each, act] { ((*each).*act)(); });
    }
};

namespace {

using Shared = std::shared_ptr<Server::Inside>;

void begin(const Shared& inside, const Strand& strand, Task<void> task) {
    inside->tasks.fetch_add(1);
    stream::spawn(strand, std::move(task), [inside] {
        if (inside->tasks.fetch_sub(1) == 1) inside->strand.post([inside] { inside->quiet.set(); });
    });
}

/// Counts a connection as long as it is there.
class Place {
public:
    Place(Shared inside, std::string host) : inside_(std::move(inside)), host_(std::move(host)) {
        has_room_ = inside_->enter(host_);
    }
    ~Place() { inside_->leave(host_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    [[nodiscard]] bool has_room() const { return has_room_; }

private:
    Shared inside_;
    std::string host_;
    bool has_room_ = false;
};

Task<void> serve(Shared inside, std::unique_ptr<stream::Stream> stream) {
    const ServerOptions& options = inside->serving->options;
    const Place taken{inside, stream->peer().host};
    if (options.tls) {
        const std::string peer = stream->peer().text();
        auto secured =
            co_await stream::tls_accept(std::move(stream), options.tls, stream::after(options.limits.handshake_time));
        if (!secured) {
            options.log.debug("TLS handshake failed", {{"peer", peer}, {"why", secured.error()}});
            co_return;
        }
        stream = std::move(*secured);
    }
    // HTTP/2 would begin here, by the protocol that TLS agreed on.
    const auto connection =
        std::make_shared<Connection>(std::move(stream), taken.has_room() ? inside->serving : inside->crowded);
    std::list<std::shared_ptr<Connection>>::iterator place;
    {
        const std::lock_guard lock{inside->mutex};
        place = inside->connections.insert(inside->connections.end(), connection);
        if (inside->draining) connection->drain();
        if (inside->cutting) connection->cut();
    }
    co_await connection->run();
    const std::lock_guard lock{inside->mutex};
    inside->connections.erase(place);
}

Task<void> accept_all(Shared inside, stream::Listener* listener) {
    for (;;) {
        auto made = co_await listener->accept();
        if (!made) co_return;
        const Strand strand = (*made)->strand();
        begin(inside, strand, serve(inside, std::move(*made)));
    }
}

Task<void> drain_inside(Shared inside, stream::Deadline deadline) {
    for (const auto& listener : inside->listeners)
        listener->strand().post([keep = inside, each = listener.get()] { each->close(); });
    {
        const std::lock_guard lock{inside->mutex};
        inside->draining = true;
    }
    inside->each_connection(&Connection::drain);
    bool done = inside->tasks.load() == 0;
    if (!done) done = co_await inside->quiet.wait_until(deadline);
    if (!done) {
        {
            const std::lock_guard lock{inside->mutex};
            inside->cutting = true;
        }
        inside->each_connection(&Connection::cut);
        co_await inside->quiet.wait();  // handlers end soon: all they wait for fails, and they were told
    }
}

Task<void> drain_on_strand(Shared inside, stream::Deadline deadline, Strand from, stream::Event* done) {
    co_await drain_inside(std::move(inside), deadline);
    from.post([done] { done->set(); });
}

}  // namespace

Server::Server(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
Server::~Server() { stop(milliseconds{0}); }

Result<std::unique_ptr<Server>> Server::start(stream::IoContext& context, ServerOptions options, Handler handler) {
    ensure(static_cast<bool>(handler), "a server has a handler");
    if (options.listen.empty()) return fail(ErrorKind::Usage, "a server listens somewhere; name an address");
    auto serving = std::make_shared<const Serving>(Serving{std::move(options), std::move(handler)});
    auto inside = std::make_shared<Inside>(context, serving);
    for (stream::ListenOptions each : serving->options.listen) {
        each.log = serving->options.log;
        TRY(auto listener, stream::Listener::open(context, std::move(each)));
        inside->listeners.push_back(std::move(listener));
    }
    for (const auto& listener : inside->listeners)
        begin(inside, listener->strand(), accept_all(inside, listener.get()));
    return std::unique_ptr<Server>(new Server(std::move(inside)));
}

std::vector<stream::Address> Server::addresses() const {
    std::vector<stream::Address> out;
    for (const auto& listener : inside_->listeners) out.push_back(listener->local());
    return out;
}

std::size_t Server::connections_now() const { return inside_->connections_now(); }

Task<void> Server::drain(stream::Deadline deadline) {
    // Whoever asks may be on any strand; the waiting is done on ours.
    const Strand here = co_await stream::this_strand();
    stream::Event done{here};
    stream::spawn(inside_->strand, drain_on_strand(inside_, deadline, here, &done));
    co_await done.wait();
}

void Server::stop(milliseconds grace) {
    if (inside_->tasks.load() == 0) return;
    stream::block_on(inside_->context, inside_->strand, drain_inside(inside_, stream::after(grace)));
}

Task<void> serve_stream(std::unique_ptr<stream::Stream> stream, ServerOptions options, Handler handler) {
    auto serving = std::make_shared<const Serving>(Serving{std::move(options), std::move(handler)});
    const auto connection = std::make_shared<Connection>(std::move(stream), std::move(serving));
    co_await connection->run();
}

}  // namespace rhizome::http
