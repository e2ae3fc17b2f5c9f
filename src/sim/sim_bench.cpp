// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ctime>
#include <vector>

#include "base/ensure.h"
#include "sim/sim.h"
#include "sim/testing.h"
#include "support/bench.h"

/// How fast the simulator is, by the processor's time of one thread; and what four nodes on fast links promise, by
/// virtual time, which is the same on every machine.
namespace rhizome::sim {
namespace {

double cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double as_millis(microseconds time) { return static_cast<double>(time.count()) / 1'000; }

double median(std::vector<microseconds> times) {
    ensure(!times.empty(), "the scene had orders");
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return as_millis(*middle);
}

void grow(Sim& sim) { ensure(testing::grow_up(sim, sim.size()), "all machines become voters"); }

double events_per_second() {
    Sim sim{{.seed = 3, .machines = 10, .neighbours = 4}};
    grow(sim);
    sim.load(20, {0, 3, 6, 9});
    const std::uint64_t before = sim.events();
    const double start = cpu_seconds();
    sim.run(seconds{60});
    return static_cast<double>(sim.events() - before) / (cpu_seconds() - start);
}

double idle_speed() {
    Sim sim{
        {.seed = 61, .machines = 300, .link = {.delay = milliseconds{2}, .jitter = milliseconds{3}}, .neighbours = 6}};
    grow(sim);
    const double start = cpu_seconds();
    sim.run(seconds{30});
    return 30 / (cpu_seconds() - start);
}

/// Four machines on links of 0.2 ms.
struct Four {
    Sim sim{{.seed = 11, .machines = 4}};
    Four() { grow(sim); }

    /// Orders one by one, each into a quiet cluster.
    void order_one_by_one(int count) {
        for (int i = 0; i < count; ++i) {
            sim.submit_new(static_cast<std::size_t>(i) % sim.size(), "quiet-" + std::to_string(i));
            // Never at the same place of an epoch or a heartbeat.
            sim.run(milliseconds{1'500 + 37 * i});
        }
    }
    [[nodiscard]] std::vector<microseconds> waits(std::optional<Time> Order::*until) const {
        std::vector<microseconds> times;
        for (const Order& order : sim.orders())
            if (order.*until) times.push_back(*(order.*until) - order.asked);
        return times;
    }
};

double inclusion_millis() {
    Four four;
    four.order_one_by_one(40);
    return median(four.waits(&Order::included));
}

double finality_millis() {
    Four four;
    four.order_one_by_one(40);
    return median(four.waits(&Order::finished));
}

double blocks_per_second(std::uint64_t orders_per_second) {
    Four four;
    four.sim.load(orders_per_second, {0, 1, 2, 3});
    const auto before = four.sim.node(0).tip().height;
    four.sim.run(seconds{20});
    return static_cast<double>(four.sim.node(0).tip().height - before) / 20;
}

/// The longest time in which nothing was included although people asked, when whoever seals most dies under load.
double outage_millis() {
    microseconds longest{0};
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        Sim sim{{.seed = seed, .machines = 4}};
        grow(sim);
        sim.load(100, {0, 1, 2});
        sim.run(milliseconds{2'000 + 113 * static_cast<std::int64_t>(seed)});
        sim.crash(3);
        const Time died = sim.now();
        sim.run(seconds{10});
        std::vector<Time> included;
        for (const Order& order : sim.orders())
            if (order.included && *order.included > died) included.push_back(*order.included);
        std::sort(included.begin(), included.end());
        Time last = died;
        for (const Time when : included) {
            longest = std::max(longest, when - last);
            last = when;
        }
    }
    return as_millis(longest);
}

const bool registered =
    bench::add_figure({"sim.events_per_core", "events/s", events_per_second, 100'000}) &&
    bench::add_figure({"sim.idle_300_machines", "x real time", idle_speed, 20}) &&
    bench::add_figure({"sim.inclusion_p50", "ms", inclusion_millis, 1.6, true}) &&
    bench::add_figure({"sim.finality_p50", "ms", finality_millis, 700, true}) &&
    bench::add_figure({"sim.outage_when_a_proposer_dies", "ms", outage_millis, 500, true}) &&
    bench::add_figure({"sim.block_rate_at_10_orders", "blocks/s", [] { return blocks_per_second(10); }, 9}) &&
    bench::add_figure({"sim.block_rate_at_100_orders", "blocks/s", [] { return blocks_per_second(100); }, 80});

}  // namespace
}  // namespace rhizome::sim
