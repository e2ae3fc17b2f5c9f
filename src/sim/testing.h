// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "consensus/electorate.h"
#include "sim/sim.h"

/// What the scenarios share.
namespace rhizome::sim::testing {

inline std::size_t voters_at(const Sim& sim, std::size_t machine) {
    const auto& state = sim.node(machine).state();
    return consensus::Electorate::of(state.view(), state.parameters()).voters.size();
}

/// Until so many machines vote, and some seconds more. False when that takes longer than two minutes.
[[nodiscard]] inline bool grow_up(Sim& sim, std::size_t voters) {
    const bool grown = sim.run_until([&] { return voters_at(sim, 0) == voters; }, std::chrono::seconds{120});
    sim.run(std::chrono::seconds{3});
    return grown;
}

/// Until all are linked again, and two heartbeats more: who is taken for gone by whom then; empty for nobody. (The
/// links come one after the other; counted from the last.)
[[nodiscard]] inline std::string gone_after_heal(Sim& sim) {
    constexpr std::chrono::seconds kHeartbeats{10};
    if (!sim.run_until([&] { return sim.all_linked(); }, kHeartbeats)) return "not all were linked again";
    const auto gone = [&] {
        std::string found;
        for (std::size_t at = 0; at < sim.size(); ++at) {
            if (!sim.is_up(at)) continue;
            for (const std::size_t other : sim.ended_leases(at))
                if (sim.is_up(other)) found += name_of(other) + " at " + name_of(at) + "; ";
        }
        return found;
    };
    sim.run_until([&] { return gone().empty() && sim.distinct_tips() == 1; }, kHeartbeats);
    return gone();
}

/// The first promise that was broken, empty when none was.
[[nodiscard]] inline std::string first_fault(Sim& sim) {
    return sim.checks().clean() ? "" : sim.checks().faults().front();
}

/// The machines of each group name themselves the voters of generation 1, neither knowing of the other's recovery.
/// False when that is not final on both sides within twenty seconds.
[[nodiscard]] inline bool recover_both_sides(Sim& sim, const std::vector<std::size_t>& left,
                                             const std::vector<std::size_t>& right) {
    sim.split({left, right});
    sim.run(std::chrono::seconds{1});
    for (const auto* side : {&left, &right})
        sim.submit(side->front(), recover(sim.node(side->front()).state(), 1, *side));
    return sim.run_until(
        [&] {
            return sim.node(left.front()).final_generation() == 1 && sim.node(right.front()).final_generation() == 1;
        },
        std::chrono::seconds{20});
}

}  // namespace rhizome::sim::testing
