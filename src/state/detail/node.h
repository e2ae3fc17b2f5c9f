// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/ensure.h"
#include "state/detail/node_ref.h"
#include "state/document.h"

/// The nodes of the tree and how they are walked. Private to state.
///
/// A crit-bit tree: an inner node names the first bit in which the keys on its left (0) and on its right (1) differ;
/// bits grow on the way down; bits past the end of a key read as zero. The shape depends on the set of keys and on
/// nothing else.
namespace rhizome::state::detail {

/// Hashes of the children stand here and not in the children: the same memory, and hashing a path anew reads no
/// sibling.
///
/// Written only by a batch that is its one holder all the way from the root; from the moment a second holder can exist
/// it does not change.
struct alignas(64) Inner {
    std::atomic<std::uint32_t> holders{1};
    std::uint16_t bit = 0;
    std::uint8_t stale = 0;  ///< bit s set: hash[s] is not yet that of child[s]; zero in every published tree
    std::uint32_t count = 0;
    union {
        std::uint64_t weight = 0;  ///< of all entries below
        Inner* next_dead;          ///< once nobody holds it
    };
    NodeRef child[2];
    Hash256 hash[2];
};
static_assert(sizeof(Inner) == 128, "two cache lines, of which a walk down reads the first");

/// Leaves stop every walk that compares bits.
inline constexpr unsigned kLeafBit = 0xffff;
inline unsigned bit_of(NodeRef node) { return node.is_leaf() ? kLeafBit : node.inner()->bit; }
inline std::uint32_t count_of(NodeRef node) { return node.is_leaf() ? 1 : node.inner()->count; }
inline std::uint64_t weight_of(NodeRef node) { return node.is_leaf() ? node.leaf()->weight() : node.inner()->weight; }

/// Bit `position` of a key, 0 past its end. Bit 0 is the highest of the first byte, so that the order of bits is the
/// order of bytes.
inline unsigned bit_at(std::string_view key, unsigned position) {
    const std::size_t byte = position / 8;
    if (byte >= key.size()) return 0;
    return static_cast<unsigned>(static_cast<unsigned char>(key.data()[byte])) >> (7 - position % 8) & 1u;
}

/// The first bit in which two keys differ; nothing when they are equal.
inline std::optional<unsigned> first_difference(std::string_view left, std::string_view right) {
    const std::size_t common = std::min(left.size(), right.size());
    std::size_t at = 0;
    while (at + 8 <= common) {
        std::uint64_t a, b;
        std::memcpy(&a, left.data() + at, 8);
        std::memcpy(&b, right.data() + at, 8);
        if (a != b) break;
        at += 8;
    }
    while (at < common && left.data()[at] == right.data()[at]) ++at;
    if (at == left.size() && at == right.size()) return std::nullopt;
    const auto byte = [at](std::string_view key) {
        return at < key.size() ? static_cast<unsigned char>(key.data()[at]) : 0u;
    };
    const unsigned difference = byte(left) ^ byte(right);
    ensure(difference != 0, "a component does not begin with a zero byte");
    return static_cast<unsigned>(at * 8) +
           static_cast<unsigned>(std::countl_zero(static_cast<std::uint8_t>(difference)));
}

/// The only leaf below `node` that may have this key.
inline const Entry* candidate(NodeRef node, std::string_view key) {
    while (!node.is_leaf()) {
        const Inner* inner = node.inner();
        node = inner->child[bit_at(key, inner->bit)];
    }
    return node.leaf();
}
inline const Entry* first_leaf(NodeRef node) {
    while (!node.is_leaf()) node = node.inner()->child[0];
    return node.leaf();
}
inline const Entry* find(NodeRef root, std::string_view key) {
    if (!root) return nullptr;
    const Entry* entry = candidate(root, key);
    return entry->key() == key ? entry : nullptr;
}

/// The node below which all keys with this prefix stand and no others; none when there are no such keys.
inline NodeRef find_subtree(NodeRef root, std::string_view prefix) {
    if (!root) return {};
    const auto bits = static_cast<unsigned>(prefix.size() * 8);
    NodeRef node = root;
    while (bit_of(node) < bits) node = node.inner()->child[bit_at(prefix, node.inner()->bit)];
    return first_leaf(node)->key().starts_with(prefix) ? node : NodeRef{};
}

/// The counter of a node that will be held or let go soon.
inline void prefetch_for_write(NodeRef node) {
    __builtin_prefetch(node.is_leaf() ? static_cast<const void*>(node.leaf()) : node.inner(), 1);
}

inline void hold(NodeRef node) {
    if (node.is_leaf())
        EntryPtr::hold(node.leaf());
    else
        node.inner()->holders.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace rhizome::state::detail
