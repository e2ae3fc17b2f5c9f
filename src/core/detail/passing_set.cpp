// SPDX-License-Identifier: Apache-2.0
#include "core/detail/passing_set.h"

#include <algorithm>

#include "base/ensure.h"

namespace rhizome::core::detail {

const PassingSet::Held* PassingSet::find(const PassingId& id) const {
    const auto at = held_.find(id);
    return at == held_.end() ? nullptr : &at->second;
}

bool PassingSet::has_room_for(const consensus::MemberKey& writer, const PassingVersion& version) const {
    const auto at = writers_.find(writer);
    if (at == writers_.end() || at->second.oldest_first.size() < room_.writer_records_max) return true;
    return at->second.oldest_first.begin()->first < version;
}

bool PassingSet::is_over(const Writer& writer) const {
    return writer.oldest_first.size() > room_.writer_records_max || writer.bytes > room_.writer_bytes_max;
}

std::vector<SharedRecord> PassingSet::put(const PassingId& id, SharedRecord record, const PassingVersion& version) {
    if (const Held* present = find(id); present != nullptr) {
        ensure(present->version < version, "only what is newer takes a place");
        (void)drop(id);
    }
    Held held{.record = std::move(record), .version = version};
    held.bytes = encoded_size(*held.record);
    Writer& writer = writers_[held.record->writer];
    writer.oldest_first.emplace(version, id);
    writer.bytes += held.bytes;
    bytes_ += held.bytes;
    ends_.emplace(held.record->until, id);
    groups_.sums[id.view()[0]] ^= version.tag;
    const auto by = held.record->writer;
    held_.emplace(id, std::move(held));

    std::vector<SharedRecord> gone;
    const auto drop_oldest_of = [&](const consensus::MemberKey& key) {
        gone.push_back(drop(writers_.at(key).oldest_first.begin()->second));
    };
    while (writers_.contains(by) && is_over(writers_.at(by))) drop_oldest_of(by);
    while (held_.size() > room_.records_max || bytes_ > room_.bytes_max) {
        const bool by_bytes = bytes_ > room_.bytes_max;
        const auto most = std::max_element(writers_.begin(), writers_.end(), [&](const auto& left, const auto& right) {
            return by_bytes ? left.second.bytes < right.second.bytes
                            : left.second.oldest_first.size() < right.second.oldest_first.size();
        });
        drop_oldest_of(most->first);
    }
    return gone;
}

SharedRecord PassingSet::drop(PassingId id) {
    const auto at = held_.find(id);
    ensure(at != held_.end(), "what is dropped was there");
    const Held held = std::move(at->second);
    held_.erase(at);
    const auto by = writers_.find(held.record->writer);
    by->second.oldest_first.erase({held.version, id});
    by->second.bytes -= held.bytes;
    if (by->second.oldest_first.empty()) writers_.erase(by);
    bytes_ -= held.bytes;
    ends_.erase({held.record->until, id});
    groups_.sums[id.view()[0]] ^= held.version.tag;
    return held.record;
}

std::vector<SharedRecord> PassingSet::expire(Time now) {
    std::vector<SharedRecord> gone;
    while (!ends_.empty() && ends_.begin()->first <= now) gone.push_back(drop(ends_.begin()->second));
    return gone;
}

std::vector<SharedRecord> PassingSet::keep_only(const std::set<consensus::MemberKey>& writers) {
    std::vector<PassingId> ids;
    for (const auto& [key, writer] : writers_) {
        if (writers.contains(key)) continue;
        for (const auto& [version, id] : writer.oldest_first) ids.push_back(id);
    }
    std::vector<SharedRecord> gone;
    for (const PassingId& id : ids) gone.push_back(drop(id));
    return gone;
}

std::optional<Time> PassingSet::next_end() const {
    if (ends_.empty()) return std::nullopt;
    return ends_.begin()->first;
}

std::size_t PassingSet::size_of(const consensus::MemberKey& writer) const {
    const auto at = writers_.find(writer);
    return at == writers_.end() ? 0 : at->second.oldest_first.size();
}

PassingSum PassingSet::sum() const {
    rhizome::Writer out;
    for (const std::uint64_t sum : groups_.sums) out.u64(sum);
    return {.count = static_cast<std::uint32_t>(held_.size()), .sum = crypto::sha256(out.view())};
}

std::map<PassingId, PassingSet::Held>::const_iterator PassingSet::group(std::size_t number) const {
    PassingId first;
    first.writable()[0] = static_cast<std::uint8_t>(number);
    return number >= kPassingGroups ? held_.end() : held_.lower_bound(first);
}

}  // namespace rhizome::core::detail
