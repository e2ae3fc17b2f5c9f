// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "state/view.h"

namespace rhizome::state {

/// The newest view, handed from the one writer to readers on other threads. Nobody takes a lock and no reader waits for
/// the writer: a view lies in one of many slots; a reader counts itself into the slot that is current, looks whether it
/// still is, copies the view and counts itself out; the writer fills only slots that nobody has counted into.
///
/// `publish` is for one thread at a time, `snapshot` for any.
class Published {
public:
    Published() = default;
    explicit Published(StateView first) { publish(std::move(first)); }
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;

    /// The view published last, or one that was when the call began.
    [[nodiscard]] StateView snapshot() const;
    /// Makes `view` the newest. Earlier views live on only where somebody holds them.
    void publish(StateView view);

private:
    struct alignas(64) Slot {
        std::atomic<std::uint32_t> readers{0};
        StateView view;
    };
    /// A reader holds a slot for about a hundred instructions. To leave the writer without a free slot, as many threads
    /// would have to be stopped in just that place at once; it would then look again until one goes on.
    static constexpr std::size_t kSlots = 64;

    mutable std::array<Slot, kSlots> slots_;
    std::atomic<std::uint32_t> current_{0};
    std::uint64_t filled_ = 0;  ///< a bit per slot that still holds a view; only the writer looks at it
};

}  // namespace rhizome::state
