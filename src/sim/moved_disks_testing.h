// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "sim/testing.h"

/// Directories that were moved, all at once: shared by the tests of CI and the whole table of the soak.
namespace rhizome::sim::testing {

/// They lose power at the same moment, and each goes on with a copy of its directory: made just now, or from when
/// `Sim::back_up` was called.
enum class CopyAge : std::uint8_t { Fresh, Old };
inline void move_directories(Sim& sim, const std::vector<std::size_t>& who, CopyAge age) {
    for (const std::size_t machine : who) sim.crash(machine, 1'000);
    for (const std::size_t machine : who) {
        if (age == CopyAge::Fresh) {
            sim.move_disk(machine);
        } else {
            (void)sim.restore_copy(machine);
        }
    }
    sim.forget_lost_blocks();
    for (const std::size_t machine : who) sim.start(machine);
}

inline std::vector<std::size_t> first_machines(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

/// Whether a new order becomes final in so long.
inline bool finalises(Sim& sim, std::size_t machine, const std::string& name, microseconds within) {
    const std::size_t order = sim.submit_new(machine, name);
    return sim.run_until([&] { return sim.orders()[order].stage == core::Stage::Final; }, within);
}

/// What the owner's command writes: everybody votes, and whoever waits begins anew.
inline void recover_moved(Sim& sim, std::size_t at, std::uint64_t generation, std::size_t machines) {
    sim.submit(at, recover(sim.node(at).state(), generation, first_machines(machines), sim.node(at).records_begun()));
}

/// What went wrong in one row of the table; empty when nothing did. Bit i of `subset`: machine i's directory is moved.
inline std::string moved_row(std::size_t machines, std::uint32_t subset, CopyAge age, std::uint64_t seed) {
    using std::chrono::seconds;
    const std::string row = fmt::format("{} machines, subset {:b}, {}, seed {}: ", machines, subset,
                                        age == CopyAge::Fresh ? "fresh" : "old", seed);
    // One more is registered: it joins when all is well again.
    Sim sim{{.seed = seed, .machines = machines + 1, .running = machines}};
    if (!grow_up(sim, machines)) return row + "not all became voters";
    sim.load(5, first_machines(machines));
    std::vector<std::size_t> moved;
    for (std::size_t i = 0; i < machines; ++i)
        if ((subset >> i & 1) != 0) moved.push_back(i);
    for (const std::size_t machine : moved) sim.back_up(machine);
    sim.run(seconds{6});
    sim.load(0, {});
    move_directories(sim, moved, age);
    const std::size_t quorum = consensus::quorum_of(machines, ledger::Trust::Crash);
    const bool by_itself = machines - moved.size() >= quorum || machines == 1;
    if (by_itself) {
        if (!finalises(sim, 0, "by-itself", seconds{45})) return row + "nothing becomes final by itself";
    } else {
        if (finalises(sim, 0, "stuck", seconds{45})) return row + "something became final without enough records";
        for (std::size_t i = 0; i < machines; ++i)
            if (sim.node(i).records_begun().size() != moved.size())
                return row + fmt::format("{} does not know who waits", name_of(i));
        recover_moved(sim, machines - 1, 1, machines);
        if (!finalises(sim, 0, "recovered", seconds{20})) return row + "nothing becomes final after the recovery";
    }
    for (std::size_t i = 0; i < machines; ++i)
        if (!sim.run_until([&] { return !sim.node(i).has(core::Condition::VotesLost); }, seconds{30}))
            return row + fmt::format("{} never votes again", name_of(i));
    // Everything as ever: starts, and one that joins.
    for (std::size_t i = 0; i < machines; ++i) {
        sim.crash(i);
        sim.start(i);
    }
    sim.start(machines);
    if (!sim.run_until([&] { return voters_at(sim, 0) == machines + 1; }, seconds{90})) return row + "nobody can join";
    if (!finalises(sim, 0, "last", seconds{20})) return row + "nothing becomes final in the end";
    if (!sim.run_until([&] { return sim.distinct_tips() == 1 && sim.open_orders() == 0; }, seconds{30}))
        return row + fmt::format("{} tips, {} orders open", sim.distinct_tips(), sim.open_orders());
    const std::string fault = first_fault(sim);
    return fault.empty() ? "" : row + fault;
}

/// All of three were moved and are recovered; then one of them is put back to what it had when the recovery named it.
/// The others' votes come late, so it sees the recovery long before it could learn what it voted from since.
inline std::vector<std::string> copy_of_named_record(std::uint64_t seed) {
    using std::chrono::seconds;
    Sim sim{{.seed = seed, .machines = 3}};
    const auto gone_wrong = [&](const char* what) {
        sim.checks().fault(what);
        return sim.checks().faults();
    };
    if (!grow_up(sim, 3)) return gone_wrong("not all became voters");
    move_directories(sim, {0, 1, 2}, CopyAge::Fresh);
    sim.run(seconds{5});
    sim.back_up(2);
    const auto begun = sim.node(2).records_begun().at(sim.key(2));
    recover_moved(sim, 0, 1, 3);
    if (!finalises(sim, 0, "recovered", seconds{45})) return gone_wrong("nothing becomes final after the recovery");
    sim.load(20, {0, 1, 2});
    sim.run(seconds{10});
    sim.hold_up = [](std::size_t, std::size_t to, const core::Message& message) {
        return to == 2 && std::holds_alternative<core::Votes>(message) ? microseconds{seconds{30}} : microseconds{};
    };
    sim.crash(2, 1'000);
    (void)sim.restore_copy(2);
    sim.start(2);
    if (const auto now = sim.node(2).records_begun().find(sim.key(2));
        now == sim.node(2).records_begun().end() || now->second == begun)
        return gone_wrong("a copy goes on with the record of its original");
    sim.run(seconds{20});
    sim.hold_up = nullptr;
    sim.load(0, {});
    if (!sim.run_until([&] { return !sim.node(2).has(core::Condition::VotesLost); }, seconds{60}))
        return gone_wrong("the copy never votes again");
    return sim.checks().faults();
}

/// A copy of one of four is started beside it; later the original is ended, and the copy goes on.
inline std::vector<std::string> copy_beside_original(std::uint64_t seed, std::uint64_t load) {
    using std::chrono::seconds;
    Sim sim{{.seed = seed, .machines = 5, .running = 4}};
    const auto gone_wrong = [&](const char* what) {
        sim.checks().fault(what);
        return sim.checks().faults();
    };
    if (!grow_up(sim, 4)) return gone_wrong("not all became voters");
    sim.load(load, first_machines(4));
    sim.run(seconds{5});
    sim.make_copy(4, 3);
    sim.start(4);
    if (!sim.run_until([&] { return sim.node(4).has(core::Condition::CopyRuns); }, seconds{10}))
        sim.checks().fault("the copy does not hear its original");
    sim.run(seconds{30});
    if (sim.node(3).has(core::Condition::CopyRuns)) sim.checks().fault("the original has stopped");
    sim.load(0, {});
    if (!finalises(sim, 0, "beside", seconds{10})) sim.checks().fault("nothing becomes final beside the copy");
    sim.crash(3);
    sim.crash(4);
    sim.run(seconds{1});
    sim.start(4);
    if (!sim.run_until([&] { return !sim.node(4).has(core::Condition::VotesLost); }, seconds{30}))
        sim.checks().fault("the copy never takes its original's place");
    return sim.checks().faults();
}

}  // namespace rhizome::sim::testing
