// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <gtest/gtest.h>

namespace rhizome {
namespace {

TEST(Time, PrintsAsKubernetesDoes) {
    const Time time = Time::from_unix_seconds(1'731'708'451) + microseconds{123'456};
    EXPECT_EQ(to_rfc3339(time), "2024-11-15T22:07:31Z");
    EXPECT_EQ(to_rfc3339(time, Precision::Millis), "2024-11-15T22:07:31.123Z");
    EXPECT_EQ(to_rfc3339(time, Precision::Micros), "2024-11-15T22:07:31.123456Z");
    EXPECT_EQ(to_rfc3339(Time{}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(to_rfc3339(Time{microseconds{-1}}, Precision::Micros), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(to_rfc3339(Time{microseconds::max()}), "9999-12-31T23:59:59Z");
    EXPECT_EQ(to_rfc3339(Time{microseconds::min()}), "0000-01-01T00:00:00Z");
}

TEST(Time, ReadsEveryOffsetAndFraction) {
    const struct {
        const char* text;
        std::int64_t micros;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T18:30:00-05:30", 0},
        {"1970-01-01T00:00:00.5Z", 500'000},
        {"1970-01-01T00:00:00.123456789Z", 123'456},
        {"2000-02-29T12:00:00Z", 951'825'600'000'000},
        {"2036-02-07T06:28:16Z", 2'085'978'496'000'000},
    };
    for (const auto& row : rows) {
        const auto time = from_rfc3339(row.text);
        ASSERT_TRUE(time) << row.text;
        EXPECT_EQ(time->since_epoch().count(), row.micros) << row.text;
    }
}

TEST(Time, RefusesWhatIsNoMoment) {
    for (const char* bad :
         {"", "2026-11-15", "2026-11-15T21:27:31", "2026-11-15 21:27:31Z", "2026-02-29T00:00:00Z",
          "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
          "2026-01-01T00:60:00Z", "2026-12-31T23:59:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z",
          "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00ZZ", "+026-01-01T00:00:00Z",
          "2026-1-1T00:00:00Z"})
        EXPECT_FALSE(from_rfc3339(bad)) << bad;
}

TEST(Time, PrintAndParseAgree) {
    for (std::int64_t micros = -4'000'000'000'000'000; micros < 9'000'000'000'000'000; micros += 333'333'333'333'337) {
        const Time time{microseconds{micros}};
        EXPECT_EQ(from_rfc3339(to_rfc3339(time, Precision::Micros)), time);
    }
}

TEST(Time, DurationsReadAsPeopleWriteThem) {
    EXPECT_EQ(parse_duration("5d"), hours{120});
    EXPECT_EQ(parse_duration("1h30m"), minutes{90});
    EXPECT_EQ(parse_duration("250ms"), milliseconds{250});
    EXPECT_EQ(parse_duration("2m3ms4us"), minutes{2} + milliseconds{3} + microseconds{4});
    EXPECT_EQ(parse_duration("0s"), seconds{0});
    for (const char* bad :
         {"", "5", "d", "-5d", "5 d", "5x", "30m1h", "1h1h", "1.5h", "40000d", "99999999999999999s", "5D"})
        EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Time, DurationsPrintShortestAndReadBack) {
    EXPECT_EQ(to_text(minutes{90}), "1h30m");
    EXPECT_EQ(to_text(microseconds{0}), "0s");
    EXPECT_EQ(to_text(milliseconds{-1500}), "-1s500ms");
    EXPECT_NE(to_text(microseconds::min()), "");
    for (std::int64_t micros = 1; micros < 3'000'000'000'000'000; micros = micros * 7 + 3)
        EXPECT_EQ(parse_duration(to_text(microseconds{micros})), microseconds{micros});
}

TEST(Time, RoundsTowardsThePast) {
    EXPECT_EQ(Time{microseconds{-1}}.unix_seconds(), -1);
    EXPECT_EQ(Time{microseconds{1'999'999}}.unix_seconds(), 1);
    EXPECT_EQ(Time::from_unix_millis(5).unix_millis(), 5);
}

}  // namespace
}  // namespace rhizome
