// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "ledger/apply.h"
#include "ledger/snapshot.h"
#include "runtime/thread_pool.h"
#include "support/bench.h"

namespace rhizome::ledger {
namespace {

/// A cluster of 100,000 pods of 1 KiB each, as a snapshot in memory.
struct Scene {
    state::StateView view;
    SnapshotManifest manifest;
    Bytes stream;
    runtime::ThreadPool two{2};

    Scene() {
        auto genesis = make_genesis(R"({"apiVersion":"rhizome.dev/v1","kind":"Cluster","metadata":{"name":"demo"}})",
                                    Bytes(25, 0x51), Time::from_unix_seconds(1'800'000'000), {}, {});
        state::Batch batch{genesis->commit.view};
        for (std::uint32_t i = 0; i < 100'000; ++i) {
            std::string document = fmt::format(
                R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"ns{}","name":"pod-{}","labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c","image":"registry.example.com/web:1.{}"}}],"note":")",
                i % 50, i, i);
            document += std::string(1024 - document.size() - 3, 'x') + "\"}}";
            state::Origin origin;
            for (state::Mark* mark : {&origin.born, &origin.latest, &origin.lock})
                mark->output = {crypto::sha256(as_bytes(document)), 0};
            batch.put(*state::Entry::written(
                *state::Path::namespaced(fmt::format("ns{}", i % 50), "", "Pod", fmt::format("pod-{}", i)), origin,
                Bytes(25, 0x51), document));
        }
        view = std::move(batch).finish().view;
        Block block = genesis->block;
        block.header.state_root = view.root();
        auto made = make_manifest(ChainId{hash_of(block.header).view()}, block, view);
        ensure(made.has_value(), "the benchmark's state has a manifest");
        manifest = *std::move(made);
        const auto written = write_snapshot(manifest, view, {}, [&](ByteView bytes) {
            stream.insert(stream.end(), bytes.begin(), bytes.end());
            return ok();
        });
        ensure(written.has_value(), "memory takes what is written");
    }
};

Scene& scene() {
    static Scene made;
    return made;
}

double median_ms(const std::function<void()>& body) {
    std::vector<double> times;
    for (int round = 0; round < 5; ++round) {
        const auto start = std::chrono::steady_clock::now();
        body();
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/// From bytes to a state that blocks can be applied to, its index of outputs included.
double import_ms() {
    Scene& s = scene();
    return median_ms([&] {
        std::size_t at = 0;
        const auto read = read_snapshot(
            [&](std::size_t size) -> Result<Bytes> {
                at += size;
                return to_bytes(ByteView{s.stream}.subspan(at - size, size));
            },
            s.two);
        ensure(read.has_value(), "the benchmark's snapshot is good");
        const LedgerState state{read->view};
        bench::keep(state.index().size());
    });
}

double export_ms() {
    Scene& s = scene();
    return median_ms([&] {
        Block block;
        block.header = s.manifest.header;
        const auto made = make_manifest(s.manifest.chain, block, s.view);
        ensure(made.has_value(), "the benchmark's state has a manifest");
        std::size_t bytes = 0;
        const auto written = write_snapshot(*made, s.view, {}, [&](ByteView piece) {
            bytes += piece.size();
            return ok();
        });
        ensure(written.has_value(), "counting takes what is written");
        bench::keep(bytes);
    });
}

const bool registered = bench::add_figure({.name = "ledger.snapshot_import_100k_1KiB",
                                           .unit = "ms",
                                           .measure = import_ms,
                                           .required = 5'000,
                                           .at_most = true}) &&
                        bench::add_figure({.name = "ledger.snapshot_export_100k_1KiB",
                                           .unit = "ms",
                                           .measure = export_ms,
                                           .required = 5'000,
                                           .at_most = true});

}  // namespace
}  // namespace rhizome::ledger
