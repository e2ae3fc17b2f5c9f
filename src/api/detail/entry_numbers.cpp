// SPDX-License-Identifier: Apache-2.0
#include "api/detail/entry_numbers.h"

namespace rhizome::api::detail {

std::size_t EntryNumbers::home_of(const state::Entry* entry) const {
    // Addresses differ in their middle bits; the product spreads them over the upper ones.
    const auto spread = reinterpret_cast<std::uintptr_t>(entry) * std::uint64_t{0x9e3779b97f4a7c15};
    return static_cast<std::size_t>(spread >> 20) & (slots_.size() - 1);
}

std::size_t EntryNumbers::place_of(const state::Entry* entry) const {
    std::size_t at = home_of(entry);
    while (slots_[at].entry && slots_[at].entry.get() != entry) at = (at + 1) & (slots_.size() - 1);
    return at;
}

void EntryNumbers::grow() {
    std::vector<Slot> before(slots_.empty() ? 64 : slots_.size() * 2);
    before.swap(slots_);
    for (Slot& slot : before)
        if (slot.entry) {
            Slot& to = slots_[place_of(slot.entry.get())];
            to = std::move(slot);
        }
}

void EntryNumbers::put(const state::EntryPtr& entry, std::uint64_t number) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place_of(entry.get())];
    if (!slot.entry) {
        slot.entry = entry;
        ++size_;
    }
    slot.number = number;
}

void EntryNumbers::erase(const state::Entry* entry) {
    if (slots_.empty()) return;
    std::size_t hole = place_of(entry);
    if (!slots_[hole].entry) return;
    slots_[hole] = Slot{};
    --size_;
    // Those behind it whose search would now end at the hole move up.
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (hole + 1) & mask; slots_[at].entry; at = (at + 1) & mask) {
        const std::size_t home = home_of(slots_[at].entry.get());
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        slots_[hole] = std::move(slots_[at]);
        slots_[at] = Slot{};
        hole = at;
    }
}

std::optional<std::uint64_t> EntryNumbers::find(const state::Entry* entry) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[place_of(entry)];
    if (!slot.entry) return std::nullopt;
    return slot.number;
}

}  // namespace rhizome::api::detail
