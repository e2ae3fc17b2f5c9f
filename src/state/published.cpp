// SPDX-License-Identifier: Apache-2.0
#include "state/published.h"

#include <bit>

namespace rhizome::state {

// All orders here are sequentially consistent: a reader writes `readers` and then reads `current_`, the writer writes
// `current_` and then reads `readers`, and at least one of the two must see the other's write.

StateView Published::snapshot() const {
    for (;;) {
        const std::uint32_t at = current_.load();
        Slot& slot = slots_[at];
        slot.readers.fetch_add(1);
        if (current_.load() == at) {
            StateView view = slot.view;
            slot.readers.fetch_sub(1);
            return view;
        }
        slot.readers.fetch_sub(1);  // the writer was faster: it may be filling this slot now
    }
}

void Published::publish(StateView view) {
    const std::uint32_t before = current_.load();
    std::uint32_t next = before;
    do next = (next + 1) % kSlots;
    while (next == before || slots_[next].readers.load() != 0);
    slots_[next].view = std::move(view);
    current_.store(next);
    filled_ |= std::uint64_t{1} << next;

    // A slot that nobody reads lets go of its view; one that is being read is looked at again next time.
    for (std::uint64_t others = filled_ & ~(std::uint64_t{1} << next); others != 0; others &= others - 1) {
        const auto slot = static_cast<std::uint32_t>(std::countr_zero(others));
        if (slots_[slot].readers.load() != 0) continue;
        slots_[slot].view = StateView{};
        filled_ &= ~(std::uint64_t{1} << slot);
    }
}

}  // namespace rhizome::state
