// SPDX-License-Identifier: Apache-2.0
#include "ledger/readiness.h"

#include <vector>

#include "base/ensure.h"
#include "ledger/chain_records.h"
#include "ledger/special_kinds.h"

namespace rhizome::ledger {
namespace {

constexpr std::string_view kReadinessPart = "ready";

/// The digits of the key that a record by member ends with.
std::string_view digits_in(const state::Entry& record) {
    constexpr std::size_t kDigits = 2 * std::tuple_size_v<MemberKey>;
    const std::string_view key = record.key();
    ensure(key.size() > kDigits, "a record by member ends with the member's key");
    return key.substr(key.size() - 1 - kDigits, kDigits);
}

state::Path path_for(std::string_view digits) {
    auto made = state::Path::chain({kReadinessPart, digits});
    ensure(made.has_value(), "the ledger's own paths are well formed");
    return *std::move(made);
}

}  // namespace

namespace records {

state::Path readiness(const MemberKey& key) { return path_for(to_hex(key)); }

state::Prefix all_readiness() {
    auto made = state::Prefix::chain({kReadinessPart});
    ensure(made.has_value(), "the ledger's own prefixes are well formed");
    return *std::move(made);
}

Bytes encode(const Readiness& readiness) {
    Writer out;
    out.u8(readiness.is_ready ? 1 : 0).u64(static_cast<std::uint64_t>(readiness.since.unix_millis()));
    return std::move(out).take();
}

Result<Readiness, DecodeFault> decode_readiness(ByteView bytes) {
    constexpr std::uint64_t kMillisMax = 253'402'300'799'999;  // the year 9999, as for headers
    Reader in{bytes};
    TRY(const auto is_ready, in.u8());
    TRY(const auto millis, in.u64());
    TRY(in.finish());
    if (is_ready > 1 || millis > kMillisMax) return Fail{DecodeFault::BadValue};
    return Readiness{is_ready == 1, Time::from_unix_millis(static_cast<std::int64_t>(millis))};
}

}  // namespace records

void follow_leases(WorkingState& state, milliseconds lease, Time time) {
    const auto clock = static_cast<std::uint64_t>(lease_clock(state).count());
    const auto length = static_cast<std::uint64_t>(lease.count());
    std::vector<std::pair<state::Path, Readiness>> changed;
    // Both in the order of the keys: the second is walked beside the first, and nothing is looked for.
    state::Cursor known = state.walk(records::all_readiness());
    const state::Entry* beside = known.next();
    state::Cursor leases = state.walk(records::all_leases());
    while (const state::Entry* heard = leases.next()) {
        const std::string_view digits = digits_in(*heard);
        while (beside != nullptr && digits_in(*beside) < digits) beside = known.next();
        const bool is_ready = clock <= records::decode_number(heard->bytes()) + length;
        if (beside != nullptr && digits_in(*beside) == digits) {
            const auto before = records::decode_readiness(beside->bytes());
            if (before && before->is_ready == is_ready) continue;
        }
        changed.emplace_back(path_for(digits), Readiness{is_ready, time});
    }
    for (const auto& [path, readiness] : changed) state.put_record(path, records::encode(readiness));
}

}  // namespace rhizome::ledger
