// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/member.h"
#include "ledger/working_state.h"

/// Whether a member is in lease, and since when: kept under `/chain/ready/<key>` (docs/spec/chain.md section 2), so that
/// every node of a branch shows the same of every machine, whenever it was started and whatever it was linked to.
namespace rhizome::ledger {

struct Readiness {
    bool is_ready = false;
    Time since{};  ///< of the block in which it became so
    friend bool operator==(const Readiness&, const Readiness&) = default;
};

namespace records {

/// Whether its lease runs (1: 1 or 0) ‖ since when (8), Unix milliseconds.
state::Path readiness(const MemberKey& key);
state::Prefix all_readiness();
Bytes encode(const Readiness& readiness);
Result<Readiness, DecodeFault> decode_readiness(ByteView bytes);

}  // namespace records

/// Writes down which leases have ended by the lease clock as it is now, and which run again. `time` is the block's.
/// Costs a walk over the leases; writes only what changed.
void follow_leases(WorkingState& state, milliseconds lease, Time time);

}  // namespace rhizome::ledger
