// SPDX-License-Identifier: Apache-2.0
#include "cluster/decimal.h"

#include <algorithm>
#include <string>

namespace rhizome::cluster {
namespace {

/// ± 0.digits × 10^exponent, the digits without zeros at either end; no digits for zero.
struct Decimal {
    bool negative = false;
    std::string digits{};
    std::int64_t exponent = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

Decimal read(std::string_view text) {
    Decimal number;
    if (text.starts_with('-')) {
        number.negative = true;
        text.remove_prefix(1);
    }
    bool behind_point = false;
    std::size_t at = 0;
    for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
        if (text[at] == '.') {
            behind_point = true;
            continue;
        }
        number.digits.push_back(text[at]);
        if (!behind_point) ++number.exponent;
    }
    if (at < text.size()) {
        const bool negative = text[at + 1] == '-';
        if (negative || text[at + 1] == '+') ++at;
        std::int64_t written = 0;
        // Beyond this all numbers of JSON are apart anyway: no text has so many digits.
        for (++at; at < text.size(); ++at) written = std::min<std::int64_t>(written * 10 + (text[at] - '0'), 1LL << 40);
        number.exponent += negative ? -written : written;
    }
    const std::size_t first = number.digits.find_first_not_of('0');
    if (first == std::string::npos) return {};
    number.exponent -= static_cast<std::int64_t>(first);
    number.digits.erase(0, first);
    number.digits.erase(number.digits.find_last_not_of('0') + 1);
    return number;
}

}  // namespace

bool same_number(std::string_view left, std::string_view right) { return left == right || read(left) == read(right); }

std::strong_ordering compare_numbers(std::string_view left, std::string_view right) {
    const Decimal a = read(left);
    const Decimal b = read(right);
    const auto sign = [](const Decimal& one) { return one.digits.empty() ? 0 : one.negative ? -1 : 1; };
    if (sign(a) != sign(b) || sign(a) == 0) return sign(a) <=> sign(b);
    const auto size = a.exponent != b.exponent ? a.exponent <=> b.exponent : a.digits.compare(b.digits) <=> 0;
    return sign(a) > 0 ? size : 0 <=> size;
}

bool is_whole(std::string_view number) {
    const Decimal read_one = read(number);
    return static_cast<std::int64_t>(read_one.digits.size()) <= read_one.exponent || read_one.digits.empty();
}

bool is_multiple(std::string_view number, std::string_view factor) {
    const Decimal a = read(number);
    const Decimal b = read(factor);
    if (a.digits.empty()) return true;
    if (b.digits.empty()) return false;
    // Both in units of the finer one's last digit: a whole number over a whole number.
    const std::int64_t last_a = a.exponent - static_cast<std::int64_t>(a.digits.size());
    const std::int64_t last_b = b.exponent - static_cast<std::int64_t>(b.digits.size());
    const std::int64_t apart = last_a - last_b;
    constexpr auto kApartMax = static_cast<std::int64_t>(kMultipleDigitsMax);
    if (apart > kApartMax || apart < -kApartMax) return false;
    const std::string over = a.digits + std::string(static_cast<std::size_t>(std::max<std::int64_t>(apart, 0)), '0');
    const std::string under = b.digits + std::string(static_cast<std::size_t>(std::max<std::int64_t>(-apart, 0)), '0');
    // Long division, digit by digit: the rest is a number without leading zeros, below `under`.
    std::string rest;
    const auto below = [&] {
        return rest.size() != under.size() ? rest.size() < under.size() : rest.compare(under) < 0;
    };
    for (const char digit : over) {
        if (!rest.empty() || digit != '0') rest.push_back(digit);
        while (!below()) {
            int borrow = 0;
            for (std::size_t back = 1; back <= rest.size(); ++back) {
                char& place = rest[rest.size() - back];
                const int taken = back <= under.size() ? under[under.size() - back] - '0' : 0;
                int left = place - '0' - taken - borrow;
                borrow = left < 0 ? 1 : 0;
                if (left < 0) left += 10;
                place = static_cast<char>('0' + left);
            }
            rest.erase(0, std::min(rest.find_first_not_of('0'), rest.size()));
        }
    }
    return rest.empty();
}

bool same_value(const json::Value& left, const json::Value& right) {
    if (left.kind() != right.kind()) return false;
    if (const json::Number* number = left.if_number()) return same_number(number->text(), right.if_number()->text());
    if (const json::Array* array = left.if_array()) {
        const json::Array& other = *right.if_array();
        return std::equal(array->begin(), array->end(), other.begin(), other.end(), same_value);
    }
    if (const json::Object* object = left.if_object()) {
        const json::Object& other = *right.if_object();
        return object->size() == other.size() && std::all_of(object->begin(), object->end(), [&](const auto& member) {
                   const json::Value* value = other.find(member.key);
                   return value != nullptr && same_value(member.value, *value);
               });
    }
    return left == right;
}

}  // namespace rhizome::cluster
