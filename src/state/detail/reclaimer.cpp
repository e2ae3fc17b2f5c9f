// SPDX-License-Identifier: Apache-2.0
#include "state/detail/reclaimer.h"

#include <array>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rhizome::state::detail {

// The address sanitizer sees a use after free only where memory really goes back.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooled = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kPooled = false;
#else
constexpr bool kPooled = true;
#endif
#else
constexpr bool kPooled = true;
#endif

/// A piece of memory full of nodes, behind this head.
struct alignas(Inner) Reclaimer::Slab {
    Slab* next;
    std::align_val_t alignment;
};

namespace {

/// A state of a few documents, as one that a signature is made for, needs a handful of nodes: 4 KiB. A small one gets
/// by with little: 64 KiB at a time. A large one takes 2 MiB at a time and asks for large pages: walks go all over
/// memory, and finding out where a small page lies costs time too. docs/decisions/004 has what was measured.
constexpr std::size_t kFirstBytes = std::size_t{4} << 10;
constexpr std::size_t kSmallBytes = std::size_t{64} << 10;
constexpr std::size_t kLargeBytes = std::size_t{2} << 20;
constexpr std::uint32_t kSmallSlabsMax = 32;

}  // namespace

Reclaimer::~Reclaimer() {
    (void)collect(SIZE_MAX);
    for (Slab* slab = slabs_.load(std::memory_order_acquire); slab != nullptr;) {
        Slab* const next = slab->next;
        ::operator delete(slab, slab->alignment);
        slab = next;
    }
}

/// A list of free nodes from new memory.
Inner* Reclaimer::add_slab() {
    const std::uint32_t before = slab_count_.fetch_add(1, std::memory_order_relaxed);
    const bool large = before >= kSmallSlabsMax;
    const std::size_t bytes = large ? kLargeBytes : before == 0 ? kFirstBytes : kSmallBytes;
    const std::align_val_t alignment{large ? kLargeBytes : alignof(Slab)};
    void* const memory = ::operator new(bytes, alignment);
#if defined(__linux__)
    if (large) (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on whether it is granted
#endif
    auto* slab = new (memory) Slab{nullptr, alignment};
    auto* nodes = static_cast<std::uint8_t*>(memory) + sizeof(Slab);
    Inner* first = nullptr;
    for (std::size_t i = (bytes - sizeof(Slab)) / sizeof(Inner); i > 0; --i) {
        Inner* const node = new (nodes + (i - 1) * sizeof(Inner)) Inner;
        node->next_dead = first;
        first = node;
    }
    slab->next = slabs_.load(std::memory_order_relaxed);
    while (!slabs_.compare_exchange_weak(slab->next, slab, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return first;
}

std::size_t Reclaimer::collect(std::size_t nodes_max) noexcept {
    if (collecting_.test_and_set(std::memory_order_acquire)) return 0;
    // Some at a time: their children's counters, which lie all over memory, are on their way while others are looked
    // at.
    std::array<Inner*, 16> now;  // NOLINT: written before it is read
    std::size_t freed = 0;
    Inner *first_free = nullptr, *last_free = nullptr;
    while (freed < nodes_max) {
        if (dead_ == nullptr) dead_ = buried_.exchange(nullptr, std::memory_order_acquire);
        std::size_t count = 0;
        for (; count < now.size() && dead_ != nullptr; ++count) {
            now[count] = dead_;
            dead_ = dead_->next_dead;
            for (const NodeRef child : now[count]->child) prefetch_for_write(child);
        }
        if (count == 0) break;
        for (std::size_t i = 0; i < count; ++i) {
            for (const NodeRef child : now[i]->child) {
                if (child.is_leaf()) {
                    EntryPtr::drop(child.leaf());
                    ++freed;
                } else if (child.inner()->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    child.inner()->next_dead = dead_;
                    dead_ = child.inner();
                }
            }
            ++freed;
            if constexpr (kPooled) {
                now[i]->next_dead = first_free;
                first_free = now[i];
                if (last_free == nullptr) last_free = now[i];
            } else {
                delete now[i];
            }
        }
    }
    if (first_free != nullptr) push(free_, first_free, last_free);
    collecting_.clear(std::memory_order_release);
    return freed;
}

Inner* NodeMaker::make() {
    ++made_;
    if constexpr (!kPooled) return new Inner;
    if (free_ == nullptr) take_some();
    Inner* const node = free_;
    free_ = node->next_dead;
    __builtin_prefetch(free_, 1);  // long unused, so far away: on its way until the next call
    __builtin_prefetch(reinterpret_cast<const char*>(free_) + 64, 1);
    return new (node) Inner;
}

void NodeMaker::take_some() {
    free_ = reclaimer_.reserve_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) free_ = reclaimer_.free_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) free_ = reclaimer_.add_slab();
    // Only a share of it, growing with the batch: batches live side by side (the pool's for as long as a tip stands),
    // and one that held all there is would make each of the others take a slab of its own.
    Inner* last = free_;
    for (std::size_t taken = 1; taken < share_ && last->next_dead != nullptr; ++taken) last = last->next_dead;
    share_ = std::min<std::size_t>(share_ * 2, 4'096);
    Inner* const rest = std::exchange(last->next_dead, nullptr);
    if (rest == nullptr) return;
    Inner* none = nullptr;
    if (reclaimer_.reserve_.compare_exchange_strong(none, rest, std::memory_order_release, std::memory_order_relaxed))
        return;
    Inner* end = rest;  // a batch on another thread was faster; only then must the end of the list be found
    while (end->next_dead != nullptr) end = end->next_dead;
    Reclaimer::push(reclaimer_.free_, rest, end);
}

void NodeMaker::unmake(Inner* node) noexcept {
    if constexpr (kPooled) {
        node->next_dead = free_;
        free_ = node;
    } else {
        delete node;
    }
}

NodeMaker::~NodeMaker() {
    if (free_ == nullptr) return;
    Inner* none = nullptr;
    if (reclaimer_.reserve_.compare_exchange_strong(none, free_, std::memory_order_release, std::memory_order_relaxed))
        return;
    Inner* last = free_;  // what this batch has left is a share at most
    while (last->next_dead != nullptr) last = last->next_dead;
    Reclaimer::push(reclaimer_.free_, free_, last);
}

}  // namespace rhizome::state::detail
