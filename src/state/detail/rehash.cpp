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

/// Jobs in the order in which they can be done: leaves, then inner nodes by how many stale levels they have below them.
struct Jobs {
    std::vector<LeafJob> leaves;
    std::vector<std::vector<InnerJob>> levels;
};

/// Walks the stale part of the tree without recursion: names can make it thousands of levels deep.
Jobs gather(NodeRef root, Hash256& out) {
    struct Frame {
        Inner* node;
        Hash256* out;
        std::uint8_t todo;   ///< stale sides not yet visited
        std::uint32_t level; ///< one above the highest stale child so far
    };
    Jobs jobs;
    std::vector<Frame> way;
    if (root.is_leaf()) {
        jobs.leaves.push_back({root.leaf(), &out});
        return jobs;
    }
    way.push_back({root.inner(), &out, root.inner()->stale, 0});
    while (!way.empty()) {
        Frame& frame = way.back();
        if (frame.todo != 0) {
            const unsigned side = (frame.todo & 1) != 0 ? 0 : 1;
            frame.todo = static_cast<std::uint8_t>(frame.todo & ~(1u << side));
            const NodeRef child = frame.node->child[side];
            Hash256* const slot = &frame.node->hash[side];
            if (child.is_leaf())
                jobs.leaves.push_back({child.leaf(), slot});
            else
                way.push_back({child.inner(), slot, child.inner()->stale, 0});
            continue;
        }
        const Frame done = frame;
        way.pop_back();
        done.node->stale = 0;
        if (jobs.levels.size() <= done.level) jobs.levels.resize(done.level + 1);
        jobs.levels[done.level].push_back({done.node, done.out});
        if (!way.empty()) way.back().level = std::max(way.back().level, done.level + 1);
    }
    return jobs;
}

void hash_inner(const InnerJob* jobs, std::size_t count) {
    constexpr std::size_t kAtOnce = 64;  // 4 KiB of messages: stays in the nearest cache
    std::array<std::uint8_t, kAtOnce * kInnerBytes> messages;  // NOLINT: written before it is read
    std::array<Hash256, kAtOnce> hashes;
    while (count > 0) {
        const std::size_t now = std::min(count, kAtOnce);
        for (std::size_t i = 0; i < now; ++i) {
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
        for (std::size_t i = begin; i < end; ++i) *jobs.leaves[i].out = jobs.leaves[i].entry->leaf_hash();
    });
    for (const std::vector<InnerJob>& level : jobs.levels)
        share(level.size(), [&](std::size_t begin, std::size_t end) { hash_inner(level.data() + begin, end - begin); });
    return hash;
}

}  // namespace rhizome::state::detail
