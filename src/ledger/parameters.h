// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "ledger/block.h"
#include "ledger/limits.h"
#include "ledger/reject.h"

namespace rhizome::ledger {

/// Whom the voters may have to fear: crashed nodes, or lying ones. Decides the size of a quorum.
enum class Trust : std::uint8_t { Crash, Byzantine };

/// How many documents of a kind, and how many bytes of them, a namespace (or the cluster, for kinds without one) may
/// hold.
struct Quota {
    std::uint64_t count_max = UINT64_MAX;
    std::uint64_t bytes_max = UINT64_MAX;
    friend bool operator==(const Quota&, const Quota&) = default;
};

/// Set by the holder of the Cluster's lock when too many voters are lost for good; the only way to undo a final block.
struct Recovery {
    std::uint64_t generation = 0;
    std::vector<std::string> voters{};  ///< node names
    friend bool operator==(const Recovery&, const Recovery&) = default;
};

/// What chains of work go by (docs/spec/chain.md section 5).
///
/// The hash rate is fixed at genesis: it is used for the first target only, so a later change would silently do
/// nothing. Block time and period may change; they are asked at the next retarget, which measures whole blocks mined
/// at one target and so is right whenever in a period the change came.
struct WorkRules {
    std::uint64_t hash_rate = 100'000;  ///< hashes per second that the cluster is expected to give at genesis
    /// One heartbeat. Votes stop three heartbeats after the tip's time, so much slower blocks would be seldom final.
    milliseconds block_time{5'000};
    /// Blocks between two retargets: 128 × 5 s is 11 minutes, and 128 blocks measure the hash rate to 1/√128 = 9 %.
    std::uint32_t period = 128;
    friend bool operator==(const WorkRules&, const WorkRules&) = default;
};
inline constexpr std::uint64_t kHashRateMax = 1'000'000'000'000'000;  ///< 1 PH/s: thousands of times a large cluster
inline constexpr std::uint32_t kWorkPeriodMax = 1'000'000;

/// The rules of a chain, read from the Cluster document's `spec` (docs/spec/chain.md section 6). All have defaults.
struct Parameters {
    ConsensusId consensus = ConsensusId::Authority;
    Trust trust = Trust::Crash;
    milliseconds epoch{250};  ///< fixed at genesis
    milliseconds min_interval{2};
    milliseconds heartbeat{5'000};
    milliseconds rank_delay{250};
    std::uint32_t lease_heartbeats = 4;
    std::uint64_t block_bytes = kBlockBytesMax;
    std::string pod_cidr = "10.244.0.0/16";
    std::string service_cidr = "10.96.0.0/16";
    std::uint16_t node_port_first = 30'000;
    std::uint16_t node_port_last = 32'767;
    std::map<std::string, Quota> quotas{};  ///< by `Kind` or `Kind.group`
    milliseconds cooldown{0};               ///< between two changes of one resource by its own lock
    std::uint32_t join_rate = 0;            ///< nodes per minute by join token; 0: no limit
    std::uint32_t derivation_version = 1;
    std::uint32_t rules_version = 1;
    Recovery recovery{};
    WorkRules work{};

    [[nodiscard]] milliseconds lease() const { return heartbeat * lease_heartbeats; }
    /// What a block may advance the lease clock by: while nobody mints, nobody expires.
    [[nodiscard]] milliseconds lease_step_max() const { return heartbeat * 2; }
    [[nodiscard]] Quota quota_of(std::string_view group, std::string_view kind) const;

    friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// Reads the `spec` of a Cluster document. Durations are texts (`250ms`), sizes integers or texts (`4Mi`). Unknown
/// members and values out of range are refused with the member's name: a misspelt rule must not silently stay at its
/// default.
Result<Parameters, Reject> read_parameters(const json::Value& cluster);

/// What may not change from `before` to `after`.
Result<void, Reject> check_parameter_change(const Parameters& before, const Parameters& after);

}  // namespace rhizome::ledger
