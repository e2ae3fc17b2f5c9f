// SPDX-License-Identifier: Apache-2.0
#include "core/detail/passing_set.h"

#include <algorithm>

#include "base/ensure.h"

namespace rhizome::core::detail {

const PassingSet::Held* PassingSet::find(const PassingId& id) const {
    const auto at = held_.find(id);
    return at == held_.end() ? nullptr : &at->second;
}

std::optional<std::vector<PassingId>> PassingSet::room_for(const PassingId& id, const PassingRecord& record,
                                                           const PassingVersion& version) const {
    const Held* before = find(id);
    const std::size_t cost = room_.cost_of(encoded_size(record));
    std::vector<PassingId> gone;

    // What each writer would have, its oldest at hand. Steps over what stands at the id now.
    struct Stack {
        const consensus::MemberKey* key;
        const Writer* writer;  ///< null: it has nothing yet
        decltype(Writer::oldest_first)::const_iterator oldest{};
        std::size_t cost = 0;
    };
    const auto stack_of = [&](const consensus::MemberKey& key, const Writer* writer) {
        Stack stack{.key = &key, .writer = writer};
        if (writer == nullptr) return stack;
        stack.oldest = writer->oldest_first.begin();
        stack.cost = writer->cost;
        if (before != nullptr && before->record->writer == key) stack.cost -= before->cost;
        return stack;
    };
    /// Its oldest; null when that is the new record, or there is none.
    const auto oldest_of = [&](Stack& stack) -> decltype(&*stack.oldest) {
        if (stack.writer == nullptr) return nullptr;
        const auto end = stack.writer->oldest_first.end();
        if (stack.oldest != end && stack.oldest->first.second == id) ++stack.oldest;
        if (stack.oldest == end) return nullptr;
        if (*stack.key == record.writer && std::pair(version, id) < stack.oldest->first) return nullptr;
        return &*stack.oldest;
    };
    std::size_t in_all = cost_ - (before != nullptr ? before->cost : 0) + cost;
    const auto drop_oldest_of = [&](Stack& stack) {
        const auto* oldest = oldest_of(stack);
        if (oldest == nullptr) return false;
        stack.cost -= oldest->second;
        in_all -= oldest->second;
        gone.push_back(oldest->first.second);
        ++stack.oldest;
        return true;
    };

    const auto known = writers_.find(record.writer);
    Stack own = stack_of(record.writer, known == writers_.end() ? nullptr : &known->second);
    own.cost += cost;
    while (own.cost > room_.writer_cost_max())
        if (!drop_oldest_of(own)) return std::nullopt;
    if (in_all <= room_.cost_max()) return gone;

    std::vector<Stack> stacks{own};
    for (const auto& [key, writer] : writers_)
        if (key != record.writer) stacks.push_back(stack_of(key, &writer));
    // By what is newer than its oldest, not by all that a writer has: a large record would rank behind a smaller and
    // older one of the same writer, and three nodes could take things from each other in a circle.
    const auto rank = [&](Stack& stack) {
        const auto* oldest = oldest_of(stack);
        const std::size_t last = oldest != nullptr ? oldest->second : stack.key == own.key ? cost : 0;
        return std::pair(stack.cost - last, *stack.key);
    };
    while (in_all > room_.cost_max()) {
        auto most = stacks.begin();
        auto most_rank = rank(*most);
        for (auto one = most + 1; one != stacks.end(); ++one) {
            if (one->cost == 0) continue;
            auto ranked = rank(*one);
            if (ranked <= most_rank) continue;
            most = one;
            most_rank = ranked;
        }
        if (!drop_oldest_of(*most)) return std::nullopt;
    }
    return gone;
}

std::vector<SharedRecord> PassingSet::put(const PassingId& id, SharedRecord record, const PassingVersion& version) {
    const auto room = room_for(id, *record, version);
    if (const Held* present = find(id); present != nullptr) {
        ensure(present->version < version, "only what is newer takes a place");
        (void)drop(id);
    }
    if (!room) return {std::move(record)};
    std::vector<SharedRecord> gone;
    for (const PassingId& one : *room) gone.push_back(drop(one));

    Held held{.record = std::move(record), .version = version};
    held.bytes = encoded_size(*held.record);
    held.cost = room_.cost_of(held.bytes);
    Writer& writer = writers_[held.record->writer];
    writer.oldest_first.emplace(std::pair(version, id), held.cost);
    writer.cost += held.cost;
    bytes_ += held.bytes;
    cost_ += held.cost;
    ends_.emplace(held.record->until, id);
    changed_.set(id.view()[0]);
    held_.emplace(id, std::move(held));
    return gone;
}

SharedRecord PassingSet::drop(PassingId id) {
    const auto at = held_.find(id);
    ensure(at != held_.end(), "what is dropped was there");
    const Held held = std::move(at->second);
    held_.erase(at);
    const auto by = writers_.find(held.record->writer);
    by->second.oldest_first.erase({held.version, id});
    by->second.cost -= held.cost;
    if (by->second.oldest_first.empty()) writers_.erase(by);
    bytes_ -= held.bytes;
    cost_ -= held.cost;
    ends_.erase({held.record->until, id});
    changed_.set(id.view()[0]);
    return held.record;
}

std::vector<SharedRecord> PassingSet::expire(Time now) {
    std::vector<SharedRecord> gone;
    while (!ends_.empty() && ends_.begin()->first <= now) gone.push_back(drop(ends_.begin()->second));
    return gone;
}

std::vector<SharedRecord> PassingSet::forget_later(const consensus::MemberKey& writer, Time stamp) {
    std::vector<SharedRecord> gone;
    for (auto at = writers_.find(writer); at != writers_.end(); at = writers_.find(writer)) {
        const auto& [version, id] = at->second.oldest_first.rbegin()->first;
        if (version.stamp <= stamp) break;
        gone.push_back(drop(id));
    }
    return gone;
}

std::vector<SharedRecord> PassingSet::keep_only(const std::set<consensus::MemberKey>& writers) {
    std::vector<PassingId> ids;
    for (const auto& [key, writer] : writers_) {
        if (writers.contains(key)) continue;
        for (const auto& [named, cost] : writer.oldest_first) ids.push_back(named.second);
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

const PassingGroups& PassingSet::groups() const {
    if (changed_.none()) return groups_;
    for (std::size_t number = 0; number < kPassingGroups; ++number) {
        if (!changed_.test(number)) continue;
        rhizome::Writer out;
        const auto end = group(number + 1);
        for (auto at = group(number); at != end; ++at) encode(out, {at->first, at->second.version});
        groups_.sums[number] = PassingGroupSum{crypto::sha256(out.view()).view().first<PassingGroupSum::kSize>()};
    }
    changed_.reset();
    rhizome::Writer all{kPassingGroups * PassingGroupSum::kSize};
    for (const PassingGroupSum& sum : groups_.sums) all.id(sum);
    sum_ = crypto::sha256(all.view());
    return groups_;
}

PassingSum PassingSet::sum() const {
    (void)groups();
    return {.count = static_cast<std::uint32_t>(held_.size()), .sum = sum_};
}

std::map<PassingId, PassingSet::Held>::const_iterator PassingSet::group(std::size_t number) const {
    PassingId first;
    first.writable()[0] = static_cast<std::uint8_t>(number);
    return number >= kPassingGroups ? held_.end() : held_.lower_bound(first);
}

}  // namespace rhizome::core::detail
