// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gtest/gtest.h>

#include "sim/testing.h"

/// Healthy members that are far from each other.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using testing::grow_up;

struct Seconds {
    std::size_t reorganised = 0;  ///< moves of a machine's tip that undid a block
    std::size_t refused = 0;
    microseconds included{};  ///< half of the orders took less
    microseconds final{};
};

microseconds middle(std::vector<microseconds> all) {
    if (all.empty()) return microseconds::max();
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

/// Twenty orders a second that create what nobody else names, at all machines by turns.
Seconds orders_for(Sim& sim, microseconds span) {
    Seconds seen;
    const std::size_t before = sim.orders().size();
    sim.watch = [&](const Seen& happening) {
        const auto* moved = std::get_if<TipChanged>(&happening.what);
        if (moved != nullptr && moved->undone > 0) ++seen.reorganised;
    };
    const Time end = sim.now() + span;
    for (std::size_t number = 0; sim.now() < end; ++number) {
        sim.submit_new(number % sim.size(), fmt::format("far{}", number));
        sim.run(50ms);
    }
    sim.watch = nullptr;
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 30s));
    std::vector<microseconds> included;
    std::vector<microseconds> final;
    for (std::size_t i = before; i < sim.orders().size(); ++i) {
        const Order& order = sim.orders()[i];
        if (order.refused) ++seen.refused;
        if (order.included) included.push_back(*order.included - order.asked);
        if (order.stage == core::Stage::Final) final.push_back(*order.finished - order.asked);
    }
    seen.included = middle(std::move(included));
    seen.final = middle(std::move(final));
    return seen;
}

TEST(SlowLinksSim, MembersFarFromEachOtherDoNotUndoEachOthersBlocks) {
    struct Case {
        microseconds delay;
        microseconds jitter;
        seconds span;
    };
    for (const Case& one : {Case{200ms, 0ms, 600s}, Case{120ms, 0ms, 120s}, Case{160ms, 40ms, 120s}}) {
        Sim sim{{.seed = 601, .machines = 5, .link = {.delay = one.delay, .jitter = one.jitter}}};
        ASSERT_TRUE(grow_up(sim, 5));
        const Seconds seen = orders_for(sim, one.span);
        const auto minutes = static_cast<std::size_t>(one.span / 60s);
        std::printf("%lld ms: %zu reorganisations in %zu minutes, included after %lld ms, final after %lld ms\n",
                    static_cast<long long>(one.delay / 1ms), seen.reorganised, minutes,
                    static_cast<long long>(seen.included / 1ms), static_cast<long long>(seen.final / 1ms));
        EXPECT_LE(seen.reorganised, minutes);
        EXPECT_EQ(seen.refused, 0u);
        EXPECT_LE(seen.final, 2s);
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(SlowLinksSim, OneMemberFarFromTheOthersDoesNotUndoTheirs) {
    Sim sim{{.seed = 602, .machines = 5}};
    for (std::size_t near = 0; near < 4; ++near) {
        sim.set_link(near, 4, {.delay = 200ms});
        sim.set_link(4, near, {.delay = 200ms});
    }
    ASSERT_TRUE(grow_up(sim, 5));
    const Seconds seen = orders_for(sim, 120s);
    std::printf(
        "one of five 200 ms away: %zu reorganisations in 2 minutes, included after %lld ms, final after %lld ms\n",
        seen.reorganised, static_cast<long long>(seen.included / 1ms), static_cast<long long>(seen.final / 1ms));
    EXPECT_LE(seen.reorganised, 2u);
    EXPECT_EQ(seen.refused, 0u);
    EXPECT_LE(seen.final, 2s);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SlowLinksSim, NearOnesAreAsQuickAsEver) {
    Sim sim{{.seed = 603, .machines = 5}};
    ASSERT_TRUE(grow_up(sim, 5));
    const Seconds seen = orders_for(sim, 60s);
    std::printf("0.2 ms: %zu reorganisations, included after %lld us, final after %lld us\n", seen.reorganised,
                static_cast<long long>(seen.included.count()), static_cast<long long>(seen.final.count()));
    EXPECT_EQ(seen.reorganised, 0u);
    EXPECT_LE(seen.included, 5ms);
    EXPECT_LE(seen.final, 600ms);
}

/// Whoever answers late holds up a turn for a second at most, not the cluster.
TEST(SlowLinksSim, AMemberThatAnswersLateHoldsUpNoTurnForLong) {
    Sim sim{{.seed = 604, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    for (std::size_t near = 0; near < 3; ++near) {
        sim.set_link(near, 3, {.delay = 30s});
        sim.set_link(3, near, {.delay = 30s});
    }
    sim.run(5s);
    for (int round = 0; round < 20; ++round) {
        const std::size_t order = sim.submit_new(static_cast<std::size_t>(round) % 3, fmt::format("late{}", round));
        EXPECT_TRUE(sim.run_until([&] { return sim.orders()[order].included.has_value(); }, 3'500ms)) << round;
        sim.run(700ms);
    }
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
