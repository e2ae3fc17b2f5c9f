// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "state/detail/node.h"

namespace rhizome::state::detail {

/// Where inner nodes come from and go to. Frees what nobody holds any more, a slice at a time and not on the thread
/// that let go: a reader that happens to be the last to hold the state before a namespace of a million documents was
/// deleted must not stall for freeing it.
///
/// `bury` may be called from any thread and takes no lock: a stack whose items are only ever taken all at once, so the
/// classic trouble of popping one (an item that leaves and comes back) cannot arise. Free nodes are handed on the same
/// way. Memory of inner nodes is used again, never given back while a view of this line of states lives.
class Reclaimer {
public:
    Reclaimer() = default;
    Reclaimer(const Reclaimer&) = delete;
    Reclaimer& operator=(const Reclaimer&) = delete;
    ~Reclaimer();

    /// Takes an inner node whose last holder is gone.
    void bury(Inner* dead) noexcept { push(buried_, dead, dead); }

    /// Frees at most about `nodes_max` nodes; the number freed. Where another thread is collecting already, does
    /// nothing.
    std::size_t collect(std::size_t nodes_max) noexcept;

private:
    friend class NodeMaker;
    struct Slab;

    static void push(std::atomic<Inner*>& stack, Inner* first, Inner* last) noexcept {
        last->next_dead = stack.load(std::memory_order_relaxed);
        while (!stack.compare_exchange_weak(last->next_dead, first, std::memory_order_release,
                                            std::memory_order_relaxed)) {
        }
    }
    Inner* add_slab();

    std::atomic<Inner*> buried_{nullptr};
    std::atomic<Inner*> free_{nullptr};
    std::atomic<Inner*> reserve_{nullptr};  ///< what the last batch had left over: a list whose end nobody knows
    std::atomic<Slab*> slabs_{nullptr};
    std::atomic<std::uint32_t> slab_count_{0};
    std::atomic_flag collecting_;
    Inner* dead_ = nullptr;  ///< only the thread that collects looks at it
};

/// Makes inner nodes for one batch, from memory it has taken for itself.
class NodeMaker {
public:
    explicit NodeMaker(Reclaimer& reclaimer) : reclaimer_(reclaimer) {}
    NodeMaker(const NodeMaker&) = delete;
    NodeMaker& operator=(const NodeMaker&) = delete;
    ~NodeMaker();

    Inner* make();
    /// Takes back a node whose children are accounted for and that nobody else has seen.
    void unmake(Inner* node) noexcept;
    [[nodiscard]] std::size_t made() const { return made_; }

private:
    void take_some();
    Reclaimer& reclaimer_;
    Inner* free_ = nullptr;
    std::size_t share_ = 32;  ///< nodes to take next
    std::size_t made_ = 0;
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
