// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/bench/etcd.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>

#include <fmt/core.h>

#include "runtime/clock.h"
#include "runtime/files.h"
#include "runtime/os_error.h"

namespace rhizome::bench {
namespace {

namespace fs = std::filesystem;
using runtime::Descriptor;

/// Frames of HTTP/2 (RFC 9113).
constexpr char kData = 0;
constexpr char kHeaders = 1;
constexpr char kReset = 3;
constexpr char kSettings = 4;
constexpr char kPing = 6;
constexpr char kGoAway = 7;
constexpr char kWindowUpdate = 8;
/// Their flags.
constexpr char kEndStream = 1;
constexpr char kAck = 1;
constexpr char kEndHeaders = 4;
constexpr std::size_t kFrameHeader = 9;

std::string big_endian(std::uint32_t number, int bytes) {
    std::string text;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text.push_back(static_cast<char>(number >> shift));
    return text;
}
std::uint32_t read_big_endian(std::string_view bytes) {
    std::uint32_t number = 0;
    for (const char one : bytes) number = number << 8 | static_cast<unsigned char>(one);
    return number;
}
std::string frame(char type, char flags, std::uint32_t stream, std::string_view payload) {
    std::string out = big_endian(static_cast<std::uint32_t>(payload.size()), 3);
    out.push_back(type);
    out.push_back(flags);
    out += big_endian(stream, 4);
    out += payload;
    return out;
}

/// The header of every put, in HPACK without its table (RFC 7541): known fields by number, others as they are.
std::string put_header() {
    const auto text = [](std::string_view value) {
        return std::string(1, static_cast<char>(value.size())) + std::string{value};
    };
    std::string out = "\x83\x86";  // :method POST, :scheme http
    out += "\x04" + text("/etcdserverpb.KV/Put");
    out += "\x01" + text("127.0.0.1");
    out += "\x0f\x10" + text("application/grpc");  // content-type
    out += std::string(1, '\0') + text("te") + text("trailers");
    return out;
}

std::string varint(std::uint64_t number) {
    std::string out;
    for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
    out.push_back(static_cast<char>(number));
    return out;
}
/// etcdserverpb.PutRequest with the five bytes that gRPC puts before a message.
std::string put_message(std::string_view key, std::string_view value) {
    const std::string body =
        "\x0a" + varint(key.size()) + std::string{key} + "\x12" + varint(value.size()) + std::string{value};
    return std::string(1, '\0') + big_endian(static_cast<std::uint32_t>(body.size()), 4) + body;
}

Descriptor dial(std::uint16_t port) {
    Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return {};
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return socket;
}
void give_time(const Descriptor& socket, milliseconds most) {
    const timeval limit{.tv_sec = most.count() / 1'000, .tv_usec = most.count() % 1'000 * 1'000};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

}  // namespace

std::uint16_t free_port() {
    const Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
        return 0;
    return ntohs(at.sin_port);
}

double cpu_seconds_of(const runtime::ProcessId& process) {
    const auto text = runtime::read_file(fmt::format("/proc/{}/stat", process.pid), 4u << 10);
    if (!text || !runtime::is_running(process)) return 0;
    std::size_t at = text->rfind(')') + 2;
    for (int i = 0; i < 11; ++i) at = text->find(' ', at) + 1;  // from field 3 to 14, utime; stime follows
    char* end = nullptr;
    const auto user = std::strtoull(text->c_str() + at, &end, 10);
    const auto system = std::strtoull(end, nullptr, 10);
    return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// ---- a client -----------------------------------------------------------------------------------------------------

Result<std::unique_ptr<EtcdClient>> EtcdClient::connect(std::uint16_t port) {
    Descriptor socket = dial(port);
    if (!socket) return Fail{runtime::os_error(fmt::format("connect to etcd at port {}", port), errno)};
    std::unique_ptr<EtcdClient> client{new EtcdClient{std::move(socket)}};
    // Room for all that will ever be answered, so that it need not be counted.
    if (!client->send_all("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, "") +
                          frame(kWindowUpdate, 0, 0, big_endian(0x3fff0000, 4))))
        return Fail{runtime::os_error("speak to etcd", errno)};
    return client;
}

bool EtcdClient::send_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool EtcdClient::read_exactly(std::string& into, std::size_t size) {
    into.resize(size);
    for (std::size_t have = 0; have < size;) {
        const ssize_t got = ::recv(socket_.get(), into.data() + have, size - have, 0);
        if (got <= 0) return false;
        have += static_cast<std::size_t>(got);
    }
    return true;
}

bool EtcdClient::wait_for_answer(std::uint32_t stream) {
    bool answered = false;  // a refusal has trailers only
    std::string header;
    std::string payload;
    for (;;) {
        if (!read_exactly(header, kFrameHeader)) return false;
        if (!read_exactly(payload, read_big_endian(std::string_view{header}.substr(0, 3)))) return false;
        const char type = header[3];
        const char flags = header[4];
        const bool ours = read_big_endian(std::string_view{header}.substr(5)) == stream;
        if (type == kGoAway || (type == kReset && ours)) return false;
        if (type == kSettings && (flags & kAck) == 0 && !send_all(frame(kSettings, kAck, 0, ""))) return false;
        if (type == kPing && (flags & kAck) == 0 && !send_all(frame(kPing, kAck, 0, payload))) return false;
        if (type == kData && ours && payload.size() > 5) answered = true;
        if ((type == kData || type == kHeaders) && ours && (flags & kEndStream) != 0) return answered;
    }
}

bool EtcdClient::put(std::string_view key, std::string_view value, milliseconds most) {
    static const std::string header = put_header();
    const std::uint32_t stream = next_stream_;
    next_stream_ += 2;
    give_time(socket_, most);
    return send_all(frame(kHeaders, kEndHeaders, stream, header) +
                    frame(kData, kEndStream, stream, put_message(key, value))) &&
           wait_for_answer(stream);
}

// ---- three members ------------------------------------------------------------------------------------------------

std::optional<std::string> EtcdCluster::program() {
    const auto found = runtime::Environment::of_process().find_program("etcd");
    return found ? std::optional{found->native()} : std::nullopt;
}

Result<std::unique_ptr<EtcdCluster>> EtcdCluster::start(const fs::path& folder) {
    std::unique_ptr<EtcdCluster> cluster{new EtcdCluster{folder}};
    for (unsigned i = 0; i < kMembers; ++i)
        cluster->members_.push_back({.client_port = free_port(), .peer_port = free_port()});
    for (unsigned i = 0; i < kMembers; ++i) {
        TRY(cluster->restart(i));
    }
    const auto give_up = runtime::instant_now() + seconds{60};
    while (!cluster->takes_puts(0, seconds{2})) {
        if (runtime::instant_now() > give_up) return fail(ErrorKind::Unavailable, "etcd found no leader in a minute");
        (void)::poll(nullptr, 0, 100);
    }
    return cluster;
}

EtcdCluster::~EtcdCluster() {
    for (unsigned i = 0; i < members_.size(); ++i) kill(i);
}

Result<void> EtcdCluster::restart(unsigned member) {
    const auto url = [](std::uint16_t port) { return fmt::format("http://127.0.0.1:{}", port); };
    std::string all;
    for (unsigned i = 0; i < kMembers; ++i)
        all += fmt::format("{}e{}={}", i == 0 ? "" : ",", i, url(members_[i].peer_port));
    Member& one = members_[member];
    const std::string name = fmt::format("e{}", member);
    TRY(auto held, runtime::hold_process({.program = *program(),
                                          .arguments = {"--name",
                                                        name,
                                                        "--data-dir",
                                                        (folder_ / name).native(),
                                                        "--listen-peer-urls",
                                                        url(one.peer_port),
                                                        "--initial-advertise-peer-urls",
                                                        url(one.peer_port),
                                                        "--listen-client-urls",
                                                        url(one.client_port),
                                                        "--advertise-client-urls",
                                                        url(one.client_port),
                                                        "--initial-cluster",
                                                        all,
                                                        "--initial-cluster-state",
                                                        "new",
                                                        "--logger",
                                                        "zap",
                                                        "--log-level",
                                                        "error"},
                                          .shown_as = "etcd",
                                          .output = folder_ / (name + ".log"),
                                          .ends_with_starter = true}));
    one.process = held.id();
    return held.begin();
}

void EtcdCluster::kill(unsigned member) {
    if (runtime::send_signal(members_[member].process, SIGKILL))
        (void)runtime::wait_for_end(members_[member].process, seconds{10});
}

bool EtcdCluster::takes_puts(unsigned member, milliseconds most) const {
    auto client = EtcdClient::connect(port(member));
    return client && (*client)->put("ready", "yes", most);
}

std::optional<unsigned> EtcdCluster::leader() const {
    for (unsigned i = 0; i < kMembers; ++i) {
        const Descriptor socket = dial(port(i));
        if (!socket) continue;
        give_time(socket, seconds{2});
        constexpr std::string_view kAsk = "GET /metrics HTTP/1.0\r\n\r\n";
        if (::send(socket.get(), kAsk.data(), kAsk.size(), MSG_NOSIGNAL) < 0) continue;
        std::string text;
        std::array<char, 4'096> part{};
        for (ssize_t got = 0; (got = ::recv(socket.get(), part.data(), part.size(), 0)) > 0;)
            text.append(part.data(), static_cast<std::size_t>(got));
        if (text.find("\netcd_server_is_leader 1\n") != std::string::npos) return i;
    }
    return std::nullopt;
}

double EtcdCluster::cpu_seconds() const {
    double all = 0;
    for (const Member& one : members_) all += cpu_seconds_of(one.process);
    return all;
}

}  // namespace rhizome::bench
