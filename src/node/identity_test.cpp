// SPDX-License-Identifier: Apache-2.0
#include "node/identity.h"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "support/vectors.h"

namespace rhizome::node {
namespace {

TEST(Identity, IsMadeOnceAndFoundAgain) {
    const test::TempFolder temp;
    const auto data = temp / "deep" / "data";
    EXPECT_EQ(load_identity(data).error().kind, ErrorKind::NotFound);
    const auto made = make_identity(data);
    ASSERT_TRUE(made) << made.error().message;
    const auto loaded = load_identity(data);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->keys.public_keys(), made->keys.public_keys());
    EXPECT_FALSE(loaded->too_open);
    const auto before = test::read_file(seed_file(data));
    EXPECT_EQ(make_identity(data).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(test::read_file(seed_file(data)), before);
    EXPECT_NE(make_identity(temp / "other")->keys.public_keys(), made->keys.public_keys());
}

TEST(Identity, IsPrivateWhateverTheUmask) {
    const test::TempFolder temp;
    const mode_t before = ::umask(0);
    const auto made = make_identity(temp.path());
    ::umask(before);
    ASSERT_TRUE(made);
    struct stat found {};
    ASSERT_EQ(::stat(seed_file(temp.path()).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600u);
    EXPECT_EQ(found.st_size, 32);
    ASSERT_EQ(::stat(seed_file(temp.path()).parent_path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0700u);
    ASSERT_EQ(::chmod(seed_file(temp.path()).c_str(), 0640), 0);
    EXPECT_TRUE(load_identity(temp.path())->too_open);
}

TEST(Identity, AFileThatIsNoSeedIsCorrupt) {
    for (const std::size_t size : {0u, 31u, 33u, 4096u}) {
        const test::TempFolder temp;
        std::filesystem::create_directories(temp / "node");
        std::ofstream{seed_file(temp.path())} << std::string(size, 'x');
        EXPECT_EQ(load_identity(temp.path()).error().kind, ErrorKind::Corrupt) << size;
    }
}

}  // namespace
}  // namespace rhizome::node
