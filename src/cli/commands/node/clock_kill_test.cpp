// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/cluster_processes.h"
#include "support/machine_clock.h"

namespace rhizome::cli {
namespace {

using namespace std::chrono_literals;

/// Real processes, each with a clock of its own.
class ClockKill : public test::ClusterProcesses {
protected:
    test::MachineClock& clock(const std::string& name) {
        return clocks_.try_emplace(name, temp_.path() / (name + ".clock")).first->second;
    }
    /// The commands that follow are typed at this machine.
    void at(const std::string& name) {
        for (const auto& [variable, value] : clock(name).variables()) variables_[variable] = value;
    }
    void three_machines() {
        at("n1");
        found("n1");
        for (const auto* name : {"n2", "n3"}) {
            at("n1");
            const std::string token = new_token();
            const std::string there = address("n1");
            at(name);
            good({"join", there, "--token", token, "--data", data(name), "--node", name, "--listen", "127.0.0.1:0",
                  "--detach"});
            started_.emplace_back(name);
        }
        at("n1");
        ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    }
    bool says(const std::string& name, std::string_view condition) {
        const json::Value known = status(name);
        const json::Value* conditions = known.find("conditions");
        if (conditions == nullptr || conditions->if_array() == nullptr) return false;
        return std::any_of(conditions->if_array()->begin(), conditions->if_array()->end(),
                           [&](const json::Value& one) { return one.if_string() && *one.if_string() == condition; });
    }

    std::map<std::string, test::MachineClock> clocks_;
};

TEST_F(ClockKill, OneWrongClockOfThreeStopsNobodyElse) {
    three_machines();
    clock("n3").set_ahead(90s);
    ASSERT_TRUE(eventually([&] { return says("n3", "ClockOff"); }));
    EXPECT_EQ(order("n1", "ahead", "final").text_at({"stage"}), "final");
    EXPECT_FALSE(says("n1", "ClockOff") || says("n2", "ClockOff"));
    EXPECT_TRUE(eventually([&] { return has_namespace("n3", "ahead"); })) << "it follows";

    clock("n3").set_ahead(-2h);
    ASSERT_TRUE(eventually([&] { return says("n3", "ChainAhead"); }));
    EXPECT_EQ(order("n2", "behind", "final").text_at({"stage"}), "final");
    EXPECT_FALSE(says("n1", "ClockOff") || says("n2", "ClockOff"));
    EXPECT_TRUE(eventually([&] { return has_namespace("n3", "behind"); }));

    clock("n3").set_ahead(0s);
    EXPECT_TRUE(eventually([&] { return !says("n3", "ClockOff") && !says("n3", "ChainAhead"); }));
    EXPECT_EQ(order("n1", "right", "final").text_at({"stage"}), "final");
}

TEST_F(ClockKill, WhenClocksThatWereAheadAreSetRightTheClusterGoesOn) {
    for (const auto* name : {"n1", "n2", "n3"}) clock(name).set_ahead(10min);
    three_machines();
    EXPECT_EQ(order("n1", "before", "final").text_at({"stage"}), "final");
    for (const auto* name : {"n1", "n2", "n3"}) clock(name).set_ahead(0s);

    ASSERT_TRUE(eventually([&] { return says("n1", "ChainAhead") && says("n2", "ChainAhead"); }));
    for (const auto* name : {"n1", "n2", "n3"})
        EXPECT_EQ(order(name, std::string{"after-"} + name, "final").text_at({"stage"}), "final");
    const std::string shown = good({"status", "--data", data("n1")});
    EXPECT_NE(shown.find("ahead of this machine's clock"), std::string::npos) << shown;

    // Also who restarts meanwhile: its tip is all it knows.
    kill_node("n2", SIGKILL);
    at("n2");
    start("n2", "n1");
    at("n1");
    EXPECT_TRUE(eventually([&] { return says("n2", "ChainAhead"); }));
    EXPECT_EQ(order("n2", "restarted", "final").text_at({"stage"}), "final");
}

}  // namespace
}  // namespace rhizome::cli
