// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/passing_messages.h"

namespace rhizome::core {

/// How much a node keeps of documents off the chain. Every node keeps to the same, so that all keep the same.
struct PassingRoom {
    std::size_t records_max = 10'000;
    std::size_t bytes_max = 32u << 20;
    std::size_t writer_records_max = 5'000;  ///< of one member: half, so that one cannot crowd out all others
    std::size_t writer_bytes_max = 16u << 20;
};

namespace detail {

/// The newest version of each document off the chain, as far as there is room: of a member that has written too much
/// its oldest go, and when there is too much in all, the oldest of whoever has most. What stays does not depend on the
/// order in which records came.
class PassingSet {
public:
    explicit PassingSet(const PassingRoom& room) : room_(room) {}

    struct Held {
        SharedRecord record{};
        PassingVersion version{};
        std::size_t bytes = 0;
    };

    [[nodiscard]] const Held* find(const PassingId& id) const;
    /// Whether a version by this writer would stay, before anybody has looked at it closely.
    [[nodiscard]] bool has_room_for(const consensus::MemberKey& writer, const PassingVersion& version) const;
    /// Puts it in place of what stood there, which must be older. Gives what went to make room; its own record may be
    /// among that.
    std::vector<SharedRecord> put(const PassingId& id, SharedRecord record, const PassingVersion& version);
    /// What ends by then.
    std::vector<SharedRecord> expire(Time now);
    /// What was written by others than these.
    std::vector<SharedRecord> keep_only(const std::set<consensus::MemberKey>& writers);

    [[nodiscard]] std::optional<Time> next_end() const;
    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t size_of(const consensus::MemberKey& writer) const;
    [[nodiscard]] PassingSum sum() const;
    [[nodiscard]] const PassingGroups& groups() const { return groups_; }
    /// In rising order of the ids.
    [[nodiscard]] const std::map<PassingId, Held>& all() const { return held_; }
    /// The first of this group, or of one behind it.
    [[nodiscard]] std::map<PassingId, Held>::const_iterator group(std::size_t number) const;

private:
    struct Writer {
        std::set<std::pair<PassingVersion, PassingId>> oldest_first{};
        std::size_t bytes = 0;
    };
    /// By value: callers name a record by the very entry that goes with it.
    SharedRecord drop(PassingId id);
    [[nodiscard]] bool is_over(const Writer& writer) const;

    PassingRoom room_;
    std::map<PassingId, Held> held_;
    std::map<consensus::MemberKey, Writer> writers_;
    std::set<std::pair<Time, PassingId>> ends_;
    PassingGroups groups_{};
    std::size_t bytes_ = 0;
};

}  // namespace detail
}  // namespace rhizome::core
