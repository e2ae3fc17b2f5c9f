// SPDX-License-Identifier: Apache-2.0
#include "support/seed.h"

#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace rhizome::test {
namespace {

/// Puts the environment of the whole program back.
class Seeds : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* name : {"RHIZOME_TEST_SEED", "RC_PARAMS"}) {
            const char* value = std::getenv(name);
            before_.emplace_back(name, value == nullptr ? std::nullopt : std::optional<std::string>{value});
            ::unsetenv(name);
        }
    }
    void TearDown() override {
        for (const auto& [name, value] : before_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    }
    static std::string for_properties(const char* given = nullptr) {
        given == nullptr ? ::unsetenv("RC_PARAMS") : ::setenv("RC_PARAMS", given, 1);
        seed_properties();
        return std::getenv("RC_PARAMS");
    }

private:
    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST_F(Seeds, AreTheSameUnlessOthersAreAskedFor) {
    EXPECT_EQ(seed(), kUsualSeed);
    EXPECT_EQ(seed_for(41), 41u);
    EXPECT_EQ(for_properties(), "seed=4417");
    EXPECT_EQ(for_properties("max_success=500"), "max_success=500 seed=4417");
    EXPECT_EQ(for_properties("seed=7 max_success=500"), "seed=7 max_success=500");
}

TEST_F(Seeds, FollowFromTheOneThatIsAskedFor) {
    ::setenv("RHIZOME_TEST_SEED", "12", 1);
    EXPECT_EQ(seed(), 12u);
    EXPECT_EQ(for_properties(), "seed=12");
    const std::uint64_t one = seed_for(41);
    EXPECT_NE(one, 41u);
    EXPECT_NE(one, seed_for(42));
    EXPECT_EQ(one, seed_for(41));
    ::setenv("RHIZOME_TEST_SEED", "13", 1);
    EXPECT_NE(one, seed_for(41));
    ::setenv("RHIZOME_TEST_SEED", "soon", 1);
    EXPECT_DEATH((void)seed(), "RHIZOME_TEST_SEED is a number");
}

/// Without `main` RapidCheck would have asked the kernel.
TEST(SeedsOfProperties, ComeFromThisProgramsMain) {
    const char* parameters = std::getenv("RC_PARAMS");
    ASSERT_NE(parameters, nullptr);
    EXPECT_NE(std::string{parameters}.find(fmt::format("seed={}", rc::detail::configuration().testParams.seed)),
              std::string::npos)
        << parameters;
}

}  // namespace
}  // namespace rhizome::test
