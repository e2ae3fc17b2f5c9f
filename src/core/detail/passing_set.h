// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/passing_messages.h"

namespace rhizome::core {

/// How much a node keeps of documents off the chain. Every node keeps to the same, so that all keep the same.
///
/// There is one measure for it: a record counts for its bytes, or for its share of them where it has less. With two,
/// bytes here and records there, two nodes could each have no room for what the other has, for ever.
struct PassingRoom {
    std::size_t records_max = 10'000;
    std::size_t bytes_max = 32u << 20;
    std::size_t writer_records_max = 5'000;  ///< of one member: half, so that one cannot crowd out all others

    [[nodiscard]] std::size_t share() const { return bytes_max / records_max; }
    [[nodiscard]] std::size_t cost_of(std::size_t bytes) const { return std::max(bytes, share()); }
    [[nodiscard]] std::size_t cost_max() const { return records_max * share(); }
    [[nodiscard]] std::size_t writer_cost_max() const { return writer_records_max * share(); }
};

namespace detail {

/// The newest version of each document off the chain, as far as there is room: of a member that has written too much
/// its oldest go, and when there is too much in all, the oldest of whoever has most beside it.
///
/// What stays can depend on the order in which records came, since nobody remembers what had to go: something smaller
/// may have come in its place. But two sets that give each other what they have come to an end, and are then equal. A
/// record ranks by what its writer's newer ones cost together, then by its writer, and makes only such as rank behind
/// it go, or does not come in: each one that does makes the set a better one, by the first rank at which the two
/// differ. And the first that one of two sets lacks has room there: all that ranks before it is in both.
class PassingSet {
public:
    explicit PassingSet(const PassingRoom& room) : room_(room) {}

    struct Held {
        SharedRecord record{};
        PassingVersion version{};
        std::size_t bytes = 0;
        std::size_t cost = 0;
    };

    [[nodiscard]] const Held* find(const PassingId& id) const;
    /// Whether it would stay, before anybody has looked at it closely.
    [[nodiscard]] bool has_room_for(const PassingId& id, const PassingRecord& record,
                                    const PassingVersion& version) const {
        return room_for(id, record, version).has_value();
    }
    /// Puts it in place of what stood there, which must be older and goes in any case. Gives what went to make room;
    /// where there is none for it, that is the record itself.
    std::vector<SharedRecord> put(const PassingId& id, SharedRecord record, const PassingVersion& version);
    /// What ends by then.
    std::vector<SharedRecord> expire(Time now);
    /// What this writer stamped later than that.
    std::vector<SharedRecord> forget_later(const consensus::MemberKey& writer, Time stamp);
    /// What was written by others than these.
    std::vector<SharedRecord> keep_only(const std::set<consensus::MemberKey>& writers);

    [[nodiscard]] std::optional<Time> next_end() const;
    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t size_of(const consensus::MemberKey& writer) const;
    [[nodiscard]] PassingSum sum() const;
    [[nodiscard]] const PassingGroups& groups() const;
    /// In rising order of the ids.
    [[nodiscard]] const std::map<PassingId, Held>& all() const { return held_; }
    /// The first of this group, or of one behind it.
    [[nodiscard]] std::map<PassingId, Held>::const_iterator group(std::size_t number) const;

private:
    struct Writer {
        std::map<std::pair<PassingVersion, PassingId>, std::size_t> oldest_first{};  ///< and what each costs
        std::size_t cost = 0;
    };
    /// By value: callers name a record by the very entry that goes with it.
    SharedRecord drop(PassingId id);
    /// What has to go for it beside what stands there now; nothing when it would have to go itself.
    [[nodiscard]] std::optional<std::vector<PassingId>> room_for(const PassingId& id, const PassingRecord& record,
                                                                 const PassingVersion& version) const;

    PassingRoom room_;
    std::map<PassingId, Held> held_;
    std::map<consensus::MemberKey, Writer> writers_;
    std::set<std::pair<Time, PassingId>> ends_;
    /// Summed up when somebody asks, and then only the groups that have changed: of a flood into one group nothing is
    /// summed but when nodes compare.
    mutable PassingGroups groups_{};
    mutable std::bitset<kPassingGroups> changed_ = std::bitset<kPassingGroups>{}.set();
    mutable crypto::Hash256 sum_{};
    std::size_t bytes_ = 0;
    std::size_t cost_ = 0;
};

}  // namespace detail
}  // namespace rhizome::core
