// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/chain_harness.h"

namespace rhizome::cli {
namespace {

using testing::has;

/// A chain of four blocks.
class CarryCommand : public ::testing::Test {
protected:
    CarryCommand() {
        harness.init();
        harness.grow("one");
        harness.grow("two");
    }
    std::string file(const std::string& name) const { return folder / name; }

    test::TempFolder folder;
    testing::ChainHarness harness{folder.path()};
};

TEST_F(CarryCommand, ABackupMakesTheSameChainAgain) {
    const auto made = harness.data_of({"chain", "backup", file("b")});
    EXPECT_EQ(made.find("blocks")->if_int64(), 4);
    const auto before = harness.good({"chain", "anchor"});
    const auto again = harness.rhizome({"chain", "backup", file("b")});
    EXPECT_EQ(again.code, 5) << again.err;
    const auto taken = harness.rhizome({"chain", "restore", file("b")});
    EXPECT_EQ(taken.code, 5) << taken.err;

    harness.data = file("restored");
    EXPECT_TRUE(has(harness.good({"chain", "restore", file("b")}), "signs nothing until"));
    EXPECT_EQ(harness.good({"chain", "anchor"}), before);
    EXPECT_TRUE(has(harness.good({"chain", "verify"}), "OK: 4 blocks"));
    EXPECT_EQ(harness.rhizome({"chain", "restore", file("missing"), "--data", file("x")}).code, 3);
}

TEST_F(CarryCommand, ASnapshotBeginsAChainThatGoesOn) {
    const auto made = harness.data_of({"chain", "snapshot", "export", file("s"), "--at", "2"});
    const std::string hash{made.text_at({"block"})};
    EXPECT_EQ(harness.data_of({"chain", "snapshot", "show", file("s")}).text_at({"block"}), hash);
    harness.good({"chain", "export", "--from", "3", "--out", file("rest")});
    const auto tip = harness.good({"chain", "anchor"});

    harness.data = file("light");
    const auto other = harness.rhizome({"chain", "snapshot", "import", file("s"), "--trusted", std::string(64, 'a')});
    EXPECT_EQ(other.code, 4) << other.err;
    EXPECT_EQ(harness.rhizome({"chain", "snapshot", "import", file("s"), "--trusted", "abc"}).code, 2);
    harness.good({"chain", "snapshot", "import", file("s"), "--trusted", hash});
    harness.good({"chain", "import", file("rest")});
    EXPECT_EQ(harness.good({"chain", "anchor"}), tip);
    EXPECT_EQ(harness.rhizome({"chain", "block", "1"}).code, 3);
}

TEST_F(CarryCommand, ASnapshotWithoutATrustedHashWarns) {
    harness.good({"chain", "snapshot", "export", file("s")});
    harness.data = file("light");
    const auto ran = harness.rhizome({"chain", "snapshot", "import", file("s")});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(has(ran.err, "--trusted")) << ran.err;
}

TEST_F(CarryCommand, PruneSaysWhatWent) {
    const auto data = harness.data_of({"chain", "prune", "--below", "2", "--what", "headers"});
    // All blocks are in the file that is still written to: nothing can go yet.
    EXPECT_EQ(data.find_path({"bodies", "blocks"})->if_int64(), 0);
    EXPECT_EQ(data.find_path({"headers", "blocks"})->if_int64(), 0);
    EXPECT_EQ(harness.rhizome({"chain", "prune", "--below", "99"}).code, 3);
    EXPECT_EQ(harness.rhizome({"chain", "prune"}).code, 2);
    EXPECT_TRUE(has(harness.good({"chain", "verify"}), "OK: 4 blocks"));
}

}  // namespace
}  // namespace rhizome::cli
