// SPDX-License-Identifier: Apache-2.0
#include "api/users.h"

#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

TEST(Users, ATokenFileIsReadAsKubernetesReadsIt) {
    const auto tokens = parse_token_file("# people\nt1,alice,7,\"dev,system:masters\"\r\n\nt2 , bob\nt3,carol,,ops\n");
    ASSERT_TRUE(tokens) << tokens.error().message;
    ASSERT_EQ(tokens->size(), 3u);
    const User* alice = find_token(*tokens, "t1");
    ASSERT_NE(alice, nullptr);
    EXPECT_EQ(alice->name, "alice");
    EXPECT_EQ(alice->uid, "7");
    EXPECT_TRUE(alice->is_in("dev"));
    EXPECT_TRUE(alice->is_in(kMasters));
    EXPECT_TRUE(alice->is_in(kAuthenticated));
    EXPECT_EQ(find_token(*tokens, "t2")->name, "bob");
    EXPECT_FALSE(find_token(*tokens, "t2")->is_in(kMasters));
    EXPECT_TRUE(find_token(*tokens, "t3")->is_in("ops"));
    EXPECT_EQ(find_token(*tokens, "t"), nullptr);
    EXPECT_EQ(find_token(*tokens, ""), nullptr);
}

TEST(Users, ABadTokenFileIsRefusedByItsLineWithoutTheToken) {
    struct Case {
        const char* text;
        const char* says;
    };
    for (const Case& one : {Case{"secret\n", "line 1: 1 fields"}, Case{"a,b\n,c\n", "line 2: token or user is empty"},
                            Case{"a,b\na,c\n", "line 2: the token stands"}, Case{"a,b,c,\"d\n", "line 1: a quote"},
                            Case{"a,b,c,d,e\n", "line 1: 5 fields"}}) {
        const auto read = parse_token_file(one.text);
        ASSERT_FALSE(read) << one.text;
        EXPECT_TRUE(read.error().message.starts_with(one.says)) << read.error().message;
        EXPECT_EQ(read.error().message.find("secret"), std::string::npos);
    }
}

TEST(Users, OnlyMastersSpeakForOthers) {
    const User master{.name = "admin", .groups = {std::string{kMasters}}};
    const User somebody{.name = "bob"};
    EXPECT_EQ(*impersonated(somebody, {{"Accept", "x"}}), somebody);
    const auto as = impersonated(master, {{"impersonate-user", "eve"},
                                          {"Impersonate-Group", "a"},
                                          {"Impersonate-Group", "b"},
                                          {"Impersonate-Extra-Scopes", "x"}});
    ASSERT_TRUE(as);
    EXPECT_EQ(as->name, "eve");
    EXPECT_EQ(as->groups, (std::vector<std::string>{"a", "b", "system:authenticated"}));
    EXPECT_EQ(as->impersonated_by, "admin");
    EXPECT_EQ(impersonated(somebody, {{"Impersonate-User", "eve"}}).error().code, 403u);
    EXPECT_EQ(impersonated(master, {{"Impersonate-Group", "a"}}).error().code, 400u);
}

}  // namespace
}  // namespace rhizome::api
