// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <algorithm>
#include <array>

namespace rhizome {
namespace {

using Days = std::chrono::days;
using std::chrono::sys_days;

constexpr microseconds kFirst = sys_days{std::chrono::year{0} / 1 / 1}.time_since_epoch();
constexpr microseconds kLast = sys_days{std::chrono::year{10000} / 1 / 1}.time_since_epoch() - microseconds{1};

/// Takes exactly `digits` decimal digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, char expected) {
    if (text.empty() || text.front() != expected) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<microseconds> take_fraction(std::string_view& text) {
    if (!take(text, '.')) return microseconds{0};
    std::int64_t micros = 0;
    std::size_t digits = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
        if (digits == 9) return std::nullopt;
        if (digits < 6) micros = micros * 10 + (text.front() - '0');
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 6; ++digits) micros *= 10;
    return microseconds{micros};
}

std::optional<minutes> take_offset(std::string_view& text) {
    if (take(text, 'Z') || take(text, 'z')) return minutes{0};
    const bool west = !text.empty() && text.front() == '-';
    if (!west && (text.empty() || text.front() != '+')) return std::nullopt;
    text.remove_prefix(1);
    const auto hour = take_number(text, 2);
    if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
    const auto minute = take_number(text, 2);
    if (!minute || *minute > 59) return std::nullopt;
    const minutes offset = hours{*hour} + minutes{*minute};
    return west ? -offset : offset;
}

struct Unit {
    std::string_view name;
    microseconds length;
};
// Falling; `m` stands before `ms` only in length, so the parser takes the longest name that fits.
constexpr std::array<Unit, 6> kUnits{{{"d", hours{24}},
                                      {"h", hours{1}},
                                      {"m", minutes{1}},
                                      {"s", seconds{1}},
                                      {"ms", milliseconds{1}},
                                      {"us", microseconds{1}}}};
constexpr microseconds kDurationMax = hours{24} * 36525;  // a hundred years of 365.25 days

/// Overwrites `digits` characters of `text` with a number that has no more and is not negative.
void write_number(std::string& text, std::size_t at, std::size_t digits, std::int64_t number) {
    for (std::size_t left = digits; left > 0; --left, number /= 10)
        text[at + left - 1] = static_cast<char>('0' + number % 10);
}
}  // namespace

std::string to_rfc3339(Time time, Precision precision) {
    const microseconds since = std::clamp(time.since_epoch(), kFirst, kLast);
    const auto day = std::chrono::floor<Days>(since);
    const std::chrono::year_month_day date{sys_days{day}};
    const microseconds of_day = since - day;
    const auto h = std::chrono::floor<hours>(of_day);
    const auto m = std::chrono::floor<minutes>(of_day - h);
    const auto s = std::chrono::floor<seconds>(of_day - h - m);
    const microseconds rest = of_day - h - m - s;
    // Digit by digit: lists of thousands of objects show a time each.
    std::string text = "0000-00-00T00:00:00";
    write_number(text, 0, 4, static_cast<int>(date.year()));
    write_number(text, 5, 2, static_cast<unsigned>(date.month()));
    write_number(text, 8, 2, static_cast<unsigned>(date.day()));
    write_number(text, 11, 2, h.count());
    write_number(text, 14, 2, m.count());
    write_number(text, 17, 2, s.count());
    if (precision == Precision::Millis) write_number(text += ".000", 20, 3, rest.count() / 1000);
    if (precision == Precision::Micros) write_number(text += ".000000", 20, 6, rest.count());
    return text += 'Z';
}

std::optional<Time> from_rfc3339(std::string_view text) {
    const auto year = take_number(text, 4);
    if (!year || !take(text, '-')) return std::nullopt;
    const auto month = take_number(text, 2);
    if (!month || !take(text, '-')) return std::nullopt;
    const auto day = take_number(text, 2);
    if (!day || !(take(text, 'T') || take(text, 't'))) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;

    const auto hour = take_number(text, 2);
    if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
    const auto minute = take_number(text, 2);
    if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
    const auto second = take_number(text, 2);
    if (!second || *second > 59) return std::nullopt;
    const auto fraction = take_fraction(text);
    if (!fraction) return std::nullopt;
    const auto offset = take_offset(text);
    if (!offset || !text.empty()) return std::nullopt;

    const microseconds of_day = hours{*hour} + minutes{*minute} + seconds{*second} + *fraction;
    return Time{sys_days{date}.time_since_epoch() + of_day - *offset};
}

std::optional<microseconds> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    microseconds total{0};
    std::size_t next_unit = 0;
    while (!text.empty()) {
        std::int64_t number = 0;
        std::size_t digits = 0;
        for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
            if (digits == 16) return std::nullopt;
            number = number * 10 + (text[digits] - '0');
        }
        if (digits == 0) return std::nullopt;
        text.remove_prefix(digits);

        const std::size_t letters = std::min(text.find_first_of("0123456789"), text.size());
        const auto unit = std::find_if(kUnits.begin() + static_cast<std::ptrdiff_t>(next_unit), kUnits.end(),
                                       [&](const Unit& each) { return each.name == text.substr(0, letters); });
        if (unit == kUnits.end()) return std::nullopt;
        if (number > kDurationMax / unit->length) return std::nullopt;
        total += number * unit->length;
        if (total > kDurationMax) return std::nullopt;
        text.remove_prefix(letters);
        next_unit = static_cast<std::size_t>(unit - kUnits.begin()) + 1;
    }
    return total;
}

std::string to_text(microseconds duration) {
    if (duration == microseconds{0}) return "0s";
    std::string text;
    if (duration < microseconds{0}) {
        // The most negative value has no positive twin; one microsecond in 292,000 years is no loss in a log line.
        duration = -std::max(duration, microseconds::min() + microseconds{1});
        text += '-';
    }
    for (const Unit& unit : kUnits) {
        const auto count = duration / unit.length;
        if (count > 0) text += fmt::format("{}{}", count, unit.name);
        duration -= count * unit.length;
    }
    return text;
}

}  // namespace rhizome
