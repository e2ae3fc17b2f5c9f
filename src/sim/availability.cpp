// SPDX-License-Identifier: Apache-2.0
#include "sim/availability.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/electorate.h"
#include "sim/sim.h"

namespace rhizome::sim {
namespace {

using Machines = std::vector<std::size_t>;

/// Which machine is where: the live ones group by group, then the dead.
struct Places {
    std::vector<Machines> live{};
    Machines dead{};
};

Places places_of(const Disaster& disaster) {
    Places places;
    std::size_t next = 0;
    for (const std::size_t count : disaster.live) {
        Machines& group = places.live.emplace_back(count);
        std::iota(group.begin(), group.end(), next);
        next += count;
    }
    ensure(next <= disaster.members, "no more machines live than there are");
    places.dead.resize(disaster.members - next);
    std::iota(places.dead.begin(), places.dead.end(), next);
    return places;
}

/// Real machines look for others that they can reach; these are given links with which every group hangs together
/// when the others are gone: a ring and a few ways across in each, and some ways between the groups.
std::vector<std::pair<std::size_t, std::size_t>> links_of(const Places& places, Random& random) {
    constexpr std::size_t kAcross = 1;   // ways across the ring, for each machine: 4 links with those of the others
    constexpr std::size_t kBetween = 8;  // ways from each group to the first
    std::vector<std::pair<std::size_t, std::size_t>> links;
    const auto link = [&](std::size_t left, std::size_t right) {
        if (left != right) links.emplace_back(std::min(left, right), std::max(left, right));
    };
    const auto any = [&](const Machines& of) { return of[static_cast<std::size_t>(random.below(of.size()))]; };
    Machines everybody;
    for (const Machines& group : places.live) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            link(group[i], group[(i + 1) % group.size()]);
            for (std::size_t way = 0; way < kAcross; ++way) link(group[i], any(group));
        }
        for (std::size_t way = 0; way < kBetween; ++way) link(any(group), any(places.live.front()));
        everybody.insert(everybody.end(), group.begin(), group.end());
    }
    // Those that will be dead hang on those that will live, or on each other when nobody will.
    for (std::size_t i = 0; i < places.dead.size(); ++i)
        for (std::size_t way = 0; way < 3; ++way)
            link(places.dead[i], everybody.empty() ? places.dead[(i + 1 + way) % places.dead.size()] : any(everybody));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
}

class Measurement {
public:
    Measurement(const Disaster& disaster, Trust trust, const AvailabilityPlan& plan)
        : disaster_(disaster), plan_(plan), places_(places_of(disaster)), sim_(setup(trust)) {
        result_.trust = trust;
    }

    Availability run() {
        if (grow_up()) {
            strike();
            watch();
            if (plan_.repair) repair();
        }
        result_.faults = sim_.checks().faults();
        result_.events = sim_.events();
        return std::move(result_);
    }

private:
    [[nodiscard]] Setup setup(Trust trust) const {
        Random random{plan_.seed};
        Setup setup{.seed = plan_.seed, .machines = disaster_.members};
        setup.spec = trust == Trust::Byzantine ? R"({"trust":"byzantine"})" : "{}";
        setup.link.delay = milliseconds{2};
        setup.links = links_of(places_, random);
        return setup;
    }

    /// Until all members vote. The owner names them, which is quicker than waiting for each to be seen.
    bool grow_up() {
        Machines everybody(disaster_.members);
        std::iota(everybody.begin(), everybody.end(), std::size_t{0});
        sim_.run(seconds{1});
        sim_.submit(0, recover(sim_.node(0).state(), 1, everybody));
        const auto grown = [this] {
            const auto& state = sim_.node(0).state();
            const auto electorate = consensus::Electorate::of(state.view(), state.parameters());
            return electorate.voters.size() == disaster_.members && electorate.next.empty() &&
                   sim_.node(0).final_generation() == 1 && sim_.distinct_tips() == 1 && sim_.open_orders() == 0;
        };
        if (sim_.run_until(grown, seconds{60})) return true;
        sim_.checks().fault("the members did not become voters within a minute");
        return false;
    }

    void strike() {
        for (const std::size_t machine : places_.dead) sim_.crash(machine);
        auto groups = places_.live;
        if (groups.size() == disaster_.cuts) groups.push_back(places_.dead);  // the dead are what is cut off
        ensure(groups.size() == disaster_.cuts + 1 || groups.empty(), "every cut makes one group more");
        if (disaster_.cuts > 0) sim_.split(groups);
        struck_ = sim_.now();
        for (std::size_t group = 0; group < places_.live.size(); ++group) {
            const std::size_t at = places_.live[group][places_.live[group].size() / 2];
            orders_.push_back(
                sim_.submit(at, create_map(sim_.node(at).state(), fmt::format("group{}", group), "x", sim_.now())));
        }
    }

    void watch() {
        if (orders_.empty()) {
            sim_.run(plan_.accept_within);
            return;
        }
        const auto all_included = [this] {
            return std::all_of(orders_.begin(), orders_.end(),
                               [this](std::size_t order) { return sim_.orders()[order].included.has_value(); });
        };
        if (sim_.run_until(all_included, plan_.accept_within)) {
            result_.accepts = true;
            result_.accepted_after = sim_.now() - struck_;
        }
        const auto one_final = [this] {
            return std::any_of(orders_.begin(), orders_.end(),
                               [this](std::size_t order) { return sim_.orders()[order].stage == core::Stage::Final; });
        };
        const auto left = std::max(microseconds{0}, plan_.final_within - (sim_.now() - struck_));
        if (sim_.run_until(one_final, left)) {
            result_.irreversible = true;
            result_.final_after = sim_.now() - struck_;
        }
    }

    void repair() {
        sim_.heal();
        for (const std::size_t machine : places_.dead) sim_.start(machine);
        const Time repaired = sim_.now();
        const auto whole = [this] { return sim_.open_orders() == 0 && sim_.distinct_tips() == 1; };
        if (sim_.run_until(whole, plan_.repaired_within)) {
            result_.repaired_after = sim_.now() - repaired;
        } else {
            sim_.checks().fault(
                fmt::format("after the repair: {} tips, {} orders open", sim_.distinct_tips(), sim_.open_orders()));
        }
    }

    const Disaster& disaster_;
    const AvailabilityPlan& plan_;
    Places places_;
    Sim sim_;
    Time struck_{};
    std::vector<std::size_t> orders_;
    Availability result_;
};

}  // namespace

std::size_t Disaster::alive() const { return std::accumulate(live.begin(), live.end(), std::size_t{0}); }

std::vector<Disaster> three_zones(std::size_t zone) {
    ensure(zone > 0 && zone % 4 == 0, "zones can be quartered");
    const std::size_t half = zone / 2;
    const std::size_t quarter = zone / 4;
    const std::string halves = fmt::format("{0}/{0}/{0}", half);
    const std::string one = fmt::format("{}/0/0", zone);
    const std::size_t members = 3 * zone;
    return {
        {halves, members, 0, {3 * half}},
        {one, members, 0, {2 * zone}},
        {fmt::format("{0}/{0}/{0}", zone), members, 0, {}},
        {one, members, 1, {2 * zone}},  // the dead zone is cut off
        {halves, members, 1, {2 * half, half}},
        {halves, members, 2, {half, half, half}},
        {halves, members, 3, {half, half, quarter, quarter}},  // the third cut goes through a zone
    };
}

std::vector<Disaster> small_clusters() {
    // Cuts part the zones as evenly as they can.
    return {
        {"1", 3, 0, {2}}, {"2", 3, 0, {1}}, {"0", 3, 2, {1, 1, 1}},
        {"4", 9, 0, {5}}, {"5", 9, 0, {4}}, {"0", 9, 3, {3, 2, 2, 2}},
    };
}

std::size_t quorum(std::size_t members, Trust trust) {
    return (trust == Trust::Byzantine ? 2 * members / 3 : members / 2) + 1;
}

bool expect_accepts(const Disaster& disaster) { return disaster.alive() > 0; }

bool expect_irreversible(const Disaster& disaster, Trust trust) {
    return std::any_of(disaster.live.begin(), disaster.live.end(),
                       [&](std::size_t group) { return group >= quorum(disaster.members, trust); });
}

bool raft_accepts(const Disaster& disaster) { return expect_irreversible(disaster, Trust::Crash); }

bool Availability::is_as_expected(const Disaster& disaster) const {
    return faults.empty() && accepts == expect_accepts(disaster) &&
           irreversible == expect_irreversible(disaster, trust);
}

Availability measure(const Disaster& disaster, Trust trust, const AvailabilityPlan& plan) {
    return Measurement{disaster, trust, plan}.run();
}

}  // namespace rhizome::sim
