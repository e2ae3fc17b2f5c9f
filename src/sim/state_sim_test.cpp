// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/sim.h"
#include "sim/testing.h"

/// A machine that joins with the state after a block it trusts instead of all blocks before it.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using testing::grow_up;

constexpr std::size_t kNewcomer = 4;

/// Gives other parts of a state than were asked for.
class PartLiar final : public Byzantine {
public:
    core::SharedMessage outgoing(Sim&, std::size_t, std::size_t, core::SharedMessage message) override {
        const auto* part = std::get_if<core::StatePart>(message.get());
        if (part == nullptr || part->bytes.empty()) return message;
        core::StatePart changed = *part;
        changed.bytes[changed.bytes.size() / 2] ^= 1;
        return std::make_shared<const core::Message>(std::move(changed));
    }
    [[nodiscard]] std::string describe() const override { return "gives out false parts of states"; }
};

/// Four machines that have written for a while, and a fifth that is registered and has never run.
class StateSim : public ::testing::Test {
protected:
    void grow(const LinkQuality& link, std::uint64_t seed) {
        sim.emplace(sim::Setup{.seed = seed, .machines = 5, .running = 4, .link = link});
        ASSERT_TRUE(grow_up(*sim, 4));
        sim->load(40, {0, 1, 2, 3});
        sim->run(30s);
        trusted = sim->node(0).final_block();
        trusted_height = sim->node(0).final_height();
        // A token lies about for a while before somebody uses it.
        sim->run(20s);
        sim->overhear = [this](std::size_t from, std::size_t to, const core::Message& message) {
            if (from == kNewcomer && std::holds_alternative<core::WantPart>(message)) asked.insert(to);
            if (to == kNewcomer && std::holds_alternative<core::StatePart>(message)) ++parts_sent;
        };
    }
    bool is_at_the_tip() const {
        return sim->is_up(kNewcomer) && sim->node(kNewcomer).tip().height + 2 >= sim->node(0).tip().height;
    }
    /// It is at the tip, decides what the others do, and never had what was before the trusted block.
    void expect_in_step() {
        ASSERT_TRUE(sim->run_until([&] { return is_at_the_tip(); }, 60s));
        const auto& traffic = sim->node(kNewcomer).traffic();
        EXPECT_LE(traffic.bodies_heard, sim->node(0).tip().height - trusted_height + 64);
        sim->load(0, {});
        EXPECT_TRUE(sim->run_until([&] { return sim->open_orders() == 0 && sim->distinct_tips() == 1; }, 60s));
        EXPECT_EQ(sim->node(kNewcomer).state().view().root(), sim->node(0).state().view().root());
        // And it does its part: the others count its votes in time.
        EXPECT_TRUE(sim->run_until([&] { return testing::voters_at(*sim, 0) == 5; }, 120s));
        EXPECT_TRUE(sim->checks().clean()) << sim->checks().faults().front();
    }

    std::optional<Sim> sim;
    ledger::BlockHash trusted{};
    ledger::Height trusted_height{};
    std::set<std::size_t> asked;
    std::size_t parts_sent = 0;
};

TEST_F(StateSim, ANewcomerStartsFromTheStateThatSeveralGiveIt) {
    grow({.delay = 5ms, .jitter = 2ms}, 21);
    sim->fetch_state(kNewcomer, trusted);
    ASSERT_TRUE(sim->run_until([&] { return sim->is_up(kNewcomer); }, 5s));
    EXPECT_GE(parts_sent, 8u) << "a state of several parts";
    EXPECT_GE(asked.size(), 3u) << "from several";
    EXPECT_GE(sim->node(kNewcomer).tip().height, trusted_height);
    expect_in_step();
}

TEST_F(StateSim, LostAndDoubledMessagesCostTimeAndNothingElse) {
    grow({.delay = 20ms, .jitter = 30ms, .loss = 20, .duplicate = 20}, 22);
    sim->fetch_state(kNewcomer, trusted);
    ASSERT_TRUE(sim->run_until([&] { return sim->is_up(kNewcomer); }, 120s));
    expect_in_step();
}

TEST_F(StateSim, WhoGivesFalsePartsIsBlamedAndTheOthersGiveTheRest) {
    grow({.delay = 5ms, .jitter = 2ms}, 23);
    sim->corrupt(2, std::make_unique<PartLiar>());
    std::set<std::size_t> blamed;
    std::string why;
    sim->blamed = [&](std::size_t machine, std::size_t other, const ledger::Reject& reason) {
        if (machine != kNewcomer) return;
        blamed.insert(other);
        why = to_text(reason);
    };
    sim->fetch_state(kNewcomer, trusted);
    ASSERT_TRUE(sim->run_until([&] { return sim->is_up(kNewcomer); }, 30s));
    EXPECT_EQ(blamed, std::set<std::size_t>{2});
    EXPECT_NE(why.find(": part "), std::string::npos) << why;
    expect_in_step();
}

TEST_F(StateSim, WhoDiesMidWayLeavesTheRestToTheOthers) {
    grow({.delay = 5ms}, 24);
    // Two die when some parts have come, one of them the one that gave the manifest.
    bool died = false;
    const auto listen = sim->overhear;
    sim->overhear = [&, listen](std::size_t from, std::size_t to, const core::Message& message) {
        listen(from, to, message);
        if (died || parts_sent < 3) return;
        died = true;
        sim->after(0s, [&] {
            sim->crash(0);
            sim->crash(1);
        });
    };
    sim->fetch_state(kNewcomer, trusted);
    ASSERT_TRUE(sim->run_until([&] { return sim->is_up(kNewcomer); }, 60s));
    EXPECT_TRUE(died);
    sim->overhear = nullptr;
    sim->start(0);
    sim->start(1);
    ASSERT_TRUE(sim->run_until([&] { return sim->is_up(0); }, 5s));
    expect_in_step();
}

TEST_F(StateSim, WhoLosesPowerMidWayHasNothingAndBeginsAgain) {
    grow({.delay = 5ms}, 25);
    sim->fetch_state(kNewcomer, trusted);
    ASSERT_TRUE(sim->run_until([&] { return parts_sent >= 4; }, 5s));
    ASSERT_FALSE(sim->is_up(kNewcomer));
    sim->crash(kNewcomer);
    sim->run(1s);
    EXPECT_FALSE(sim->is_up(kNewcomer));
    // The token's block is as good as before: what was given out has not vanished.
    sim->fetch_state(kNewcomer, trusted);
    ASSERT_TRUE(sim->run_until([&] { return sim->is_up(kNewcomer); }, 30s));
    expect_in_step();
}

TEST_F(StateSim, WhereNobodyHasTheStateThatIsSaidAndNobodyIsBlamed) {
    grow({.delay = 5ms}, 26);
    sim->fetch_state(kNewcomer, ledger::BlockHash{crypto::sha256(as_bytes("another chain")).view()});
    EXPECT_TRUE(sim->run_until([&] { return sim->fetching(kNewcomer)->nobody_has_it(); }, 10s));
    EXPECT_FALSE(sim->is_up(kNewcomer));
    EXPECT_TRUE(sim->checks().clean());
}

}  // namespace
}  // namespace rhizome::sim
