// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sim/seeds.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "runtime/thread_pool.h"

namespace rhizome::cli::simulate {
namespace {

/// Puts `item` where its seed belongs, and lets the highest go when there are too many: what is kept does not depend on
/// which thread was quicker.
template <class Items, class Item>
void insert_by_seed(Items& items, Item item, std::size_t most) {
    const auto place = std::upper_bound(items.begin(), items.end(), item,
                                        [](const auto& left, const auto& right) { return left.seed < right.seed; });
    items.insert(place, std::move(item));
    if (items.size() > most) items.pop_back();
}

}  // namespace

void SeedsReport::add(sim::Verdict verdict) {
    ++done;
    events += verdict.events;
    orders += verdict.orders;
    refused += verdict.refused;
    simulated += verdict.simulated;
    if (verdict.converged_after > longest_convergence ||
        (verdict.converged_after == longest_convergence && verdict.seed < longest_seed)) {
        longest_convergence = verdict.converged_after;
        longest_seed = verdict.seed;
    }
    if (rows.size() < kRowsMax || verdict.seed < rows.back().seed)
        insert_by_seed(rows,
                       SeedRow{.seed = verdict.seed,
                               .clean = verdict.clean(),
                               .machines = verdict.machines,
                               .height = verdict.height,
                               .events = verdict.events,
                               .orders = verdict.orders,
                               .refused = verdict.refused,
                               .simulated = verdict.simulated,
                               .converged_after = verdict.converged_after},
                       kRowsMax);
    if (verdict.clean()) return;
    ++failed;
    if (failures.size() < kFailuresMax || verdict.seed < failures.back().seed)
        insert_by_seed(failures, std::move(verdict), kFailuresMax);
}

SeedsReport run_seeds(const SeedPlan& plan, const std::function<bool()>& stop,
                      const std::function<void(const SeedsReport&)>& after_each) {
    SeedsReport report{.wanted = plan.count};
    std::mutex mutex;
    std::atomic<std::uint64_t> next{0};
    runtime::ThreadPool pool{plan.jobs};
    // One piece for each thread, which takes seeds until there are none: a history more or less is what they wait for
    // each other at the end.
    pool.for_ranges(pool.width(), [&](std::size_t, std::size_t) {
        while (!stop()) {
            const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
            if (number >= plan.count) return;
            auto verdict = sim::run_seed(plan.from + number, plan.swarm);
            const std::lock_guard lock{mutex};
            report.add(std::move(verdict));
            after_each(report);
        }
    });
    report.stopped = report.done < plan.count;
    return report;
}

}  // namespace rhizome::cli::simulate
