// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

/// Which clusters still take orders when machines die and networks are cut, and which of those orders can no longer be
/// undone: the availability tables of docs/spec/chain.md section 8, measured with real cores, and what a cluster that
/// elects a leader would do in their place.
namespace rhizome::sim {

/// What goes wrong with a cluster, all at the same moment.
struct Disaster {
    std::string name{};               ///< the faults per zone, as the table prints them
    std::size_t members = 0;          ///< machines of the cluster, dead ones included
    std::uint32_t cuts = 0;           ///< of the network
    std::vector<std::size_t> live{};  ///< machines in each group that is still alive; none: all are dead

    [[nodiscard]] std::size_t alive() const;
};

/// Three zones of `zone` machines each (a multiple of 4): the rows of the specification's table.
std::vector<Disaster> three_zones(std::size_t zone);
/// The small clusters that leader-based systems are usually run with: three and nine machines, one in each zone.
std::vector<Disaster> small_clusters();

enum class Trust : std::uint8_t { Crash, Byzantine };

// ---- what is expected
// ------------------------------------------------------------------------------------------------

/// ⌊n/2⌋ + 1, or ⌊2n/3⌋ + 1 where members may lie.
std::size_t quorum(std::size_t members, Trust trust);
/// Some live machine can be reached.
bool expect_accepts(const Disaster& disaster);
/// One group holds a quorum of the voters.
bool expect_irreversible(const Disaster& disaster, Trust trust);
/// Raft and Paxos take an order where a group holds a majority of all members, which elects a leader and commits; and
/// nowhere else. What they take is never undone.
bool raft_accepts(const Disaster& disaster);

// ---- what is measured
// ------------------------------------------------------------------------------------------------

struct AvailabilityPlan {
    std::uint64_t seed = 1;
    microseconds accept_within =
        std::chrono::seconds{10};  ///< after the disaster an order is in the chain, or it is not
    microseconds final_within = std::chrono::seconds{20};  ///< and final, or it is not
    /// Everything is repaired in the end, and all that was taken must become final or be refused with a reason.
    bool repair = true;
    microseconds repaired_within = std::chrono::seconds{60};
};

/// What one cluster of real cores did in a disaster. Only orders given after it count.
struct Availability {
    Trust trust = Trust::Crash;
    bool accepts = false;                          ///< every live group put an order of its own into its chain
    std::optional<microseconds> accepted_after{};  ///< by the slowest group
    bool irreversible = false;                     ///< some group's order became final while the disaster lasted
    std::optional<microseconds> final_after{};     ///< the quickest
    std::optional<microseconds> repaired_after{};  ///< all machines on one chain, no order open
    std::vector<std::string> faults{};             ///< promises broken; none may be
    std::uint64_t events = 0;

    [[nodiscard]] bool is_as_expected(const Disaster& disaster) const;
};

Availability measure(const Disaster& disaster, Trust trust, const AvailabilityPlan& plan = {});

}  // namespace rhizome::sim
