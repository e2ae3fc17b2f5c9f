// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "state/published.h"
#include "state/tree.h"
#include "support/bench.h"

namespace rhizome::state {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDocuments = 1'000'000;
constexpr std::uint64_t kNamespaces = 100;
constexpr std::size_t kDocumentBytes = 300;
constexpr std::size_t kBatch = 1000;

double resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    ensure(file != nullptr, "/proc is there");
    long total = 0, resident = 0;
    ensure(std::fscanf(file, "%ld %ld", &total, &resident) == 2, "statm has two numbers");
    std::fclose(file);
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::uint64_t mixed(std::uint64_t number) { return Random{number}.next(); }

Path path_of(std::uint64_t index) {
    const std::uint64_t bits = mixed(index);
    return *Path::namespaced(fmt::format("team-{:02}", index % kNamespaces), "", "Pod",
                             fmt::format("web-{:010x}-{:05x}", bits & 0xffffffffff, bits >> 44));
}

struct Draft {
    Path path;
    Origin origin;
    std::string document;
};

/// A document of the size of a small pod or config map, different for every version.
Draft draft_of(std::uint64_t index, std::uint64_t version) {
    Origin origin;
    origin.latest.output.index = static_cast<std::uint16_t>(version % 7);
    const std::uint64_t bits = mixed(version);
    std::memcpy(origin.latest.output.change.writable().data(), &bits, sizeof bits);
    origin.latest.height = Height{version};
    origin.latest.time = Time::from_unix_millis(static_cast<std::int64_t>(1'700'000'000'000 + version));
    origin.born = origin.lock = origin.latest;
    std::string document = fmt::format(R"({{"apiVersion":"v1","kind":"Pod","spec":{{"v":"{:020}","pad":")", version);
    document.resize(kDocumentBytes - 3, 'x');
    document += "\"}}";
    return {path_of(index), origin, std::move(document)};
}

EntryPtr entry_of(const Draft& draft) {
    static const Bytes script(25, 0x76);  // pay to a public key's hash
    return *Entry::written(draft.path, draft.origin, script, draft.document);
}
EntryPtr entry_of(std::uint64_t index, std::uint64_t version) { return entry_of(draft_of(index, version)); }

/// A million documents, written in random order in batches, then some rewritten, as a running node would have them.
struct Million {
    StateView view;
    double resident = 0;  ///< what they take
    double raw = 0;       ///< documents, keys and scripts
};

Million build() {
    Million million;
    const double before = resident_bytes();
    Random random{1};
    std::uint64_t version = 0;
    {
        std::vector<std::uint32_t> order(kDocuments);
        for (std::uint32_t i = 0; i < kDocuments; ++i) order[i] = i;
        random.shuffle(order);
        for (std::size_t i = 0; i < order.size();) {
            Batch batch{million.view};
            for (const std::size_t end = i + kBatch; i < end; ++i) batch.put(entry_of(order[i], ++version));
            million.view = std::move(batch).finish().view;
        }
    }
    for (int rounds = 0; rounds < 100; ++rounds) {
        Batch batch{million.view};
        for (std::size_t i = 0; i < kBatch; ++i) batch.put(entry_of(random.below(kDocuments), ++version));
        million.view = std::move(batch).finish().view;
    }
    million.resident = resident_bytes() - before;
    Cursor cursor = million.view.walk(Prefix::everything());
    while (const Entry* entry = cursor.next())
        million.raw += static_cast<double>(entry->key().size() + entry->weight());
    return million;
}

/// Built once for all figures of a run.
Million& million() {
    static Million built = build();
    return built;
}

/// Processor time of this thread: on a machine that others use too, wall time says how much of it was ours.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Making the entries (which hashes the documents), changing the tree, hashing, and what it takes to free the old
/// nodes.
struct Rates {
    double processor = 0;
    double wall = 0;
};

Rates updates_per_second() {
    StateView view = million().view;
    Random random{2};
    std::vector<double> processor, wall;
    for (std::uint64_t round = 0, version = 1u << 30; round < 300; ++round) {
        std::vector<Draft> drafts;
        for (std::size_t i = 0; i < kBatch; ++i) drafts.push_back(draft_of(random.below(kDocuments), ++version));
        const double start = processor_seconds();
        const auto wall_start = Clock::now();
        std::vector<EntryPtr> entries;
        entries.reserve(kBatch);
        for (const Draft& draft : drafts) entries.push_back(entry_of(draft));
        Batch batch{view};
        batch.put(entries);
        view = std::move(batch).finish().view;
        processor.push_back(static_cast<double>(kBatch) / (processor_seconds() - start));
        wall.push_back(static_cast<double>(kBatch) / std::chrono::duration<double>(Clock::now() - wall_start).count());
    }
    for (std::vector<double>* rates : {&processor, &wall})
        std::nth_element(rates->begin(), rates->begin() + 150, rates->end());
    return {processor[150], wall[150]};
}
const Rates& update_rates() {
    static const Rates measured = updates_per_second();
    return measured;
}

const bool updates = bench::add_figure({
    .name = "state.updates_1m",
    .unit = "updates/cpu-s",
    .measure = [] { return update_rates().processor; },
    .required = 100'000,
});
/// The same run by the clock on the wall: what a user gets, and on a busy machine mostly the neighbours' doing.
const bool updates_wall = bench::add_figure({
    .name = "state.updates_1m_wall",
    .unit = "updates/s",
    .measure = [] { return update_rates().wall; },
    .required = 100'000,
});

const bool memory = bench::add_figure({
    .name = "state.memory_1m",
    .unit = "× raw bytes",
    .measure = [] { return million().resident / million().raw; },
    .required = 2.5,
    .at_most = true,
});

/// How often the kernel gave this thread's processor to another program although it had work to do. Waiting for a lock
/// or for the disk is not counted here: that would be our own doing.
long times_taken_away() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/// The slowest of a thousand reads, get and list of 100 in turns, while a writer commits batches as fast as it can.
/// One figure leaves out reads during which the machine ran something else, the other leaves out nothing.
struct Latencies {
    double undisturbed = 0;
    double all = 0;
};

Latencies reader_latency() {
    Published published{million().view};
    std::atomic<bool> stop{false};
    std::thread writer{[&] {
        Random random{3};
        std::uint64_t version = std::uint64_t{1} << 40;
        while (!stop.load()) {
            Batch batch{published.snapshot()};
            for (std::size_t i = 0; i < kBatch; ++i) batch.put(entry_of(random.below(kDocuments), ++version));
            published.publish(std::move(batch).finish().view);
        }
    }};
    Random random{4};
    std::vector<double> micros, all;
    const auto end = Clock::now() + std::chrono::seconds{5};
    for (std::uint64_t i = 0; Clock::now() < end; ++i) {
        const Path path = path_of(random.below(kDocuments));
        const long before = times_taken_away();
        const auto start = Clock::now();
        const StateView view = published.snapshot();
        if (i % 2 == 0) {
            const Entry* entry = view.get(path);
            ensure(entry != nullptr, "nothing is deleted here");
            bench::keep(entry->document().front());
        } else {
            const Page page = view.list(*Prefix::kind_in_namespace(path.namespace_name(), "", "Pod"), path, 100);
            for (const Entry* entry : page.entries) bench::keep(entry->document().front());
        }
        const double took = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        all.push_back(took);
        if (times_taken_away() == before) micros.push_back(took);
    }
    stop = true;
    writer.join();
    const auto slowest_of_thousand = [](std::vector<double>& times) {
        const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 999 / 1000);
        std::nth_element(times.begin(), at, times.end());
        return *at;
    };
    return {slowest_of_thousand(micros), slowest_of_thousand(all)};
}
const Latencies& latencies() {
    static const Latencies measured = reader_latency();
    return measured;
}

const bool reader = bench::add_figure({
    .name = "state.reader_p999",
    .unit = "µs",
    .measure = [] { return latencies().undisturbed; },
    .required = 1000,
    .at_most = true,
});
/// The same reads with none left out.
const bool reader_wall = bench::add_figure({
    .name = "state.reader_p999_wall",
    .unit = "µs",
    .measure = [] { return latencies().all; },
    .required = 1000,
    .at_most = true,
});

/// Deleting a namespace of 10,000 documents costs what deleting one document costs.
const bool range_delete = bench::add({
    .name = "state.range_delete",
    .unit = "deletions",
    .subject =
        [](std::uint64_t times) {
            for (std::uint64_t i = 0; i < times; ++i) {
                Batch batch{million().view};
                batch.erase_under(*Prefix::in_namespace(fmt::format("team-{:02}", i % kNamespaces)));
                bench::keep(std::move(batch).finish().view.root());
            }
        },
    .anchor =
        [](std::uint64_t times) {
            for (std::uint64_t i = 0; i < times; ++i) {
                Batch batch{million().view};
                ensure(batch.erase(path_of(i % kDocuments)), "it is there");
                bench::keep(std::move(batch).finish().view.root());
            }
        },
    .aim = 0.8,
});

}  // namespace
}  // namespace rhizome::state
