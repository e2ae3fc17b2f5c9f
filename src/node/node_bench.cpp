// SPDX-License-Identifier: Apache-2.0
// A whole node on a real disk, asked over real sockets: how long an order takes until a block that survives a power
// failure has it, against one write with fdatasync to the same disk; how fast it is read, against a request that the
// same server answers without looking at anything; what a client that only stays connected costs.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "node/daemon.h"
#include "node/rpc_client.h"
#include "runtime/memory.h"
#include "support/bench.h"
#include "support/bench_child.h"
#include "support/running_node.h"
#include "support/temp_folder.h"

namespace rhizome::node {
namespace {

using Clock = std::chrono::steady_clock;

const crypto::SecretKey& owner() {
    static const crypto::SecretKey made = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    return made;
}

/// One durable node, alone in its cluster, for all benchmarks of this file.
struct World {
    World() {
        test::found_node(temp.path() / "data", owner());
        DaemonOptions options;
        options.data = temp.path() / "data";
        options.rpc_listen = {{.host = "127.0.0.1", .port = 0}};
        options.rpc_limits = {.address_requests_per_second = 0,
                              .key_requests_per_second = 0,
                              .connections_max = 4'096,
                              .address_connections_max = 4'096};
        auto made = Daemon::start(std::move(options));
        ensure(made.has_value(), "a node starts");
        daemon = *std::move(made);
    }
    [[nodiscard]] std::unique_ptr<RpcClient> local() const {
        auto client = RpcClient::connect(temp.path() / "data");
        ensure(client.has_value(), "a node answers");
        return *std::move(client);
    }
    [[nodiscard]] std::unique_ptr<RpcClient> remote() const;
    /// A new order, signed.
    std::string order() {
        return json::print(ledger::to_json(
            test::make_namespace_tx(*daemon->host().view(), owner(), fmt::format("n{}", next.fetch_add(1)))));
    }
    test::TempFolder temp{std::filesystem::current_path()};  // the disk that is built on, not one in memory
    std::unique_ptr<Daemon> daemon;
    std::atomic<std::uint64_t> next = 0;
};
World& world() {
    static World made;
    return made;
}

std::unique_ptr<RpcClient> client_of(const std::string& address, const consensus::MemberKey& key) {
    auto client = RpcClient::connect(
        {.address = address, .node_key = key, .secret = owner().clone(), .key = owner().public_key()});
    ensure(client.has_value(), "a node answers");
    return *std::move(client);
}
std::unique_ptr<RpcClient> World::remote() const {
    return client_of(daemon->rpc_addresses().front().text(), daemon->host().key());
}

// ---- orders -------------------------------------------------------------------------------------------------------

void submit(RpcClient& client, const std::string& order) {
    const auto reply = client.ask("POST", "/rhizome/v1/txs?wait=included", order);
    ensure(reply.has_value() && reply->is_good(), "an order is taken");
}

/// Signing included: the client does it.
void submit_one_by_one(std::uint64_t times) {
    const auto client = world().local();
    std::vector<std::string> orders;
    for (std::uint64_t i = 0; i < times; ++i) orders.push_back(world().order());
    for (const std::string& order : orders) submit(*client, order);
}

void write_and_sync(std::uint64_t times) {
    const auto file = world().temp.path() / "anchor";
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ensure(descriptor >= 0 && ::posix_fallocate(descriptor, 0, 4 << 20) == 0, "a file is made");
    const Bytes block(700, 1);  // about what a block with one such order has
    for (std::uint64_t i = 0; i < times; ++i)
        ensure(::pwrite(descriptor, block.data(), block.size(), static_cast<off_t>(i % 4'096 * 1'024)) ==
                       static_cast<ssize_t>(block.size()) &&
                   ::fdatasync(descriptor) == 0,
               "a disk writes");
    ::close(descriptor);
}

const bool orders = bench::add({.name = "node.submit_included",
                                .unit = "orders",
                                .subject = submit_one_by_one,
                                .anchor = write_and_sync,
                                .aim = 0.1});

/// Milliseconds from sending to the answer `included`, of so many clients at once, each with one order under way.
double milliseconds_until_included(unsigned clients, unsigned percent) {
    constexpr std::size_t kOrdersAll = 512;
    const std::size_t each = std::max<std::size_t>(8, kOrdersAll / clients);
    std::vector<std::vector<std::string>> orders_of(clients);
    for (auto& list : orders_of)
        for (std::size_t i = 0; i < each; ++i) list.push_back(world().order());
    std::vector<std::vector<double>> took(clients);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < clients; ++i)
        threads.emplace_back([&orders = orders_of[i], &times = took[i]] {
            const auto client = world().local();
            for (const std::string& order : orders) {
                const auto start = Clock::now();
                submit(*client, order);
                times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
            }
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<double> all;
    for (const auto& times : took) all.insert(all.end(), times.begin(), times.end());
    std::sort(all.begin(), all.end());
    return all[std::min(all.size() - 1, all.size() * percent / 100)];
}

bool add_latency(unsigned clients, unsigned percent, double required) {
    return bench::add_figure({.name = fmt::format("node.included_{}_clients_p{}", clients, percent),
                              .unit = "ms",
                              .measure = [=] { return milliseconds_until_included(clients, percent); },
                              .required = required,
                              .at_most = true});
}
const bool latencies = add_latency(1, 50, 10) && add_latency(1, 99, 50) && add_latency(16, 50, 25) &&
                       add_latency(16, 99, 100) && add_latency(64, 50, 100) && add_latency(64, 99, 250);

// ---- reads --------------------------------------------------------------------------------------------------------

bench::Body reads(bool is_remote, std::string target) {
    return [is_remote, target = std::move(target), client = std::shared_ptr<RpcClient>{}](std::uint64_t times) mutable {
        if (!client) client = is_remote ? world().remote() : world().local();
        for (std::uint64_t i = 0; i < times; ++i) ensure(client->get(target).has_value(), "a read is answered");
    };
}

const std::string kEntry = "/rhizome/v1/state?path=/namespaces/default";
const bool local_reads = bench::add({.name = "node.reads_local",
                                     .unit = "reads",
                                     .subject = reads(false, kEntry),
                                     .anchor = reads(false, "/livez"),
                                     .aim = 0.5});
/// Here the anchor is not signed: the difference is two signatures, one made and one checked.
const bool remote_reads = bench::add({.name = "node.reads_signed_tls",
                                      .unit = "reads",
                                      .subject = reads(true, kEntry),
                                      .anchor = reads(false, kEntry),
                                      .aim = 0.3});

// ---- clients that only stay --------------------------------------------------------------------------------------

constexpr int kIdle = 200;

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

/// Connections of another process, each of which has asked once: what this one keeps for them is the node's side alone.
constexpr const char* kStay = "RHIZOME_NODE_BENCH";

/// The child's side, before anything else of this program runs.
bool stay() {
    const char* where = std::getenv(kStay);
    if (where == nullptr) return false;
    const std::string_view text = where;
    const std::size_t blank = text.find(' ');
    consensus::MemberKey key{};
    ensure(from_hex_into(text.substr(blank + 1), key), "the node's key");
    std::vector<std::unique_ptr<RpcClient>> held;
    for (int i = 0; i < kIdle; ++i) {
        held.push_back(client_of(std::string{text.substr(0, blank)}, key));
        ensure(held.back()->get(kEntry).has_value(), "a read is answered");
    }
    bench::Child::say_and_wait("ready");
    std::_Exit(0);
}
std::unique_ptr<bench::Child> idle_clients() {
    return std::make_unique<bench::Child>(kStay, fmt::format("{} {}", world().daemon->rpc_addresses().front().text(),
                                                             to_hex(world().daemon->host().key())));
}

/// Allocated kilobytes that the node keeps for a TLS connection that has asked once.
double idle_kilobytes() {
    { const auto warm = idle_clients(); }
    const auto before = runtime::memory_in_use();
    const auto clients = idle_clients();
    return static_cast<double>(runtime::memory_in_use() - before) / kIdle / 1'024;
}
const bool idle_bytes =
    stay() ||
    bench::add_figure(
        {.name = "node.idle_connection", .unit = "KB", .measure = &idle_kilobytes, .required = 40, .at_most = true});

/// Microseconds of a core that a connection costs in a second of silence; what the node takes by itself is taken off.
double idle_microseconds() {
    constexpr seconds kLook{3};
    const auto measured = [&] {
        const double before = cpu_seconds();
        std::this_thread::sleep_for(kLook);
        return (cpu_seconds() - before) / static_cast<double>(kLook.count());
    };
    const double alone = measured();
    const auto clients = idle_clients();
    return std::max(0.1, (measured() - alone) * 1e6 / kIdle);  // less cannot be told from nothing
}
const bool idle_cpu = bench::add_figure({.name = "node.idle_connection_cpu",
                                         .unit = "µs/s",
                                         .measure = &idle_microseconds,
                                         .required = 20,
                                         .at_most = true});

}  // namespace
}  // namespace rhizome::node
