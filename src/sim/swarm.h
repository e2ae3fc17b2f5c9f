// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/sim.h"

/// Histories drawn from a seed: parameters, faults and load alike.
namespace rhizome::sim {

/// How one history went.
struct Verdict {
    std::uint64_t seed = 0;
    std::vector<std::string> faults{};  ///< empty: clean
    std::uint64_t trace = 0;            ///< the same for the same seed and program
    std::uint64_t events = 0;
    std::size_t machines = 0;
    microseconds simulated{0};
    std::size_t orders = 0;
    std::size_t refused = 0;  ///< of them, with a reason
    std::uint64_t height = 0;
    std::uint64_t final_height = 0;
    microseconds converged_after{0};     ///< the heal
    std::vector<std::string> weather{};  ///< what was drawn, for people
    [[nodiscard]] bool clean() const { return faults.empty(); }
    /// One line that runs it again.
    [[nodiscard]] std::string replay_line() const;
};

struct SwarmOptions {
    std::size_t machines_min = 5;
    std::size_t machines_max = 15;
    microseconds faults_for = std::chrono::seconds{40};  ///< then everything heals
    microseconds converge_within = std::chrono::seconds{60};
    bool liars = true;
    /// Told what happens, when somebody wants to watch. Changes nothing.
    std::function<void(const Seen&)> watch{};
};

Verdict run_seed(std::uint64_t seed, const SwarmOptions& options = {});

/// The same history with everything that was seen. Watching costs time and memory, and changes nothing.
struct Recorded {
    Verdict verdict{};
    Timeline timeline;
};
Recorded record_seed(std::uint64_t seed, const SwarmOptions& options = {});

}  // namespace rhizome::sim
