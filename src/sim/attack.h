// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

/// What compromised members can do to a chain: the tables of docs/spec/chain.md section 8, simulated from a seed.
///
/// A compromised member seals *dummy* blocks, with nothing of what people want in them. While it is outweighed it has
/// to build on what others seal, and only slows the chain down by the share of its own blocks. Once all compromised
/// members together gain weight faster than the honest ones, they leave honest blocks aside, and their chain of dummies
/// is the one that everybody follows: the honest chain is *discarded*.
namespace rhizome::sim {

struct AttackPlan {
    std::uint64_t seed = 1;
    std::uint32_t nodes = 100;
    std::uint32_t blocks = 10'000;  ///< in each run
    /// How often two chains race before it is said which one wins. Close races fall either way: with 17 of 100
    /// compromised the dummies have 50.6 % of the power and win 89 in 100 races of 10,000 blocks.
    std::uint32_t races = 31;
    // work only; 20 % of what a node can do, where a compromised one gives all
    std::uint64_t honest_hash_rate = 20'000;
    std::uint64_t compromised_hash_rate = 100'000;
};

/// One line of a table. Shares are in hundredths of a percent.
struct AttackRow {
    std::uint32_t compromised = 0;     ///< nodes
    std::uint32_t dummy_measured = 0;  ///< share of the blocks sealed that are dummies
    std::uint32_t dummy_expected = 0;
    bool discards_measured = false;  ///< whether the honest chain is lost
    bool discards_expected = false;

    /// ±1.5 points: three standard deviations of 10,000 fair draws.
    static constexpr std::uint32_t kTolerance = 150;
    [[nodiscard]] bool is_as_expected() const;
};

struct AttackTable {
    std::string engine{};  ///< "work" or "equal weight"
    std::vector<AttackRow> rows{};
    /// From so many compromised nodes on the honest chain is discarded; one more than there are nodes if never.
    std::uint32_t discards_from_measured = 0;
    std::uint32_t discards_from_expected = 0;

    [[nodiscard]] bool is_as_expected() const;
};

/// Work: a race of hash rates. Who finds the next block is whoever's search ends first.
AttackTable work_attack(const AttackPlan& plan = {});
/// All other engines: every member has the same weight and the same chance of a turn. Turns are drawn by the engine's
/// own order (consensus/beacon.h).
AttackTable equal_weight_attack(const AttackPlan& plan = {});

/// How many hashes a search takes when each succeeds once in `mean`, drawn with integers only.
///
/// The number of failures has P(n) ~ r^n with r = 1 − 1/mean. Since r^n is the product of r^(2^k) over the bits k of n,
/// its bits are independent of one another, bit k being 1 with chance r^(2^k) / (1 + r^(2^k)): each is drawn against a
/// threshold of 64 bits.
class HashesToFind {
public:
    explicit HashesToFind(std::uint64_t mean);  ///< 1 < mean < 2^40
    std::uint64_t draw(Random& random) const;   ///< at least 1

private:
    std::vector<std::uint64_t> thresholds_;
};

}  // namespace rhizome::sim
