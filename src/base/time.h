// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace rhizome {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// A moment, in whole microseconds since 1970-01-01T00:00:00Z without leap seconds. Microseconds, because Kubernetes'
/// MicroTime has them; blocks and timers use milliseconds of it. There is no clock here: whoever acts hands the time
/// in.
class Time {
public:
    constexpr Time() = default;
    explicit constexpr Time(microseconds since_epoch) : since_epoch_(since_epoch) {}
    static constexpr Time from_unix_seconds(std::int64_t count) { return Time{seconds{count}}; }
    static constexpr Time from_unix_millis(std::int64_t count) { return Time{milliseconds{count}}; }

    [[nodiscard]] constexpr microseconds since_epoch() const { return since_epoch_; }
    /// Rounded towards the past.
    [[nodiscard]] constexpr std::int64_t unix_seconds() const {
        return std::chrono::floor<seconds>(since_epoch_).count();
    }
    [[nodiscard]] constexpr std::int64_t unix_millis() const {
        return std::chrono::floor<milliseconds>(since_epoch_).count();
    }

    friend constexpr auto operator<=>(const Time&, const Time&) = default;
    friend constexpr bool operator==(const Time&, const Time&) = default;
    friend constexpr Time operator+(Time time, microseconds later) { return Time{time.since_epoch_ + later}; }
    friend constexpr Time operator-(Time time, microseconds earlier) { return Time{time.since_epoch_ - earlier}; }
    friend constexpr microseconds operator-(Time left, Time right) { return left.since_epoch_ - right.since_epoch_; }
    constexpr Time& operator+=(microseconds later) { return *this = *this + later; }
    constexpr Time& operator-=(microseconds earlier) { return *this = *this - earlier; }

private:
    microseconds since_epoch_{0};
};

/// How many digits of a second a printed time shows.
enum class Precision : unsigned char { Seconds, Millis, Micros };

/// RFC 3339 in UTC, `2026-11-15T21:27:31Z`, as Kubernetes prints it. Years 0000 to 9999; a time outside is printed as
/// the nearest end, since the format has no room for it.
std::string to_rfc3339(Time time, Precision precision = Precision::Seconds);

/// The moment that an RFC 3339 text names, with any offset and up to nine digits of a second (those below a microsecond
/// are dropped). Nothing for any other text, for days that do not exist, and for leap seconds.
std::optional<Time> from_rfc3339(std::string_view text);

/// `5d`, `12h`, `30m`, `250ms` and sums like `1h30m`: how people write durations. Whole numbers only, units in falling
/// order, no blanks, at most 100 years. Units: d h m s ms us.
std::optional<microseconds> parse_duration(std::string_view text);

/// The shortest text that `parse_duration` reads back to the same value; `0s` for none. Negative durations, which
/// people never write, get a leading `-` for logs.
std::string to_text(microseconds duration);

}  // namespace rhizome

template <>
struct fmt::formatter<rhizome::Time> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
    template <class Context>
    auto format(rhizome::Time time, Context& context) const {
        const std::string text = to_rfc3339(time, rhizome::Precision::Millis);
        return std::copy(text.begin(), text.end(), context.out());
    }
};
