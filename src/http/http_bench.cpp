// SPDX-License-Identifier: Apache-2.0
// Small requests on 16 kept connections, one under way on each: our server, against a loop that reads whatever comes
// and sends a fixed answer. Both have one thread; the client is the same, on the calling thread. Over TLS the loop is
// bare OpenSSL on sockets. So the ratio is what HTTP, routing, deadlines and coroutines cost.
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>

#include "http/client.h"
#include "http/router.h"
#include "runtime/memory.h"
#include "support/bench.h"
#include "support/http_samples.h"

namespace rhizome::http {
namespace {

constexpr int kConnections = 16;
constexpr std::string_view kRequest =
    "GET /api/v1/namespaces/default/pods/web-0 HTTP/1.1\r\nHost: localhost:6443\r\nUser-Agent: bench\r\n"
    "Accept: application/json\r\nAccept-Encoding: gzip\r\n\r\n";

std::string body_text() { return std::string(1000, 'x'); }

std::string fixed_answer() {
    return "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: application/json\r\n"
           "Content-Length: 1000\r\n\r\n" +
           body_text();
}

/// Either a plain socket or TLS by OpenSSL alone.
class Link {
public:
    Link(int descriptor, SSL* ssl) : descriptor_(descriptor), ssl_(ssl) {}
    Link(Link&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), ssl_(std::exchange(other.ssl_, nullptr)) {}
    Link& operator=(Link&&) = delete;
    ~Link() {
        SSL_free(ssl_);
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    void send(std::string_view text) {
        if (ssl_ != nullptr) {
            ensure(SSL_write(ssl_, text.data(), static_cast<int>(text.size())) > 0, "a bench writes");
        } else {
            ensure(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()),
                   "a bench writes");
        }
    }
    /// 0 at the end.
    std::size_t receive(std::span<char> into) {
        const auto got = ssl_ != nullptr ? SSL_read(ssl_, into.data(), static_cast<int>(into.size()))
                                         : static_cast<int>(::recv(descriptor_, into.data(), into.size(), 0));
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }

private:
    int descriptor_;
    SSL* ssl_;
};

/// What HTTP would have to be if it were nothing: one thread, epoll, a fixed answer.
class BareServer {
public:
    explicit BareServer(bool secure) {
        if (secure) {
            const auto identity = test::sample_server(test::authority());
            context_ = SSL_CTX_new(TLS_server_method());
            SSL_CTX_set_num_tickets(context_, 0);
            SSL_CTX_use_certificate(context_, identity.chain[0].native());
            SSL_CTX_use_PrivateKey(context_, identity.key.native());
        }
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        ensure(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 && ::listen(listener_, 64) == 0 &&
                   ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) == 0,
               "a bench listens");
        port = ntohs(at.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    /// All clients have gone by now.
    ~BareServer() {
        thread_.join();
        ::close(listener_);
        SSL_CTX_free(context_);
    }
    std::uint16_t port = 0;

private:
    void run() {
        const std::string answer = fixed_answer();
        std::vector<Link> links;
        links.reserve(kConnections);
        const int poller = ::epoll_create1(EPOLL_CLOEXEC);
        for (int i = 0; i < kConnections; ++i) {
            const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            const int on = 1;
            ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            SSL* ssl = nullptr;
            if (context_ != nullptr) {
                ssl = SSL_new(context_);
                SSL_set_fd(ssl, descriptor);
                ensure(SSL_accept(ssl) == 1, "a bench shakes hands");
            }
            links.emplace_back(descriptor, ssl);
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.u32 = static_cast<std::uint32_t>(i);
            ::epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
        }
        std::array<char, 16384> buffer{};
        std::array<epoll_event, kConnections> events{};
        for (int left = kConnections; left > 0;) {
            const int count = ::epoll_wait(poller, events.data(), kConnections, -1);
            for (int i = 0; i < count; ++i) {
                Link& link = links[events[static_cast<std::size_t>(i)].data.u32];
                if (link.receive(buffer) == 0) {
                    ::epoll_ctl(poller, EPOLL_CTL_DEL, link.descriptor(), nullptr);
                    --left;
                    continue;
                }
                link.send(answer);
            }
        }
        ::close(poller);
    }

    int listener_ = -1;
    SSL_CTX* context_ = nullptr;
    std::thread thread_;
};

/// The same client for both.
class Clients {
public:
    Clients(std::uint16_t port, bool secure) {
        if (secure) context_ = SSL_CTX_new(TLS_client_method());
        links_.reserve(kConnections);
        for (int i = 0; i < kConnections; ++i) {
            const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in to{};
            to.sin_family = AF_INET;
            to.sin_port = htons(port);
            to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            ensure(::connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0, "a bench connects");
            const int on = 1;
            ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            SSL* ssl = nullptr;
            if (secure) {
                ssl = SSL_new(context_);
                SSL_set_fd(ssl, descriptor);
                ensure(SSL_connect(ssl) == 1, "a bench shakes hands");
            }
            links_.emplace_back(descriptor, ssl);
        }
    }
    ~Clients() {
        links_.clear();
        SSL_CTX_free(context_);
    }

    /// As many rounds, each a request on every connection and then all answers.
    void ask(std::uint64_t rounds) {
        std::array<char, 16384> buffer{};
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (Link& link : links_) link.send(kRequest);
            for (Link& link : links_) {
                std::size_t got = 0;
                // Both answers end in 1,000 times the same letter, behind an empty line.
                for (std::size_t end = 0; end == 0 || got < end;) {
                    const std::size_t now = link.receive(std::span{buffer}.subspan(got));
                    ensure(now > 0, "an answer comes");
                    got += now;
                    const std::size_t head = std::string_view(buffer.data(), got).find("\r\n\r\n");
                    if (head != std::string_view::npos) end = head + 4 + 1000;
                }
            }
        }
    }

private:
    SSL_CTX* context_ = nullptr;
    std::vector<Link> links_;
};

Task<void> pod(Exchange& exchange, const PathParts& parts) {
    Response response;
    response.headers.add("Content-Type", "application/json");
    response.body = body_text();
    bench::keep(parts.size());
    auto ignored = co_await exchange.respond(std::move(response));
}

struct OurServer {
    explicit OurServer(bool secure) {
        Router router;
        router.route("GET", "/api/v1/namespaces/{namespace}/pods/{name}", &pod);
        auto started = Server::start(context, test::local(secure ? test::server_tls() : nullptr),
                                     Router::handler(std::make_shared<const Router>(std::move(router))));
        ensure(started.has_value(), "a bench serves");
        server = std::move(*started);
    }
    stream::IoContext context;
    std::unique_ptr<Server> server;
};

bench::Body ours(bool secure) {
    return [secure](std::uint64_t times) {
        static std::array<std::unique_ptr<OurServer>, 2> servers;
        static std::array<std::unique_ptr<Clients>, 2> clients;
        if (!servers[secure]) {
            servers[secure] = std::make_unique<OurServer>(secure);
            clients[secure] = std::make_unique<Clients>(servers[secure]->server->addresses()[0].port, secure);
        }
        clients[secure]->ask(times);
    };
}

bench::Body bare(bool secure) {
    return [secure](std::uint64_t times) {
        static std::array<std::unique_ptr<BareServer>, 2> servers;
        static std::array<std::unique_ptr<Clients>, 2> clients;
        if (!servers[secure]) {
            servers[secure] = std::make_unique<BareServer>(secure);
            clients[secure] = std::make_unique<Clients>(servers[secure]->port, secure);
        }
        clients[secure]->ask(times);
    };
}

const bool plain = bench::add({.name = "http.requests_plain",
                               .unit = "requests",
                               .subject = ours(false),
                               .anchor = bare(false),
                               .aim = 0.5,
                               .units_each = kConnections});
const bool secure = bench::add({.name = "http.requests_tls",
                                .unit = "requests",
                                .subject = ours(true),
                                .anchor = bare(true),
                                .aim = 0.5,
                                .units_each = kConnections});

// ---- what an idle connection keeps after a request

/// What earlier benchmarks freed is handed back first, so that none of it is used again unseen.
double resident_bytes() {
    runtime::return_free_memory();
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    ensure(file != nullptr, "/proc is there");
    long total = 0;
    long resident = 0;
    ensure(std::fscanf(file, "%ld %ld", &total, &resident) == 2, "statm has two numbers");
    std::fclose(file);
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Answers whose bodies nobody reads keep their connections to themselves.
Task<void> ask_all(Client* client, Origin origin, int count, std::vector<std::unique_ptr<Answer>>* held) {
    for (int i = 0; i < count; ++i) {
        Request request = test::get("/api/v1/namespaces/a/pods/b");
        auto answer = co_await client->send(origin, std::move(request), stream::after(seconds{60}));
        ensure(answer.has_value(), "an answer comes");
        held->push_back(std::move(*answer));
    }
}

/// Resident kilobytes that the server keeps of a connection that has had a request; the clients are another process.
double idle_kilobytes() {
    constexpr int kIdle = 1000;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    (void)test::authority();  // before the fork: both sides have the same
    int ports[2];
    int asked[2];
    int done[2];
    ensure(::pipe(ports) == 0 && ::pipe(asked) == 0 && ::pipe(done) == 0, "pipes can be made");
    const pid_t child = ::fork();
    ensure(child >= 0, "a process can be made");
    char byte = 0;
    if (child == 0) {
        std::uint16_t port = 0;
        ensure(::read(ports[0], &port, sizeof port) == sizeof port, "the port is heard");
        Origin origin;
        origin.address = {"127.0.0.1", port, false};
        origin.tls = test::client_tls();
        origin.server_name = "localhost";
        stream::IoContext context{{.threads = 0}};
        Client client;
        std::vector<std::unique_ptr<Answer>> held;
        stream::block_on(context, ask_all(&client, origin, kIdle, &held));
        ensure(::write(asked[1], &byte, 1) == 1 && ::read(done[0], &byte, 1) == 1, "the parent has measured");
        ::_exit(0);
    }
    double kilobytes = 0;
    {
        OurServer ours{true};
        const double before = resident_bytes();
        const std::uint16_t port = ours.server->addresses()[0].port;
        ensure(::write(ports[1], &port, sizeof port) == sizeof port, "the port is told");
        ensure(::read(asked[0], &byte, 1) == 1, "all have been answered");
        ensure(ours.server->connections_now() == kIdle, "all are kept");
        kilobytes = (resident_bytes() - before) / kIdle / 1024;
        ensure(::write(done[1], &byte, 1) == 1, "the child may end");
    }
    ::waitpid(child, nullptr, 0);
    for (const int end : {ports[0], ports[1], asked[0], asked[1], done[0], done[1]}) ::close(end);
    return kilobytes;
}

const bool idle = bench::add_figure(
    {.name = "http.idle_tls_connection", .unit = "KB", .measure = &idle_kilobytes, .required = 40, .at_most = true});

}  // namespace
}  // namespace rhizome::http
