// SPDX-License-Identifier: Apache-2.0
// What an idle TLS connection keeps, on either side, over 1,000 of them on loopback: the other side lives in another
// process, so that each counts its own memory only. And how many handshakes a core makes, against bare OpenSSL.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include <openssl/ssl.h>

#include "base/ensure.h"
#include "runtime/memory.h"
#include "stream/pipe.h"
#include "stream/tcp.h"
#include "stream/tls.h"
#include "support/bench.h"
#include "support/tls_samples.h"

namespace rhizome::stream {
namespace {

constexpr int kConnections = 1000;

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

void allow_descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

using Streams = std::vector<std::unique_ptr<Stream>>;
using Context = std::shared_ptr<const TlsContext>;

/// A byte both ways, as any connection in use has had, then silence.
Task<void> serve_one(std::unique_ptr<Stream> lower, Context tls, Streams* held, int* idle) {
    auto made = co_await tls_accept(std::move(lower), std::move(tls), after(seconds{60}));
    ensure(made.has_value(), "the handshake succeeds");
    Stream& stream = **made;
    held->push_back(std::move(*made));
    Bytes byte(1);
    auto read = co_await stream.read_some(byte);
    ensure(read.has_value() && *read == 1, "a byte came");
    auto sent = co_await write_all(stream, byte);
    ++*idle;
    auto ignored = co_await stream.readable();
}

Task<void> serve_all(Listener* listener, Context tls, Streams* held, int* idle) {
    for (int i = 0; i < kConnections; ++i) {
        auto made = co_await listener->accept();
        ensure(made.has_value(), "a connection came");
        const Strand strand = (*made)->strand();
        spawn(strand, serve_one(std::move(*made), tls, held, idle));
    }
}

Task<void> ask_all(Address to, Context tls, Streams* held, int* idle) {
    for (int i = 0; i < kConnections; ++i) {
        auto plain = co_await connect(to, after(seconds{60}));
        ensure(plain.has_value(), "the server can be reached");
        auto made = co_await tls_connect(std::move(*plain), tls, "localhost", after(seconds{60}));
        ensure(made.has_value(), "the handshake succeeds");
        Bytes byte(1);
        auto sent = co_await write_all(**made, byte);
        auto read = co_await (*made)->read_some(byte);
        ensure(read.has_value() && *read == 1, "a byte came back");
        held->push_back(std::move(*made));
        ++*idle;
    }
}

/// Resident kilobytes a connection, of the side asked for. The other side is the child or the parent.
double idle_kilobytes(bool of_server) {
    allow_descriptors();
    const auto authority = test::sample_authority();
    const auto server_tls = *TlsContext::server({.identity = test::sample_server(authority)});
    const auto client_tls = *TlsContext::client({.trust = {.authorities = authority.chain}});
    int ports[2];
    int done[2];
    ensure(::pipe(ports) == 0 && ::pipe(done) == 0, "pipes can be made");
    const pid_t child = ::fork();
    ensure(child >= 0, "a process can be made");
    const bool serve = (child == 0) != of_server;  // the parent is the side that is measured
    double kilobytes = 0;
    {
        IoContext context{{.threads = 0}};
        Streams held;
        int idle = 0;
        const double before = resident_bytes();
        if (serve) {
            auto listener = std::move(Listener::open(context, {.address = {"127.0.0.1", 0, false}}).value());
            const std::uint16_t port = listener->local().port;
            ensure(::write(ports[1], &port, sizeof port) == sizeof port, "the port is told");
            spawn(listener->strand(), serve_all(listener.get(), server_tls, &held, &idle));
            context.run_until([&] { return idle == kConnections; });
            kilobytes = (resident_bytes() - before) / kConnections / 1024;
        } else {
            std::uint16_t port = 0;
            ensure(::read(ports[0], &port, sizeof port) == sizeof port, "the port is heard");
            block_on(context, ask_all({"127.0.0.1", port, false}, client_tls, &held, &idle));
            kilobytes = (resident_bytes() - before) / kConnections / 1024;
        }
        char byte = 0;
        if (child == 0) {
            ensure(::read(done[0], &byte, 1) == 1, "the parent has measured");
            ::_exit(0);
        }
        ensure(::write(done[1], &byte, 1) == 1, "the child may end");
        for (auto& each : held) each->close();
        context.run_ready();
    }
    ::waitpid(child, nullptr, 0);
    for (const int end : {ports[0], ports[1], done[0], done[1]}) ::close(end);
    return kilobytes;
}

const bool idle_server = bench::add_figure({.name = "stream.idle_tls_server",
                                            .unit = "KB",
                                            .measure = [] { return idle_kilobytes(true); },
                                            .required = 40,
                                            .at_most = true});
const bool idle_client = bench::add_figure({.name = "stream.idle_tls_client",
                                            .unit = "KB",
                                            .measure = [] { return idle_kilobytes(false); },
                                            .required = 40,
                                            .at_most = true});

// ---- handshakes: mutual, between peers with Ed25519 keys

struct Peers {
    Identity one = test::sample_peer("one");
    Identity two = test::sample_peer("two");
    VerifyPeer anybody = [](const Certificate&) { return ok(); };
    Context server = *TlsContext::server(
        {.identity = one, .client_certificate = ClientCertificate::Required, .trust = {.verify = anybody}});
    Context client = *TlsContext::client({.identity = two, .trust = {.verify = anybody}});
};
const Peers& peers() {
    static const Peers made;
    return made;
}

Task<void> accept_one(std::unique_ptr<Stream> lower, Event* done) {
    auto made = co_await tls_accept(std::move(lower), peers().server, after(seconds{60}));
    ensure(made.has_value(), "the handshake succeeds");
    done->set();
}

Task<void> shake(std::uint64_t times) {
    const Strand strand = co_await this_strand();
    for (std::uint64_t i = 0; i < times; ++i) {
        auto [left, right] = make_pipe(strand);
        Event done{strand};
        spawn(strand, accept_one(std::move(left), &done));
        auto made = co_await tls_connect(std::move(right), peers().client, "", after(seconds{60}));
        ensure(made.has_value(), "the handshake succeeds");
        co_await done.wait();
    }
}

int yes(int /*ok*/, X509_STORE_CTX* /*store*/) { return 1; }

void bare_handshakes(std::uint64_t times) {
    static SSL_CTX* const contexts[2] = {SSL_CTX_new(TLS_server_method()), SSL_CTX_new(TLS_client_method())};
    static const bool ready = [] {
        for (int i = 0; i < 2; ++i) {
            const Identity& who = i == 0 ? peers().one : peers().two;
            SSL_CTX_use_certificate(contexts[i], who.chain[0].native());
            SSL_CTX_use_PrivateKey(contexts[i], who.key.native());
            SSL_CTX_set_verify(contexts[i], SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, &yes);
            SSL_CTX_set_num_tickets(contexts[i], 0);
        }
        return true;
    }();
    ensure(ready, "contexts are ready");
    for (std::uint64_t i = 0; i < times; ++i) {
        SSL* server = SSL_new(contexts[0]);
        SSL* client = SSL_new(contexts[1]);
        BIO* near = nullptr;
        BIO* far = nullptr;
        BIO_new_bio_pair(&near, 0, &far, 0);
        SSL_set_bio(server, near, near);
        SSL_set_bio(client, far, far);
        SSL_set_accept_state(server);
        SSL_set_connect_state(client);
        while (SSL_is_init_finished(server) == 0 || SSL_is_init_finished(client) == 0) {
            SSL_do_handshake(client);
            SSL_do_handshake(server);
        }
        SSL_free(server);
        SSL_free(client);
    }
}

const bool handshakes = bench::add({.name = "stream.tls_handshakes",
                                    .unit = "handshakes",
                                    .subject =
                                        [](std::uint64_t times) {
                                            IoContext context{{.threads = 0}};
                                            block_on(context, shake(times));
                                        },
                                    .anchor = &bare_handshakes,
                                    .aim = 0.85});

}  // namespace
}  // namespace rhizome::stream
