// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "cli/commands/sim/page.h"
#include "cli/commands/sim/shared.h"
#include "cli/testing.h"
#include "cli/tree.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::cli::simulate {
namespace {

using cli::testing::Harness;
using cli::testing::has;
using cli::testing::Ran;

Ran sim(std::vector<std::string> words, const std::string& input = {}) {
    Harness harness;
    harness.in.str(input);
    words.insert(words.begin(), "sim");
    return harness.run(command_tree(), words);
}

json::Value data_of(const Ran& ran) {
    auto data = json::parse(ran.out);
    EXPECT_TRUE(data) << ran.out << ran.err;
    return data ? *std::move(data) : json::Value{};
}

std::uint64_t number(const json::Value& data, std::string_view name) {
    const json::Value* found = data.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? 0 : static_cast<std::uint64_t>(found->if_int64().value_or(-1));
}

// ---- sim run
// ---------------------------------------------------------------------------------------------------------

TEST(SimRun, SumsUpWhatItRan) {
    const Ran table = sim({"run", "--seeds", "3", "--machines", "3"});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_TRUE(has(table.out, "seeds               3 of 3, from 1\n")) << table.out;
    EXPECT_TRUE(has(table.out, "failed              0\n")) << table.out;
    EXPECT_EQ(table.err, "") << "no terminal, no bar";

    const auto one = data_of(sim({"run", "--seeds", "3", "--machines", "3", "--jobs", "1", "-o", "json"}));
    const auto two = data_of(sim({"run", "--seeds", "3", "--machines", "3", "--jobs", "2", "-o", "json"}));
    for (const auto* name : {"done", "clean", "events", "orders", "refused", "slowestAgreementSeed"})
        EXPECT_EQ(number(one, name), number(two, name)) << "threads change nothing: " << name;
    EXPECT_EQ(number(one, "done"), 3u);
    EXPECT_GT(number(one, "events"), 1'000u);
}

TEST(SimRun, RefusesWhatMakesNoSense) {
    EXPECT_EQ(sim({"run", "--seeds", "many"}).code, 2);
    EXPECT_EQ(sim({"run", "--jobs", "-1"}).code, 2);
    for (const auto* machines : {"1", "5-3", "5-", "-5", "x", "5-1000", "1-5"})
        EXPECT_EQ(sim({"run", "--seeds", "0", "--machines", machines}).code, 2) << machines;
    EXPECT_EQ(sim({"run", "--seeds", "0"}).code, 0) << "nothing to do is no failure";
}

TEST(SimRun, StopsWhenAskedAndKnowsWhatWasDone) {
    SeedPlan plan{.from = 5, .count = 1'000'000, .jobs = 2};
    plan.swarm.machines_min = plan.swarm.machines_max = 3;
    plan.swarm.faults_for = seconds{1};
    std::uint64_t seen = 0;
    std::atomic<bool> stop{false};
    const auto report = run_seeds(
        plan, [&] { return stop.load(); },
        [&](const SeedsReport& so_far) {
            seen = so_far.done;
            if (so_far.done >= 3) stop = true;
        });
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.done, seen);
    EXPECT_GE(report.done, 3u);
    EXPECT_LE(report.done, 4u) << "those under way come to their end";
    for (std::size_t i = 0; i < report.rows.size(); ++i) EXPECT_EQ(report.rows[i].seed, 5 + i);
}

sim::Verdict verdict_of(std::uint64_t seed, bool clean) {
    sim::Verdict verdict{.seed = seed, .events = 10, .machines = 5, .converged_after = microseconds{seed % 7}};
    if (!clean) verdict.faults = {fmt::format("fault of <{}>", seed)};
    return verdict;
}

TEST(SimRun, KeepsTheLowestSeedsWhateverCameFirst) {
    SeedsReport report;
    for (std::uint64_t seed = 5'000; seed-- > 0;) report.add(verdict_of(seed, seed % 2 == 0));
    EXPECT_EQ(report.done, 5'000u);
    EXPECT_EQ(report.failed, 2'500u);
    EXPECT_EQ(report.clean(), 2'500u);
    ASSERT_EQ(report.rows.size(), SeedsReport::kRowsMax);
    EXPECT_EQ(report.rows.front().seed, 0u);
    EXPECT_EQ(report.rows.back().seed, SeedsReport::kRowsMax - 1);
    ASSERT_EQ(report.failures.size(), SeedsReport::kFailuresMax);
    EXPECT_EQ(report.failures.front().seed, 1u);
    EXPECT_EQ(report.failures.back().seed, 2 * SeedsReport::kFailuresMax - 1);
    EXPECT_EQ(report.longest_seed, 6u) << "the lowest of those that took equally long";
}

// ---- sim replay
// ------------------------------------------------------------------------------------------------------

TEST(SimReplay, TellsOneHistory) {
    const Ran told = sim({"replay", "2", "--machines", "4"});
    EXPECT_EQ(told.code, 0) << told.err;
    EXPECT_TRUE(told.out.starts_with("SECONDS ")) << told.out;
    EXPECT_TRUE(has(told.out, "verdict     clean\n")) << told.out;
    EXPECT_EQ(told.out, sim({"replay", "2", "--machines", "4"}).out) << "the same every time";
}

TEST(SimReplay, FiltersByKindAndMachine) {
    const auto data = data_of(sim({"replay", "2", "--machines", "4", "--kinds", "blocks,finality", "-o", "json"}));
    const auto& lines = *data.find("timeline")->if_array();
    ASSERT_FALSE(lines.empty());
    std::set<std::string> kinds;
    for (const json::Value& line : lines) kinds.emplace(line.text_at({"kind"}));
    EXPECT_EQ(kinds, (std::set<std::string>{"blocks", "finality"}));
    EXPECT_EQ(data.text_at({"replay"}), "rhizome sim replay 2 --machines 4-4");

    const auto mine =
        data_of(sim({"replay", "2", "--machines", "4", "--kinds", "all", "--machine", "n1", "-o", "json"}));
    for (const json::Value& line : *mine.find("timeline")->if_array())
        for (const json::Value& machine : *line.find("machines")->if_array())
            EXPECT_EQ(machine, json::Value{"n1"}) << json::print(line);
}

TEST(SimReplay, SaysWhatItDoesNotKnow) {
    const Ran kind = sim({"replay", "1", "--machines", "3", "--kinds", "block"});
    EXPECT_EQ(kind.code, 2);
    EXPECT_TRUE(has(kind.err, "did you mean \"blocks\"?")) << kind.err;
    EXPECT_TRUE(has(sim({"replay", "1", "--kinds", "weather"}).err, "there are network, power")) << kind.err;
    const Ran machine = sim({"replay", "1", "--machines", "3", "--machine", "3"});
    EXPECT_EQ(machine.code, 2);
    EXPECT_TRUE(has(machine.err, "machines are 0 to 2")) << machine.err;
    EXPECT_EQ(sim({"replay", "first"}).code, 2);
    EXPECT_EQ(sim({"replay"}).code, 2);
}

// ---- sim tables
// ------------------------------------------------------------------------------------------------------

TEST(SimTables, ComeOutAsTheSpecificationSays) {
    const Ran ran = sim({"tables", "--zone", "4"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    for (const auto* title :
         {"Availability, 3 zones of 4 machines\n", "Availability, one machine in each of 3 or 9 zones\n",
          "Dummy blocks, work:", "Dummy blocks, all other engines:"})
        EXPECT_TRUE(has(ran.out, title)) << ran.out;
    EXPECT_TRUE(has(ran.out, "discarded from 17 compromised nodes on, expected 17")) << ran.out;

    const auto data = data_of(sim({"tables", "availability", "--zone", "4", "--no-repair", "-o", "json"}));
    EXPECT_EQ(data.find("work"), nullptr) << "it was not asked for";
    const auto& rows = *data.find("availability")->if_array();
    ASSERT_EQ(rows.size(), 7u);
    EXPECT_EQ(rows[1].find("raft")->if_boolean(), true);
    EXPECT_EQ(rows[1].find_path({"crash", "final"})->if_boolean(), true);
    EXPECT_EQ(rows[1].find_path({"byzantine", "final"})->if_boolean(), false);
    EXPECT_EQ(rows[2].find_path({"crash", "accepts"})->if_boolean(), false);
    EXPECT_EQ(data.find("asExpected")->if_boolean(), true);
}

TEST(SimTables, RefuseWhatMakesNoSense) {
    EXPECT_EQ(sim({"tables", "--zone", "5"}).code, 2);
    EXPECT_EQ(sim({"tables", "--zone", "0"}).code, 2);
    EXPECT_EQ(sim({"tables", "--zone", "104"}).code, 2);
    EXPECT_EQ(sim({"tables", "availabilty"}).code, 2);
}

// ---- the page
// --------------------------------------------------------------------------------------------------------

/// What stands between the two markers, once.
std::string between(const std::string& text, std::string_view from, std::string_view to) {
    const auto begin = text.find(from);
    EXPECT_NE(begin, std::string::npos) << from;
    const auto end = text.find(to, begin + from.size());
    EXPECT_NE(end, std::string::npos) << to;
    return text.substr(begin + from.size(), end - begin - from.size());
}

json::Value data_in(const std::string& page) {
    auto data = json::parse(between(page, "id=\"data\">", "</script>"));
    EXPECT_TRUE(data);
    return data ? *std::move(data) : json::Value{};
}

TEST(SimPage, HoldsTheWholeHistoryAndLoadsNothing) {
    test::TempFolder folder;
    const std::string file = folder / "seed.html";
    const Ran ran = sim({"replay", "2", "--machines", "4", "--html", file});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(has(ran.err, "is written")) << ran.err;
    const std::string page = runtime::read_file(file, 64u << 20).value();
    for (const auto* loads : {"http://", "https://", "src=", "@import", "url("})
        EXPECT_FALSE(has(page, loads)) << loads;
    EXPECT_FALSE(has(page, "{{")) << "every place is filled";
    const json::Value data = data_in(page);
    const json::Value& history = data.find("histories")->if_array()->at(0);
    EXPECT_EQ(history.find("machines")->if_array()->size(), 4u);
    const auto recorded = sim::record_seed(2, {.machines_min = 4, .machines_max = 4});
    EXPECT_EQ(history.find("blocks")->if_array()->size(), recorded.timeline.blocks().size());
    EXPECT_EQ(history, drawing_of(recorded.timeline));
}

TEST(SimPage, NothingInItCanBecomeMarkup) {
    const std::string bad = "</script><script>alert('1 & 2')</script>{{data}}\"";
    Page page{.title = bad, .facts = {{bad, bad}}, .machines_words = bad};
    page.failures = {verdict_of(7, false)};
    page.failures.front().faults = {bad};
    page.rows = {{.seed = 7, .clean = false}};
    page.histories_left_out = 3;
    page.histories = {{.title = bad, .faults = {bad}, .facts = {{bad, bad}}, .drawing = json::Object{{"events", bad}}}};
    const std::string text = render(page);
    EXPECT_FALSE(has(text, "<script>alert"));
    EXPECT_FALSE(has(text, "\"&lt;/script>"));
    EXPECT_EQ(data_in(text).find("histories")->if_array()->at(0).text_at({"events"}), bad);
    EXPECT_TRUE(has(text, "&lt;/script&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;{{data}}&quot;"));
    EXPECT_TRUE(has(text, "3 more are not, to keep this page small"));
    EXPECT_TRUE(has(text, "href=\"#history-0\"")) << "a failure leads to its drawing";
    std::size_t scripts = 0;
    for (auto at = text.find("<script"); at != std::string::npos; at = text.find("<script", at + 1)) ++scripts;
    EXPECT_EQ(scripts, 2u);
}

TEST(SimPage, OfManySeedsListsThem) {
    test::TempFolder folder;
    const std::string file = folder / "run.html";
    const Ran ran = sim({"run", "--seeds", "2", "--machines", "3", "--html", file});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string page = runtime::read_file(file, 64u << 20).value();
    EXPECT_TRUE(has(page, "<td class=\"number\">2</td><td class=\"clean\">clean</td>")) << page.substr(0, 100);
    EXPECT_TRUE(has(page, "Simulation of 2 seeds from 1"));
    EXPECT_EQ(sim({"run", "--seeds", "0", "--html", "/dev/null/x"}).code, 3) << "nobody can write there";
}

TEST(SimShared, ReadsAndWritesSmallThings) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'000), "1,000");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(moment_text(microseconds{12'345'678}), "12.345");
    EXPECT_EQ(words_of({"a,b", "", ",c d,"}), (std::vector<std::string>{"a", "b", "c", "d"}));
    EXPECT_EQ(machine_in("n2", 3).value(), 2u);
    EXPECT_EQ(machine_in("2", 3).value(), 2u);
    for (const auto* bad : {"", "n", "3", "-1", "n2x", "99999999999999999999"}) EXPECT_FALSE(machine_in(bad, 3)) << bad;
}

}  // namespace
}  // namespace rhizome::cli::simulate
