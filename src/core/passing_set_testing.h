// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/passing_testing.h"

/// Records in small rooms, for tests of what stays.
namespace rhizome::core::passing_testing {

/// What one record counts for at least: four times what the smallest has.
inline constexpr std::size_t kShare = 6'000;

/// Room for so many of the smallest.
inline PassingRoom room_of(std::size_t records, std::size_t of_one) {
    return {.records_max = records, .bytes_max = records * kShare, .writer_records_max = of_one};
}

/// With so many bytes, or as few as can be.
inline SharedRecord record_of(std::uint8_t writer, std::string_view name, std::int64_t age, std::size_t bytes = 0) {
    PassingRecord record;
    record.writer.fill(writer);
    record.stamp = kNow - seconds{age};
    record.until = kNow + hours{1};
    record.entry = event_entry(name);
    record.path = record.entry->path();
    if (const std::size_t least = encoded_size(record); bytes > least)
        record.entry = event_entry(name, std::string(bytes - least, 'x'));
    return std::make_shared<const PassingRecord>(std::move(record));
}

/// As a node does when it hears of one. False when nothing has changed.
inline bool offer(detail::PassingSet& set, const SharedRecord& record) {
    const PassingId id = passing_id(record->path);
    const auto* before = set.find(id);
    const PassingVersion version = version_of(*record, digest_of(*record, {}));
    if (before != nullptr && version <= before->version) return false;
    if (before == nullptr && !set.has_room_for(id, *record, version)) return false;
    (void)set.put(id, record, version);
    return true;
}

inline std::vector<SharedRecord> all_of(const detail::PassingSet& set) {
    std::vector<SharedRecord> all;
    for (const auto& [id, held] : set.all()) all.push_back(held.record);
    return all;
}

}  // namespace rhizome::core::passing_testing
