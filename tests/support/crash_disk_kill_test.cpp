// SPDX-License-Identifier: Apache-2.0
// Stores of several kinds under the crash disk: LMDB, which must survive in its default mode and must not in weaker
// ones, and small stores that sync as they should or not. Nothing is killed: the crashes are computed.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lmdb.h>

#include "base/random.h"
#include "runtime/descriptor.h"
#include "support/crash_disk.h"
#include "support/seed.h"
#include "support/temp_folder.h"

namespace rhizome::test {
namespace {

namespace fs = std::filesystem;
using runtime::Descriptor;

std::string content(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
}

void sync_folder(const fs::path& path) {
    const Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    ASSERT_EQ(::fsync(folder.get()), 0);
}

/// The highest number among the marks: what must still be there after a crash at `point`. −1: nothing yet.
int promised_number(const CrashDisk& disk, std::size_t point) {
    const auto labels = disk.promised(point);
    if (labels.empty()) return -1;
    int number = -1;
    const auto& last = labels.back();
    std::from_chars(last.data(), last.data() + last.size(), number);
    return number;
}

// ---- plain files, against a model that knows only bytes ------------------------------------------------------------

/// For every byte the values it may have after a crash: the synced one and all written since. The same for the size.
struct ByteModel {
    std::vector<std::set<char>> bytes;
    std::set<std::size_t> sizes{0};
    std::string now;

    void write(std::size_t offset, const std::string& text) {
        if (offset + text.size() > now.size()) resize(offset + text.size());
        for (std::size_t i = 0; i < text.size(); ++i) {
            now[offset + i] = text[i];
            bytes[offset + i].insert(text[i]);
        }
        sizes.insert(offset + text.size());  // if an earlier write that made the file longer did not arrive
    }
    void resize(std::size_t size) {
        if (bytes.size() < size) bytes.resize(size, {'\0'});
        for (std::size_t i = size; i < now.size(); ++i) bytes[i].insert('\0');
        now.resize(size, '\0');
        sizes.insert(size);
    }
    void sync() {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = {i < now.size() ? now[i] : '\0'};
        sizes = {now.size()};
    }
    /// What is in this range is there for certain, whatever else is.
    void sync_write(std::size_t offset, std::size_t count) {
        for (std::size_t i = offset; i < offset + count; ++i) bytes[i] = {now[i]};
        sizes.insert(offset + count);
        sizes.erase(sizes.begin(), sizes.find(offset + count));
    }
    [[nodiscard]] std::string fault_of(const std::string& found, const Choice& choice) const {
        const bool torn = choice.kind == Choice::Kind::TornLast;
        const bool within = found.size() >= *sizes.begin() && found.size() <= *sizes.rbegin();
        if (!(torn ? within : sizes.contains(found.size()))) return fmt::format("has {} bytes", found.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (!bytes[i].contains(found[i])) return fmt::format("is wrong at {}", i);
        }
        return {};
    }
};

TEST(CrashDiskFilesKill, EveryByteIsTheSyncedOneOrAnUnsyncedOneSince) {
    for (std::uint64_t usual = 1; usual <= 4; ++usual) {
        const std::uint64_t seed = seed_for(usual);
        const TempFolder home{fast_place()};
        CrashDisk disk{home / "disk"};
        Random random{seed};
        constexpr std::size_t kFiles = 2;
        std::array<Descriptor, kFiles> files;
        std::array<Descriptor, kFiles> synchronous;
        for (std::size_t i = 0; i < kFiles; ++i) {
            const auto path = home / "disk" / std::to_string(i);
            files[i] = Descriptor{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
            synchronous[i] = Descriptor{::open(path.c_str(), O_WRONLY | O_DSYNC | O_CLOEXEC)};
        }
        sync_folder(home / "disk");
        const auto first = disk.points() - 1;
        std::vector<std::array<ByteModel, kFiles>> history(1);  // one for each point from `first` on
        while (history.size() < 120) {
            auto models = history.back();
            const auto which = random.below(kFiles);
            ByteModel& model = models[which];
            const auto action = random.below(10);
            if (action < 7) {
                const bool at_once = action == 6;
                const int file = at_once ? synchronous[which].get() : files[which].get();
                const auto offset = random.below(6000);
                const std::string text(1 + random.below(3000), static_cast<char>('a' + random.below(26)));
                ASSERT_EQ(::pwrite(file, text.data(), text.size(), static_cast<off_t>(offset)),
                          static_cast<ssize_t>(text.size()));
                model.write(offset, text);
                if (at_once) {
                    history.push_back(models);
                    model.sync_write(offset, text.size());
                }
            } else if (action < 8) {
                const auto size = random.below(9000);
                if (size == model.now.size()) continue;
                ASSERT_EQ(::ftruncate(files[which].get(), static_cast<off_t>(size)), 0);
                model.resize(size);
            } else {
                ASSERT_EQ(::fdatasync(files[which].get()), 0);
                model.sync();
            }
            history.push_back(models);
        }
        disk.stop();
        ASSERT_EQ(disk.points(), first + history.size());
        ASSERT_TRUE(disk.unseen().empty());
        disk.each_image({.first = first, .subsets = 3, .prefixes = 2, .seed = seed}, [&](const CrashImage& image) {
            for (std::size_t i = 0; i < kFiles; ++i) {
                const auto found = content(image.folder / std::to_string(i));
                const auto fault = history[image.point - first][i].fault_of(found, image.choice);
                ASSERT_TRUE(fault.empty()) << image.text << ", seed " << seed << ": file " << i << ' ' << fault;
            }
        });
    }
}

// ---- small stores --------------------------------------------------------------------------------------------------

/// A log of numbered records of 700 bytes in segments of ten, as plain as can be. What it leaves out makes it bad.
struct SmallLog {
    bool syncs_data = true;
    bool syncs_names = true;
    bool checks = true;  ///< reads a record only if all of it is there

    static constexpr std::size_t kRecord = 700;
    static constexpr int kPerSegment = 10;

    static std::string record(int number) {
        auto text = fmt::format("{:08}", number);
        text.resize(kRecord, static_cast<char>('a' + number % 26));
        return text;
    }
    static fs::path segment(const fs::path& folder, int number) {
        return folder / fmt::format("segment-{}", number / kPerSegment);
    }
    void append(const fs::path& folder, int number) const {
        const Descriptor file{::open(segment(folder, number).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
        const auto text = record(number);
        const auto offset = static_cast<off_t>(kRecord) * (number % kPerSegment);
        ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), offset), static_cast<ssize_t>(text.size()));
        ASSERT_TRUE(!syncs_data || ::fdatasync(file.get()) == 0);
        if (syncs_names && number % kPerSegment == 0) sync_folder(folder);
    }
    /// How many records a restart finds; nothing if it takes a bad one for a good one.
    [[nodiscard]] std::optional<int> read(const fs::path& folder) const {
        for (int number = 0;; ++number) {
            const auto text = content(segment(folder, number));
            const auto begin = kRecord * static_cast<std::size_t>(number % kPerSegment);
            const bool there = text.size() >= begin + kRecord;
            const bool good = there && text.substr(begin, kRecord) == record(number);
            if (!there || (checks && !good)) return number;
            if (!good) return std::nullopt;
        }
    }
};

/// How many images show a fault of the log: a promised record missing, or rubbish read as a record.
std::size_t faults_of(const SmallLog& log, Names names, std::size_t* images = nullptr) {
    const TempFolder home{fast_place()};
    CrashDisk disk{home / "log"};
    for (int number = 0; number < 25; ++number) {
        log.append(home / "log", number);
        disk.mark(std::to_string(number));
    }
    disk.stop();
    std::size_t faults = 0;
    const auto made = disk.each_image({.names = names}, [&](const CrashImage& image) {
        const auto records = log.read(image.folder);
        if (!records || *records <= promised_number(disk, image.point)) ++faults;
    });
    if (images != nullptr) *images = made;
    return faults;
}

TEST(CrashDiskStoresKill, AStoreThatSyncsEverythingSurvives) {
    std::size_t images = 0;
    EXPECT_EQ(faults_of({}, Names::Posix, &images), 0u);
    EXPECT_GT(images, 200u);
    EXPECT_EQ(faults_of({}, Names::Journal), 0u);
}

TEST(CrashDiskStoresKill, AStoreThatLeavesSomethingOutIsCaught) {
    EXPECT_GT(faults_of({.syncs_data = false}, Names::Posix), 0u);
    EXPECT_GT(faults_of({.syncs_data = false}, Names::Journal), 0u);
    EXPECT_GT(faults_of({.syncs_names = false}, Names::Posix), 0u);
    EXPECT_GT(faults_of({.checks = false}, Names::Posix), 0u);
}

TEST(CrashDiskStoresKill, AStoreThatTriesAFailedSyncAgainIsCaught) {
    const TempFolder home{fast_place()};
    CrashDisk disk{home / "log"};
    const Descriptor file{::open((home / "log/a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
    sync_folder(home / "log");
    disk.fail({.on = Fault::On::Sync, .nth = 3, .dirty_lost = true});
    for (int number = 0; number < 5; ++number) {
        const auto text = SmallLog::record(number);
        ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), 700 * number), 700);
        while (::fdatasync(file.get()) != 0) continue;  // what PostgreSQL did until 2018
        disk.mark(std::to_string(number));
    }
    disk.stop();
    EXPECT_EQ(disk.faults_hit(), 1u);
    bool caught = false;
    disk.each_image({}, [&](const CrashImage& image) {
        const int promised = promised_number(disk, image.point);
        const auto text = content(image.folder / "a");
        for (int number = 0; number <= promised; ++number) {
            const auto begin = static_cast<std::size_t>(700 * number);
            const bool good = text.size() > begin && text.substr(begin, 700) == SmallLog::record(number);
            EXPECT_TRUE(good || number == 1 || number == 2 || number == 3) << image.text;
            caught = caught || !good;
        }
    });
    EXPECT_TRUE(caught);
}

// ---- LMDB ----------------------------------------------------------------------------------------------------------

using State = std::map<std::string, std::string>;

class Lmdb {
public:
    /// `error()` says whether it could be opened.
    Lmdb(const fs::path& folder, unsigned flags) {
        EXPECT_EQ(mdb_env_create(&env_), 0);
        EXPECT_EQ(mdb_env_set_mapsize(env_, 8u << 20), 0);
        error_ = mdb_env_open(env_, folder.c_str(), flags, 0644);
    }
    Lmdb(const Lmdb&) = delete;
    Lmdb& operator=(const Lmdb&) = delete;
    ~Lmdb() { mdb_env_close(env_); }

    [[nodiscard]] int error() const { return error_; }
    MDB_env* env() { return env_; }

    /// One transaction that sets (or, where there is no value, deletes) keys. The first error, or 0.
    int change(const std::map<std::string, std::optional<std::string>>& changes) {
        MDB_txn* txn = nullptr;
        MDB_dbi table = 0;
        if (const int error = mdb_txn_begin(env_, nullptr, 0, &txn)) return error;
        int error = mdb_dbi_open(txn, nullptr, 0, &table);
        for (auto change = changes.begin(); change != changes.end() && error == 0; ++change) {
            MDB_val key{change->first.size(), const_cast<char*>(change->first.data())};
            if (change->second) {
                MDB_val value{change->second->size(),
                              change->second->data() == nullptr ? nullptr : const_cast<char*>(change->second->data())};
                error = mdb_put(txn, table, &key, &value, 0);
            } else {
                error = mdb_del(txn, table, &key, nullptr);
            }
        }
        if (error == 0) return mdb_txn_commit(txn);
        mdb_txn_abort(txn);
        return error;
    }

    std::optional<State> read() {
        MDB_txn* txn = nullptr;
        MDB_dbi table = 0;
        MDB_cursor* cursor = nullptr;
        if (error_ != 0 || mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn) != 0) return std::nullopt;
        State state;
        int error = mdb_dbi_open(txn, nullptr, 0, &table);
        if (error == 0) error = mdb_cursor_open(txn, table, &cursor);
        MDB_val key{};
        MDB_val value{};
        while (error == 0 && (error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
            state.emplace(std::string(static_cast<const char*>(key.mv_data), key.mv_size),
                          std::string(static_cast<const char*>(value.mv_data), value.mv_size));
        }
        if (cursor != nullptr) mdb_cursor_close(cursor);
        mdb_txn_abort(txn);
        return error == MDB_NOTFOUND ? std::optional{state} : std::nullopt;
    }

private:
    MDB_env* env_ = nullptr;
    int error_ = 0;
};

/// A history of random transactions under a crash disk; the state after each. Marks carry the number of the state.
struct LmdbRun {
    TempFolder home{fast_place()};
    CrashDisk disk{home / "lmdb"};
    std::vector<State> states;

    LmdbRun(std::uint64_t seed, int transactions, unsigned flags, bool make_safe = true) {
        Random random{seed};
        Lmdb lmdb{home / "lmdb", flags};
        EXPECT_EQ(lmdb.error(), 0);
        if (make_safe) {
            EXPECT_EQ(mdb_env_sync(lmdb.env(), 1), 0);
            sync_folder(home / "lmdb");
        }
        states.emplace_back();
        disk.mark("0");
        for (int i = 1; i <= transactions; ++i) {
            State next = states.back();
            std::map<std::string, std::optional<std::string>> changes;
            // Few keys with values of all sizes: pages are freed and used again, some values have pages of their own.
            for (auto left = 1 + random.below(8); left > 0; --left) {
                const auto key = fmt::format("key {}", random.below(40));
                if (changes.contains(key)) continue;
                if (next.erase(key) > 0 && random.chance(1, 3)) {
                    changes[key] = std::nullopt;
                } else {
                    const auto bytes = random.chance(1, 6) ? random.below(9000) : random.below(300);
                    next[key] = std::string(bytes, static_cast<char>('a' + random.below(26)));
                    changes[key] = next[key];
                }
            }
            EXPECT_EQ(lmdb.change(changes), 0);
            states.push_back(std::move(next));
            disk.mark(std::to_string(i));
        }
        EXPECT_EQ(disk.unseen(), std::vector<std::string>{"lock.mdb"});
        disk.stop();
    }

    [[nodiscard]] std::size_t begun() const { return disk.marks().front().point; }

    /// Which state the image holds, from `least` on; nothing for none of them, or for a broken file.
    [[nodiscard]] std::optional<int> state_in(const fs::path& image, int least) const {
        Lmdb lmdb{image, MDB_RDONLY | MDB_NOLOCK};
        const auto found = lmdb.read();
        if (!found) return std::nullopt;
        for (auto i = static_cast<std::size_t>(std::max(least, 0)); i < states.size(); ++i) {
            if (states[i] == *found) return static_cast<int>(i);
        }
        return std::nullopt;
    }
};

TEST(CrashDiskLmdbKill, ItsWritesAreSeen) {
    const LmdbRun run{1, 3, 0};
    std::map<std::string, int> kinds;
    for (std::size_t point = run.begun() + 1; point < run.disk.points(); ++point) {
        const auto operation = run.disk.operation(point);
        ASSERT_NE(operation.find("data.mdb"), std::string::npos) << operation;
        const auto kind = operation.substr(0, operation.find(' '));
        const bool of_one_write = kind == "sync" && operation.find('+') != std::string::npos;
        ++kinds[of_one_write ? "sync of one write" : kind];
    }
    EXPECT_GE(kinds["write"], 6);
    EXPECT_EQ(kinds["sync"], 3);
    EXPECT_EQ(kinds["sync of one write"], 3) << "the meta page, through a descriptor with O_DSYNC";
    EXPECT_EQ(kinds.size(), 3u);
}

TEST(CrashDiskLmdbKill, SurvivesEveryCrashInItsDefaultMode) {
    for (std::uint64_t usual = 1; usual <= 3; ++usual) {
        const std::uint64_t seed = seed_for(usual);
        const LmdbRun run{seed, 50, 0};
        std::array<std::size_t, 2> seen{};  // images with the promised state, and with the one being committed
        const auto images =
            run.disk.each_image({.first = run.begun(), .subsets = 5, .seed = seed}, [&](const CrashImage& image) {
                const int promised = promised_number(run.disk, image.point);
                const auto found = run.state_in(image.folder, promised);
                ASSERT_TRUE(found) << image.text << ", seed " << seed << ", promised " << promised;
                ASSERT_LE(*found, promised + 1) << image.text;
                ++seen[static_cast<std::size_t>(*found - promised)];
                // It can also be written to.
                if (image.point % 8 != 0) return;
                Lmdb lmdb{image.folder, MDB_NOSYNC};
                ASSERT_EQ(lmdb.error(), 0) << image.text;
                ASSERT_EQ(lmdb.change({{"after the crash", std::string(5000, 'z')}}), 0) << image.text;
                auto expected = run.states[static_cast<std::size_t>(*found)];
                expected["after the crash"] = std::string(5000, 'z');
                ASSERT_EQ(lmdb.read(), expected) << image.text;
            });
        EXPECT_GT(images, 1000u);
        EXPECT_GT(seen[0], 100u);
        EXPECT_GT(seen[1], 10u);
    }
}

TEST(CrashDiskLmdbKill, LosesTheLastTransactionOnlyWithoutSyncOfTheMetaPage) {
    const LmdbRun run{4, 40, MDB_NOMETASYNC};
    std::size_t lost = 0;
    run.disk.each_image({.first = run.begun()}, [&](const CrashImage& image) {
        const int promised = promised_number(run.disk, image.point);
        const auto found = run.state_in(image.folder, promised - 1);
        ASSERT_TRUE(found) << image.text << ", promised " << promised;
        if (*found < promised) ++lost;
    });
    EXPECT_GT(lost, 0u);
}

TEST(CrashDiskLmdbKill, LosesEverythingWithoutSync) {
    const LmdbRun run{5, 20, MDB_NOSYNC};
    const auto last = run.disk.points() - 1;
    run.disk.image(last, Choice::none(), run.home / "image");
    EXPECT_EQ(run.state_in(run.home / "image", 0), 0);
    run.disk.image(last, Choice::all(), run.home / "image");
    EXPECT_EQ(run.state_in(run.home / "image", 0), 20);
}

// What a store on top of LMDB has to know: making the environment is not safe against crashes. LMDB writes the first
// two meta pages without a sync and never syncs the folder.
TEST(CrashDiskLmdbKill, IsNotSafeWhileItIsMade) {
    const LmdbRun run{6, 3, 0, false};
    const auto last = run.disk.points() - 1;
    run.disk.image(last, Choice::none(), run.home / "image");
    EXPECT_FALSE(fs::exists(run.home / "image/data.mdb")) << "POSIX lets the whole file go";
    run.disk.image(last, Choice::none().with(Names::Journal), run.home / "image");
    EXPECT_EQ(run.state_in(run.home / "image", 0), 3) << "ext4 saves the name with the file";

    std::size_t invalid = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        run.disk.image(run.begun(), Choice::subset(seed).with(Names::Journal), run.home / "image");
        const Lmdb lmdb{run.home / "image", 0};
        EXPECT_TRUE(lmdb.error() == 0 || lmdb.error() == MDB_INVALID) << lmdb.error();
        if (lmdb.error() == MDB_INVALID) ++invalid;
    }
    EXPECT_GT(invalid, 0u) << "zeros where the meta pages should be";
}

TEST(CrashDiskLmdbKill, KeepsItsPromisesWhenTheDiskFails) {
    const struct {
        const char* name;
        Fault fault;
    } rows[] = {
        {"a data page cannot be written", {.on = Fault::On::Write, .name_has = "data.mdb", .nth = 4, .error = ENOSPC}},
        {"fdatasync fails", {.on = Fault::On::Sync, .name_has = "data.mdb", .nth = 3}},
        {"the sync of a meta page fails", {.on = Fault::On::Sync, .name_has = "data.mdb", .nth = 4}},
        {"a meta page is lost", {.on = Fault::On::Sync, .name_has = "data.mdb", .nth = 6, .dirty_lost = true}},
        {"fdatasync fails and loses the pages",
         {.on = Fault::On::Sync, .name_has = "data.mdb", .nth = 5, .dirty_lost = true}},
    };
    for (const auto& row : rows) {
        const TempFolder home{fast_place()};
        CrashDisk disk{home / "lmdb"};
        std::vector<State> states{{}};
        {
            Lmdb lmdb{home / "lmdb", 0};
            ASSERT_EQ(mdb_env_sync(lmdb.env(), 1), 0);
            sync_folder(home / "lmdb");
            disk.mark("0");
            disk.fail(row.fault);
            for (int i = 1; i <= 8; ++i) {
                const auto value = std::string(static_cast<std::size_t>(300 * i), 'v');
                if (lmdb.change({{fmt::format("key {}", i), value}}) != 0) break;  // as a careful store does
                states.push_back(states.back());
                states.back()[fmt::format("key {}", i)] = value;
                disk.mark(std::to_string(i));
            }
        }
        disk.stop();
        EXPECT_EQ(disk.faults_hit(), 1u) << row.name;
        EXPECT_LT(states.size(), 9u) << row.name;
        disk.each_image({.first = disk.marks().front().point}, [&](const CrashImage& image) {
            Lmdb lmdb{image.folder, MDB_RDONLY | MDB_NOLOCK};
            const auto promised = static_cast<std::size_t>(promised_number(disk, image.point));
            const auto found = lmdb.read();
            ASSERT_TRUE(found) << row.name << ": " << image.text;
            const bool promised_state = *found == states[promised];
            const bool next_state = found->size() == promised + 1;
            EXPECT_TRUE(promised_state || next_state) << row.name << ": " << image.text;
        });
    }
}

}  // namespace
}  // namespace rhizome::test
