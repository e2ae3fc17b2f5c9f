// SPDX-License-Identifier: Apache-2.0
#include "node/keystore.h"

#include <sys/stat.h>

#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_folder.h"
#include "support/vectors.h"

namespace rhizome::node {
namespace {

namespace fs = std::filesystem;
using crypto::kKdfCostMin;
using crypto::SecretKey;

const auto kNow = Time::from_unix_seconds(1'794'778'051);

SecretKey secret_of(std::uint8_t fill) { return *SecretKey::from_bytes(Bytes(32, fill)); }

class KeystoreTest : public ::testing::Test {
protected:
    test::TempFolder temp;
    Keystore keys{temp / "deep" / "keys"};

    static mode_t mode_of(const fs::path& path) {
        struct stat found {};
        EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
        return found.st_mode & 07777;
    }
    void put(const std::string& file_name, std::string_view content) const {
        fs::create_directories(keys.folder());
        std::ofstream{keys.folder() / file_name} << content;
        fs::permissions(keys.folder() / file_name, fs::perms::owner_read | fs::perms::owner_write);
    }
    std::vector<std::string> names() const {
        const auto entries = keys.list();
        EXPECT_TRUE(entries);
        std::vector<std::string> out;
        for (const auto& entry : *entries) out.push_back(entry.name);
        return out;
    }
};

TEST_F(KeystoreTest, AnAbsentFolderIsAnEmptyStore) {
    EXPECT_EQ(names(), std::vector<std::string>{});
    EXPECT_EQ(keys.find("alice").error().kind, ErrorKind::NotFound);
    EXPECT_FALSE(fs::exists(keys.folder())) << "looking made a folder";
    EXPECT_FALSE(keys.folder_too_open());
}

TEST_F(KeystoreTest, ACreatedKeyIsFoundListedAndLoaded) {
    const auto created = keys.create("alice", as_bytes("sesame"), kNow, kKdfCostMin);
    ASSERT_TRUE(created) << created.error().message;
    const auto loaded = keys.load("alice", as_bytes("sesame"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->secret.public_key(), created->public_key);
    EXPECT_FALSE(loaded->too_open);
    const auto found = keys.find("alice");
    ASSERT_TRUE(found && found->info);
    EXPECT_EQ(found->info->public_key, created->public_key);
    EXPECT_EQ(found->info->created, kNow);
    EXPECT_EQ(names(), std::vector<std::string>{"alice"});
}

TEST_F(KeystoreTest, TwoCreatedKeysDiffer) {
    EXPECT_NE(keys.create("a", std::nullopt, kNow)->public_key, keys.create("b", std::nullopt, kNow)->public_key);
}

TEST_F(KeystoreTest, ModesArePrivateWhateverTheUmask) {
    const mode_t before = ::umask(0);
    const auto added = keys.add("alice", secret_of(1), std::nullopt, kNow);
    ::umask(before);
    ASSERT_TRUE(added);
    EXPECT_EQ(mode_of(keys.path_of("alice")), 0600u);
    EXPECT_EQ(mode_of(keys.folder()), 0700u);
    EXPECT_FALSE(keys.folder_too_open());
}

TEST_F(KeystoreTest, AnExistingKeyIsNeverReplaced) {
    ASSERT_TRUE(keys.add("alice", secret_of(1), std::nullopt, kNow));
    const auto before = test::read_file(keys.path_of("alice"));
    EXPECT_EQ(keys.add("alice", secret_of(2), std::nullopt, kNow).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(keys.create("alice", std::nullopt, kNow).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(keys.import_file(*keys.export_file("alice")).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(test::read_file(keys.path_of("alice")), before);
    // Not even a damaged one: there may be something left to rescue.
    put("bob.key.json", "half a fi");
    EXPECT_EQ(keys.create("bob", std::nullopt, kNow).error().kind, ErrorKind::Conflict);
    EXPECT_EQ(test::read_file(keys.path_of("bob")), "half a fi");
}

TEST_F(KeystoreTest, NothingButKeysIsLeftInTheFolder) {
    ASSERT_TRUE(keys.add("alice", secret_of(1), std::nullopt, kNow));
    EXPECT_FALSE(keys.add("alice", secret_of(2), std::nullopt, kNow));
    EXPECT_EQ(std::distance(fs::directory_iterator{keys.folder()}, fs::directory_iterator{}), 1);
}

TEST_F(KeystoreTest, WhoMayNotLoadIsToldWhy) {
    ASSERT_TRUE(keys.add("alice", secret_of(1), as_bytes("sesame"), kNow, kKdfCostMin));
    EXPECT_EQ(keys.load("alice", as_bytes("wrong")).error().kind, ErrorKind::Denied);
    EXPECT_EQ(keys.load("alice", std::nullopt).error().kind, ErrorKind::Denied);
    EXPECT_EQ(keys.load("bob", std::nullopt).error().kind, ErrorKind::NotFound);
    std::string text = *test::read_file(keys.path_of("alice"));
    text.replace(text.find("alice"), 5, "mally");
    put("mally.key.json", text);
    EXPECT_EQ(keys.load("mally", as_bytes("sesame")).error().kind, ErrorKind::Corrupt);
    EXPECT_EQ(keys.export_file("mally").error().kind, ErrorKind::Corrupt);
}

TEST_F(KeystoreTest, TheListShowsDamagedFilesAndLeavesOthersAlone) {
    ASSERT_TRUE(keys.add("bob", secret_of(1), std::nullopt, kNow));
    put("alice.key.json", "{}");
    put("large.key.json", std::string(crypto::kKeyFileBytesMax + 1, ' '));
    put("Not A Name.key.json", *test::read_file(keys.path_of("bob")));
    put("notes.txt", "mine");
    put(".rhizome-0123456789abcdef.tmp", "left behind");
    fs::create_directory(keys.folder() / "folder.key.json");
    fs::create_symlink("nowhere", keys.folder() / "link.key.json");
    ASSERT_EQ(::mkfifo((keys.folder() / "pipe.key.json").c_str(), 0600), 0);

    EXPECT_EQ(names(), (std::vector<std::string>{"Not A Name", "alice", "bob", "folder", "large", "link", "pipe"}));
    const auto entries = keys.list();
    for (const auto& entry : *entries) EXPECT_EQ(entry.info.has_value(), entry.name == "bob") << entry.name;
}

TEST_F(KeystoreTest, FilesThatOthersMayReadAreReported) {
    ASSERT_TRUE(keys.add("alice", secret_of(1), std::nullopt, kNow));
    ASSERT_EQ(::chmod(keys.path_of("alice").c_str(), 0640), 0);
    EXPECT_TRUE(keys.find("alice")->too_open);
    EXPECT_TRUE(keys.list()->front().too_open);
    EXPECT_TRUE(keys.load("alice", std::nullopt)->too_open) << "a warning, not a refusal";
    ASSERT_EQ(::chmod(keys.path_of("alice").c_str(), 0400), 0);
    EXPECT_FALSE(keys.find("alice")->too_open);
    ASSERT_EQ(::chmod(keys.folder().c_str(), 0755), 0);
    EXPECT_TRUE(keys.folder_too_open());
}

TEST_F(KeystoreTest, AnExportedFileIsImportedElsewhere) {
    ASSERT_TRUE(keys.add("alice", secret_of(1), as_bytes("sesame"), kNow, kKdfCostMin));
    const auto text = keys.export_file("alice");
    ASSERT_TRUE(text);
    const Keystore other{temp / "other"};
    ASSERT_TRUE(other.import_file(*text));
    EXPECT_EQ(test::read_file(other.path_of("alice")), *text);
    EXPECT_EQ(mode_of(other.path_of("alice")), 0600u);
    const auto renamed = other.import_file(*text, "carol");
    ASSERT_TRUE(renamed);
    EXPECT_EQ(renamed->name, "carol");
    EXPECT_TRUE(other.load("carol", as_bytes("sesame"))->secret == secret_of(1));
}

TEST_F(KeystoreTest, ABrokenFileIsNotImported) {
    EXPECT_EQ(keys.import_file("{}").error().kind, ErrorKind::Invalid);
    EXPECT_EQ(keys.import_file(std::string(crypto::kKeyFileBytesMax + 1, ' ')).error().kind, ErrorKind::Invalid);
    EXPECT_FALSE(fs::exists(keys.folder()));
}

TEST_F(KeystoreTest, NamesCannotLeaveTheFolder) {
    ASSERT_TRUE(keys.add("alice", secret_of(1), std::nullopt, kNow));
    for (const char* bad : {"../alice", "/etc/passwd", "", ".", "Alice", "a/b"}) {
        SCOPED_TRACE(bad);
        EXPECT_EQ(keys.find(bad).error().kind, ErrorKind::Usage);
        EXPECT_EQ(keys.load(bad, std::nullopt).error().kind, ErrorKind::Usage);
        EXPECT_EQ(keys.create(bad, std::nullopt, kNow).error().kind, ErrorKind::Usage);
        EXPECT_EQ(keys.export_file(bad).error().kind, ErrorKind::Usage);
        EXPECT_EQ(keys.import_file(*keys.export_file("alice"), bad).error().kind, ErrorKind::Usage);
    }
}

}  // namespace
}  // namespace rhizome::node
