// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/sim.h"

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

}  // namespace
}  // namespace rhizome::sim
