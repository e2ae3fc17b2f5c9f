// SPDX-License-Identifier: Apache-2.0
#include "cluster/quantity.h"

#include <algorithm>
#include <array>
#include <limits>

namespace rhizome::cluster {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kNanoPerUnit = 1'000'000'000;
constexpr Wide power_of_ten(unsigned exponent) {
    Wide power = 1;
    for (; exponent > 0; --exponent) power *= 10;
    return power;
}
/// 10^27 units: 10^36 billionths, which an addition cannot push over the end of 127 bits (1.7 × 10^38).
constexpr Wide kBound = power_of_ten(36);
constexpr Wide kInt64Max = std::numeric_limits<std::int64_t>::max();
/// No amount has more digits: 27 before the point; behind it more than nine only matter for rounding.
constexpr std::size_t kDigitsMax = 64;

struct Suffix {
    std::string_view text;
    int exponent;  ///< of ten, or of two for the binary family
};
constexpr std::array kDecimal{Suffix{"n", -9}, Suffix{"u", -6}, Suffix{"m", -3}, Suffix{"", 0},   Suffix{"k", 3},
                              Suffix{"M", 6},  Suffix{"G", 9},  Suffix{"T", 12}, Suffix{"P", 15}, Suffix{"E", 18}};
constexpr std::array kBinary{Suffix{"Ki", 10}, Suffix{"Mi", 20}, Suffix{"Gi", 30},
                             Suffix{"Ti", 40}, Suffix{"Pi", 50}, Suffix{"Ei", 60}};

Fail<Error> bad_quantity(std::string_view why) { return Fail{Error{ErrorKind::Invalid, std::string(why)}}; }
constexpr std::string_view kBadForm =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kBadNumber = "unable to parse numeric part of quantity";
constexpr std::string_view kBadSuffix = "unable to parse quantity's suffix";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string digits_of(Wide amount) {
    const bool negative = amount < 0;
    std::string text;
    do {
        const int digit = static_cast<int>(amount % 10);
        text.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
        amount /= 10;
    } while (amount != 0);
    if (negative) text.push_back('-');
    std::reverse(text.begin(), text.end());
    return text;
}

/// Divides and rounds away from zero.
Wide divided(Wide amount, Wide by) {
    const Wide whole = amount / by;
    const Wide rest = amount % by;
    return rest == 0 ? whole : whole + (rest > 0 ? 1 : -1);
}

std::int64_t clamped(Wide amount) { return static_cast<std::int64_t>(std::clamp(amount, -kInt64Max - 1, kInt64Max)); }

}  // namespace

/// Reads `sign digits [. digits] suffix`. Its own class for the private constructor of what it makes.
class QuantityReader {
public:
    explicit QuantityReader(std::string_view text) : rest_(text) {}

    Result<Quantity> read() {
        const bool negative = rest_.starts_with('-');
        if (negative || rest_.starts_with('+')) rest_.remove_prefix(1);
        if (rest_.empty()) return bad_quantity(kBadForm);
        TRY(take_digits());
        TRY(take_suffix());
        TRY(auto nano, amount());
        // "The max is just a simple cap": binary amounts end at 2^63 - 1.
        if (family_ == Quantity::Family::BinarySi) nano = std::min(nano, kInt64Max * kNanoPerUnit);
        // Less than one byte cannot be said in bytes.
        if (family_ == Quantity::Family::BinarySi && nano > 0 && nano < kNanoPerUnit)
            family_ = Quantity::Family::DecimalSi;
        return Quantity{negative ? -nano : nano, family_};
    }

private:
    Result<void> take_digits() {
        while (!rest_.empty() && is_digit(rest_.front())) take_digit(false);
        if (rest_.starts_with('.')) {
            rest_.remove_prefix(1);
            while (!rest_.empty() && is_digit(rest_.front())) take_digit(true);
        }
        if (!any_) return bad_quantity(rest_.empty() || rest_.front() == '.' ? kBadNumber : kBadForm);
        return {};
    }

    void take_digit(bool behind_point) {
        any_ = true;
        if (!(digits_.empty() && rest_.front() == '0' && !behind_point)) {
            // Digits far behind the point can only make "some" of "none".
            if (behind_point && digits_.size() >= kDigitsMax)
                lost_ = lost_ || rest_.front() != '0';
            else {
                digits_.push_back(rest_.front());
                if (behind_point) --exponent_;
            }
        }
        rest_.remove_prefix(1);
    }

    Result<void> take_suffix() {
        for (const Suffix& each : kDecimal)
            if (rest_ == each.text) return set_suffix(Quantity::Family::DecimalSi, each.exponent, 0);
        for (const Suffix& each : kBinary)
            if (rest_ == each.text) return set_suffix(Quantity::Family::BinarySi, 0, each.exponent);
        if (rest_.front() == 'e' || rest_.front() == 'E') {
            rest_.remove_prefix(1);
            const bool negative = rest_.starts_with('-');
            if (negative || rest_.starts_with('+')) rest_.remove_prefix(1);
            if (rest_.empty() || rest_.size() > 4 || !std::all_of(rest_.begin(), rest_.end(), is_digit))
                return bad_quantity(kBadSuffix);
            int exponent = 0;
            for (const char c : rest_) exponent = exponent * 10 + (c - '0');
            return set_suffix(Quantity::Family::DecimalExponent, negative ? -exponent : exponent, 0);
        }
        const bool known = std::all_of(rest_.begin(), rest_.end(), [](char c) {
            return is_digit(c) || std::string_view("eEinumkKMGTP+-").find(c) != std::string_view::npos;
        });
        return bad_quantity(known ? kBadSuffix : kBadForm);
    }

    Result<void> set_suffix(Quantity::Family family, int ten, int two) {
        family_ = family;
        exponent_ += ten;
        two_ = two;
        return {};
    }

    /// digits × 10^exponent × 2^two in billionths, rounded up.
    Result<Wide> amount() {
        const auto significant = digits_.find_first_not_of('0');
        if (significant == std::string::npos) return lost_ ? Wide{1} : Wide{0};
        std::string_view digits = std::string_view(digits_).substr(significant);
        int exponent = exponent_ + 9;
        // Below every billionth even with the largest binary suffix (2^60 < 10^19).
        if (static_cast<int>(digits.size()) + exponent < -19) return Wide{1};
        if (static_cast<int>(digits.size()) + exponent > 37) return too_large();
        bool more = lost_;
        // At most 37 digits stand before the point now; of those behind it, 19 can reach it through a binary suffix.
        while (exponent < -19 || digits.size() > 37) {
            if (exponent >= 0) return too_large();
            more = more || digits.back() != '0';
            digits.remove_suffix(1);
            ++exponent;
            if (digits.empty()) return Wide{1};
        }
        Wide number = 0;
        for (const char c : digits) number = number * 10 + (c - '0');
        for (; exponent > 0; --exponent) {
            number *= 10;
            if (number > kBound) return too_large();
        }
        // number × 2^two / 10^-exponent without leaving 127 bits: the doubled remainders carry the exact value.
        const Wide by = power_of_ten(static_cast<unsigned>(-exponent));
        Wide whole = number / by;
        Wide rest = number % by;
        for (int i = 0; i < two_; ++i) {
            whole = whole * 2;
            rest = rest * 2;
            if (rest >= by) {
                rest -= by;
                ++whole;
            }
            if (whole > kBound) return too_large();
        }
        if (rest != 0 || more) ++whole;
        if (whole > kBound) return too_large();
        return whole;
    }

    Result<Wide> too_large() const {
        if (family_ == Quantity::Family::BinarySi) return kInt64Max * kNanoPerUnit;
        return bad_quantity("quantities end at 10^27: this one is larger");
    }

    std::string_view rest_;
    std::string digits_{};
    int exponent_ = 0;
    int two_ = 0;
    bool any_ = false;
    bool lost_ = false;
    Quantity::Family family_ = Quantity::Family::DecimalSi;
};

Quantity Quantity::of(std::int64_t units, Family family) { return {Nano{units} * kNanoPerUnit, family}; }
Quantity Quantity::of_milli(std::int64_t thousandths) {
    return {Nano{thousandths} * (kNanoPerUnit / 1000), Family::DecimalSi};
}

Result<Quantity> Quantity::parse(std::string_view text) {
    if (text.empty()) return bad_quantity(kBadForm);
    return QuantityReader{text}.read();
}

Result<Quantity> Quantity::from_value(const json::Value& value) {
    if (const std::string* text = value.if_string()) return parse(*text);
    if (const json::Number* number = value.if_number()) return parse(number->text());
    return bad_quantity(kBadForm);
}

std::string Quantity::text() const {
    if (nano_ == 0) return "0";
    const Nano kilo = Nano{1024} * kNanoPerUnit;
    if (family_ == Family::BinarySi && (nano_ <= -kilo || nano_ >= kilo)) {
        Nano amount = divided(nano_, kNanoPerUnit);
        std::string_view suffix;
        for (const Suffix& each : kBinary) {
            if (amount % 1024 != 0) break;
            amount /= 1024;
            suffix = each.text;
        }
        return digits_of(amount) + std::string(suffix);
    }
    Nano amount = nano_;
    int exponent = -9;
    while (amount % 1000 == 0 && exponent < 18) {
        amount /= 1000;
        exponent += 3;
    }
    std::string text = digits_of(amount);
    if (family_ == Family::DecimalExponent) return exponent == 0 ? text : text + "e" + std::to_string(exponent);
    const int place = exponent / 3 + 3;  // the table begins with 10^-9
    return text + std::string(kDecimal[static_cast<std::size_t>(place)].text);
}

std::int64_t Quantity::units() const { return clamped(divided(nano_, kNanoPerUnit)); }
std::int64_t Quantity::milli() const { return clamped(divided(nano_, kNanoPerUnit / 1000)); }
bool Quantity::is_whole() const { return nano_ % kNanoPerUnit == 0; }

std::optional<Quantity> Quantity::plus(const Quantity& other) const {
    const Nano sum = nano_ + other.nano_;
    if (sum > kBound || sum < -kBound) return std::nullopt;
    return Quantity{sum, is_zero() ? other.family_ : family_};
}

std::optional<Quantity> Quantity::minus(const Quantity& other) const {
    const Nano difference = nano_ - other.nano_;
    if (difference > kBound || difference < -kBound) return std::nullopt;
    return Quantity{difference, is_zero() ? other.family_ : family_};
}

}  // namespace rhizome::cluster
