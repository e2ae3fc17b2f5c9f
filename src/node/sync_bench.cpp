// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/consensus_rules.h"
#include "consensus/judge.h"
#include "ledger/block_factory.h"
#include "ledger/draft.h"
#include "ledger/signing.h"
#include "node/founding.h"
#include "node/hand_sealing.h"
#include "node/peers.h"
#include "runtime/clock.h"
#include "runtime/thread_pool.h"
#include "support/bench.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

/// How fast a node that has missed much is at the tip again: one process serves, this one catches up over the loopback,
/// with everything in between that a user has (TLS, frames, the disk). Beside it, in the same run, the same blocks are
/// validated from the local disk: no synchronisation can be faster.
namespace rhizome::node {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class T, class E>
T value_of(Result<T, E> result) {
    ensure(result.has_value(), "the benchmark's own chain works");
    return *std::move(result);
}

crypto::NodeKeys keys_of(std::string_view name) {
    return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(name)).view()});
}

/// What the chain looks like that is caught up with.
struct Plan {
    std::size_t blocks = 0;
    std::size_t txs_each = 0;
    std::size_t tx_bytes = 0;
};

/// Rules, cores and judge as a node has them.
struct Bench {
    runtime::ThreadPool cores{2};
    ledger::Rules kinds{};
    consensus::CurveSignatures signatures{};
    consensus::ConsensusRules rules{signatures, kinds};
    consensus::Judge judge{signatures};
    crypto::SecretKey owner = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    crypto::NodeKeys founder = keys_of("founder");
    test::TempFolder temp{};

    [[nodiscard]] std::filesystem::path full() const { return temp / "full"; }
    [[nodiscard]] std::filesystem::path behind() const { return temp / "behind"; }

    ledger::Tx map_tx(const ledger::LedgerState& state, const ledger::ChainId& chain, std::size_t number,
                      std::size_t bytes, Time now) const {
        ledger::DraftWish wish{.now = now};
        wish.changes = {{.document = fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"namespace":)"
                                                 R"("default","name":"m{}"}},"data":{{"text":"{}"}}}})",
                                                 number, std::string(bytes, 'x'))}};
        ledger::Tx tx = value_of(ledger::make_draft(wish, state.view()));
        const auto draft = value_of(ledger::check_tx(tx));
        const ledger::Signer signer{owner, owner.public_key()};
        const auto uses = ledger::uses_of_inputs(*draft, state);
        for (std::size_t i = 0; i < uses.size(); ++i)
            tx.inputs[i].unlocking = ledger::advance(*draft, i, uses[i], chain, state, &signer).unlocking;
        return tx;
    }

    /// A folder with all of the chain, and one with its first block only.
    void make(const Plan& plan) {
        const Time begin = runtime::now() - seconds{600};
        const auto founded = value_of(found_cluster(
            {.cluster = "bench", .node = "n1", .now = begin, .owner = owner, .node_keys = founder}, rules, cores));
        auto other = value_of(store::Chain::create(behind(), founded.genesis, {rules, judge}, cores, {},
                                                   store::ChainOrigin::FromElsewhere));
        ensure(other->close().has_value(), "a folder");
        auto chain = value_of(store::Chain::create(full(), founded.genesis, {rules, judge}, cores));
        (void)value_of(chain->add_made(founded.first, founded.first_applied));
        const consensus::KeySigner signer{founder};
        std::size_t number = 0;
        for (std::size_t block = 0; block < plan.blocks; ++block) {
            std::vector<ledger::SharedTx> txs(plan.txs_each);
            cores.for_ranges(txs.size(), [&](std::size_t first, std::size_t end) {
                for (std::size_t i = first; i < end; ++i)
                    txs[i] = value_of(ledger::check_tx(
                        map_tx(chain->state(), founded.chain, number + i, plan.tx_bytes, chain->tip().time)));
            });
            number += txs.size();
            const auto hand = value_of(prepare_by_hand(chain->state(), chain->tip(), chain->tip().time, judge, signer));
            auto draft = ledger::build_block(chain->state(), hand.next, txs, hand.sealing.part, hand.seal_bytes(),
                                             rules, chain->cache(), cores);
            ensure(draft.txs.size() == plan.txs_each, "all go into the block");
            const ledger::Applied applied = draft.applied;
            (void)value_of(chain->add_made(seal_by_hand(std::move(draft), hand, signer), applied));
        }
        ensure(chain->store().mark_final(hash_of(chain->tip())).has_value(), "the only voter sealed it");
        ensure(chain->close().has_value(), "a folder");
    }

    /// Seconds to validate all of it from the disk.
    double validate() {
        const auto store = value_of(store::Store::open(full()));
        const auto start = Clock::now();
        const auto report = value_of(store::verify(*store, {rules, judge}, cores));
        const double took = seconds_since(start);
        ensure(!report.fault, "a good chain");
        ensure(store->close().has_value(), "a folder");
        return took;
    }
};

// ---- who serves, in a process of its own
// -----------------------------------------------------------------------------

constexpr const char* kServe = "RHIZOME_SYNC_BENCH";

/// The child's side, before anything else of this program runs: serves until its input ends.
bool serve() {
    const char* folder = std::getenv(kServe);
    if (folder == nullptr) return false;
    stream::IoContext io{{.threads = 2}};
    const auto keys = keys_of("founder");
    {
        const auto host = value_of(Host::start(io, {.folder = folder}, keys));
        const auto peers = value_of(Peers::start(io, *host, keys, {.listen = {{.host = "127.0.0.1", .port = 0}}}));
        fmt::print("{}\n", peers->addresses().front().text());
        std::fflush(stdout);
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) > 0) {
        }
        peers->stop();
        ensure(host->stop().has_value(), "it ends in order");
    }
    std::_Exit(0);
}

class Server {
public:
    explicit Server(const std::filesystem::path& folder) {
        int to[2];
        int from[2];
        ensure(::pipe(to) == 0 && ::pipe(from) == 0, "pipes");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
        for (const int end : {to[0], to[1], from[0], from[1]}) posix_spawn_file_actions_addclose(&actions, end);
        std::string self = "/proc/self/exe";
        std::string setting = fmt::format("{}={}", kServe, folder.native());
        char* arguments[] = {self.data(), nullptr};
        char* environment[] = {setting.data(), nullptr};
        ensure(::posix_spawn(&child_, self.c_str(), &actions, nullptr, arguments, environment) == 0, "a child");
        posix_spawn_file_actions_destroy(&actions);
        ::close(to[0]);
        ::close(from[1]);
        input_ = to[1];
        std::string line;
        char byte = 0;
        while (::read(from[0], &byte, 1) == 1 && byte != '\n') line.push_back(byte);
        ::close(from[0]);
        address = value_of(stream::Address::parse(line));
    }
    ~Server() {
        ::close(input_);
        int status = 0;
        ::waitpid(child_, &status, 0);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    stream::Address address{};

private:
    pid_t child_ = 0;
    int input_ = -1;
};

/// Seconds from knowing an address to being at the tip.
double catch_up(const Bench& bench, const Plan& plan) {
    const Server server{bench.full()};
    stream::IoContext io{{.threads = 2}};
    const auto keys = keys_of("newcomer");
    const auto host = value_of(Host::start(io, {.folder = bench.behind()}, keys));
    test::Waited<std::uint64_t> height;
    const auto watching = host->watch([&](const core::Notice& notice, const NodeView& view) {
        if (!std::holds_alternative<core::TipMoved>(notice)) return;
        const auto hold = height.lock();
        height.value() = view.tip.height.number();
        height.notify();
    });
    const auto start = Clock::now();
    const auto peers = value_of(Peers::start(io, *host, keys, {.seeds = {server.address}}));
    const bool there = height.wait([&](std::uint64_t now) { return now >= plan.blocks + 1; });
    const double took = seconds_since(start);
    if (!there) fmt::print(stderr, "  only at {} of {}\n", height.copy(), plan.blocks + 1);
    ensure(there, "it arrives");
    peers->stop();
    ensure(host->stop().has_value(), "it ends in order");
    return took;
}

struct Outcome {
    double took = 0;
    double validated = 0;
};

Outcome measure(const Plan& plan, std::string_view what) {
    Bench bench;
    bench.make(plan);
    // Before and after: other programs share the machine.
    const double before = bench.validate();
    Outcome outcome;
    outcome.took = catch_up(bench, plan);
    outcome.validated = (before + bench.validate()) / 2;
    fmt::print(stderr, "  {}: {:.2f} s to the tip, {:.2f} s to validate it from the disk: {:.0f} and {:.0f} blocks/s\n",
               what, outcome.took, outcome.validated, static_cast<double>(plan.blocks) / outcome.took,
               static_cast<double>(plan.blocks) / outcome.validated);
    return outcome;
}

double missed_10k() { return measure({.blocks = 10'000, .txs_each = 1, .tx_bytes = 40}, "10,000 small blocks").took; }
double full_sync() {
    const Outcome outcome =
        measure({.blocks = 100, .txs_each = 1'000, .tx_bytes = 600}, "100,000 transactions of 1 KiB");
    return outcome.validated / outcome.took;
}

const bool registered =
    serve() ||
    (bench::add_figure(
         {.name = "sync.missed_10k_blocks", .unit = "s", .measure = missed_10k, .required = 3, .at_most = true}) &&
     bench::add_figure(
         {.name = "sync.full_100k_1KiB", .unit = "× validating from the disk", .measure = full_sync, .required = 0.7}));

}  // namespace
}  // namespace rhizome::node
