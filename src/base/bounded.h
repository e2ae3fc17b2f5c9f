// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "base/ensure.h"

namespace rhizome {

/// First in, first out, never more than `max` items: `push` refuses when full, so the producer learns of the pressure.
template <class T>
class BoundedQueue {
public:
    explicit BoundedQueue(std::size_t max) : max_(max) { ensure(max > 0, "a queue has room for something"); }

    /// Takes `item`, or leaves it untouched and answers false when the queue is full.
    [[nodiscard]] bool push(T&& item) {
        if (full()) return false;
        items_.push_back(std::move(item));
        return true;
    }
    [[nodiscard]] bool push(const T& item) { return push(T{item}); }

    std::optional<T> pop() {
        if (items_.empty()) return std::nullopt;
        std::optional<T> front{std::move(items_.front())};
        items_.pop_front();
        return front;
    }

    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] std::size_t max() const { return max_; }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    [[nodiscard]] bool full() const { return items_.size() >= max_; }

private:
    std::deque<T> items_;
    std::size_t max_;
};

/// A sorted map of at most `max` entries that refuses new keys when full; known keys can always be updated. Walks in
/// key order, so deciding code may iterate over it.
template <class Key, class Value, class Less = std::less<>>
class BoundedMap {
public:
    explicit BoundedMap(std::size_t max) : max_(max) { ensure(max > 0, "a map has room for something"); }

    /// Sets `key`; false, with nothing changed, when the key is new and the map is full.
    [[nodiscard]] bool set(const Key& key, Value value) {
        if (const auto at = entries_.find(key); at != entries_.end()) {
            at->second = std::move(value);
            return true;
        }
        if (entries_.size() >= max_) return false;
        entries_.emplace(key, std::move(value));
        return true;
    }

    template <class K>
    [[nodiscard]] const Value* find(const K& key) const {
        const auto at = entries_.find(key);
        return at == entries_.end() ? nullptr : &at->second;
    }
    template <class K>
    [[nodiscard]] Value* find(const K& key) {
        const auto at = entries_.find(key);
        return at == entries_.end() ? nullptr : &at->second;
    }
    template <class K>
    bool erase(const K& key) {
        const auto at = entries_.find(key);
        if (at == entries_.end()) return false;
        entries_.erase(at);
        return true;
    }

    [[nodiscard]] auto begin() const { return entries_.begin(); }
    [[nodiscard]] auto end() const { return entries_.end(); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::size_t max() const { return max_; }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] bool full() const { return entries_.size() >= max_; }

private:
    std::map<Key, Value, Less> entries_;
    std::size_t max_;
};

/// A cache whose entries together cost at most `max` (entries, or bytes when costs are given): a new entry pushes out
/// those unused for longest. An entry dearer than the whole cache is not kept.
template <class Key, class Value, class Less = std::less<>>
class LruCache {
public:
    explicit LruCache(std::size_t max) : max_(max) {}
    LruCache(LruCache&&) noexcept = default;  // a copy would point into the original's entries
    LruCache& operator=(LruCache&&) noexcept = default;

    void put(const Key& key, Value value, std::size_t cost = 1) {
        erase(key);
        if (cost > max_) return;
        while (cost_ > max_ - cost) evict();
        const auto at = places_.emplace(key, order_.end()).first;
        order_.push_front(Entry{&at->first, std::move(value), cost});
        at->second = order_.begin();
        cost_ += cost;
    }

    /// The entry, which thereby becomes the most recently used; valid until the next change of the cache.
    template <class K>
    [[nodiscard]] Value* get(const K& key) {
        const auto at = places_.find(key);
        if (at == places_.end()) return nullptr;
        order_.splice(order_.begin(), order_, at->second);
        return &at->second->value;
    }

    template <class K>
    bool erase(const K& key) {
        const auto at = places_.find(key);
        if (at == places_.end()) return false;
        cost_ -= at->second->cost;
        order_.erase(at->second);
        places_.erase(at);
        return true;
    }

    [[nodiscard]] std::size_t size() const { return places_.size(); }
    [[nodiscard]] std::size_t cost() const { return cost_; }
    [[nodiscard]] std::size_t max() const { return max_; }

private:
    struct Entry {
        const Key* key;  // lives in the map's node, which does not move
        Value value;
        std::size_t cost;
    };

    void evict() {
        const Entry& oldest = order_.back();
        cost_ -= oldest.cost;
        places_.erase(places_.find(*oldest.key));
        order_.pop_back();
    }

    std::list<Entry> order_;  // most recently used first
    std::map<Key, typename std::list<Entry>::iterator, Less> places_;
    std::size_t max_;
    std::size_t cost_ = 0;
};

}  // namespace rhizome
