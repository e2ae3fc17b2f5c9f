// SPDX-License-Identifier: Apache-2.0
#include "runtime/files.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "support/temp_folder.h"

namespace rhizome::runtime {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

mode_t mode_of(const fs::path& path) {
    struct stat about {};
    EXPECT_EQ(::stat(path.c_str(), &about), 0);
    return about.st_mode & 07777;
}

std::size_t count_in(const fs::path& folder) { return list_folder(folder, 1000).value().size(); }

/// Sets the umask of the process for one test.
struct Umask {
    explicit Umask(mode_t mask) : before(::umask(mask)) {}
    ~Umask() { ::umask(before); }
    mode_t before;
};

TEST(Files, ReadsWhatWasWritten) {
    TempFolder folder;
    const std::string bytes{"one\0two\n", 8};
    ASSERT_TRUE(write_new_file(folder / "a", bytes, 0600));
    EXPECT_EQ(read_file(folder / "a", 100).value(), bytes);
    EXPECT_EQ(as_text(read_secret_file(folder / "a", 100).value().view()), bytes);
}

TEST(Files, TheBoundOfReadingIsExact) {
    TempFolder folder;
    const std::string bytes(100'000, 'x');
    ASSERT_TRUE(write_new_file(folder / "a", bytes, 0600));
    EXPECT_EQ(read_file(folder / "a", bytes.size()).value(), bytes);
    EXPECT_EQ(read_file(folder / "a", bytes.size() - 1).error().kind, ErrorKind::Exhausted);
    EXPECT_EQ(read_secret_file(folder / "a", bytes.size()).value().size(), bytes.size());
    EXPECT_EQ(read_secret_file(folder / "a", bytes.size() - 1).error().kind, ErrorKind::Exhausted);
    ASSERT_TRUE(write_new_file(folder / "empty", "", 0600));
    EXPECT_EQ(read_file(folder / "empty", 0).value(), "");
}

TEST(Files, ReadsFilesThatDoNotKnowTheirSize) {
    EXPECT_NE(read_file("/proc/self/status", 1u << 20).value().find("Pid:"), std::string::npos);
}

TEST(Files, ErrorsNameThePathAndTheReason) {
    TempFolder folder;
    const auto absent = read_file(folder / "absent", 10).error();
    EXPECT_EQ(absent.kind, ErrorKind::NotFound);
    EXPECT_EQ(absent.message, "cannot read " + (folder / "absent").native() + ": No such file or directory");
    EXPECT_EQ(read_file(folder.path(), 10).error().kind, ErrorKind::Invalid);
    EXPECT_EQ(write_new_file(folder / "no" / "such", "x", 0600).error().kind, ErrorKind::NotFound);
    EXPECT_EQ(write_new_file(folder.path() / "", "x", 0600).error().kind, ErrorKind::Invalid);
    EXPECT_EQ(replace_file("..", "x", 0600).error().kind, ErrorKind::Invalid);
    EXPECT_EQ(list_folder(folder / "absent", 10).error().kind, ErrorKind::NotFound);
    EXPECT_EQ(remove_file(folder / "absent").error().kind, ErrorKind::NotFound);
}

TEST(Files, ANewFileNeverReplacesOne) {
    TempFolder folder;
    ASSERT_TRUE(write_new_file(folder / "key", "first", 0600));
    const auto second = write_new_file(folder / "key", "second", 0600);
    EXPECT_EQ(second.error().kind, ErrorKind::Conflict);
    EXPECT_NE(second.error().message.find("key: File exists"), std::string::npos) << second.error().message;
    EXPECT_EQ(read_file(folder / "key", 10).value(), "first");
    EXPECT_EQ(count_in(folder.path()), 1u) << "the temporary file is gone";

    fs::create_symlink("nowhere", folder / "link");
    EXPECT_EQ(write_new_file(folder / "link", "x", 0600).error().kind, ErrorKind::Conflict);
}

TEST(Files, OfManyWritersAtOnceExactlyOneWins) {
    TempFolder folder;
    std::vector<int> won(8, 0);
    std::vector<std::thread> writers;
    for (std::size_t i = 0; i < won.size(); ++i) {
        writers.emplace_back([&, i] { won[i] = write_new_file(folder / "one", std::to_string(i), 0600) ? 1 : 0; });
    }
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(std::count(won.begin(), won.end(), 1), 1);
    const auto winner = static_cast<std::size_t>(std::find(won.begin(), won.end(), 1) - won.begin());
    EXPECT_EQ(read_file(folder / "one", 10).value(), std::to_string(winner));
    EXPECT_EQ(count_in(folder.path()), 1u);
}

TEST(Files, ReplacingSwapsContentModeAndLinks) {
    TempFolder folder;
    ASSERT_TRUE(replace_file(folder / "a", "one", 0644));
    ASSERT_TRUE(replace_file(folder / "a", "two", 0600));
    EXPECT_EQ(read_file(folder / "a", 10).value(), "two");
    EXPECT_EQ(mode_of(folder / "a"), 0600u);

    fs::create_symlink("a", folder / "link");
    ASSERT_TRUE(replace_file(folder / "link", "three", 0600));
    EXPECT_EQ(read_file(folder / "a", 10).value(), "two");
    EXPECT_EQ(read_file(folder / "link", 10).value(), "three");

    fs::create_directory(folder / "folder");
    EXPECT_FALSE(replace_file(folder / "folder", "x", 0600));
    EXPECT_EQ(count_in(folder.path()), 3u) << "a, link, folder: no temporary file";
}

TEST(Files, ModesAreExactWhateverTheUmask) {
    for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{0777}}) {
        const Umask umask{mask};
        TempFolder folder;
        fs::permissions(folder.path(), fs::perms::owner_all);
        for (const mode_t mode : {mode_t{0600}, mode_t{0644}, mode_t{0755}, mode_t{0400}}) {
            const auto file = folder / fmt::format("file-{:o}", mode);
            ASSERT_TRUE(write_new_file(file, "x", mode));
            EXPECT_EQ(mode_of(file), mode);
        }
        ASSERT_TRUE(make_folder(folder / "a/b", 0700));
        EXPECT_EQ(mode_of(folder / "a"), 0700u);
        EXPECT_EQ(mode_of(folder / "a/b"), 0700u);
    }
}

TEST(Files, MakingAFolderThatExistsChangesNothing) {
    TempFolder folder;
    ASSERT_TRUE(make_folder(folder / "a/b/c", 0755));
    ASSERT_TRUE(make_folder(folder / "a/b/c", 0700));
    ASSERT_TRUE(make_folder(folder / "a/b/c/", 0700));
    ASSERT_TRUE(make_folder(folder / "a/b/./c/.", 0700));
    EXPECT_EQ(mode_of(folder / "a/b/c"), 0755u);
    ASSERT_TRUE(make_folder("/", 0700));
    ASSERT_TRUE(make_folder(".", 0700));
}

TEST(Files, AFileInTheWayOfAFolderIsAnError) {
    TempFolder folder;
    ASSERT_TRUE(write_new_file(folder / "file", "x", 0600));
    EXPECT_EQ(make_folder(folder / "file", 0700).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(make_folder(folder / "file/below", 0700).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(make_folder("", 0700).error().kind, ErrorKind::Invalid);
}

TEST(Files, WithoutRightsTheKindIsDenied) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    TempFolder folder;
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(write_new_file(folder / "a", "x", 0600).error().kind, ErrorKind::Denied);
    EXPECT_EQ(make_folder(folder / "a", 0700).error().kind, ErrorKind::Denied);
    fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(Files, ListsNamesSortedAndBounded) {
    TempFolder folder;
    for (const auto* name : {"b", "a", ".hidden", "C"}) ASSERT_TRUE(write_new_file(folder / name, "", 0600));
    EXPECT_EQ(list_folder(folder.path(), 4).value(), (std::vector<std::string>{".hidden", "C", "a", "b"}));
    EXPECT_EQ(list_folder(folder.path(), 3).error().kind, ErrorKind::Exhausted);
}

TEST(Files, RemovesOneFile) {
    TempFolder folder;
    ASSERT_TRUE(write_new_file(folder / "a", "", 0600));
    ASSERT_TRUE(remove_file(folder / "a"));
    EXPECT_EQ(count_in(folder.path()), 0u);
}

TEST(Files, NamesAsLongAsTheFileSystemAllows) {
    TempFolder folder;
    const std::string name(255, 'n');
    ASSERT_TRUE(write_new_file(folder / name, "x", 0600));
    EXPECT_EQ(write_new_file(folder / (name + "n"), "x", 0600).error().kind, ErrorKind::Invalid);
    EXPECT_EQ(count_in(folder.path()), 1u);
}

}  // namespace
}  // namespace rhizome::runtime
