// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/crash_disk_fixture.h"

namespace rhizome::test {
namespace {

namespace fs = std::filesystem;
using TheFailingDisk = TheCrashDisk;

TEST_F(TheFailingDisk, FailsTheOperationThatShallFail) {
    CrashDisk disk{folder};
    const auto a = open("a");
    const auto b = open("b");
    disk.fail({.on = Fault::On::Write, .name_has = "b", .nth = 2, .times = 2, .error = ENOSPC});
    disk.fail({.on = Fault::On::Sync, .name_has = "a"});
    disk.fail({.on = Fault::On::Allocate});
    disk.fail({.on = Fault::On::Resize});
    disk.fail({.on = Fault::On::Name, .name_has = "c"});
    EXPECT_EQ(put_errno(a, "1", 0), 0);
    EXPECT_EQ(put_errno(b, "1", 0), 0);
    EXPECT_EQ(put_errno(b, "2", 1), ENOSPC);
    EXPECT_EQ(put_errno(a, "2", 1), 0);
    EXPECT_EQ(put_errno(b, "2", 1), ENOSPC);
    EXPECT_EQ(put_errno(b, "3", 1), 0);
    EXPECT_EQ(::fdatasync(b.get()), 0);
    EXPECT_EQ(::fsync(a.get()), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(::fsync(a.get()), 0);
    EXPECT_EQ(::posix_fallocate(a.get(), 0, 8192), EIO);
    EXPECT_EQ(::fallocate(a.get(), 0, 0, 8192), 0);
    EXPECT_EQ(::ftruncate(a.get(), 1), -1);
    EXPECT_EQ(::open((folder / "c").c_str(), O_RDWR | O_CREAT, 0644), -1);
    EXPECT_EQ(disk.faults_hit(), 6u);

    disk.fail({.on = Fault::On::Name, .name_has = "e"});
    EXPECT_EQ(::rename((folder / "a").c_str(), (folder / "e").c_str()), -1);
    EXPECT_EQ(::rename((folder / "a").c_str(), (folder / "e").c_str()), 0);
    disk.fail({.on = Fault::On::Write, .times = Fault::kForEver});
    for (int i = 0; i < 5; ++i) EXPECT_EQ(put_errno(a, "x", 0), EIO);
    disk.clear_faults();
    EXPECT_EQ(put_errno(a, "y", 0), 0);
    EXPECT_EQ(files_in(folder), (Files{{"b", "13"}, {"e", "y2" + std::string(8190, '\0')}}));
    EXPECT_EQ(disk.unseen(), Strings{});
}

TEST_F(TheFailingDisk, WritesLessThanAsked) {
    CrashDisk disk{folder};
    const auto file = open("a");
    disk.fail({.on = Fault::On::Write, .times = 2, .short_write = 3});
    EXPECT_EQ(::write(file.get(), "abcdef", 6), 3);
    iovec parts[] = {{const_cast<char*>("de"), 2}, {const_cast<char*>("fg"), 2}};
    EXPECT_EQ(::writev(file.get(), parts, 2), 3);
    EXPECT_EQ(::write(file.get(), "ghi", 3), 3);
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"a", "abcdefghi"}}));
    EXPECT_EQ(disk.unseen(), Strings{});
}

TEST_F(TheFailingDisk, NeverSavesWhatAFailedSyncLost) {
    CrashDisk disk{folder};
    const auto file = open("a");
    sync_folder();
    put(file, std::string(1024, 'l'), 0);
    disk.fail({.on = Fault::On::Sync, .dirty_lost = true});
    EXPECT_EQ(::fdatasync(file.get()), -1);
    EXPECT_EQ(::fdatasync(file.get()), 0) << "the second one finds nothing to do";
    EXPECT_EQ(files_in(folder)["a"], std::string(1024, 'l')) << "the cache still has it";
    EXPECT_EQ(image(disk, Choice::none())["a"], "");
    EXPECT_EQ(image(disk, Choice::all())["a"], "");
    put(file, "again", 512);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"].substr(0, 512), std::string(512, '\0'));
    EXPECT_EQ(image(disk, Choice::none())["a"].substr(512, 5), "again");
    put(file, std::string(1024, 'w'), 0);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"], std::string(1024, 'w'));
}

TEST_F(TheFailingDisk, KeepsTryingAfterAFailedSyncThatLostNothing) {
    CrashDisk disk{folder};
    const auto file = open("a");
    sync_folder();
    put(file, "data", 0);
    disk.fail({.on = Fault::On::Sync});
    EXPECT_EQ(::fdatasync(file.get()), -1);
    EXPECT_EQ(image(disk, Choice::none())["a"], "");
    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"], "data");
}

TEST_F(TheFailingDisk, FailsSynchronousWritesAfterTheyWereDone) {
    CrashDisk disk{folder};
    const auto file = open("a", O_DSYNC);
    sync_folder();
    put(file, "first", 0);
    disk.fail({.on = Fault::On::Sync, .dirty_lost = true});
    EXPECT_EQ(put_errno(file, "other", 0), EIO);
    EXPECT_EQ(files_in(folder)["a"], "other");
    EXPECT_EQ(image(disk, Choice::all())["a"], "first");
    put(file, "third", 0);
    EXPECT_EQ(image(disk, Choice::none())["a"], "third");
}

TEST_F(TheFailingDisk, IsFullWhenItsSpaceIsUsed) {
    CrashDisk disk{folder};
    const auto file = open("a");
    put(file, std::string(8192, 'a'), 0);
    disk.limit_space(3 * 4096);
    put(file, std::string(8192, 'b'), 0);  // has its blocks
    const std::string three(3 * 4096, 'c');
    EXPECT_EQ(::pwrite(file.get(), three.data(), three.size(), 8192 + 4096), 12288) << "a hole is left out";
    EXPECT_EQ(put_errno(file, "x", 8192), ENOSPC) << "and cannot be filled";
    EXPECT_EQ(put_errno(file, "x", 8192 + 4096), 0);
    EXPECT_EQ(::posix_fallocate(file.get(), 0, 8192), 0);
    EXPECT_EQ(::posix_fallocate(file.get(), 0, 8193), ENOSPC);
    EXPECT_EQ(::ftruncate(file.get(), 1 << 20), 0) << "takes no space";
    EXPECT_EQ(::ftruncate(file.get(), 6 * 4096 - 1), 0);
    EXPECT_EQ(put_errno(file, "x", 1 << 20), ENOSPC) << "half a block is a block";
    EXPECT_EQ(::ftruncate(file.get(), 5 * 4096), 0);
    const std::string two(2 * 4096, 'd');
    EXPECT_EQ(::pwrite(file.get(), two.data(), two.size(), 5 * 4096), 4096) << "as much as fits";
    EXPECT_EQ(::unlink((folder / "a").c_str()), 0);
    const auto other = open("b");
    EXPECT_EQ(::posix_fallocate(other.get(), 0, 5 * 4096), 0);
    EXPECT_EQ(put_errno(other, "x", 5 * 4096), ENOSPC);
    disk.limit_space(std::nullopt);
    EXPECT_EQ(put_errno(other, "x", 5 * 4096), 0);
    EXPECT_EQ(disk.faults_hit(), 0u);
    EXPECT_EQ(disk.unseen(), Strings{});
}

TEST_F(TheFailingDisk, PretendsToHaveAsMuchSpaceAsItIsTold) {
    const auto free_at = [](const fs::path& path) {
        struct statvfs space {};
        EXPECT_EQ(::statvfs(path.c_str(), &space), 0);
        return space.f_bavail * space.f_frsize;
    };
    CrashDisk disk{folder};
    const auto file = open("a");
    const auto truth = free_at(home.path());
    ASSERT_GT(truth, 1u << 20);
    disk.limit_space(5 * 4096);
    EXPECT_EQ(free_at(folder), 5u * 4096);
    put(file, "x", 0);
    EXPECT_EQ(free_at(folder / "a"), 4u * 4096);
    disk.report_free_space(8192);
    EXPECT_EQ(fs::space(folder).available, 8192u);
    struct statvfs space {};
    EXPECT_EQ(::fstatvfs(file.get(), &space), 0);
    EXPECT_EQ(space.f_bavail * space.f_frsize, 8192u);
    EXPECT_GT(free_at(home.path()), 1u << 20);
    disk.stop();
    EXPECT_GT(free_at(folder), 1u << 20);
}

}  // namespace
}  // namespace rhizome::test
