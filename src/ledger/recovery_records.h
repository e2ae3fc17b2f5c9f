// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "ledger/reject.h"
#include "ledger/vote_record_id.h"
#include "state/view.h"

namespace rhizome::ledger {

/// What `spec.recovery.records` of a Cluster says, by node name: the vote records that begin empty with the recovery's
/// generation. Whoever cannot know what it signed before signs in that generation all the same, because the owner says
/// that no other directory with its keys is ever used again.
using RecoveryRecords = std::map<std::string, VoteRecordId>;

/// Of the member itself. BadEncoding for anything but an object of 32 lower-case hexadecimal digits each.
Result<RecoveryRecords, Reject> read_recovery_records(const json::Value& records);
/// Of a Cluster's document that was checked; empty when it names none.
RecoveryRecords recovery_records_in(const json::Value& cluster);
/// What holds in a state.
RecoveryRecords recovery_records_of(const state::StateView& view);

}  // namespace rhizome::ledger
