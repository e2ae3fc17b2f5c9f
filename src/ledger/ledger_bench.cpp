// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "base/ensure.h"
#include "ledger/apply.h"
#include "ledger/block_factory.h"
#include "ledger/signature_work.h"
#include "runtime/thread_pool.h"
#include "support/bench.h"
#include "support/bench_load.h"

namespace rhizome::ledger {
namespace {

/// A block's worth of creations of 1 KiB, each signed.
struct Scene {
    bench::Load load;
    Inline one;
    runtime::ThreadPool two{2};
    Rules rules;
    SignatureCache cache;
    std::unique_ptr<LedgerState> state;
    Header tip;
    std::vector<SharedTx> txs;
    Block block;

    [[nodiscard]] NextBlock next() const {
        return {.parent = hash_of(tip),
                .height = tip.height + 1,
                .time = tip.time + milliseconds{20},
                .parent_time = tip.time};
    }

    Scene() {
        tip = load.genesis().block.header;
        state = std::make_unique<LedgerState>(load.genesis().commit.view);
        const std::vector<SharedTx> first{load.namespace_tx(*state)};
        auto draft = build_block(*state, next(), first, {}, 0, rules, cache, one);
        (void)bench::Load::seal(draft);
        state->advance(draft.applied.commit);
        tip = draft.header;
        for (std::size_t i = 0; i < 2'000; ++i) txs.push_back(*check_tx(load.create_pod(*state, i, tip.time)));
        auto full = build_block(*state, next(), txs, {}, 0, rules, cache, one);
        block = bench::Load::seal(full);
    }
};

Scene& scene() {
    static Scene made;
    return made;
}

/// Digest, script and verification of every signature of the block with nothing cached, on two threads.
void signature_stage(std::uint64_t times) {
    Scene& s = scene();
    for (std::uint64_t t = 0; t < times; ++t) {
        SignatureCache cold;
        verify_ahead(*s.state, s.next(), std::span{s.txs}.first(256), cold, s.two);
        bench::keep(cold.size());
    }
}

/// The same number of bare verifications with their parsing, on the same threads.
void raw_verifies(std::uint64_t times) {
    for (std::uint64_t t = 0; t < times; ++t) scene().load.raw_verifies(256, scene().two);
}

/// Transactions per second of a block whose signatures are all known: everything but decoding, on two threads.
double whole_block() {
    Scene& s = scene();
    std::vector<double> rates;
    for (int round = 0; round < 15; ++round) {
        const auto start = std::chrono::steady_clock::now();
        const auto applied = apply(*s.state, s.tip, s.block, {}, s.rules, s.cache, s.two);
        ensure(applied.has_value(), "the benchmark's block is good");
        bench::keep(applied->commit.view.root());
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        rates.push_back(static_cast<double>(s.block.txs.size()) / took.count());
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

const bool registered =
    bench::add({.name = "ledger.signature_stage_2_threads",
                .unit = "signatures",
                .subject = signature_stage,
                .anchor = raw_verifies,
                .aim = 0.85,
                .units_each = 256}) &&
    bench::add_figure({.name = "ledger.block_warm_1KiB", .unit = "tx/s", .measure = whole_block, .required = 40'000});

}  // namespace
}  // namespace rhizome::ledger
