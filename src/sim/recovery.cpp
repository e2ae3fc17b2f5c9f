// SPDX-License-Identifier: Apache-2.0
#include "sim/recovery.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "sim/sim.h"
#include "sim/testing.h"

namespace rhizome::sim {
namespace {

using std::chrono::seconds;

constexpr seconds kPromised{5};  ///< for one chain, and for something written then to be final

class RecoveryRun {
public:
    explicit RecoveryRun(const RecoveryCase& recovery) : case_(recovery), sim_(setup_of(recovery)) {
        const std::size_t few = (recovery.machines - 1) / 2;
        for (std::size_t i = 0; i < recovery.machines; ++i) (i < few ? few_ : many_).push_back(i);
    }

    std::string run() {
        if (!testing::grow_up(sim_, case_.machines)) return "not all became voters";
        sim_.split({few_, many_});
        sim_.run(seconds{1});
        if (auto wrong = part(); !wrong.empty()) return wrong;
        if (auto wrong = come_back(); !wrong.empty()) return wrong;
        if (case_.restart) {
            restart_all();
            if (auto wrong = agree("after the last restart"); !wrong.empty()) return wrong;
        }
        return testing::first_fault(sim_);
    }

private:
    static Setup setup_of(const RecoveryCase& recovery) {
        Setup setup{.seed = recovery.seed, .machines = recovery.machines};
        if (recovery.coming == ComingBack::FromBelow) setup.disk = {.undo_blocks = 16, .headers_below_final = 16};
        return setup;
    }

    std::size_t write(std::size_t machine) {
        return sim_.submit(machine, create_map(sim_.node(machine).state(), fmt::format("w{}", ++written_),
                                               name_of(machine), sim_.now()));
    }
    bool write_until_final(std::size_t machine) {
        const std::size_t order = write(machine);
        return sim_.run_until([&] { return sim_.orders()[order].stage == core::Stage::Final; }, seconds{20});
    }
    std::uint64_t height(std::size_t machine) const { return sim_.node(machine).tip().height.number(); }
    std::uint64_t final_height(std::size_t machine) const { return sim_.node(machine).final_height().number(); }

    bool recover_few() {
        const std::size_t at = few_.front();
        sim_.submit(at, recover(sim_.node(at).state(), ++generation_, few_));
        return sim_.run_until(
            [&] {
                return std::all_of(few_.begin(), few_.end(),
                                   [&](std::size_t one) { return sim_.node(one).final_generation() == generation_; });
            },
            seconds{20});
    }

    /// Both sides make blocks final, and the chains are as long as they should be.
    std::string part() {
        const std::size_t few = few_.front();
        const std::size_t many = many_.front();
        const std::size_t writes = case_.coming == ComingBack::FromBelow ? 40 : 10;
        for (std::size_t i = 0; i < writes; ++i)
            if (!write_until_final(many)) return "the larger side finalises nothing";
        if (!recover_few()) return "the recovery does not become final";
        if (case_.coming == ComingBack::AfterAnother && !recover_few()) return "the second recovery does not";
        // Far ahead a branch is followed headers first.
        const std::uint64_t far = case_.coming == ComingBack::FromBelow ? sim_.setup().config.catch_up_from + 10 : 0;
        const auto fits = [&] {
            switch (case_.length) {
                case BranchLength::Shorter: return height(few) < final_height(many);
                case BranchLength::Equal: return final_height(few) == final_height(many);
                case BranchLength::Longer: return final_height(few) > height(many) + far;
            }
            return false;
        };
        for (int tries = 0; !fits(); ++tries) {
            if (tries == 200) return "the chains do not become as long as they should";
            const bool few_writes = case_.length == BranchLength::Longer ||
                                    (case_.length == BranchLength::Equal && final_height(few) < final_height(many));
            if (!write_until_final(few_writes ? few : many)) return "a side finalises nothing";
        }
        if (case_.coming == ComingBack::FromBelow)
            for (const std::size_t one : many_) {
                sim_.crash(one, 1'000);
                sim_.start(one);
            }
        return testing::first_fault(sim_);
    }

    std::string come_back() {
        if (case_.coming != ComingBack::OneByOne) {
            sim_.heal();
            return arrive("after the heal");
        }
        std::vector<std::size_t> together = few_;
        std::vector<std::size_t> apart = many_;
        while (!apart.empty()) {
            together.push_back(apart.front());
            apart.erase(apart.begin());
            sim_.split({together, apart});
            if (apart.empty()) sim_.heal();
            here_ = together;
            if (auto wrong = arrive(fmt::format("with {} of {} back", together.size() - few_.size(), many_.size()));
                !wrong.empty())
                return wrong;
        }
        return {};
    }

    std::string arrive(const std::string& when) {
        if (case_.restart) {
            // In the middle of it, wherever that is.
            sim_.run(microseconds{sim_.random().between(100'000, 700'000)});
            restart_all();
        }
        return agree(when);
    }

    void restart_all() {
        for (std::size_t one = 0; one < sim_.size(); ++one) sim_.crash(one, sim_.random().below(1'001));
        for (std::size_t one = 0; one < sim_.size(); ++one) sim_.start(one);
    }

    std::vector<std::size_t> here() const {
        if (!here_.empty()) return here_;
        std::vector<std::size_t> all(sim_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }

    /// One chain of the newest generation, and what is written then becomes final.
    std::string agree(const std::string& when) {
        const auto who = here();
        for (const std::size_t one : who)
            if (!sim_.is_up(one))
                return fmt::format("{}: {} does not start; {}", when, name_of(one), testing::first_fault(sim_));
        const auto one_chain = [&] {
            return std::all_of(who.begin(), who.end(), [&](std::size_t one) {
                return sim_.node(one).tip_hash() == sim_.node(who.front()).tip_hash() &&
                       sim_.node(one).rank().generation == generation_;
            });
        };
        if (!sim_.run_until(one_chain, kPromised)) return fmt::format("{}: {}", when, standing(who));
        std::vector<std::size_t> orders;
        for (const std::size_t one : who) orders.push_back(write(one));
        const auto all_final = [&] {
            return std::all_of(orders.begin(), orders.end(),
                               [&](std::size_t order) { return sim_.orders()[order].stage == core::Stage::Final; });
        };
        if (!sim_.run_until(all_final, kPromised))
            return fmt::format("{}: an order is not final; {}", when, standing(who));
        return testing::first_fault(sim_);
    }

    std::string standing(const std::vector<std::size_t>& who) {
        std::string text;
        for (const std::size_t one : who)
            text += fmt::format("{} at {} ({}), generation {}, final {}; ", name_of(one), height(one),
                                sim_.node(one).tip_hash().hex().substr(0, 6), sim_.node(one).rank().generation,
                                final_height(one));
        for (const std::string& fault : sim_.checks().faults()) text += fault + "; ";
        return text;
    }

    RecoveryCase case_;
    Sim sim_;
    std::vector<std::size_t> few_, many_, here_;
    std::uint64_t generation_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace

std::string RecoveryCase::describe() const {
    static constexpr const char* kLengths[] = {"shorter", "equal", "longer"};
    static constexpr const char* kWays[] = {"one by one", "together", "after another recovery", "from below"};
    return fmt::format("seed {}, {} machines, branch {}, back {}{}", seed, machines,
                       kLengths[static_cast<std::size_t>(length)], kWays[static_cast<std::size_t>(coming)],
                       restart ? ", all restarted" : "");
}

std::string run_recovery(const RecoveryCase& recovery) { return RecoveryRun{recovery}.run(); }

std::vector<RecoveryCase> recovery_table(std::uint64_t seed) {
    std::vector<RecoveryCase> table;
    for (const std::size_t machines : {3u, 5u, 7u})
        for (const auto length : {BranchLength::Shorter, BranchLength::Equal, BranchLength::Longer})
            for (const auto coming :
                 {ComingBack::OneByOne, ComingBack::Together, ComingBack::AfterAnother, ComingBack::FromBelow})
                for (const bool restart : {false, true})
                    table.push_back(
                        {.seed = ++seed, .machines = machines, .length = length, .coming = coming, .restart = restart});
    return table;
}

}  // namespace rhizome::sim
