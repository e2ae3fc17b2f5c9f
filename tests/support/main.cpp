// SPDX-License-Identifier: Apache-2.0
// The `main` of every test program: GoogleTest's, with the seed of this run.
//
//     RHIZOME_TEST_SEED=N      draws other cases than usual (support/seed.h)
//     RHIZOME_TEST_CASES=A.b:… only these, whatever --gtest_filter says: how `./run test` runs again what failed
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "support/seed.h"

namespace {

/// Tells how to see a failure again, when the cases are not the usual ones.
class ReplayLines final : public testing::EmptyTestEventListener {
public:
    explicit ReplayLines(std::string program) : program_(std::move(program)) {}
    void OnTestEnd(const testing::TestInfo& test) override {
        if (test.result()->Failed())
            std::cout << "replay: RHIZOME_TEST_SEED=" << rhizome::test::seed() << ' ' << program_
                      << " --gtest_filter=" << test.test_suite_name() << '.' << test.name() << std::endl;
    }

private:
    std::string program_;
};

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (const char* cases = std::getenv("RHIZOME_TEST_CASES"); cases != nullptr && *cases != '\0') {
        testing::GTEST_FLAG(filter) = cases;
        ::unsetenv("RHIZOME_TEST_CASES");  // not for programs that tests start
    }
    rhizome::test::seed_properties();
    if (rhizome::test::seed() != rhizome::test::kUsualSeed)
        testing::UnitTest::GetInstance()->listeners().Append(new ReplayLines{argv[0]});
    return RUN_ALL_TESTS();
}
