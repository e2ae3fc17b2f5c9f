// SPDX-License-Identifier: Apache-2.0
#include "ledger/recovery_records.h"

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/chain_records.h"
#include "ledger/special_kinds.h"

namespace rhizome::ledger {
namespace {

/// More than there are nodes.
constexpr std::size_t kRecordsMax = 10'000;

}  // namespace

Result<RecoveryRecords, Reject> read_recovery_records(const json::Value& records) {
    const json::Object* members = records.if_object();
    if (members == nullptr || members->size() > kRecordsMax)
        return reject(RejectCode::BadEncoding, "spec.recovery.records is no object with a record for each node");
    RecoveryRecords read;
    for (const auto& [node, value] : *members) {
        VoteRecordId id{};
        const std::string* hex = value.if_string();
        if (hex == nullptr || !from_hex_into(*hex, id) || *hex != to_hex(id))
            return reject(RejectCode::BadEncoding,
                          fmt::format("spec.recovery.records has no 32 hexadecimal digits for {}", json::quote(node)));
        read.emplace(node, id);
    }
    return read;
}

RecoveryRecords recovery_records_in(const json::Value& cluster) {
    const json::Value* records = cluster.find_path({"spec", "recovery", "records"});
    if (records == nullptr) return {};
    auto read = read_recovery_records(*records);
    ensure(read.has_value(), "a Cluster in the state was checked");
    return *std::move(read);
}

RecoveryRecords recovery_records_of(const state::StateView& view) {
    const state::Entry* record = view.get(records::parameters());
    if (record == nullptr) return {};
    return recovery_records_in(json::Object{{"spec", parse_checked(record->document())}});
}

}  // namespace rhizome::ledger
