// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

/// Kubernetes' quantities (`500m`, `1.5Gi`, `12e6`) as exact integers.
namespace rhizome::cluster {

/// A signed amount in billionths, with the family of suffixes it was written in. Exact: what is finer than a billionth
/// is rounded away from zero when it is read ("some" never becomes "none"), as Kubernetes does, and nothing is rounded
/// afterwards. Bounded: amounts stay below 10^27 units either way.
class Quantity {
public:
    /// Which suffixes to print with.
    enum class Family : std::uint8_t {
        DecimalSi,        ///< n u m k M G T P E
        BinarySi,         ///< Ki Mi Gi Ti Pi Ei
        DecimalExponent,  ///< e3
    };

    constexpr Quantity() = default;
    static Quantity of(std::int64_t units, Family family = Family::DecimalSi);
    static Quantity of_milli(std::int64_t thousandths);

    /// A text, or Kubernetes' own sentence about what is wrong with it.
    static Result<Quantity> parse(std::string_view text);
    /// What stands in a document: a string, or a bare number.
    static Result<Quantity> from_value(const json::Value& value);

    /// The one text of this amount in its family, as Kubernetes prints it: the largest suffix that leaves a whole
    /// number (`1500m`, `512Mi`). Binary amounts below 1024 are printed without one.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] Family family() const { return family_; }

    /// In whole units, rounded away from zero; the nearest end when it does not fit.
    [[nodiscard]] std::int64_t units() const;
    /// In thousandths, likewise.
    [[nodiscard]] std::int64_t milli() const;
    [[nodiscard]] bool is_zero() const { return nano_ == 0; }
    [[nodiscard]] bool is_negative() const { return nano_ < 0; }
    [[nodiscard]] bool is_whole() const;

    /// Nothing when the result would leave the bound. Keeps the family of the left side, unless that is zero.
    [[nodiscard]] std::optional<Quantity> plus(const Quantity& other) const;
    [[nodiscard]] std::optional<Quantity> minus(const Quantity& other) const;

    /// By amount: `1000m` equals `1`.
    friend constexpr bool operator==(const Quantity& left, const Quantity& right) { return left.nano_ == right.nano_; }
    friend constexpr std::strong_ordering operator<=>(const Quantity& left, const Quantity& right) {
        return left.nano_ < right.nano_   ? std::strong_ordering::less
               : left.nano_ > right.nano_ ? std::strong_ordering::greater
                                          : std::strong_ordering::equal;
    }

private:
    __extension__ using Nano = __int128;
    constexpr Quantity(Nano nano, Family family) : nano_(nano), family_(family) {}
    friend class QuantityReader;

    Nano nano_ = 0;
    Family family_ = Family::DecimalSi;
};

}  // namespace rhizome::cluster
