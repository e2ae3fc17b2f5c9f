// SPDX-License-Identifier: Apache-2.0
#include "state/detail/rehash.h"

#include <array>
#include <vector>

#include "state/detail/leaf_bytes.h"

namespace rhizome::state::detail {
namespace {

void write_inner(std::uint8_t* to, std::uint16_t bit, const Hash256& left, const Hash256& right) {
    to[0] = kInnerTag;
    to[1] = static_cast<std::uint8_t>(bit & 0xff);
    to[2] = static_cast<std::uint8_t>(bit >> 8);
    std::memcpy(to + 3, left.view().data(), 32);
    std::memcpy(to + 35, right.view().data(), 32);
}

/// A hash to compute and where it belongs.
struct LeafJob {
    const Entry* entry;
    Hash256* out;
};
struct InnerJob {
    Inner* node;
    Hash256* out;
};

/// Nodes that are about to be looked at, both cache lines: lists are walked in order, so the next ones are known.
constexpr std::size_t kAhead = 8;
void fetch(const Inner* node) {
    __builtin_prefetch(node, 1);
    __builtin_prefetch(reinterpret_cast<const char*>(node) + 64, 1);
}

/// The stale part of the tree: leaves, and inner nodes by their depth. A node's stale children are one level below it,
/// so whole levels can be done from the last to the first.
struct Jobs {
    std::vector<LeafJob> leaves;
    std::vector<std::vector<InnerJob>> levels;
};

Jobs gather(NodeRef root, Hash256& out) {
    Jobs jobs;
    if (root.is_leaf()) {
        jobs.leaves.push_back({root.leaf(), &out});
        return jobs;
    }
    std::vector<InnerJob> level{{root.inner(), &out}};
    while (!level.empty()) {
        std::vector<InnerJob> below;
        for (std::size_t i = 0; i < level.size(); ++i) {
            if (i + kAhead < level.size()) fetch(level[i + kAhead].node);
            Inner& node = *level[i].node;
            for (const unsigned side : {0u, 1u}) {
                if ((node.stale >> side & 1u) == 0) continue;
                if (node.child[side].is_leaf())
                    jobs.leaves.push_back({node.child[side].leaf(), &node.hash[side]});
                else
                    below.push_back({node.child[side].inner(), &node.hash[side]});
            }
            node.stale = 0;
        }
        jobs.levels.push_back(std::move(level));
        level = std::move(below);
    }
    return jobs;
}

void hash_inner(const InnerJob* jobs, std::size_t count) {
    constexpr std::size_t kAtOnce = 64;                        // 4 KiB of messages: stays in the nearest cache
    std::array<std::uint8_t, kAtOnce * kInnerBytes> messages;  // NOLINT: written before it is read
    std::array<Hash256, kAtOnce> hashes;
    while (count > 0) {
        const std::size_t now = std::min(count, kAtOnce);
        for (std::size_t i = 0; i < now; ++i) {
            if (i + kAhead < count) fetch(jobs[i + kAhead].node);
            const Inner& node = *jobs[i].node;
            write_inner(messages.data() + i * kInnerBytes, node.bit, node.hash[0], node.hash[1]);
        }
        crypto::sha256_many({messages.data(), now * kInnerBytes}, kInnerBytes, {hashes.data(), now});
        for (std::size_t i = 0; i < now; ++i) *jobs[i].out = hashes[i];
        jobs += now;
        count -= now;
    }
}

}  // namespace

Hash256 inner_hash(std::uint16_t bit, const Hash256& left, const Hash256& right) {
    std::array<std::uint8_t, kInnerBytes> message;  // NOLINT: written before it is read
    write_inner(message.data(), bit, left, right);
    return crypto::sha256(message);
}

Hash256 rehash(NodeRef root, Parallel* parallel) {
    if (!root) return {};
    Inline alone;
    Parallel& hands = parallel != nullptr ? *parallel : alone;
    // Handing a few hashes to another thread costs more than computing them.
    constexpr std::size_t kWorthSharing = 256;
    const auto share = [&](std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) {
        (count < kWorthSharing ? alone : hands).for_ranges(count, piece);
    };

    Hash256 hash;
    const Jobs jobs = gather(root, hash);
    share(jobs.leaves.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (i + kAhead < end) __builtin_prefetch(jobs.leaves[i + kAhead].entry);
            *jobs.leaves[i].out = jobs.leaves[i].entry->leaf_hash();
        }
    });
    for (auto level = jobs.levels.rbegin(); level != jobs.levels.rend(); ++level)
        share(level->size(),
              [&](std::size_t begin, std::size_t end) { hash_inner(level->data() + begin, end - begin); });
    return hash;
}

}  // namespace rhizome::state::detail
