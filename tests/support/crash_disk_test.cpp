// SPDX-License-Identifier: Apache-2.0
#include "support/crash_disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/files.h"
#include "support/crash_disk_fixture.h"

namespace rhizome::test {
namespace {

namespace fs = std::filesystem;
using runtime::Descriptor;

// ---- the trace -----------------------------------------------------------------------------------------------------

TEST_F(TheCrashDisk, TracesWhatIsDoneBelowItsFolderOnly) {
    CrashDisk disk{folder};
    const Descriptor elsewhere{::open((home / "elsewhere").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
    put(elsewhere, "not seen", 0);
    EXPECT_EQ(::fdatasync(elsewhere.get()), 0);

    const auto file = open("a");
    put(file, "hello", 10);
    EXPECT_EQ(::write(file.get(), "at the start", 12), 12);
    iovec parts[] = {{const_cast<char*>("one"), 3}, {const_cast<char*>("two!"), 4}};
    EXPECT_EQ(::writev(file.get(), parts, 2), 7);
    EXPECT_EQ(::pwritev(file.get(), parts, 2, 100), 7);
    EXPECT_EQ(::ftruncate(file.get(), 50), 0);
    EXPECT_EQ(::posix_fallocate(file.get(), 0, 8192), 0);
    EXPECT_EQ(::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 8192, 4096), 0);
    EXPECT_EQ(::fallocate(file.get(), FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 1, 4), 0);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(::mkdir((folder / "sub").c_str(), 0755), 0);
    EXPECT_EQ(::rename((folder / "a").c_str(), (folder / "sub/b").c_str()), 0);
    const auto appended = open("sub/b", O_APPEND);
    EXPECT_EQ(::write(appended.get(), "end", 3), 3);
    sync_folder("sub");
    EXPECT_EQ(::unlink((folder / "sub/b").c_str()), 0);
    EXPECT_EQ(::rmdir((folder / "sub").c_str()), 0);
    disk.stop();
    const auto after = open("c");
    put(after, "not seen either", 0);

    EXPECT_EQ(operations(disk), (Strings{"create a", "write a 10+5", "write a 0+12", "write a 12+7", "write a 100+7",
                                         "resize a to 50", "allocate a 0+8192", "allocate a 8192+4096", "zero a 1+4",
                                         "allocate a 1+4", "sync a", "make folder sub", "rename a to sub/b",
                                         "write sub/b 8192+3", "sync sub", "remove sub/b", "remove sub"}));
    EXPECT_EQ(disk.unseen(), Strings{"c"});
}

TEST_F(TheCrashDisk, SeesCopiesStreamsAndTemporaryFilesOfTheLibraries) {
    std::ofstream{home / "source"} << "copied";
    CrashDisk disk{folder};
    fs::copy_file(home / "source", folder / "copy");
    std::ofstream{folder / "stream"} << "streamed";
    std::string temporary = (folder / "mkstemp-XXXXXX").native();
    const Descriptor file{::mkstemp(temporary.data())};
    put(file, "temporary", 0);
    const Descriptor unnamed{::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644)};
    put(unnamed, "named later", 0);
    const auto own = "/proc/self/fd/" + std::to_string(unnamed.get());
    EXPECT_EQ(::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, (folder / "late").c_str(), AT_SYMLINK_FOLLOW), 0);
    EXPECT_EQ(disk.unseen(), Strings{});
    EXPECT_EQ(image(disk, Choice::all()), files_in(folder));
    EXPECT_EQ(files_in(folder).size(), 4u);
    fs::remove_all(folder / "copy");
    fs::remove(folder / "late");
    EXPECT_EQ(disk.unseen(), Strings{});
    EXPECT_EQ(image(disk, Choice::all()).size(), 2u);
}

TEST_F(TheCrashDisk, TellsWhichFilesWereChangedBehindItsBack) {
    CrashDisk disk{folder};
    std::FILE* stream = std::fopen((folder / "stdio").c_str(), "w");
    ASSERT_NE(stream, nullptr);
    std::fputs("buffered", stream);
    std::fclose(stream);
    const auto mapped = open("mapped");
    EXPECT_EQ(::ftruncate(mapped.get(), 8192), 0);
    auto* bytes = static_cast<char*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.get(), 0));
    ASSERT_NE(bytes, MAP_FAILED);
    bytes[5000] = 'm';
    EXPECT_EQ(disk.unseen(), (Strings{"mapped", "stdio"}));

    EXPECT_EQ(::msync(bytes, 8192, MS_SYNC), 0);
    EXPECT_EQ(disk.unseen(), Strings{"stdio"});
    sync_folder();
    EXPECT_EQ(image(disk, Choice::none())["mapped"][5000], 'm');
    ::munmap(bytes, 8192);
}

TEST_F(TheCrashDisk, RemembersWhatWasPromisedWhen) {
    CrashDisk disk{folder};
    disk.mark("nothing");
    const auto file = open("a");
    put(file, "1", 0);
    disk.mark("one");
    put(file, "2", 1);
    disk.mark("two");
    EXPECT_EQ(disk.points(), 4u);
    EXPECT_EQ(disk.promised(0), Strings{"nothing"});
    EXPECT_EQ(disk.promised(1), Strings{"nothing"});
    EXPECT_EQ(disk.promised(2), (Strings{"nothing", "one"}));
    EXPECT_EQ(disk.promised(3), (Strings{"nothing", "one", "two"}));
}

TEST_F(TheCrashDisk, LeavesAForkedChildAlone) {
    CrashDisk disk{folder};
    const auto file = open("a");
    disk.fail({.on = Fault::On::Write, .times = Fault::kForEver});
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::pwrite(file.get(), "child", 5, 0) == 5 ? 0 : 1);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(operations(disk), Strings{"create a"});
}

TEST_F(TheCrashDisk, DoesNotTakeAFileElsewhereForADeletedOneWithItsNumber) {
    CrashDisk disk{folder};
    disk.fail({.on = Fault::On::Write, .times = Fault::kForEver});
    open("a");
    fs::remove(folder / "a");
    // File systems like to use the number again at once; whether or not this one does, nothing may fail outside.
    for (int i = 0; i < 10; ++i) {
        const auto path = home / std::to_string(i);
        const Descriptor other{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
        EXPECT_EQ(put_errno(other, "fine", 0), 0);
    }
    EXPECT_EQ(operations(disk), (Strings{"create a", "remove a"}));
}

// ---- data ----------------------------------------------------------------------------------------------------------

TEST_F(TheCrashDisk, KeepsWhatWasThereAtTheStart) {
    fs::create_directories(folder / "sub");
    std::ofstream{folder / "sub/a"} << "old";
    CrashDisk disk{folder};
    const auto file = open("sub/a");
    put(file, "new!", 0);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"sub/", ""}, {"sub/a", "old"}}));
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"sub/", ""}, {"sub/a", "new!"}}));
}

TEST_F(TheCrashDisk, KeepsWhatWasSyncedAndOnlyThat) {
    CrashDisk disk{folder};
    const auto file = open("a");
    sync_folder();
    put(file, "safe", 0);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", ""}}));
    EXPECT_EQ(::fdatasync(file.get()), 0);
    const auto synced = disk.points() - 1;
    put(file, "lost", 4);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "safe"}}));
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"a", "safelost"}}));
    EXPECT_EQ(image(disk, Choice::all(), synced), (Files{{"a", "safe"}}));
    EXPECT_EQ(disk.unsafe(synced), 0u);
    EXPECT_EQ(disk.unsafe(synced + 1), 1u);
    EXPECT_EQ(image(disk, Choice::all(), 0), Files{});
}

TEST_F(TheCrashDisk, TakesWritesToSynchronousDescriptorsAsSynced) {
    CrashDisk disk{folder};
    const auto plain = open("a");
    const auto synced = open("a", O_DSYNC);
    sync_folder();
    put(plain, std::string(2048, 'p'), 0);
    put(synced, std::string(512, 's'), 1024);
    const auto expected = std::string(1024, '\0') + std::string(512, 's');
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", expected}}));
    EXPECT_EQ(image(disk, Choice::all())["a"], std::string(1024, 'p') + std::string(512, 's') + std::string(512, 'p'));
    // What was not synced never comes back over what was.
    for (const auto& files : subsets(disk)) EXPECT_EQ(files.at("a").substr(1024, 512), std::string(512, 's'));
}

TEST_F(TheCrashDisk, MayTearASynchronousWriteThatHasNotReturned) {
    CrashDisk disk{folder};
    const auto file = open("a", O_DSYNC);
    sync_folder();
    put(file, std::string(1024, 's'), 0);
    const auto returned = disk.points() - 1;
    EXPECT_EQ(disk.operation(returned), "sync a 0+1024");
    EXPECT_EQ(image(disk, Choice::none(), returned)["a"].size(), 1024u);
    EXPECT_EQ(image(disk, Choice::none(), returned - 1)["a"].size(), 0u);
    EXPECT_EQ(image(disk, Choice::torn_last(300), returned - 1)["a"].size(), 300u);
}

TEST_F(TheCrashDisk, KeepsAPrefixOrTearsTheLastWrite) {
    CrashDisk disk{folder};
    const auto file = open("a");
    sync_folder();
    for (int i = 0; i < 3; ++i) put(file, std::string(1000, static_cast<char>('0' + i)), 1000 * i);
    const auto all = image(disk, Choice::all())["a"];
    EXPECT_EQ(all.size(), 3000u);
    for (std::size_t k = 0; k <= 3; ++k) EXPECT_EQ(image(disk, Choice::prefix(k))["a"], all.substr(0, 1000 * k));
    EXPECT_EQ(image(disk, Choice::prefix(99))["a"], all);
    EXPECT_EQ(image(disk, Choice::torn_last(0))["a"], all.substr(0, 2000));
    EXPECT_EQ(image(disk, Choice::torn_last(700))["a"], all.substr(0, 2700));
    EXPECT_EQ(image(disk, Choice::torn_last(5000))["a"], all);
}

TEST_F(TheCrashDisk, KeepsSectorsInAnyOrderButNeverPartOfOne) {
    CrashDisk disk{folder};
    const auto file = open("a");
    put(file, std::string(2048, 'o'), 0);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    sync_folder();
    put(file, std::string(1024, '1'), 0);
    put(file, std::string(1024, '2'), 1024);
    std::set<std::string> found;
    for (const auto& files : subsets(disk)) {
        std::string sectors;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto sector = files.at("a").substr(i * 512, 512);
            EXPECT_EQ(sector, std::string(512, sector[0]));
            sectors += sector[0];
        }
        found.insert(sectors);
    }
    EXPECT_EQ(found.size(), 16u) << "every sector is old or new, and all combinations occur";
}

TEST_F(TheCrashDisk, NeverShowsTheSecondWriteToASectorWithoutTheFirst) {
    CrashDisk disk{folder};
    const auto file = open("a");
    EXPECT_EQ(::ftruncate(file.get(), 512), 0);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    sync_folder();
    put(file, "1", 0);
    put(file, "2", 1);
    std::set<std::string> found;
    for (const auto& files : subsets(disk)) found.insert(files.at("a").substr(0, 2));
    EXPECT_EQ(found, (std::set<std::string>{std::string("\0\0", 2), std::string("1\0", 2), "12"}));
}

TEST_F(TheCrashDisk, TreatsTheSizeAsOneMoreThingToLose) {
    CrashDisk disk{folder};
    const auto file = open("a");
    sync_folder();
    EXPECT_EQ(::posix_fallocate(file.get(), 0, 8192), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"].size(), 0u);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"].size(), 8192u);
    put(file, kSector, 8192);
    std::set<std::string> tails;
    for (const auto& files : subsets(disk)) tails.insert(files.at("a").substr(8192));
    EXPECT_EQ(tails, (std::set<std::string>{"", std::string(512, '\0'), kSector}));

    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(::ftruncate(file.get(), 100), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"].size(), 8704u);
    EXPECT_EQ(image(disk, Choice::all())["a"].size(), 100u);
    EXPECT_EQ(::ftruncate(file.get(), 8704), 0);
    EXPECT_EQ(::fdatasync(file.get()), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"], std::string(8704, '\0')) << "what was cut off does not come back";
}

TEST_F(TheCrashDisk, CutsAFileThatIsOpenedToBeCut) {
    CrashDisk disk{folder};
    put(open("a"), "content", 0);
    ::sync();
    open("a", O_TRUNC);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "content"}}));
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"a", ""}}));
}

TEST_F(TheCrashDisk, DoesNotCountWhatWasWrittenDuringASync) {
    int file = -1;
    bool late = false;
    const auto write_late = [&] { EXPECT_TRUE(!late || ::pwrite(file, "late", 4, 512) == 4); };
    CrashDisk disk{folder, {.during_sync = write_late}};
    const auto opened = open("a");
    file = opened.get();
    sync_folder();
    put(opened, kSector, 0);
    late = true;
    EXPECT_EQ(::fdatasync(file), 0);
    late = false;
    EXPECT_EQ(operations(disk), (Strings{"create a", "sync .", "write a 0+512", "write a 512+4", "sync a"}));
    EXPECT_EQ(disk.unsafe(disk.points() - 1), 1u);
    EXPECT_EQ(image(disk, Choice::none())["a"], kSector);
    EXPECT_EQ(::fdatasync(file), 0);
    EXPECT_EQ(image(disk, Choice::none())["a"], kSector + "late");
}

TEST_F(TheCrashDisk, MayBeUsedByManyThreads) {
    CrashDisk disk{folder};
    constexpr int kThreads = 4;
    constexpr int kRounds = 50;
    std::vector<Descriptor> files;
    for (int i = 0; i < kThreads; ++i) files.push_back(open(std::to_string(i)));
    sync_folder();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < kRounds; ++round) {
                put(files[static_cast<std::size_t>(i)], std::string(600, static_cast<char>('a' + i)), 600 * round);
                EXPECT_EQ(::fdatasync(files[static_cast<std::size_t>(i)].get()), 0);
                disk.mark(std::to_string(i));
                if (round % 10 == 0) disk.image(disk.points() - 1, Choice::none(), images / std::to_string(i));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(disk.points(), 1u + kThreads + 1 + 2 * kThreads * kRounds);
    EXPECT_EQ(disk.unseen(), Strings{});
    const auto made = disk.each_image({.step = 7, .subsets = 1, .prefixes = 1}, [&](const CrashImage& crash) {
        const auto held = files_in(crash.folder);
        for (int i = 0; i < kThreads; ++i) {
            const auto labels = disk.promised(crash.point);
            const auto rounds = static_cast<std::size_t>(std::count(labels.begin(), labels.end(), std::to_string(i)));
            if (rounds == 0) continue;
            EXPECT_EQ(held.at(std::to_string(i)).substr(0, 600 * rounds),
                      std::string(600 * rounds, static_cast<char>('a' + i)))
                << crash.text;
        }
    });
    EXPECT_GT(made, 100u);
}

// ---- names ---------------------------------------------------------------------------------------------------------

TEST_F(TheCrashDisk, LosesNewFilesUnlessTheirFolderWasSynced) {
    CrashDisk disk{folder};
    const auto first = open("a");
    put(first, "data", 0);
    EXPECT_EQ(::fsync(first.get()), 0);
    const auto second = open("b");
    EXPECT_EQ(image(disk, Choice::none()), Files{});
    EXPECT_EQ(subsets(disk), (std::set<Files>{{}, {{"a", "data"}}, {{"b", ""}}, {{"a", "data"}, {"b", ""}}}));
    // ext4 saves the name with the file, and names in their order.
    EXPECT_EQ(image(disk, Choice::none().with(Names::Journal)), (Files{{"a", "data"}}));
    EXPECT_EQ(subsets(disk, Names::Journal), (std::set<Files>{{{"a", "data"}}, {{"a", "data"}, {"b", ""}}}));
    sync_folder();
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "data"}, {"b", ""}}));
}

TEST_F(TheCrashDisk, ShowsTheOldOrTheNewFileAfterARenameWithoutFolderSync) {
    CrashDisk disk{folder};
    const auto old = open("a");
    put(old, "old", 0);
    EXPECT_EQ(::fdatasync(old.get()), 0);
    sync_folder();
    const auto fresh = open("a.tmp");
    put(fresh, "new", 0);
    EXPECT_EQ(::fdatasync(fresh.get()), 0);
    EXPECT_EQ(::rename((folder / "a.tmp").c_str(), (folder / "a").c_str()), 0);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "old"}}));
    EXPECT_EQ(image(disk, Choice::prefix(1)), (Files{{"a", "old"}, {"a.tmp", "new"}}));
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"a", "new"}}));
    EXPECT_EQ(subsets(disk), (std::set<Files>{{{"a", "old"}}, {{"a", "old"}, {"a.tmp", "new"}}, {{"a", "new"}}}));
    // fdatasync saved the file's creation with the journal, not the rename after it; an fsync after it does.
    EXPECT_EQ(image(disk, Choice::none().with(Names::Journal)), (Files{{"a", "old"}, {"a.tmp", "new"}}));
    EXPECT_EQ(::fdatasync(fresh.get()), 0);
    EXPECT_EQ(image(disk, Choice::none().with(Names::Journal)), (Files{{"a", "old"}, {"a.tmp", "new"}}));
    EXPECT_EQ(::fsync(fresh.get()), 0);
    EXPECT_EQ(image(disk, Choice::none().with(Names::Journal)), (Files{{"a", "new"}}));
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "old"}}));
    sync_folder();
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "new"}}));
}

TEST_F(TheCrashDisk, ShowsAnEmptyFileAfterARenameWithoutSync) {
    CrashDisk disk{folder};
    const auto fresh = open("a.tmp");
    put(fresh, "new", 0);
    EXPECT_EQ(::rename((folder / "a.tmp").c_str(), (folder / "a").c_str()), 0);
    sync_folder();
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", ""}}));
}

TEST_F(TheCrashDisk, BringsDeletedFilesBackUnlessTheirFolderWasSynced) {
    CrashDisk disk{folder};
    put(open("a"), "data", 0);
    ::sync();
    EXPECT_EQ(::unlink((folder / "a").c_str()), 0);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "data"}}));
    open("a");  // another file of the same name
    EXPECT_EQ(subsets(disk), (std::set<Files>{{{"a", "data"}}, {}, {{"a", ""}}}));
    sync_folder();
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", ""}}));
}

TEST_F(TheCrashDisk, KnowsFoldersAndMovesBetweenThem) {
    CrashDisk disk{folder};
    EXPECT_EQ(::mkdir((folder / "one").c_str(), 0755), 0);
    EXPECT_EQ(::mkdir((folder / "two").c_str(), 0755), 0);
    put(open("one/a"), "data", 0);
    EXPECT_EQ(::fdatasync(open("one/a").get()), 0);
    sync_folder("one");
    EXPECT_EQ(image(disk, Choice::none()), Files{}) << "the folder itself was not saved";
    sync_folder();
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"one/", ""}, {"one/a", "data"}, {"two/", ""}}));
    EXPECT_EQ(::rename((folder / "one/a").c_str(), (folder / "two/b").c_str()), 0);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"one/", ""}, {"one/a", "data"}, {"two/", ""}}));
    sync_folder("two");
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"one/", ""}, {"two/", ""}, {"two/b", "data"}}));
    EXPECT_EQ(::rename((folder / "two").c_str(), (folder / "three").c_str()), 0);
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"one/", ""}, {"three/", ""}, {"three/b", "data"}}));
    put(open("three/b"), "DATA", 0);
    EXPECT_EQ(disk.operation(disk.points() - 1), "write three/b 0+4");
    EXPECT_EQ(disk.unseen(), Strings{});
}

TEST_F(TheCrashDisk, KnowsLinksExchangesAndFilesFromElsewhere) {
    std::ofstream{home / "outside"} << "from outside";
    CrashDisk disk{folder};
    put(open("a"), "A", 0);
    put(open("b"), "B", 0);
    ::sync();
    EXPECT_EQ(::renameat2(AT_FDCWD, (folder / "a").c_str(), AT_FDCWD, (folder / "b").c_str(), RENAME_EXCHANGE), 0);
    EXPECT_EQ(image(disk, Choice::none()), (Files{{"a", "A"}, {"b", "B"}}));
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"a", "B"}, {"b", "A"}}));
    EXPECT_EQ(::link((folder / "a").c_str(), (folder / "c").c_str()), 0);
    EXPECT_EQ(::rename((home / "outside").c_str(), (folder / "d").c_str()), 0);
    EXPECT_EQ(::rename((folder / "b").c_str(), (home / "outside").c_str()), 0);
    EXPECT_EQ(image(disk, Choice::all()), (Files{{"a", "B"}, {"c", "B"}, {"d", "from outside"}}));
    EXPECT_EQ(disk.unseen(), Strings{});
}

TEST_F(TheCrashDisk, ShowsThatOurFilesAreReplacedWholeOrNotAtAll) {
    const std::string old(3000, 'o');
    const std::string fresh(5000, 'n');
    CrashDisk disk{folder};
    ASSERT_TRUE(runtime::write_new_file(folder / "a", old, 0600));
    disk.mark("old");
    ASSERT_TRUE(runtime::replace_file(folder / "a", fresh, 0600));
    disk.mark("new");
    ASSERT_TRUE(runtime::remove_file(folder / "a"));
    disk.mark("gone");
    disk.stop();
    std::set<std::string> seen;
    disk.each_image({.subsets = 20}, [&](const CrashImage& crash) {
        const auto promised = disk.promised(crash.point);
        const auto held = files_in(crash.folder);
        const auto found = held.find("a");
        const std::string state = found == held.end() ? "gone" : found->second == old ? "old" : "new";
        EXPECT_TRUE(state == "gone" || found->second == old || found->second == fresh) << crash.text;
        const Strings order{"old", "new", "gone"};
        const auto least = promised.size();
        const auto most = std::min(least + 1, order.size());
        EXPECT_TRUE((least == 0 && state == "gone") || (least > 0 && state == order[least - 1]) ||
                    state == order[most - 1])
            << crash.text << ": " << state;
        seen.insert(state);
    });
    EXPECT_EQ(seen.size(), 3u);
}

}  // namespace
}  // namespace rhizome::test
