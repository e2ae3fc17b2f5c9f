// SPDX-License-Identifier: Apache-2.0
#include "state/detail/reclaimer.h"

namespace rhizome::state::detail {

std::size_t Reclaimer::collect(std::size_t nodes_max) noexcept {
    if (collecting_.test_and_set(std::memory_order_acquire)) return 0;
    std::size_t freed = 0;
    while (freed < nodes_max) {
        if (dead_ == nullptr) dead_ = buried_.exchange(nullptr, std::memory_order_acquire);
        if (dead_ == nullptr) break;
        Inner* const inner = dead_;
        dead_ = inner->next_dead;
        for (const NodeRef child : inner->child) {
            if (child.is_leaf()) {
                EntryPtr::drop(child.leaf());
                ++freed;
            } else if (child.inner()->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                child.inner()->next_dead = dead_;
                dead_ = child.inner();
            }
        }
        delete inner;
        ++freed;
    }
    collecting_.clear(std::memory_order_release);
    return freed;
}

}  // namespace rhizome::state::detail
