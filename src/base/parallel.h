// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace rhizome {

/// Where heavy pure work (signatures, proofs) may be spread over cores. Deciding code asks for it by this interface and
/// never learns about threads; `runtime/thread_pool.h` has the real one, `Inline` is the one for tests and the
/// simulator.
class Parallel {
public:
    virtual ~Parallel() = default;

    /// How many pieces can run at once; at least 1.
    [[nodiscard]] virtual unsigned width() const = 0;

    /// Calls `piece(begin, end)` for ranges that together cover [0, count) exactly once, perhaps at the same time on
    /// several threads, and returns when all are done. `piece` writes only to places that belong to its own range.
    virtual void for_ranges(std::size_t count,
                            const std::function<void(std::size_t begin, std::size_t end)>& piece) = 0;

    /// The same, while the caller's own thread first does `first`: other threads begin with the pieces at once, the
    /// caller helps with what is left of them. Neither touches what the other writes.
    virtual void beside(const std::function<void()>& first, std::size_t count,
                        const std::function<void(std::size_t begin, std::size_t end)>& piece) {
        first();
        for_ranges(count, piece);
    }
};

/// Does everything at once on the caller's thread.
class Inline final : public Parallel {
public:
    [[nodiscard]] unsigned width() const override { return 1; }
    void for_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) override {
        if (count > 0) piece(0, count);
    }
};

}  // namespace rhizome
