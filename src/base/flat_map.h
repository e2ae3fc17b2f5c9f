// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace rhizome {

/// A map of some hundred small entries in one piece of memory, sorted: found with one or two cache misses where a tree
/// has one for each level, and walked in order. Putting one in moves those behind it. Pointers are valid until the next
/// change.
template <class Key, class Value>
class FlatMap {
public:
    using Entry = std::pair<Key, Value>;

    [[nodiscard]] Value* find(const Key& key) {
        const auto at = place_of(key);
        return at != entries_.end() && at->first == key ? &at->second : nullptr;
    }
    [[nodiscard]] const Value* find(const Key& key) const { return const_cast<FlatMap*>(this)->find(key); }

    /// The entry, and whether it is new.
    std::pair<Value*, bool> try_emplace(const Key& key, Value value) {
        const auto at = place_of(key);
        if (at != entries_.end() && at->first == key) return {&at->second, false};
        return {&entries_.insert(at, Entry{key, std::move(value)})->second, true};
    }

    bool erase(const Key& key) {
        const auto at = place_of(key);
        if (at == entries_.end() || at->first != key) return false;
        entries_.erase(at);
        return true;
    }
    template <class Predicate>
    void erase_if(Predicate predicate) {
        std::erase_if(entries_, predicate);
    }
    void clear() { entries_.clear(); }

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] auto begin() const { return entries_.begin(); }
    [[nodiscard]] auto end() const { return entries_.end(); }

private:
    auto place_of(const Key& key) {
        return std::lower_bound(entries_.begin(), entries_.end(), key,
                                [](const Entry& entry, const Key& wanted) { return entry.first < wanted; });
    }

    std::vector<Entry> entries_;
};

}  // namespace rhizome
