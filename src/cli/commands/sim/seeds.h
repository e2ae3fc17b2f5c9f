// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/swarm.h"

/// Many histories at once: each is of one thread and depends on its seed alone.
namespace rhizome::cli::simulate {

struct SeedPlan {
    std::uint64_t from = 1;
    std::uint64_t count = 100;
    unsigned jobs = 1;
    sim::SwarmOptions swarm{};
};

/// One history in a line.
struct SeedRow {
    std::uint64_t seed = 0;
    bool clean = true;
    std::size_t machines = 0;
    std::uint64_t height = 0;
    std::uint64_t events = 0;
    std::size_t orders = 0;
    std::size_t refused = 0;
    microseconds simulated{0};
    microseconds converged_after{0};
};

/// What came of them. Takes the same memory for a hundred seeds and for a million.
struct SeedsReport {
    static constexpr std::size_t kFailuresMax = 1'000;  ///< kept with their reasons
    static constexpr std::size_t kRowsMax = 2'000;      ///< kept as lines, the lowest seeds

    std::uint64_t wanted = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t events = 0;
    std::uint64_t orders = 0;
    std::uint64_t refused = 0;
    microseconds simulated{0};
    microseconds longest_convergence{0};
    std::uint64_t longest_seed = 0;
    std::vector<sim::Verdict> failures{};  ///< by seed
    std::vector<SeedRow> rows{};           ///< by seed
    bool stopped = false;                  ///< before the end

    void add(sim::Verdict verdict);
    [[nodiscard]] std::uint64_t clean() const { return done - failed; }
};

/// Runs them on `plan.jobs` threads. `after_each` is called by one thread at a time; once `stop` says so, no further
/// history begins.
SeedsReport run_seeds(const SeedPlan& plan, const std::function<bool()>& stop,
                      const std::function<void(const SeedsReport&)>& after_each);

}  // namespace rhizome::cli::simulate
