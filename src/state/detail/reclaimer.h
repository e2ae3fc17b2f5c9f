// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "state/detail/node.h"

namespace rhizome::state::detail {

/// Frees what nobody holds any more, a slice at a time and not on the thread that let go: a reader that happens to be the
/// last to hold the state before a namespace of a million documents was deleted must not stall for freeing it.
///
/// `bury` may be called from any thread and takes no lock: a stack whose items are only ever taken all at once, so the
/// classic trouble of popping one (an item that leaves and comes back) cannot arise.
class Reclaimer {
public:
    Reclaimer() = default;
    Reclaimer(const Reclaimer&) = delete;
    Reclaimer& operator=(const Reclaimer&) = delete;
    ~Reclaimer() { (void)collect(SIZE_MAX); }

    /// Takes an inner node whose last holder is gone.
    void bury(Inner* dead) noexcept {
        dead->next_dead = buried_.load(std::memory_order_relaxed);
        while (!buried_.compare_exchange_weak(dead->next_dead, dead, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }

    /// Frees at most about `nodes_max` nodes; the number freed. Where another thread is collecting already, does nothing.
    std::size_t collect(std::size_t nodes_max) noexcept;

private:
    std::atomic<Inner*> buried_{nullptr};
    std::atomic_flag collecting_;
    Inner* dead_ = nullptr;  ///< only the thread that collects looks at it
};

/// Gives up one hold. An entry nobody holds is freed at once (it has nothing below it), an inner node is buried.
inline void let_go(NodeRef node, Reclaimer& reclaimer) noexcept {
    if (!node) return;
    if (node.is_leaf())
        EntryPtr::drop(node.leaf());
    else if (node.inner()->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
        reclaimer.bury(node.inner());
}

/// A root that views share. Freed by the last view.
struct Version {
    std::atomic<std::uint32_t> holders{1};
    NodeRef root;
    Hash256 hash;
    std::shared_ptr<Reclaimer> reclaimer;

    static void hold(Version* version) {
        if (version != nullptr) version->holders.fetch_add(1, std::memory_order_relaxed);
    }
    static void drop(Version* version) noexcept {
        if (version == nullptr || version->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        let_go(version->root, *version->reclaimer);
        delete version;
    }
};

}  // namespace rhizome::state::detail
