// SPDX-License-Identifier: Apache-2.0
// Three nodes on this machine, and etcd with three members beside them in the same run: orders of 1 KiB from many
// clients at once, what they cost, and what happens when machines die. `./run bench cluster`.
//
// What is compared: `included` is the answer that an order is in a block which is on the disk of the node that made it;
// the others have it a moment later. `final` is the answer that a majority has voted for it for good.
// etcd's put is answered when a majority has written it to its disks. It lies between the two, so both are printed.
// Both are asked without TLS, each client with a connection of its own and one order under way, clients spread over all
// three; etcd over its own gRPC, Rhizome over its local sockets. Orders are signed before the clock starts: that is the
// client's work, checking it is the node's and counts.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "base/ensure.h"
#include "cli/commands/playground/bench/etcd.h"
#include "cli/commands/playground/orders.h"
#include "cli/commands/playground/playground.h"
#include "support/bench.h"
#include "support/temp_folder.h"

namespace rhizome::bench {
namespace {

namespace fs = std::filesystem;
using cli::playground::Orders;
using cli::playground::Playground;
using Clock = std::chrono::steady_clock;

constexpr unsigned kNodes = 3;
/// Of a Namespace, so that its transaction has about 1 KiB: 1,024 less inputs, signature and metadata.
constexpr std::size_t kPadding = 700;
constexpr std::size_t kValueBytes = 1'024;
constexpr unsigned kKills = 10;
constexpr milliseconds kAnswerMax{30'000};

/// The program that was built beside this one.
fs::path program() { return fs::read_symlink("/proc/self/exe").parent_path() / "rhizome"; }

double percentile(std::vector<double> all, unsigned percent) {
    if (all.empty()) return 0;
    std::sort(all.begin(), all.end());
    return all[std::min(all.size() - 1, all.size() * percent / 100)];
}

struct Load {
    double per_second = 0;
    double p50 = 0;  ///< ms
    double p99 = 0;
    double cpu_each = 0;  ///< ms of a core, all three together
};

/// One order after the other, whether each went well.
using Client = std::function<bool(std::size_t turn)>;

Load run_load(unsigned clients, std::size_t each, const std::function<Client(unsigned)>& connect,
              const std::function<double()>& cpu_seconds) {
    std::vector<Client> connected;
    for (unsigned i = 0; i < clients; ++i) connected.push_back(connect(i));
    std::vector<std::vector<double>> took(clients);
    const double cpu_before = cpu_seconds();
    const auto start = Clock::now();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < clients; ++i)
        threads.emplace_back([&, i] {
            for (std::size_t turn = 0; turn < each; ++turn) {
                const auto sent = Clock::now();
                ensure(connected[i](turn), "an order is taken");
                took[i].push_back(std::chrono::duration<double, std::milli>(Clock::now() - sent).count());
            }
        });
    for (std::thread& thread : threads) thread.join();
    const double lasted = std::chrono::duration<double>(Clock::now() - start).count();
    std::vector<double> all;
    for (const auto& times : took) all.insert(all.end(), times.begin(), times.end());
    const auto count = static_cast<double>(all.size());
    return {.per_second = count / lasted,
            .p50 = percentile(all, 50),
            .p99 = percentile(all, 99),
            .cpu_each = (cpu_seconds() - cpu_before) * 1'000 / count};
}

/// The longest time between two answers to one client that orders on and on while `kill` happens in the middle.
double longest_gap(const Client& client, const std::function<void()>& kill) {
    std::atomic<bool> stop = false;
    std::thread killer{[&] {
        (void)::poll(nullptr, 0, 500);
        kill();
        (void)::poll(nullptr, 0, 4'000);
        stop = true;
    }};
    double longest = 0;
    auto last = Clock::now();
    for (std::size_t turn = 0; !stop; ++turn) {
        if (!client(turn))
            (void)::poll(nullptr, 0, 1);
        else {
            const auto now = Clock::now();
            longest = std::max(longest, std::chrono::duration<double, std::milli>(now - last).count());
            last = now;
        }
    }
    killer.join();
    return std::max(longest, std::chrono::duration<double, std::milli>(Clock::now() - last).count());
}

// ---- Rhizome ------------------------------------------------------------------------------------------------------

/// Three nodes on ports: no root is needed, and a loopback is what etcd has here too.
class Nodes {
public:
    explicit Nodes(const fs::path& folder) : on_(raise(folder)), orders_(open_orders(on_)) {}
    ~Nodes() { (void)Playground::down(folder_); }
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;

    Playground& on() { return on_; }
    [[nodiscard]] double cpu_seconds() const {
        double all = 0;
        for (const auto& node : on_.record().nodes) all += cpu_seconds_of(node.process);
        return all;
    }
    /// So many orders for so many clients, signed.
    std::vector<std::vector<std::string>> make_orders(unsigned clients, std::size_t each) {
        std::vector<std::vector<std::string>> made(clients);
        std::vector<std::thread> threads;
        for (unsigned part = 0; part < kNodes; ++part)
            threads.emplace_back([&, part] {
                const auto client = on_.client(part + 1);
                ensure(client.has_value(), "a node answers");
                for (unsigned i = part; i < clients; i += kNodes)
                    for (std::size_t turn = 0; turn < each; ++turn) {
                        auto order = orders_.make(**client, fmt::format("b{}", next_.fetch_add(1)), kPadding);
                        ensure(order.has_value(), "an order is drafted");
                        made[i].push_back(std::move(order->text));
                    }
            });
        for (std::thread& thread : threads) thread.join();
        return made;
    }
    Load load(unsigned clients, std::size_t each, const std::string& stage) {
        const auto orders = make_orders(clients, each);
        return run_load(
            clients, each,
            [&](unsigned i) -> Client {
                auto client = on_.client(i % kNodes + 1);
                ensure(client.has_value(), "a node answers");
                return [&orders, &stage, i, asked = std::shared_ptr{*std::move(client)}](std::size_t turn) {
                    const auto reply = asked->ask("POST", "/rhizome/v1/txs?wait=" + stage, orders[i][turn], kAnswerMax);
                    return reply && reply->is_good() && reply->body.text_at({"stage"}) != "accepted";
                };
            },
            [&] { return cpu_seconds(); });
    }
    /// Signs as it goes: what is left of the others' silence is much longer.
    Client writer(unsigned node) {
        auto client = on_.client(node);
        ensure(client.has_value(), "a node answers");
        return [this, asked = std::shared_ptr{*std::move(client)}](std::size_t) {
            const auto order = orders_.make(*asked, fmt::format("b{}", next_.fetch_add(1)), kPadding);
            if (!order) return false;
            const auto reply = asked->ask("POST", "/rhizome/v1/txs?wait=included", order->text, kAnswerMax);
            return reply && reply->is_good();
        };
    }

private:
    Playground raise(const fs::path& folder) {
        folder_ = folder / "nodes";
        auto up = Playground::up({.folder = folder_, .nodes = kNodes, .program = program(), .ends_with_us = true});
        if (!up) fmt::print(stderr, "{}\n", up.error().message);
        ensure(up.has_value(), "three nodes start: ./run build makes the program they are");
        return *std::move(up);
    }
    static Orders open_orders(const Playground& on) {
        auto orders = Orders::open(on.keys());
        ensure(orders.has_value(), "the owner's key is there");
        return *std::move(orders);
    }
    fs::path folder_{};
    Playground on_;
    Orders orders_;
    std::atomic<std::uint64_t> next_ = 0;
};

// ---- etcd ---------------------------------------------------------------------------------------------------------

Client etcd_client(const EtcdCluster& etcd, unsigned member, unsigned number, milliseconds most = kAnswerMax) {
    auto client = EtcdClient::connect(etcd.port(member));
    ensure(client.has_value(), "etcd answers");
    return [&etcd, member, number, most, asked = std::shared_ptr{*std::move(client)}](std::size_t turn) mutable {
        if (asked && asked->put(fmt::format("k{}-{}", number, turn), std::string(kValueBytes, 'x'), most)) return true;
        // One that refused once is asked on a new connection.
        auto again = EtcdClient::connect(etcd.port(member));
        asked = again ? std::shared_ptr{*std::move(again)} : nullptr;
        return false;
    };
}

Load etcd_load(const EtcdCluster& etcd, unsigned clients, std::size_t each) {
    return run_load(
        clients, each, [&](unsigned i) { return etcd_client(etcd, i % kNodes, i); },
        [&] { return etcd.cpu_seconds(); });
}

// ---- the run ------------------------------------------------------------------------------------------------------

struct Row {
    unsigned clients = 0;
    Load included{};
    Load final{};
    std::optional<Load> etcd{};
};
struct Results {
    std::vector<Row> rows{};
    double gap = 0;  ///< ms, the longest of all rounds
    std::optional<double> etcd_gap{};
    unsigned alone = 0;  ///< of twenty orders, with two of three dead
    std::optional<unsigned> etcd_alone{};
};
constexpr unsigned kAlone = 20;

void print_load(std::string_view what, unsigned clients, const Load& load) {
    fmt::print(stderr, "  {:>4} clients  {:18} {:>8.0f}/s   p50 {:>8.2f} ms   p99 {:>8.2f} ms   {:>6.2f} ms CPU each\n",
               clients, what, load.per_second, load.p50, load.p99, load.cpu_each);
}

unsigned taken_of_twenty(const Client& client) {
    unsigned taken = 0;
    for (std::size_t turn = 0; turn < kAlone; ++turn) taken += client(turn) ? 1 : 0;
    return taken;
}

void kill_nodes(Nodes& nodes, Results& results) {
    for (unsigned round = 0; round < kKills; ++round) {
        const unsigned victim = round % 2 + 2;  // the client asks the first; who proposes next is drawn by lot
        const double gap =
            longest_gap(nodes.writer(1), [&] { ensure(nodes.on().kill(victim).has_value(), "a node dies"); });
        results.gap = std::max(results.gap, gap);
        ensure(nodes.on().start(victim).has_value(), "a node comes back");
    }
    for (const unsigned victim : {2U, 3U}) ensure(nodes.on().kill(victim).has_value(), "a node dies");
    results.alone = taken_of_twenty(nodes.writer(1));
}

void kill_members(EtcdCluster& etcd, Results& results) {
    double longest = 0;
    for (unsigned round = 0; round < kKills; ++round) {
        const auto leader = etcd.leader();
        if (!leader) continue;
        const unsigned asked = (*leader + 1) % kNodes;
        longest = std::max(longest, longest_gap(etcd_client(etcd, asked, 9'000 + round), [&] { etcd.kill(*leader); }));
        ensure(etcd.restart(*leader).has_value(), "etcd comes back");
        for (unsigned i = 0; i < 100 && !etcd.takes_puts(*leader, seconds{2}); ++i) (void)::poll(nullptr, 0, 100);
    }
    results.etcd_gap = longest;
    etcd.kill(1);
    etcd.kill(2);
    results.etcd_alone = taken_of_twenty(etcd_client(etcd, 0, 9'999, milliseconds{1'000}));
}

Results measure_all() {
    const test::TempFolder temp{fs::current_path()};  // the disk that is built on, not one in memory
    Results results;
    Nodes nodes{temp.path()};
    std::unique_ptr<EtcdCluster> etcd;
    if (EtcdCluster::program()) {
        auto started = EtcdCluster::start(temp.path());
        if (started)
            etcd = *std::move(started);
        else
            fmt::print(stderr, "etcd does not start and is left out: {}\n", started.error().message);
    } else {
        fmt::print(stderr, "etcd is not installed and is left out (apt-get install etcd-server)\n");
    }
    for (const auto& [clients, each] : {std::pair{1U, std::size_t{200}}, std::pair{16U, std::size_t{100}},
                                        std::pair{64U, std::size_t{60}}, std::pair{256U, std::size_t{15}}}) {
        Row row{.clients = clients};
        row.included = nodes.load(clients, each, "included");
        if (etcd) row.etcd = etcd_load(*etcd, clients, each);
        row.final = nodes.load(clients, std::max<std::size_t>(each / 5, 2), "final");
        print_load("rhizome, included", clients, row.included);
        print_load("rhizome, final", clients, row.final);
        if (row.etcd) print_load("etcd", clients, *row.etcd);
        results.rows.push_back(row);
    }
    kill_nodes(nodes, results);
    if (etcd) kill_members(*etcd, results);
    fmt::print(stderr, "  longest silence of {} kills: rhizome {:.0f} ms", kKills, results.gap);
    if (results.etcd_gap) fmt::print(stderr, ", etcd (its leader) {:.0f} ms", *results.etcd_gap);
    fmt::print(stderr, "\n  with two of three dead, of {} orders: rhizome {}", kAlone, results.alone);
    if (results.etcd_alone) fmt::print(stderr, ", etcd {}", *results.etcd_alone);
    fmt::print(stderr, "\n");
    return results;
}
const Results& results() {
    static const Results made = measure_all();
    return made;
}
const Row& row_of(unsigned clients) {
    return *std::find_if(results().rows.begin(), results().rows.end(),
                         [&](const Row& row) { return row.clients == clients; });
}

/// Against etcd where it was measured; a figure of its own says nothing then, so it is what is required.
double ratio(const std::optional<double>& anchor, double own, double without) {
    return anchor && *anchor > 0 ? own / *anchor : without;
}

const bool throughput = add_figure({.name = "cluster.throughput_64_clients_to_etcd",
                                    .unit = "x",
                                    .measure =
                                        [] {
                                            const Row& row = row_of(64);
                                            return ratio(row.etcd ? std::optional{row.etcd->per_second} : std::nullopt,
                                                         row.included.per_second, 1.5);
                                        },
                                    .required = 1.5});
const bool latency =
    add_figure({.name = "cluster.p50_1_client_to_etcd",
                .unit = "x",
                .measure =
                    [] {
                        const Row& row = row_of(1);
                        return ratio(row.etcd ? std::optional{row.etcd->p50} : std::nullopt, row.included.p50, 2);
                    },
                .required = 2,
                .at_most = true});
const bool silence = add_figure({.name = "cluster.longest_silence_to_etcd",
                                 .unit = "x",
                                 .measure = [] { return ratio(results().etcd_gap, results().gap, 0.33); },
                                 .required = 0.34,
                                 .at_most = true});
const bool alone = add_figure({.name = "cluster.orders_taken_by_one_of_three",
                               .unit = "of 20",
                               .measure = [] { return static_cast<double>(results().alone); },
                               .required = kAlone});

}  // namespace
}  // namespace rhizome::bench
