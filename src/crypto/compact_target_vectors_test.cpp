// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/compact_target.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::absent_vectors;
using test::own_vectors;
using test::shared_vectors;
using test::text;

std::uint32_t bits_of(std::string_view hex) {
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    EXPECT_TRUE(error == std::errc{} && end == hex.data() + hex.size() && hex.size() == 8) << hex;
    return bits;
}
std::uint32_t bits_at(const boost::json::value& row, std::string_view key) { return bits_of(text(row, key)); }

void check_compact(const boost::json::array& rows, std::string_view bits_key, std::string_view again_key) {
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        SCOPED_TRACE(boost::json::serialize(row));
        const CompactTarget decoded = decode_compact(bits_at(row, bits_key));
        EXPECT_EQ(decoded.negative, row.at("negative").as_bool());
        EXPECT_EQ(decoded.overflow, row.at("overflow").as_bool());
        if (decoded.overflow) continue;
        EXPECT_EQ(decoded.target.hex(), text(row, "target"));
        EXPECT_EQ(encode_compact(decoded.target, decoded.negative), bits_at(row, again_key));
    }
}

TEST(CompactTargetVectors, Compact) {
    check_compact(own_vectors("crypto/compact_target.json").at("compact").as_array(), "bits", "again");
}

TEST(CompactTargetVectors, Work) {
    const auto file = own_vectors("crypto/compact_target.json");
    ASSERT_FALSE(file.at("work").as_array().empty());
    for (const auto& row : file.at("work").as_array()) {
        EXPECT_EQ(work_of(*U256::from_hex(text(row, "target"))).hex(), text(row, "work")) << row;
    }
}

TEST(CompactTargetVectors, Retarget) {
    const auto file = own_vectors("crypto/compact_target.json");
    ASSERT_FALSE(file.at("retarget").as_array().empty());
    for (const auto& row : file.at("retarget").as_array()) {
        const auto next = retarget(bits_at(row, "bits"), milliseconds{row.at("actual_ms").as_int64()},
                                   milliseconds{row.at("wanted_ms").as_int64()}, bits_at(row, "limit"));
        ASSERT_TRUE(next) << row;
        EXPECT_EQ(*next, bits_at(row, "next")) << row;
    }
}

TEST(CompactTargetVectors, Bad) {
    const auto file = own_vectors("crypto/compact_target.json");
    ASSERT_FALSE(file.at("bad").as_array().empty());
    for (const auto& row : file.at("bad").as_array()) {
        const auto target = work_target(bits_at(row, "bits"), decode_compact(bits_at(row, "limit")).target);
        ASSERT_FALSE(target) << row;
        EXPECT_EQ(name(target.error()), text(row, "fault")) << row;
    }
}

TEST(SharedCompactTargetVectors, Compact) {
    const auto file = shared_vectors("compact_target.json");
    if (!file) GTEST_SKIP() << absent_vectors("compact_target.json");
    check_compact(file->at("compact").as_array(), "nbits", "recompact");
}

TEST(SharedCompactTargetVectors, Retarget) {
    const auto file = shared_vectors("compact_target.json");
    if (!file) GTEST_SKIP() << absent_vectors("compact_target.json");
    const auto& rows = file->at("retarget_2016x600s_clamp4_powlimit_1d00ffff").as_array();
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        const seconds actual{row.at("last_time").as_int64() - row.at("first_time").as_int64()};
        const auto next = retarget(bits_at(row, "nbits"), actual, seconds{2016 * 600}, 0x1d00ffff);
        ASSERT_TRUE(next) << row;
        EXPECT_EQ(*next, bits_at(row, "next")) << row;
    }
}

// The rows are phrases; the word before the colon says which fault, the bits are in the phrase where it gives them.
TEST(SharedCompactTargetVectors, BitsThatNoBlockMayHave) {
    const auto file = shared_vectors("compact_target.json");
    if (!file) GTEST_SKIP() << absent_vectors("compact_target.json");
    const U256 limit = decode_compact(0x1d00ffff).target;
    const std::map<std::string, std::pair<std::uint32_t, TargetFault>> cases{
        {"negative", {0x1d80ffff, TargetFault::Negative}},
        {"overflow", {0xff7fffff, TargetFault::Overflow}},
        {"zero target", {0x00000000, TargetFault::Zero}},
        {"above limit", {encode_compact(limit << 1), TargetFault::AboveLimit}},
    };
    const auto& rows = file->at("invalid_pow_nbits").as_array();
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        const std::string phrase{row.as_string()};
        const auto found = cases.find(phrase.substr(0, phrase.find(':')));
        ASSERT_NE(found, cases.end()) << "a new kind of row: " << phrase;
        const auto& [bits, fault] = found->second;
        if (fault != TargetFault::AboveLimit) {
            EXPECT_NE(phrase.find(fmt::format("{:08x}", bits)), std::string::npos) << phrase;
        }
        const auto target = work_target(bits, limit);
        ASSERT_FALSE(target) << phrase;
        EXPECT_EQ(target.error(), fault) << phrase;
    }
}

}  // namespace
}  // namespace rhizome::crypto
