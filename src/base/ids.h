// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/ensure.h"

namespace rhizome {

/// Fixed bytes with a meaning: `using TxId = Id<struct TxIdTag, 32>`. Ids of different tags do not mix; order is that
/// of the bytes, so walking a sorted container of ids is the same on every machine.
template <class Tag, std::size_t N>
class Id {
public:
    static constexpr std::size_t kSize = N;

    constexpr Id() = default;
    explicit constexpr Id(const std::array<std::uint8_t, N>& bytes) : bytes_(bytes) {}
    explicit Id(std::span<const std::uint8_t, N> bytes) { std::copy(bytes.begin(), bytes.end(), bytes_.begin()); }

    static std::optional<Id> from_hex(std::string_view hex) {
        Id id;
        if (!from_hex_into(hex, id.bytes_)) return std::nullopt;
        return id;
    }

    [[nodiscard]] constexpr std::span<const std::uint8_t, N> view() const { return bytes_; }
    [[nodiscard]] constexpr std::span<std::uint8_t, N> writable() { return bytes_; }
    [[nodiscard]] constexpr const std::array<std::uint8_t, N>& array() const { return bytes_; }
    [[nodiscard]] std::string hex() const { return to_hex(bytes_); }
    [[nodiscard]] constexpr bool is_zero() const { return *this == Id{}; }

    // Ids are looked up in trees all the time, and most differ in their first eight bytes: those are compared in place,
    // which is several times quicker than a call that compares all.
    friend constexpr std::strong_ordering operator<=>(const Id& left, const Id& right) {
        if constexpr (N >= sizeof(std::uint64_t)) {
            if (!std::is_constant_evaluated()) {
                const std::uint64_t ours = left.first_word();
                const std::uint64_t theirs = right.first_word();
                if (ours != theirs) return ours <=> theirs;
            }
        }
        return left.bytes_ <=> right.bytes_;
    }
    friend constexpr bool operator==(const Id& left, const Id& right) = default;

private:
    /// Ordered as the bytes are.
    [[nodiscard]] std::uint64_t first_word() const {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes_.data(), sizeof word);
        return __builtin_bswap64(word);
    }

    std::array<std::uint8_t, N> bytes_{};
};

/// A number with a meaning: `using Height = Count<struct HeightTag>`. Converts to nothing by itself; adding and
/// subtracting stop the process on overflow, because a wrapped height is a wrong chain.
template <class Tag, class Rep = std::uint64_t>
class Count {
public:
    using Number = Rep;

    constexpr Count() = default;
    explicit constexpr Count(Rep number) : number_(number) {}

    [[nodiscard]] constexpr Rep number() const { return number_; }

    friend constexpr auto operator<=>(const Count&, const Count&) = default;
    friend constexpr bool operator==(const Count&, const Count&) = default;

    friend constexpr Count operator+(Count count, Rep more) {
        Rep sum{};
        ensure(!__builtin_add_overflow(count.number_, more, &sum), "a count does not overflow");
        return Count{sum};
    }
    friend constexpr Count operator-(Count count, Rep less) {
        Rep difference{};
        ensure(!__builtin_sub_overflow(count.number_, less, &difference), "a count does not go below its range");
        return Count{difference};
    }
    friend constexpr Rep operator-(Count left, Count right) { return (left - right.number_).number_; }
    constexpr Count& operator++() { return *this = *this + Rep{1}; }
    constexpr Count& operator--() { return *this = *this - Rep{1}; }
    constexpr Count& operator+=(Rep more) { return *this = *this + more; }
    constexpr Count& operator-=(Rep less) { return *this = *this - less; }

private:
    Rep number_{};
};

}  // namespace rhizome

/// For lookups only. Ids are hashes or keys that strangers choose with effort, so eight bytes of them spread well.
template <class Tag, std::size_t N>
struct std::hash<rhizome::Id<Tag, N>> {
    static_assert(N >= sizeof(std::size_t));
    std::size_t operator()(const rhizome::Id<Tag, N>& id) const noexcept {
        std::size_t word;
        std::memcpy(&word, id.view().data() + (N - sizeof word), sizeof word);
        return word;
    }
};

template <class Tag, class Rep>
struct std::hash<rhizome::Count<Tag, Rep>> {
    std::size_t operator()(rhizome::Count<Tag, Rep> count) const noexcept { return std::hash<Rep>{}(count.number()); }
};

// Copied letter by letter: fmt's own formatters need fmt/format.h, which is dear, and `format_to` has another linker
// name under clang 14 than in the library, so that fuzz targets would not link.
template <class Tag, std::size_t N>
struct fmt::formatter<rhizome::Id<Tag, N>> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
    template <class Context>
    auto format(const rhizome::Id<Tag, N>& id, Context& context) const {
        const std::string text = id.hex();
        return std::copy(text.begin(), text.end(), context.out());
    }
};

template <class Tag, class Rep>
struct fmt::formatter<rhizome::Count<Tag, Rep>> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
    template <class Context>
    auto format(rhizome::Count<Tag, Rep> count, Context& context) const {
        const std::string text = std::to_string(count.number());
        return std::copy(text.begin(), text.end(), context.out());
    }
};
