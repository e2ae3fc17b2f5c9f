// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/sim.h"
#include "sim/swarm.h"

namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;

TEST(ScenarioSim, FourMachinesAgreeAndFinalise) {
    Sim sim{{.seed = 7, .machines = 4}};
    if (std::getenv("SIM_TALK"))
        sim.narrate = [&](Time, std::size_t machine, const std::string& what) {
            fmt::print("{:8.3f} {} {}\n", static_cast<double>(sim.elapsed().count()) / 1e6, machine, what);
        };
    sim.load(10, {0, 1, 2, 3});
    sim.run(30s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 10s)) << sim.open_orders();
    EXPECT_EQ(sim.distinct_tips(), 1u);
    EXPECT_TRUE(sim.checks().clean()) << sim.checks().faults().front();
    fmt::print("{} events, height {}, final {}\n", sim.events(), sim.node(0).tip().height, sim.node(0).final_height());
}

TEST(SwarmSim, Seeds) {
    const auto number = [](const char* name, std::uint64_t otherwise) {
        const char* text = std::getenv(name);
        return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
    };
    const std::uint64_t from = number("SIM_FROM", 1), count = number("SIM_COUNT", 20);
    for (std::uint64_t seed = from; seed < from + count; ++seed) {
        SwarmOptions options;
        if (std::getenv("SIM_TALK"))
            options.narrate = [&](Time when, std::size_t machine, const std::string& what) {
                fmt::print("{:8.3f} {} {}\n", static_cast<double>(when.since_epoch().count()) / 1e6, machine, what);
            };
        const Verdict verdict = run_seed(seed, options);
        if (!verdict.clean() || count == 1)
            for (const auto& line : verdict.weather) fmt::print("   {}\n", line);
        fmt::print(
            "seed {}: {} events, {} machines, height {}, final {}, {} orders, {} refused, converged after {} ms, {}\n",
            seed, verdict.events, verdict.machines, verdict.height, verdict.final_height, verdict.orders,
            verdict.refused, verdict.converged_after.count() / 1000,
            verdict.clean() ? "clean" : verdict.faults.front());
        std::fflush(stdout);
        EXPECT_TRUE(verdict.clean()) << verdict.faults.front();
    }
}

}  // namespace
}  // namespace rhizome::sim
