// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "consensus/miner.h"
#include "consensus/work.h"
#include "crypto/compact_target.h"
#include "ledger/codec.h"
#include "support/vectors.h"

namespace rhizome::consensus {
namespace {

using ledger::Height;
using test::own_vectors;
using test::text;

template <class Number>
Number number_of(std::string_view digits, int base) {
    Number number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    EXPECT_TRUE(error == std::errc{} && end == digits.data() + digits.size()) << digits;
    return number;
}
std::uint32_t bits_at(const boost::json::value& row, std::string_view key) {
    return number_of<std::uint32_t>(text(row, key), 16);
}
template <class T>
T integer_at(const boost::json::value& row, std::string_view key) {
    return row.at(key).to_number<T>();
}

boost::json::array rows_of(std::string_view name) {
    auto rows = own_vectors("consensus/work.json").at(name).as_array();
    EXPECT_FALSE(rows.empty()) << name;
    return rows;
}

TEST(WorkVectors, FirstBits) {
    for (const auto& row : rows_of("first")) {
        const ledger::WorkRules rules{.hash_rate = integer_at<std::uint64_t>(row, "hash_rate"),
                                      .block_time = milliseconds{integer_at<std::int64_t>(row, "block_time_ms")}};
        EXPECT_EQ(first_bits(rules), bits_at(row, "bits")) << row;
    }
}

TEST(WorkVectors, AHashIsReadBigEndian) {
    for (const auto& row : rows_of("meets")) {
        const auto hash = from_hex(text(row, "hash"));
        ASSERT_TRUE(hash && hash->size() == 32) << row;
        const U256 target = crypto::decode_compact(bits_at(row, "bits")).target;
        EXPECT_EQ(meets(ledger::BlockHash{ByteView{*hash}.first<32>()}, target), row.at("meets").as_bool()) << row;
    }
}

TEST(WorkVectors, Periods) {
    for (const auto& row : rows_of("periods")) {
        SCOPED_TRACE(text(row, "name"));
        ledger::WorkRules rules{.block_time = milliseconds{integer_at<std::int64_t>(row, "block_time_ms")},
                                .period = integer_at<std::uint32_t>(row, "period")};
        Time time = Time::from_unix_seconds(1'800'000'000);
        Height height{0};
        records::WorkPeriod period{.bits = bits_at(row, "start_bits"), .height = height, .time = time};
        boost::json::array retargets;
        for (const auto& run : row.at("runs").as_array()) {
            for (auto left = run.at(0).to_number<std::uint64_t>(); left > 0; --left) {
                ++height;
                time += milliseconds{run.at(1).to_number<std::int64_t>()};
                if (row.as_object().contains("from_height") &&
                    height.number() >= integer_at<std::uint64_t>(row, "from_height"))
                    rules.period = integer_at<std::uint32_t>(row, "period_then");
                const auto after = period_after(period, height, time, rules);
                if (after.height != period.height) {
                    EXPECT_EQ(after.height, height);
                    EXPECT_EQ(after.time, time);
                    retargets.push_back(boost::json::array{height.number(), fmt::format("{:08x}", after.bits)});
                } else {
                    EXPECT_EQ(after, period);
                }
                period = after;
            }
        }
        EXPECT_EQ(boost::json::serialize(retargets), boost::json::serialize(row.at("retargets")));
    }
}

TEST(WorkVectors, MinedHeaders) {
    for (const auto& row : rows_of("mined")) {
        SCOPED_TRACE(text(row, "hash"));
        const auto bytes = from_hex(text(row, "header"));
        ASSERT_TRUE(bytes);
        auto header = ledger::decode_header(*bytes);
        ASSERT_TRUE(header);
        const auto nonce = number_of<std::uint64_t>(text(row, "nonce"), 10);
        EXPECT_EQ(header->nonce, nonce);
        header->nonce = 0;  // whatever stands there does not matter
        Miner miner{*header, number_of<std::uint64_t>(text(row, "first_nonce"), 10)};
        const auto progress = miner.step(1'000'000);
        ASSERT_TRUE(progress.found);
        EXPECT_EQ(*progress.found, nonce);
        EXPECT_EQ(progress.tried, integer_at<std::uint64_t>(row, "tried"));
        EXPECT_EQ(miner.nonce(), nonce + 1);
        header->nonce = *progress.found;
        EXPECT_EQ(fmt::format("{}", hash_of(*header)), text(row, "hash"));
    }
}

}  // namespace
}  // namespace rhizome::consensus
