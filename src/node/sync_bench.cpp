// SPDX-License-Identifier: Apache-2.0
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
#include "node/state_fetching.h"
#include "runtime/clock.h"
#include "runtime/thread_pool.h"
#include "support/bench.h"
#include "support/bench_child.h"
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
    std::size_t documents = SIZE_MAX;  ///< so many, each written again and again
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
    ledger::BlockHash tip{};

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
                    txs[i] =
                        value_of(ledger::check_tx(map_tx(chain->state(), founded.chain, (number + i) % plan.documents,
                                                         plan.tx_bytes, chain->tip().time)));
            });
            number += txs.size();
            const auto hand = value_of(prepare_by_hand(chain->state(), chain->tip(), chain->tip().time, judge, signer));
            auto draft = ledger::build_block(chain->state(), hand.next, txs, hand.sealing.part, hand.seal_bytes(),
                                             rules, chain->cache(), cores);
            ensure(draft.txs.size() == plan.txs_each, "all go into the block");
            const ledger::Applied applied = draft.applied;
            (void)value_of(chain->add_made(seal_by_hand(std::move(draft), hand, signer), applied));
        }
        tip = hash_of(chain->tip());
        ensure(chain->store().mark_final(tip).has_value(), "the only voter sealed it");
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
        bench::Child::say_and_wait(peers->addresses().front().text());
        peers->stop();
        ensure(host->stop().has_value(), "it ends in order");
    }
    std::_Exit(0);
}

struct Server {
    explicit Server(const std::filesystem::path& folder) : child(kServe, folder.native()) {}
    bench::Child child;
    stream::Address address = value_of(stream::Address::parse(child.line()));
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
    // However long it takes, as long as it comes nearer.
    bool there = false;
    for (std::uint64_t before = 0, now = 1; !there && now > before; now = height.copy()) {
        before = height.copy();
        there = height.wait([&](std::uint64_t at) { return at >= plan.blocks + 1; });
    }
    const double took = seconds_since(start);
    if (!there) fmt::print(stderr, "  only at {} of {}\n", height.copy(), plan.blocks + 1);
    ensure(there, "it arrives");
    peers->stop();
    ensure(host->stop().has_value(), "it ends in order");
    return took;
}

/// Seconds from knowing an address and a block to a node that is at the tip, with the state of that block on its disk
/// and no block before it.
double start_from_state(Bench& bench, const Plan& plan) {
    const Server server{bench.full()};
    core::TrustedBlock trusted;
    const auto keys = keys_of("snapshot");
    stream::IoContext io{{.threads = 2}};
    {
        const auto store = value_of(store::Store::open(bench.behind()));
        trusted.chain = store->chain();
        ensure(store->close().has_value(), "a folder");
    }
    trusted.block = bench.tip;
    const auto folder = bench.temp / "state";
    const auto start = Clock::now();
    const auto fetched = value_of(fetch_state(io, {.trusted = trusted, .address = server.address}, keys, bench.cores));
    const double fetching = seconds_since(start);
    {
        const ledger::Block base{.header = fetched.manifest.header,
                                 .signature = fetched.manifest.signature,
                                 .txs = {},
                                 .seal = fetched.manifest.seal};
        const auto chain = value_of(store::Chain::create_from_state(folder, trusted.chain, base, fetched.view,
                                                                    {bench.rules, bench.judge}, bench.cores));
        ensure(chain->close().has_value(), "a folder");
    }
    const double writing = seconds_since(start) - fetching;
    const auto host = value_of(Host::start(io, {.folder = folder}, keys));
    const double took = seconds_since(start);
    ensure(host->view()->tip.height.number() == plan.blocks + 1, "it is at the tip");
    std::uint64_t bytes = 0;
    for (const auto& part : fetched.manifest.partition.parts) bytes += part.bytes;
    fmt::print(
        stderr, "  {} parts, {} MB: fetched and checked in {:.2f} s, on the disk in {:.2f} s, opened in {:.2f} s\n",
        fetched.manifest.partition.parts.size(), bytes / 1'000'000, fetching, writing, took - fetching - writing);
    ensure(host->stop().has_value(), "it ends in order");
    return took;
}

struct Outcome {
    double took = 0;
    double validated = 0;
};

Outcome measure(Bench& bench, const Plan& plan, std::string_view what) {
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
Outcome measure(const Plan& plan, std::string_view what) {
    Bench bench;
    bench.make(plan);
    return measure(bench, plan, what);
}

double missed_10k() { return measure({.blocks = 10'000, .txs_each = 1, .tx_bytes = 40}, "10,000 small blocks").took; }
double full_sync() {
    const Outcome outcome =
        measure({.blocks = 100, .txs_each = 1'000, .tx_bytes = 600}, "100,000 transactions of 1 KiB");
    return outcome.validated / outcome.took;
}

/// 1,000,000 transactions: 100,000 documents, each written ten times. Takes some minutes to make, so it is made once.
/// (`store_bench` has one of that size that nobody sealed: no node would take it.)
constexpr Plan kLarge{.blocks = 500, .txs_each = 2'000, .tx_bytes = 600, .documents = 100'000};
Bench& large() {
    static Bench made;
    static const bool is_made = [] {
        const auto start = Clock::now();
        made.make(kLarge);
        fmt::print(stderr, "  made a chain of 1,000,000 transactions in {:.0f} s\n", seconds_since(start));
        return true;
    }();
    ensure(is_made, "made above");
    return made;
}
double start_large() { return start_from_state(large(), kLarge); }
double full_large() {
    const Outcome outcome = measure(large(), kLarge, "1,000,000 transactions of 1 KiB");
    return outcome.validated / outcome.took;
}

const bool registered =
    serve() ||
    (bench::add_figure(
         {.name = "sync.missed_10k_blocks", .unit = "s", .measure = missed_10k, .required = 3, .at_most = true}) &&
     bench::add_figure({.name = "sync.full_100k_1KiB",
                        .unit = "× validating from the disk",
                        .measure = full_sync,
                        .required = 0.7}) &&
     bench::add_figure({.name = "sync.large_start_from_state",
                        .unit = "s",
                        .measure = start_large,
                        .required = 5,
                        .at_most = true}) &&
     bench::add_figure(
         {.name = "sync.large_full", .unit = "× validating from the disk", .measure = full_large, .required = 0.7}));

}  // namespace
}  // namespace rhizome::node
