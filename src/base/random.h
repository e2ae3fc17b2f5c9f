// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace rhizome {

/// A seeded generator (xoshiro256**), the only randomness that deciding code sees: the host hands in a seed from the
/// kernel, the simulator one from the command line, and the same seed gives the same numbers on every machine.
///
/// Not for keys or nonces: whoever sees a few outputs can compute the rest.
class Random {
public:
    explicit Random(std::uint64_t seed);

    /// 64 fresh bits.
    std::uint64_t next();
    /// A number in [0, bound), every one as likely as another; `bound` > 0.
    std::uint64_t below(std::uint64_t bound);
    /// A number in [low, high].
    std::int64_t between(std::int64_t low, std::int64_t high);
    /// True `numerator` times in `denominator`.
    bool chance(std::uint64_t numerator, std::uint64_t denominator);
    void fill(std::span<std::uint8_t> out);

    /// A generator for one purpose. Drawing more numbers for one purpose then leaves the others' numbers as they were,
    /// so that a small change of the program does not change a whole simulated history.
    [[nodiscard]] Random fork(std::string_view purpose);

    /// Fisher–Yates, over anything with a size and an index.
    template <class Items>
    void shuffle(Items& items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

private:
    std::uint64_t state_[4];
};

}  // namespace rhizome
