// SPDX-License-Identifier: Apache-2.0
#include "cluster/names.h"

#include <gtest/gtest.h>

namespace rhizome::cluster {
namespace {

using Check = Complaints (*)(std::string_view);

TEST(Names, FollowTheRulesOfKubernetes) {
    const std::string long63(63, 'a');
    const std::string long64(64, 'a');
    const std::string long254(254, 'a');
    const struct {
        std::string_view rule;
        Check check;
        std::vector<std::string> good;
        std::vector<std::string> bad;
    } rows[] = {
        {"label", check_dns_label, {"a", "my-name", "123-abc", long63}, {"", "A", "-a", "a-", "a.b", "a_b", long64}},
        {"subdomain",
         check_dns_subdomain,
         {"a", "a.b", "1.2.3.4", "a-b.c", long64},
         {"", "A", ".a", "a.", "a..b", "-a", "a-.b", "a_b", long254}},
        {"1035", check_dns_1035_label, {"a", "my-name", "a1"}, {"", "1a", "-a", "a-", "a.b", long64}},
        {"qualified",
         check_qualified_name,
         {"a", "MyName", "my.name", "123-abc", "example.com/a_b", long63},
         {"", "/", "/a", "a/", "a/b/c", "-a", "a b", "Example/a", long64, "a!"}},
        {"value",
         check_label_value,
         {"", "a", "MyValue", "my_value", "12345", long63},
         {"-a", "a-", "a b", "a/b", long64}},
        {"segment", check_path_segment, {"a", "system:node", "A B"}, {".", "..", "a/b", "a%b"}},
        {"config", check_config_key, {"key.name", "KEY_NAME", "-", ".a"}, {"", ".", "..", "..a", "a b", "a/b"}},
        {"port", check_port_name, {"http", "a1", "a-b"}, {"", "1", "A", "-a", "a-", "a--b", "abcdefghijklmnop"}},
        {"environment", check_environment_name, {"A", "a.b-c", "1A"}, {"", "a=b", "a\n"}},
    };
    for (const auto& row : rows) {
        for (const std::string& good : row.good) EXPECT_TRUE(row.check(good).empty()) << row.rule << ' ' << good;
        for (const std::string& bad : row.bad) EXPECT_FALSE(row.check(bad).empty()) << row.rule << ' ' << bad;
    }
    EXPECT_EQ(check_dns_label(long64), Complaints{"must be no more than 63 characters"});
}

TEST(Names, KnowAddresses) {
    for (const char* good : {"1.2.3.4", "0.0.0.0", "::", "::1", "fe80::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::"})
        EXPECT_TRUE(is_ip_address(good)) << good;
    for (const char* bad : {"", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.5", ":", ":::", "1::2::3",
                            "1:2:3:4:5:6:7:8:9", "12345::", "1:2:3:4:5:6:7::8:9", "g::", "1:"})
        EXPECT_FALSE(is_ip_address(bad)) << bad;
    EXPECT_TRUE(is_cidr("10.0.0.0/8"));
    EXPECT_TRUE(is_cidr("fd00::/64"));
    for (const char* bad : {"10.0.0.0", "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "/8"})
        EXPECT_FALSE(is_cidr(bad)) << bad;
}

TEST(Names, AreGeneratedFromAHash) {
    Bytes seed(32, 7);
    const std::string name = generated_name("web-", seed);
    EXPECT_EQ(name.size(), 9u);
    EXPECT_TRUE(name.starts_with("web-"));
    EXPECT_TRUE(check_dns_subdomain(name).empty());
    EXPECT_EQ(generated_name("web-", seed), name);
    seed[7] = 8;
    EXPECT_NE(generated_name("web-", seed), name);
    EXPECT_EQ(generated_name(std::string(100, 'a'), seed).size(), 63u);
}

TEST(Names, UidsAreUuids) {
    Bytes hash;
    for (int i = 0; i < 32; ++i) hash.push_back(static_cast<std::uint8_t>(i * 17));
    const std::string uid = uid_from(hash);
    EXPECT_EQ(uid, "00112233-4455-8677-8899-aabbccddeeff");
    EXPECT_TRUE(is_uid(uid));
    EXPECT_FALSE(is_uid("00112233-4455-8677-8899-aabbccddeefg"));
    EXPECT_FALSE(is_uid(""));
}

}  // namespace
}  // namespace rhizome::cluster
