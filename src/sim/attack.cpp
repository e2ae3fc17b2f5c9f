// SPDX-License-Identifier: Apache-2.0
#include "sim/attack.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/u256.h"
#include "consensus/beacon.h"
#include "consensus/fork_choice.h"
#include "state/tree.h"

namespace rhizome::sim {
namespace {

constexpr std::uint32_t kWhole = 10'000;  // hundredths of a percent

/// Rounded to the nearest.
std::uint32_t share_of(std::uint64_t part, std::uint64_t whole) {
    return static_cast<std::uint32_t>((part * kWhole + whole / 2) / whole);
}

// ---- work -----------------------------------------------------------------------------------------------------------

/// What a cluster without compromised nodes does in the default block time, 5 s. Weight is work, so a target that
/// follows the hash rate changes how fast blocks come and not who is ahead.
std::uint64_t block_hashes(const AttackPlan& plan) { return plan.honest_hash_rate * plan.nodes * 5; }

/// Two searches side by side. The hashes of all nodes of a side add up: each is as likely to be the one as any other.
/// Nobody's search starts again when the other side finds something, since a hash that failed says nothing about the
/// next. Blocks arrive at once.
class HashRace {
public:
    HashRace(const AttackPlan& plan, std::uint32_t compromised, Random random)
        : random_(random),
          search_(block_hashes(plan)),
          honest_{.rate = plan.honest_hash_rate * (plan.nodes - compromised)},
          compromised_{.rate = plan.compromised_hash_rate * compromised} {
        honest_.next = search_.draw(random_);
        compromised_.next = search_.draw(random_);
    }

    /// Whether the next block is a dummy.
    bool next_is_dummy() {
        // Searches end after next / rate seconds; compared without dividing.
        const std::uint64_t honest_end = honest_.next * compromised_.rate;
        const std::uint64_t dummy_end = compromised_.next * honest_.rate;
        const bool dummy = honest_end == dummy_end ? random_.chance(1, 2) : dummy_end < honest_end;
        Side& finder = dummy ? compromised_ : honest_;
        finder.next += search_.draw(random_);
        return dummy;
    }

private:
    struct Side {
        std::uint64_t rate = 0;
        std::uint64_t next = 0;  ///< hashes since the start when it finds its next block
    };
    Random random_;
    HashesToFind search_;
    Side honest_;
    Side compromised_;
};

std::uint32_t count_dummies(const AttackPlan& plan, std::uint32_t compromised, Random random) {
    HashRace race{plan, compromised, random};
    std::uint32_t dummies = 0;
    for (std::uint32_t block = 0; block < plan.blocks; ++block) dummies += race.next_is_dummy() ? 1 : 0;
    return dummies;
}

/// Both sides build on their own blocks alone. Whether the dummies' chain is mostly the heavier one in the end.
bool work_discards(const AttackPlan& plan, std::uint32_t compromised) {
    Random random = Random{plan.seed}.fork(fmt::format("work races {}", compromised));
    std::uint32_t won = 0;
    for (std::uint32_t i = 0; i < plan.races; ++i)
        won += 2 * count_dummies(plan, compromised, random.fork("race")) > plan.blocks ? 1 : 0;
    return 2 * won > plan.races;
}

// ---- equal weight ---------------------------------------------------------------------------------------------------

std::vector<consensus::MemberKey> members_of(const AttackPlan& plan) {
    std::vector<consensus::MemberKey> members(plan.nodes);
    Random random = Random{plan.seed}.fork("members");
    for (auto& key : members) {
        random.fill(key);
        key[0] = 2;
    }
    std::sort(members.begin(), members.end());
    return members;
}

/// How many of `plan.blocks` heights each member is the first to seal.
std::vector<std::uint32_t> count_turns(const AttackPlan& plan) {
    const auto members = members_of(plan);
    Random random = Random{plan.seed}.fork("seed");
    std::array<std::uint8_t, 32> seed{};
    random.fill(seed);
    state::Batch batch{{}};
    batch.put(state::Entry::plain(consensus::records::seed(), seed).value());
    const state::StateView state = std::move(batch).finish().view;
    const consensus::Electorate electorate{.voters = members};
    std::vector<std::uint32_t> turns(members.size());
    for (std::uint32_t height = 1; height <= plan.blocks; ++height) {
        const auto order = consensus::draw_order(state, {}, electorate, ledger::Height{height});
        const auto at = std::lower_bound(members.begin(), members.end(), order.ranked.front());
        ++turns[static_cast<std::size_t>(at - members.begin())];
    }
    return turns;
}

/// In every slot each member adds one to the weight of the chain it attests; nothing is final yet. Where the weights
/// are equal neither chain is lost by them.
bool weight_discards(const AttackPlan& plan, std::uint32_t compromised) {
    constexpr std::uint64_t kSlots = 100;
    const consensus::ChainRank dummies{.weight = multiply(U256{compromised}, kSlots).value};
    const consensus::ChainRank honest{.weight = multiply(U256{plan.nodes - compromised}, kSlots).value};
    return dummies > honest;
}

/// The first number of compromised nodes that discards the honest chain. More of them never do worse, so it is found by
/// halving.
template <class Discards>
std::uint32_t first_to_discard(const AttackPlan& plan, const Discards& discards) {
    std::uint32_t too_few = 0, enough = plan.nodes + 1;
    while (enough - too_few > 1) {
        const std::uint32_t middle = (too_few + enough) / 2;
        (discards(plan, middle) ? enough : too_few) = middle;
    }
    return enough;
}

void check(const AttackPlan& plan) {
    ensure(plan.nodes > 50 && plan.nodes <= 10'000, "the tables have up to 50 compromised nodes");
    ensure(plan.blocks > 0 && plan.races > 0, "a run has blocks");
    ensure(plan.honest_hash_rate > 0 && plan.compromised_hash_rate > 0, "nodes hash");
    // A search may take 44 times the mean, and many together no more than twice: 2^-64 is the chance of more.
    const std::uint64_t fastest = plan.nodes * std::max(plan.honest_hash_rate, plan.compromised_hash_rate);
    const U256 hashes = multiply(U256{2 * (std::uint64_t{plan.blocks} + 64)}, block_hashes(plan)).value;
    ensure(multiply(hashes, fastest).value.bit_length() <= 64, "hashes of a run × rate fit 64 bits");
}

}  // namespace

HashesToFind::HashesToFind(std::uint64_t mean) {
    ensure(mean > 1 && mean < 1ull << 40, "more bits would not be exact");
    // r, r^2, r^4 … as fractions of 2^64. Squaring doubles the relative error: 2^-64 at first, 2^-18 for the last bits
    // of the longest searches, which are hardly ever set.
    std::uint64_t chance = UINT64_MAX - UINT64_MAX / mean;
    while (chance > 0) {
        const U256 one = U256::power_of_two(64);
        thresholds_.push_back(divide(U256{chance} << 64, add(one, U256{chance}).value).quotient.low64());
        chance = (multiply(U256{chance}, chance).value >> 64).low64();
    }
}

std::uint64_t HashesToFind::draw(Random& random) const {
    std::uint64_t failures = 0;
    for (std::size_t bit = 0; bit < thresholds_.size(); ++bit)
        failures |= std::uint64_t{random.next() < thresholds_[bit]} << bit;
    return failures + 1;
}

bool AttackRow::is_as_expected() const {
    const std::uint32_t apart = std::max(dummy_measured, dummy_expected) - std::min(dummy_measured, dummy_expected);
    return apart <= kTolerance && discards_measured == discards_expected;
}

bool AttackTable::is_as_expected() const {
    return discards_from_measured == discards_from_expected &&
           std::all_of(rows.begin(), rows.end(), [](const AttackRow& row) { return row.is_as_expected(); });
}

AttackTable work_attack(const AttackPlan& plan) {
    check(plan);
    const auto power_of = [&](std::uint32_t compromised) { return plan.compromised_hash_rate * compromised; };
    const auto honest_power = [&](std::uint32_t compromised) {
        return plan.honest_hash_rate * (plan.nodes - compromised);
    };
    AttackTable table{.engine = "work"};
    for (const std::uint32_t compromised : {1u, 5u, 10u, 15u, 16u, 17u, 20u, 50u}) {
        const std::uint64_t power = power_of(compromised), honest = honest_power(compromised);
        const auto dummies =
            count_dummies(plan, compromised, Random{plan.seed}.fork(fmt::format("work chain {}", compromised)));
        table.rows.push_back({.compromised = compromised,
                              .dummy_measured = share_of(dummies, plan.blocks),
                              .dummy_expected = share_of(power, power + honest),
                              .discards_measured = work_discards(plan, compromised),
                              .discards_expected = power > honest});
    }
    table.discards_from_measured = first_to_discard(plan, work_discards);
    table.discards_from_expected = first_to_discard(plan, [&](const AttackPlan&, std::uint32_t compromised) {
        return power_of(compromised) > honest_power(compromised);
    });
    return table;
}

AttackTable equal_weight_attack(const AttackPlan& plan) {
    check(plan);
    // Members are sorted by key, which says nothing about them: the first ones are as good as any.
    const auto turns = count_turns(plan);
    AttackTable table{.engine = "equal weight"};
    for (const std::uint32_t compromised : {1u, 5u, 10u, 16u, 17u, 33u, 49u, 50u, 51u}) {
        std::uint64_t dummies = 0;
        for (std::uint32_t i = 0; i < compromised; ++i) dummies += turns[i];
        table.rows.push_back({.compromised = compromised,
                              .dummy_measured = share_of(dummies, plan.blocks),
                              .dummy_expected = share_of(compromised, plan.nodes),
                              .discards_measured = weight_discards(plan, compromised),
                              .discards_expected = compromised > plan.nodes / 2});
    }
    table.discards_from_measured = first_to_discard(plan, weight_discards);
    table.discards_from_expected = plan.nodes / 2 + 1;
    return table;
}

}  // namespace rhizome::sim
