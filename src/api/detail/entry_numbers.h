// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "state/document.h"

namespace rhizome::api::detail {

/// A number for each of many entries, found by the entry itself: one look into memory, where a table by name takes
/// four. It holds the entries, so that none is taken for another that was made in the same place. Looked up, never
/// walked.
class EntryNumbers {
public:
    void put(const state::EntryPtr& entry, std::uint64_t number);
    void erase(const state::Entry* entry);
    [[nodiscard]] std::optional<std::uint64_t> find(const state::Entry* entry) const;
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Slot {
        state::EntryPtr entry{};
        std::uint64_t number = 0;
    };
    [[nodiscard]] std::size_t home_of(const state::Entry* entry) const;
    /// Where it stands, or the free place where its search ends.
    [[nodiscard]] std::size_t place_of(const state::Entry* entry) const;
    void grow();

    std::vector<Slot> slots_{};  ///< none, or a power of two of them, half of them free at least
    std::size_t size_ = 0;
};

}  // namespace rhizome::api::detail
