// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <numeric>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/block_factory.h"
#include "ledger/block_row.h"
#include "ledger/codec.h"
#include "ledger/pending_pool.h"
#include "ledger/signature_work.h"
#include "runtime/thread_pool.h"
#include "store/chain.h"
#include "store/snapshot_file.h"
#include "support/any_seal.h"
#include "support/bench.h"
#include "support/bench_load.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

using ledger::Block;
using ledger::SharedTx;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class T>
T value_of(Result<T> result) {
    if (!result) fmt::print(stderr, "{}\n", result.error().message);
    ensure(result.has_value(), "the benchmark's store works");
    return *std::move(result);
}

constexpr std::size_t kBlockTxs = 3'000;

/// A stored chain and what it is made with.
struct Scene {
    bench::Load load;
    runtime::ThreadPool two{2};
    ledger::Rules rules;
    test::AnySeal judge;
    test::TempFolder temp;
    std::unique_ptr<Chain> chain;

    explicit Scene(const Options& options = {}) {
        chain = value_of(Chain::create(folder(), load.genesis(), {.rules = rules, .judge = judge}, two, options));
        add(std::vector{load.namespace_tx(chain->state())});
    }
    [[nodiscard]] std::filesystem::path folder() const { return temp / "data"; }
    [[nodiscard]] ledger::NextBlock next() const { return chain->next(chain->tip().time + milliseconds{20}); }

    /// Builds a block of these and appends it, without a sync.
    std::uint64_t add(const std::vector<SharedTx>& txs) {
        auto draft = ledger::build_block(chain->state(), next(), txs, {}, 0, rules, chain->cache(), two);
        const Block block = bench::Load::seal(draft);
        (void)value_of(chain->add_made(block, draft.applied));
        return draft.txs.size();
    }
    /// Signed on all cores.
    template <class Make>
    std::vector<ledger::Tx> sign_many(std::size_t count, const Make& make) {
        std::vector<ledger::Tx> txs(count);
        two.for_ranges(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) txs[i] = make(i);
        });
        return txs;
    }
};

// ---- from bytes to the disk
// ------------------------------------------------------------------------------------------

/// Bytes in, decoded, checked, verified, through the pool, into a block, durable: transactions a second on two cores.
/// As in a node, one core makes blocks while the other checks and verifies what comes in for the next, and whoever has
/// nothing to do helps with that.
struct EndToEnd {
    double rate = 0;
    /// µs a transaction and core
    double check = 0, verify = 0, plan = 0, pool = 0, build = 0, store = 0, sync_wait = 0, cleanup = 0;

    [[nodiscard]] std::array<double*, 8> parts() {
        return {&check, &verify, &plan, &pool, &build, &store, &sync_wait, &cleanup};
    }
};

/// Adds the time since it was made, or since the last lap, to one part or another.
class Laps {
public:
    void lap(double& into) {
        const auto now = Clock::now();
        into += std::chrono::duration<double>(now - mark_).count();
        mark_ = now;
    }

private:
    Clock::time_point mark_ = Clock::now();
};

EndToEnd end_to_end() {
    Scene s;
    constexpr std::size_t kCount = 30'000;
    const Time now = s.chain->tip().time;
    const auto txs = s.sign_many(kCount, [&](std::size_t i) { return s.load.create_pod(s.chain->state(), i, now); });
    std::vector<Bytes> wire(kCount);
    for (std::size_t i = 0; i < kCount; ++i) wire[i] = encode(txs[i]);

    ledger::SignatureCache& cache = s.chain->cache();
    ledger::PendingPool pool{{.sender_bytes_max = 64u << 20}, s.rules, cache};
    pool.set_tip(s.chain->state(), s.next());
    EndToEnd result;
    // The third stage: what was verified goes through the pool into a block, and the block to the disk.
    const auto commit = [&](const std::vector<SharedTx>& verified) {
        Laps laps;
        for (const SharedTx& tx : verified)
            ensure(pool.admit(tx, {}, ledger::TxClass::Local).has_value(), "the pool takes it");
        const auto candidates = pool.decided();
        laps.lap(result.pool);
        auto draft = ledger::build_block(s.chain->state(), s.next(), candidates, {}, 0, s.rules, cache, s.two);
        ensure(draft.txs.size() == verified.size(), "all go into the block");
        const Block block = bench::Load::seal(draft);
        laps.lap(result.build);
        (void)value_of(s.chain->add_made(block, draft.applied));
        laps.lap(result.store);
        (void)value_of(s.chain->store().sync());
        laps.lap(result.sync_wait);
        std::vector<ledger::TxId> included;
        for (const SharedTx& tx : draft.txs) included.push_back(tx->id);
        pool.set_tip(s.chain->state(), s.next(), included);
        laps.lap(result.pool);
    };
    std::mutex adding;
    std::vector<SharedTx> checked;
    std::vector<SharedTx> verified;
    const auto start = Clock::now();
    for (std::size_t from = 0; from < kCount || !checked.empty() || !verified.empty();) {
        Laps laps;
        const std::size_t count = std::min(kBlockTxs, kCount - from);
        std::vector<SharedTx> coming(count);
        ledger::SignatureWork work{s.chain->state(), s.next(), checked};
        laps.lap(result.plan);
        s.two.beside(
            [&] {
                if (!verified.empty()) commit(verified);
                Laps freeing;
                verified.clear();
                freeing.lap(result.cleanup);
            },
            work.size() + count,
            [&](std::size_t begin, std::size_t end) {
                Laps piece;
                double verifying = 0;
                double checking = 0;
                if (begin < work.size()) work.verify(begin, std::min(end, work.size()));
                piece.lap(verifying);
                for (std::size_t i = std::max(begin, work.size()); i < end; ++i) {
                    auto tx = ledger::decode_tx(wire[from + i - work.size()]);
                    ensure(tx.has_value(), "our own bytes");
                    coming[i - work.size()] = *check_tx(*std::move(tx));
                }
                piece.lap(checking);
                const std::lock_guard lock{adding};
                result.verify += verifying;
                result.check += checking;
            });
        Laps after;
        work.remember(cache);
        verified = std::exchange(checked, std::move(coming));
        from += count;
        after.lap(result.plan);
    }
    const double took = seconds_since(start);
    ensure(s.chain->store().durable() > 0, "durable");
    result.rate = kCount / took;
    for (double* part : result.parts()) *part *= 1e6 / kCount;
    return result;
}

double end_to_end_rate() {
    EndToEnd best = [] {
        EndToEnd most;
        for (int round = 0; round < 3; ++round) {
            const EndToEnd one = end_to_end();
            if (one.rate > most.rate) most = one;
        }
        return most;
    }();
    // What the machine could do at most, if all but the verifications were free.
    static const bench::Load load;
    runtime::ThreadPool two{2};
    load.raw_verifies(2'000, two);
    const auto start = Clock::now();
    load.raw_verifies(20'000, two);
    const double raw = 20'000 / seconds_since(start);
    double sum = 0;
    for (const double* part : best.parts()) sum += *part;
    fmt::print(
        stderr,
        "  cost model, µs a transaction and core: decode and check {:.1f}, verify {:.1f}, find locks and remember "
        "signatures {:.1f}, pool {:.1f}, build {:.1f}, log {:.1f}, sync {:.1f}, freeing memory {:.1f}; sum "
        "{:.1f}, on two cores {:.0f} tx/s at most; by bare verifications {:.0f} tx/s\n",
        best.check, best.verify, best.plan, best.pool, best.build, best.store, best.sync_wait, best.cleanup, sum,
        2e6 / sum, raw);
    return best.rate;
}

// ---- whole blocks from elsewhere
// -------------------------------------------------------------------------------------

/// Enough that making and opening an empty store, which each round does, is little of it.
constexpr std::size_t kBlocks = 4;

/// Blocks as they come from another node while catching up: judged, applied with a cold cache, written, each synced.
struct Blocks {
    Scene source;
    std::vector<Block> blocks;
    Blocks() {
        const Time now = source.chain->tip().time;
        for (std::size_t b = 0; b < kBlocks; ++b) {
            const auto txs = source.sign_many(kBlockTxs, [&](std::size_t i) {
                return source.load.create_pod(source.chain->state(), b * kBlockTxs + i, now);
            });
            std::vector<SharedTx> checked;
            for (const auto& tx : txs) checked.push_back(*check_tx(tx));
            source.add(checked);
        }
        for (std::uint64_t h = 1; h <= source.chain->tip().height.number(); ++h)
            blocks.push_back(
                value_of(source.chain->store().block(value_of(source.chain->store().info_at(ledger::Height{h})).hash)));
    }
};
Blocks& blocks() {
    static Blocks made;
    return made;
}

void validate_and_commit(std::uint64_t times) {
    Blocks& b = blocks();
    for (std::uint64_t t = 0; t < times; ++t) {
        test::TempFolder temp;
        auto chain = value_of(Chain::create(temp / "data", b.source.load.genesis(),
                                            {.rules = b.source.rules, .judge = b.source.judge}, b.source.two));
        const auto added = chain->add_all(b.blocks, [&](Ticket) -> Result<void> {
            TRY(chain->store().sync());
            return {};
        });
        ensure(added.has_value(), "good blocks");
    }
}

void raw_verifies(std::uint64_t times) {
    for (std::uint64_t t = 0; t < times; ++t)
        blocks().source.load.raw_verifies(kBlocks * kBlockTxs, blocks().source.two);
}

// ---- small blocks
// ----------------------------------------------------------------------------------------------------

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// The median time to make a block of one transaction durable, in times of a bare fdatasync of as many bytes on the
/// same disk, in turns.
double small_commit() {
    Scene s;
    const Time now = s.chain->tip().time;
    constexpr std::size_t kRounds = 600;
    const auto txs = s.sign_many(kRounds, [&](std::size_t i) { return s.load.create_pod(s.chain->state(), i, now); });
    const std::filesystem::path bare_path = s.temp / "bare";
    const int bare = ::open(bare_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ensure(bare >= 0 && ::posix_fallocate(bare, 0, 32 << 20) == 0 && ::fsync(bare) == 0, "a file to compare with");
    std::vector<double> ours;
    std::vector<double> theirs;
    off_t offset = 0;
    for (const auto& tx : txs) {
        auto draft = ledger::build_block(s.chain->state(), s.next(), std::vector{*check_tx(tx)}, {}, 0, s.rules,
                                         s.chain->cache(), s.two);
        const Block block = bench::Load::seal(draft);
        const Bytes bytes = encode(block);
        auto start = Clock::now();
        (void)value_of(s.chain->add_made(block, draft.applied));
        (void)value_of(s.chain->store().sync());
        ours.push_back(seconds_since(start));
        start = Clock::now();
        ensure(::pwrite(bare, bytes.data(), bytes.size(), offset) == static_cast<ssize_t>(bytes.size()) &&
                   ::fdatasync(bare) == 0,
               "a bare write");
        theirs.push_back(seconds_since(start));
        offset += static_cast<off_t>(bytes.size());
    }
    ::close(bare);
    fmt::print(stderr, "  p50 of a small block {:.0f} µs, of a bare write and fdatasync {:.0f} µs\n",
               median(ours) * 1e6, median(theirs) * 1e6);
    return median(ours) / median(theirs);
}

// ---- a large chain
// ---------------------------------------------------------------------------------------------------

constexpr std::size_t kPods = 100'000;
constexpr std::size_t kTransactions = 1'000'000;

/// 1,000,000 transactions: 100,000 pods, each written ten times. Takes a minute or two to make.
struct LargeChain {
    Scene s;
    LargeChain() {
        std::size_t done = 0;
        const auto start = Clock::now();
        for (std::size_t version = 0; version < kTransactions / kPods; ++version) {
            const Time now = s.chain->tip().time;
            for (std::size_t from = 0; from < kPods; from += kBlockTxs) {
                const std::size_t count = std::min(kBlockTxs, kPods - from);
                const auto txs = s.sign_many(count, [&](std::size_t i) {
                    return version == 0 ? s.load.create_pod(s.chain->state(), from + i, now)
                                        : s.load.update_pod(s.chain->state(), from + i, version);
                });
                std::vector<SharedTx> checked(count);
                s.two.for_ranges(count, [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) checked[i] = *check_tx(txs[i]);
                });
                ledger::verify_ahead(s.chain->state(), s.next(), checked, s.chain->cache(), s.two);
                done += s.add(checked);
            }
        }
        ensure(done == kTransactions, "every transaction went in");
        snapshot = s.temp / "snapshot";
        (void)value_of(s.chain->store().sync());
        ensure(export_snapshot(*s.chain, snapshot).has_value(), "a snapshot");
        ensure(s.chain->close().has_value(), "closed");
        s.chain.reset();
        fmt::print(stderr, "  made a chain of {} transactions in {:.0f} s\n", done, seconds_since(start));
    }
    std::filesystem::path snapshot;
};
LargeChain& large_chain() {
    static LargeChain made;
    return made;
}

struct ChildFigures {
    double seconds = 0;
    double resident = 0;   ///< bytes
    double documents = 0;  ///< bytes, as they were written
};

/// What a fresh process needs to open a chain: a process that made it has its memory full of other things.
ChildFigures in_child(const std::string& job, const std::string& argument) {
    const std::string variable = fmt::format("RHIZOME_STORE_BENCH={} {}", job, argument);
    int pipe_ends[2];
    ensure(::pipe(pipe_ends) == 0, "a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    std::string self = "/proc/self/exe";
    std::string setting = variable;
    char* arguments[] = {self.data(), nullptr};
    char* environment[] = {setting.data(), nullptr};
    pid_t child = 0;
    ensure(::posix_spawn(&child, self.c_str(), &actions, nullptr, arguments, environment) == 0, "a child");
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe_ends[1]);
    std::string text;
    char buffer[256];
    for (ssize_t got = 0; (got = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    ::close(pipe_ends[0]);
    int status = 0;
    ensure(::waitpid(child, &status, 0) == child && status == 0, "the child's work");
    ChildFigures figures;
    ensure(std::sscanf(text.c_str(), "%lf %lf %lf", &figures.seconds, &figures.resident, &figures.documents) == 3,
           "the child's figures");
    return figures;
}

double resident_bytes() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
    return 0;
}

/// The child's side, before anything else of this program runs.
bool child_work() {
    const char* wanted = std::getenv("RHIZOME_STORE_BENCH");
    if (wanted == nullptr) return false;
    const std::string text = wanted;
    const std::string job = text.substr(0, text.find(' '));
    const std::string argument = text.substr(text.find(' ') + 1);
    runtime::ThreadPool two{2};
    const ledger::Rules rules;
    const test::AnySeal judge;
    const ledger::BlockRules block_rules{.rules = rules, .judge = judge};
    const auto start = Clock::now();
    double seconds = 0;
    double resident = 0;
    double documents = 0;
    const auto finish = [&](Chain& chain) {
        seconds = seconds_since(start);
        resident = resident_bytes();
        state::Cursor cursor = chain.state().view().walk(state::Prefix::everything());
        while (const state::Entry* entry = cursor.next())
            if (entry->is_written()) documents += static_cast<double>(entry->document().size());
    };
    if (job == "open") {
        const auto chain = value_of(Chain::open(argument, block_rules, two));
        finish(*chain);
    } else {
        test::TempFolder temp;
        const auto chain = value_of(import_snapshot(argument, temp / "data", block_rules, two));
        finish(*chain);
    }
    fmt::print("{} {} {}\n", seconds, resident, documents);
    std::fflush(stdout);
    ::_exit(0);
}

double open_seconds() { return in_child("open", large_chain().s.folder().native()).seconds; }
double import_seconds() { return in_child("import", large_chain().snapshot.native()).seconds; }
double resident_factor() {
    const ChildFigures figures = in_child("open", large_chain().s.folder().native());
    fmt::print(stderr, "  resident {:.0f} MB, documents {:.0f} MB\n", figures.resident / 1e6, figures.documents / 1e6);
    return (figures.resident - 32e6) / figures.documents;
}

// ---- verifying
// -------------------------------------------------------------------------------------------------------

/// 100,000 transactions read from the disk and executed again, against the same blocks applied from memory.
double verify_ratio() {
    Scene s;
    constexpr std::size_t kCount = 100'000;
    const Time now = s.chain->tip().time;
    for (std::size_t from = 0; from < kCount; from += kBlockTxs) {
        const std::size_t count = std::min(kBlockTxs, kCount - from);
        const auto txs =
            s.sign_many(count, [&](std::size_t i) { return s.load.create_pod(s.chain->state(), from + i, now); });
        std::vector<SharedTx> checked;
        for (const auto& tx : txs) checked.push_back(*check_tx(tx));
        s.add(checked);
    }
    ensure(s.chain->store().settle(true).has_value(), "settled");
    std::vector<Block> all;
    for (std::uint64_t h = 1; h <= s.chain->tip().height.number(); ++h)
        all.push_back(value_of(s.chain->store().block(value_of(s.chain->store().info_at(ledger::Height{h})).hash)));
    const auto from_memory = [&] {
        ledger::LedgerState state{s.load.genesis().commit.view};
        ledger::Header at = s.load.genesis().block.header;
        ledger::SignatureCache cold;
        const auto start = Clock::now();
        ledger::BlockRow row{s.chain->rules(), cold, s.two};
        for (std::size_t next = 0; next < all.size() || !row.empty();) {
            while (next < all.size() && row.size() < ledger::BlockRow::kDepth) row.push_borrowed(all[next++]);
            row.step(state, at, [&](const Block& block, const Result<ledger::Applied, ledger::Reject>& applied) {
                ensure(applied.has_value(), "good blocks");
                state.advance(applied->commit);
                at = block.header;
            });
        }
        return seconds_since(start);
    };
    const auto from_disk = [&] {
        const auto start = Clock::now();
        const VerifyReport report = value_of(verify(s.chain->store(), s.chain->rules(), s.two));
        if (report.fault) fmt::print(stderr, "{} {}\n", report.fault->height, report.fault->why);
        ensure(!report.fault && report.transactions > kCount, "a good chain");
        return seconds_since(start);
    };
    std::vector<double> ratios;
    for (int round = 0; round < 3; ++round) {
        const double memory = from_memory();
        const double disk = from_disk();
        ratios.push_back(memory / disk);
        fmt::print(stderr, "  {:.0f} tx/s from the disk, {:.0f} tx/s from memory\n", kCount / disk, kCount / memory);
    }
    return median(ratios);
}

const bool registered =
    child_work() ||
    (bench::add_figure(
         {.name = "store.end_to_end_1KiB", .unit = "tx/s", .measure = end_to_end_rate, .required = 12'000}) &&
     bench::add({.name = "store.validate_and_commit_cold",
                 .unit = "tx",
                 .subject = validate_and_commit,
                 .anchor = raw_verifies,
                 .aim = 0.55,
                 .units_each = kBlocks * kBlockTxs}) &&
     bench::add_figure({.name = "store.small_block_p50",
                        .unit = "× a bare fdatasync",
                        .measure = small_commit,
                        .required = 2,
                        .at_most = true}) &&
     bench::add_figure(
         {.name = "store.verify", .unit = "× validating from memory", .measure = verify_ratio, .required = 0.8}) &&
     bench::add_figure(
         {.name = "store.open_1M_tx", .unit = "s", .measure = open_seconds, .required = 3, .at_most = true}) &&
     bench::add_figure({.name = "store.snapshot_import_100k",
                        .unit = "s",
                        .measure = import_seconds,
                        .required = 5,
                        .at_most = true}) &&
     bench::add_figure({.name = "store.resident_less_32MB",
                        .unit = "× raw documents",
                        .measure = resident_factor,
                        .required = 2.5,
                        .at_most = true}));

}  // namespace
}  // namespace rhizome::store
