// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <gtest/gtest.h>

#include "http/detail/gzip.h"

namespace rhizome::http {
namespace {

TEST(Headers, AreFoundInAnyCaseAndKeepTheirOrder) {
    Headers headers{{"Host", "a"}, {"Accept", "x, Y"}, {"accept", "z"}};
    EXPECT_EQ(headers.find("hOST"), "a");
    EXPECT_FALSE(headers.find("Hos"));
    EXPECT_EQ(headers.all("ACCEPT"), (std::vector<std::string_view>{"x, Y", "z"}));
    EXPECT_TRUE(headers.has_word("accept", "y"));
    EXPECT_TRUE(headers.has_word("accept", "Z"));
    EXPECT_FALSE(headers.has_word("accept", "x, Y"));
    headers.set("ACCEPT", "new");
    EXPECT_EQ(headers, (Headers{{"Host", "a"}, {"Accept", "new"}}));
    headers.remove("host");
    EXPECT_EQ(headers.size(), 1u);
}

TEST(Request, PathAndQueryAreSplitAtTheFirstMark) {
    Request request{.target = "/a/b?c=d?e"};
    EXPECT_EQ(request.path(), "/a/b");
    EXPECT_EQ(request.query(), "c=d?e");
    request.target = "/x";
    EXPECT_EQ(request.query(), "");
}

TEST(Query, IsReadWithItsEscapes) {
    const auto pairs = parse_query("labelSelector=app%3Dweb&watch&x=a+b&&y=");
    ASSERT_TRUE(pairs);
    EXPECT_EQ(*pairs, (std::vector<std::pair<std::string, std::string>>{
                          {"labelSelector", "app=web"}, {"watch", ""}, {"x", "a b"}, {"y", ""}}));
    for (const char* bad : {"a=%", "a=%2", "a=%zz", "%00=1"}) EXPECT_FALSE(parse_query(bad)) << bad;
    std::string many;
    for (std::size_t i = 0; i <= kQueryPairsMax; ++i) many += "a&";
    EXPECT_FALSE(parse_query(many));
    EXPECT_EQ(percent_decode(percent_encode("a/b ü%~")), "a/b ü%~");
}

TEST(Accepts, ReadsWeightsAndStars) {
    const struct {
        const char* field;
        bool expected;
    } rows[] = {{"gzip", true},          {"deflate", false},          {"", false},        {"gzip;q=0", false},
                {"gzip;q=0.000", false}, {"gzip; q=0.1", true},       {"*", true},        {"*;q=0", false},
                {"*, gzip;q=0", false},  {"deflate, GZIP;q=1", true}, {"identity", false}};
    for (const auto& row : rows)
        EXPECT_EQ(accepts(Headers{{"Accept-Encoding", row.field}}, "Accept-Encoding", "gzip"), row.expected)
            << row.field;
}

TEST(ErrorResponse, SpeaksTheAskersLanguage) {
    const Headers json{{"Accept", "application/json"}};
    EXPECT_EQ(error_response(404, "no \"x\"", &json).body,
              "{\"status\":404,\"reason\":\"Not Found\",\"message\":\"no \\\"x\\\"\"}\n");
    EXPECT_EQ(error_response(404, "no x").body, "404 Not Found: no x\n");
}

TEST(Gzip, UnfoldsToWhatItWasAndNoFurther) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 1000);
    detail::Gzip gzip;
    std::string packed = gzip.add(std::string_view(text).substr(0, 1000), false);
    packed += gzip.add(std::string_view(text).substr(1000), true);
    EXPECT_LT(packed.size(), text.size());
    EXPECT_EQ(detail::gunzip(packed, text.size()).value(), text);
    EXPECT_EQ(detail::gunzip(packed, text.size() - 1).error().kind, ErrorKind::Exhausted);
    EXPECT_EQ(detail::gunzip(packed.substr(0, packed.size() / 2), text.size()).error().kind, ErrorKind::Invalid);
    EXPECT_EQ(detail::gunzip("hello", 10).error().kind, ErrorKind::Invalid);
}

}  // namespace
}  // namespace rhizome::http
