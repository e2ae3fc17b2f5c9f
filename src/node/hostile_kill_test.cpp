// SPDX-License-Identifier: Apache-2.0
// What strangers can do to a node's port, against the real program: it goes on answering, stays small, and names who
// did it once. The figures are printed; on a busy machine they are no test.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "base/random.h"
#include "consensus/judge.h"
#include "net/transport_identity.h"
#include "runtime/descriptor.h"
#include "stream/tcp.h"
#include "stream/tls.h"
#include "support/cluster_processes.h"
#include "support/seed.h"
#include "support/stranger.h"

namespace rhizome::node {
namespace {

using runtime::Descriptor;
using test::Stranger;

constexpr std::uint64_t kRssMax = 128u << 20;
constexpr std::string_view kNameless = "a host keeps connecting without saying who it is";
constexpr std::string_view kCutOff = "a peer was cut off for what it sent";

/// Whether the node says anything once the handshake is done. With TLS 1.3 a client learns only then that its
/// certificate was refused.
stream::Task<bool> read_one(stream::Address address, std::shared_ptr<const stream::TlsContext> tls) {
    const auto deadline = stream::after(seconds{180});
    auto plain = co_await stream::connect(std::move(address), deadline);
    if (!plain) co_return false;
    auto secured = co_await stream::tls_connect(*std::move(plain), std::move(tls), std::string{}, deadline);
    if (!secured) co_return false;
    std::array<std::uint8_t, 64> buffer{};
    (*secured)->set_read_deadline(deadline);
    const auto size = co_await (*secured)->read_some(buffer);
    co_return size&&* size > 0;
}

class HostileKill : public test::ClusterProcesses {
protected:
    void SetUp() override {
        found("n1");
        const auto listens = stream::Address::parse(address("n1"));
        ASSERT_TRUE(listens);
        place = *listens;
        chain = ledger::ChainId::from_hex(status("n1").text_at({"chainId"})).value();
        EXPECT_EQ(order("n1", "before", "final").text_at({"stage"}), "final");
        std::vector<microseconds> times;
        for (int i = 0; i < 5; ++i) ask(times);
        quiet = slowest_hundredth(std::move(times));
    }

    /// Runs the attack beside a client that keeps asking; afterwards the node must be as before.
    void attacked_by(std::string_view name, const std::function<void()>& attack) {
        std::atomic<bool> over = false;
        std::thread attacker{[&] {
            attack();
            over = true;
        }};
        std::vector<microseconds> times;
        do ask(times);
        while (!over);
        attacker.join();
        const microseconds during = slowest_hundredth(std::move(times));
        std::cout << "[ FIGURES  ] " << name << ": p99 of a good client " << quiet.count() << " us when quiet, "
                  << during.count() << " us meanwhile; RSS at most " << (peak_rss() >> 20) << " MiB\n";
        EXPECT_LE(peak_rss(), kRssMax) << name;
        EXPECT_EQ(order("n1", "after-" + std::to_string(++orders_), "final").text_at({"stage"}), "final") << name;
        Stranger friendly{io, chain, place};
        EXPECT_TRUE(friendly.wait_up()) << name << ": a good peer finds no room";
    }
    /// A hundred questions of a client on the machine.
    void ask(std::vector<microseconds>& times) {
        auto client = RpcClient::connect(data("n1"));
        if (!client) {
            ADD_FAILURE() << client.error().message;
            return;
        }
        for (int i = 0; i < 100; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            EXPECT_TRUE((*client)->get("/rhizome/v1/tip"));
            times.push_back(std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin));
        }
    }
    static microseconds slowest_hundredth(std::vector<microseconds> times) {
        if (times.empty()) return microseconds{0};
        std::sort(times.begin(), times.end());
        return times[times.size() * 99 / 100];
    }
    std::uint64_t peak_rss() {
        std::ifstream lock{std::filesystem::path{data("n1")} / "lock"};
        pid_t pid = 0;
        lock >> pid;
        std::ifstream facts{"/proc/" + std::to_string(pid) + "/status"};
        for (std::string line; std::getline(facts, line);)
            if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
        ADD_FAILURE() << "the process is gone";
        return 0;
    }
    /// How many lines of the log have both.
    std::size_t told(std::string_view what, std::string_view who) {
        std::ifstream log{std::filesystem::path{data("n1")} / "node" / "log"};
        std::size_t lines = 0;
        for (std::string line; std::getline(log, line);)
            lines += line.find(what) != std::string::npos && line.find(who) != std::string::npos ? 1 : 0;
        return lines;
    }

    /// A connection from an address of this machine's own: the loopback has sixteen million.
    [[nodiscard]] Descriptor connect_from(const std::string& source, bool waits = true) const {
        Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0)};
        sockaddr_in from{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
        ::inet_pton(AF_INET, source.c_str(), &from.sin_addr);
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from);
        sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(place.port), .sin_addr = {}, .sin_zero = {}};
        ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
        const timeval most{.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        return socket;
    }
    /// Whether the other side ends it, whatever it says before.
    static bool ends(const Descriptor& socket) {
        std::array<char, 4'096> buffer{};
        for (;;) {
            const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
            if (size == 0) return true;
            if (size < 0) return errno == ECONNRESET;
        }
    }
    static void say(const Descriptor& socket, ByteView bytes) {
        (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }

    void misbehave_until_banned(std::string_view name, const std::function<void(Stranger&)>& misbehave);

    // ---- the attacks -----------------------------------------------------------------------------------------------
    void garbage();
    void half_open();
    void slow_loris();
    void huge_frames();
    void replayed_handshake();
    void wrong_chain();
    void expired_certificate();
    void many_connections();
    void lying_tips();
    void invalid_blocks();
    void vote_flood();

    stream::IoContext io{{.threads = 1}};
    stream::Address place;
    ledger::ChainId chain;
    microseconds quiet{0};

private:
    int orders_ = 0;
};

void HostileKill::garbage() {
    Random random{test::seed_for(5)};
    for (int i = 0; i < 32; ++i) {
        const auto socket = connect_from("127.0.0.11");
        Bytes noise(64u << 10);
        random.fill(noise);
        say(socket, noise);
        EXPECT_TRUE(ends(socket));
    }
    EXPECT_EQ(told(kNameless, "127.0.0.11"), 1u);
}

void HostileKill::half_open() {
    std::vector<Descriptor> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(connect_from("127.0.0.12"));
    // They hold up nobody who comes from elsewhere, and not for ever.
    Stranger friendly{io, chain, place};
    EXPECT_TRUE(friendly.wait_up());
    for (const Descriptor& socket : silent) EXPECT_TRUE(ends(socket));
    EXPECT_EQ(told(kNameless, "127.0.0.12"), 1u);
}

void HostileKill::slow_loris() {
    std::vector<Descriptor> slow;
    for (int i = 0; i < 60; ++i) slow.push_back(connect_from("127.0.0.13"));
    // The beginning of a handshake, a byte at a time, for longer than one may take.
    Bytes hello{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03};
    hello.resize(140, 0x5a);
    for (const std::uint8_t byte : hello) {
        for (const Descriptor& socket : slow) say(socket, ByteView{&byte, 1});
        test::pass_time(milliseconds{100}, "the pace of who says little");
    }
    for (const Descriptor& socket : slow) EXPECT_TRUE(ends(socket));
}

/// What the same key does three times: the third time it is no longer let in. Told once.
void HostileKill::misbehave_until_banned(std::string_view name, const std::function<void(Stranger&)>& misbehave) {
    std::string key;
    for (int times = 0; times < 2; ++times) {
        Stranger attacker{io, chain, place, Stranger::keys_named(name)};
        key = attacker.key();
        if (!attacker.wait_up()) break;  // once was enough
        EXPECT_TRUE(attacker.wait([](const Stranger::Seen& now) { return now.status.has_value() || now.ended; }));
        misbehave(attacker);
        EXPECT_TRUE(attacker.wait_ended()) << name;
    }
    Stranger banned{io, chain, place, Stranger::keys_named(name)};
    EXPECT_TRUE(banned.wait_ended()) << name;
    EXPECT_EQ(banned.seen().bye, p2p::ByeReason::Banned) << name;
    EXPECT_EQ(told(kCutOff, key), 1u) << name;
}

void HostileKill::huge_frames() {
    misbehave_until_banned("huge frames", [](Stranger& attacker) {
        attacker.tell_frame({0xf0, 0xff, 0xff, 0xff, 3, 0, 0, 0});  // four gigabytes of a block
    });
    misbehave_until_banned("no such type", [](Stranger& attacker) { attacker.tell_frame({1, 0, 0, 0, 63}); });
}

void HostileKill::replayed_handshake() {
    // Somebody between a peer and the node writes down what the peer says.
    Descriptor between{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in here{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    ::inet_pton(AF_INET, "127.0.0.1", &here.sin_addr);
    socklen_t size = sizeof here;
    ASSERT_EQ(::bind(between.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
    ASSERT_EQ(::listen(between.get(), 1), 0);
    ASSERT_EQ(::getsockname(between.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
    std::string record;
    {
        Stranger peer{io, chain, {.host = "127.0.0.1", .port = ntohs(here.sin_port)}};
        const Descriptor near{::accept(between.get(), nullptr, nullptr)};
        const Descriptor far = connect_from("127.0.0.16");
        const auto carry = [](const Descriptor& from, const Descriptor& to, std::string* into) {
            std::array<char, 16'384> buffer{};
            for (ssize_t got = 0; (got = ::recv(from.get(), buffer.data(), buffer.size(), 0)) > 0;) {
                if (into != nullptr) into->append(buffer.data(), static_cast<std::size_t>(got));
                (void)::send(to.get(), buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
            }
            ::shutdown(to.get(), SHUT_RDWR);
        };
        std::thread out{[&] { carry(near, far, &record); }};
        std::thread back{[&] { carry(far, near, nullptr); }};
        EXPECT_TRUE(peer.wait_up()) << "what is replayed was good once";
        ::shutdown(near.get(), SHUT_RDWR);
        ::shutdown(far.get(), SHUT_RDWR);
        out.join();
        back.join();
    }
    ASSERT_GT(record.size(), 500u);
    for (int i = 0; i < 10; ++i) {
        const auto socket = connect_from("127.0.0.17");
        say(socket, as_bytes(record));
        EXPECT_TRUE(ends(socket));
    }
    EXPECT_EQ(told(kNameless, "127.0.0.17"), 1u);
}

void HostileKill::wrong_chain() {
    for (int i = 0; i < 20; ++i) {
        Stranger lost{io, ledger::ChainId{crypto::sha256(as_bytes("another chain")).view()}, place};
        EXPECT_TRUE(lost.wait_ended());
        EXPECT_EQ(lost.seen().bye, p2p::ByeReason::WrongChain);
    }
}

void HostileKill::expired_certificate() {
    // All that a node's certificate has, but an end.
    const auto keys = Stranger::keys_named("expired");
    const auto good = net::make_transport_identity(keys).value();
    constexpr std::string_view kExtension = "2.25.213968152704612348821137955372846281339";
    stream::CertificateSpec spec{.common_name = "rhizome-expired",
                                 .not_before = Time::from_unix_seconds(0),
                                 .not_after = Time::from_unix_seconds(1'577'836'800)};
    spec.extensions = {{.oid = std::string{kExtension}, .value = good.chain.front().extension(kExtension).value()}};
    const stream::Identity expired{.chain = {stream::make_self_signed(spec, good.key).value()}, .key = good.key};
    const auto can_speak = [&](const stream::Identity& identity) {
        stream::TlsClientOptions options{.identity = identity, .protocols = {"rhizome/1"}};
        options.trust.verify = [](const stream::Certificate&) -> Result<void> { return ok(); };
        return stream::block_on(io, read_one(place, stream::TlsContext::client(std::move(options)).value()));
    };
    EXPECT_TRUE(can_speak(good)) << "the same with the right dates";
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(can_speak(expired));
}

void HostileKill::many_connections() {
    // In a process of its own, which has as many files open as it likes; made ready before, since behind a fork among
    // threads only system calls are safe.
    std::vector<sockaddr_in> sources(200);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        sources[i] = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
        sources[i].sin_addr.s_addr = htonl(0x7f001401u + static_cast<std::uint32_t>(i));  // 127.0.20.1 and on
    }
    sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(place.port), .sin_addr = {}, .sin_zero = {}};
    to.sin_addr.s_addr = htonl(0x7f000001u);
    std::array<int, 2> tell{};
    std::array<int, 2> hold{};
    ASSERT_EQ(::pipe2(tell.data(), O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(hold.data(), O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(hold[1]);
        std::size_t made = 0;
        for (std::size_t i = 0; i < 10'000; ++i) {
            const int number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            if (number < 0) continue;
            ++made;
            (void)::bind(number, reinterpret_cast<const sockaddr*>(&sources[i % sources.size()]), sizeof(sockaddr_in));
            (void)::connect(number, reinterpret_cast<const sockaddr*>(&to), sizeof to);
        }
        char byte = 0;
        (void)!::write(tell[1], &byte, 1);
        (void)!::read(hold[0], &byte, 1);  // until the node was asked
        ::_exit(made == 10'000 ? 0 : 1);
    }
    ::close(tell[1]);
    ::close(hold[0]);
    const Descriptor told{tell[0]};
    Descriptor held{hold[1]};
    ASSERT_GT(pid, 0);
    char byte = 0;
    EXPECT_EQ(::read(told.get(), &byte, 1), 1);
    std::vector<microseconds> times;
    for (int i = 0; i < 10; ++i) ask(times);
    held = {};
    int state = 0;
    ASSERT_EQ(::waitpid(pid, &state, 0), pid);
    EXPECT_EQ(state, 0) << "not all connections could be begun";
}

void HostileKill::lying_tips() {
    std::vector<std::unique_ptr<Stranger>> liars;
    for (int i = 0; i < 8; ++i) liars.push_back(std::make_unique<Stranger>(io, chain, place));
    for (auto& liar : liars) EXPECT_TRUE(liar->wait_up());
    for (std::uint32_t round = 0; round < 20; ++round) {
        for (auto& liar : liars) {
            core::Status status{.clock = runtime::now(), .height = ledger::Height{1'000'000'000 + round}};
            const auto tip = crypto::sha256(as_bytes(fmt::format("{} {}", liar->key(), round)));
            status.tip = ledger::BlockHash{tip.view()};
            status.justified = {consensus::Epoch{~0ull}, status.tip};
            status.final_checkpoint = status.justified;
            liar->tell(core::Message{status});
        }
        test::pass_time(milliseconds{100}, "the pace of lies");
    }
}

void HostileKill::invalid_blocks() {
    const auto block_on_tip = [](Stranger& attacker) {
        ledger::Block block;
        block.header.previous = attacker.seen().status->tip;
        block.header.height = attacker.seen().status->height + 1;
        block.header.time = runtime::now();
        return block;
    };
    misbehave_until_banned("unsigned block", [&](Stranger& attacker) {
        ledger::Block block = block_on_tip(attacker);
        block.seal.proof = to_bytes(Stranger::keys_named("somebody").chain.public_key().bytes());
        block.header.seal_root = seal_root_of(block.seal);
        attacker.tell(core::Message{core::NewBlock{std::make_shared<const ledger::Block>(block)}});
    });
    misbehave_until_banned("stranger's block", [&](Stranger& attacker) {
        const auto keys = Stranger::keys_named("stranger's block");
        ledger::Block block = block_on_tip(attacker);
        block.seal.proof = to_bytes(keys.chain.public_key().bytes());
        block.header.seal_root = seal_root_of(block.seal);
        block.header.merkle_root = ledger::merkle_root_of({});
        consensus::sign(block, consensus::KeySigner{keys});
        attacker.tell(core::Message{core::NewBlock{std::make_shared<const ledger::Block>(block)}});
    });
}

void HostileKill::vote_flood() {
    const auto epoch = consensus::epoch_of(runtime::now(), milliseconds{250});
    const auto forged = [&](const consensus::MemberKey& voter, std::uint64_t number) {
        consensus::Vote vote{.voter = voter};
        vote.ballot.target = {epoch, ledger::BlockHash{crypto::sha256(as_bytes(std::to_string(number))).view()}};
        return vote;
    };
    {
        // Votes of nobody, and names of votes that are not: as much as the link carries.
        Stranger flooder{io, chain, place};
        EXPECT_TRUE(flooder.wait_up());
        std::vector<consensus::Vote> forgeries;
        core::HaveVotes names;
        for (std::uint64_t i = 0; i < 4'096; ++i) {
            consensus::MemberKey nobody{};
            nobody[0] = 2;
            std::memcpy(nobody.data() + 1, &i, sizeof i);
            forgeries.push_back(forged(nobody, i));
            names.names.push_back({epoch, i});
        }
        const core::Votes votes{consensus::grouped(forgeries)};
        for (int i = 0; i < 50; ++i) {
            flooder.tell(core::Message{votes});
            flooder.tell(core::Message{names});
        }
        (void)flooder.wait([](const Stranger::Seen& now) { return now.status.has_value() || now.ended; });
    }
    consensus::MemberKey member{};
    const auto digits = from_hex(status("n1").text_at({"key"})).value();
    std::copy(digits.begin(), digits.end(), member.begin());
    misbehave_until_banned("forged votes", [&](Stranger& attacker) {
        attacker.tell(core::Message{core::Votes{consensus::grouped(std::vector{forged(member, 1)})}});
    });
}

TEST_F(HostileKill, Garbage) {
    attacked_by("garbage", [&] { garbage(); });
}
TEST_F(HostileKill, HalfOpenConnections) {
    attacked_by("half-open", [&] { half_open(); });
}
TEST_F(HostileKill, SlowLoris) {
    attacked_by("slow loris", [&] { slow_loris(); });
}
TEST_F(HostileKill, HugeFrames) {
    attacked_by("huge frames", [&] { huge_frames(); });
}
TEST_F(HostileKill, ReplayedHandshakes) {
    attacked_by("replayed handshakes", [&] { replayed_handshake(); });
}
TEST_F(HostileKill, WrongChain) {
    attacked_by("wrong chain", [&] { wrong_chain(); });
}
TEST_F(HostileKill, ExpiredCertificates) {
    attacked_by("expired certificates", [&] { expired_certificate(); });
}
TEST_F(HostileKill, TenThousandConnections) {
    attacked_by("10,000 connections", [&] { many_connections(); });
}
TEST_F(HostileKill, LyingTips) {
    attacked_by("lying tips", [&] { lying_tips(); });
}
TEST_F(HostileKill, InvalidBlocks) {
    attacked_by("invalid blocks", [&] { invalid_blocks(); });
}
TEST_F(HostileKill, VoteFloods) {
    attacked_by("vote floods", [&] { vote_flood(); });
}

TEST_F(HostileKill, AllAtOnce) {
    attacked_by("all at once", [&] {
        std::vector<std::thread> all;
        for (const auto attack : {&HostileKill_AllAtOnce_Test::garbage, &HostileKill_AllAtOnce_Test::half_open,
                                  &HostileKill_AllAtOnce_Test::slow_loris, &HostileKill_AllAtOnce_Test::huge_frames,
                                  &HostileKill_AllAtOnce_Test::wrong_chain, &HostileKill_AllAtOnce_Test::invalid_blocks,
                                  &HostileKill_AllAtOnce_Test::lying_tips, &HostileKill_AllAtOnce_Test::vote_flood})
            all.emplace_back([this, attack] { (this->*attack)(); });
        for (std::thread& one : all) one.join();
    });
}

}  // namespace
}  // namespace rhizome::node
