// SPDX-License-Identifier: Apache-2.0
// Directories that were copied, moved and put back: what the node signs from, and what it does not.
#include "store/place.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "runtime/files.h"
#include "store/chain.h"
#include "store/chain_index.h"
#include "support/crash_disk.h"
#include "support/same_disk.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

namespace fs = std::filesystem;
using test::StoredChain;
using test::TempFolder;

const Bytes kVote{7, 7, 7};

void copy_folder(const fs::path& from, const fs::path& to) { fs::copy(from, to, fs::copy_options::recursive); }

/// Writes every file of `from` into the one that is there, as `cp -a from/. to` does, or in its place, as rsync does.
void write_over(const fs::path& from, const fs::path& to, bool same_files) {
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
        if (!entry.is_regular_file()) continue;
        const fs::path target = to / fs::relative(entry.path(), from);
        if (!same_files) fs::remove(target);
        fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing);
    }
}

struct Seen {
    bool complete = false;
    Bytes record{};
    ledger::VoteRecordId id{};
    std::size_t findings = 0;
    std::uint64_t sequence = 0;  ///< of the newest record
};

class Places : public ::testing::Test {
protected:
    void SetUp() override {
        for (int i = 0; i < 3; ++i) world.grow(2);
        ASSERT_TRUE(world.chain().store().record_vote(kVote));
        ASSERT_TRUE(world.chain().store().sync());
    }
    /// Opens a directory as a node would; closes it in order or dies.
    Seen look(const fs::path& folder, bool orderly = false) {
        auto opened = Chain::open(folder, world.rules(), world.parallel());
        EXPECT_TRUE(opened) << opened.error().message;
        if (!opened) return {};
        const Store& store = (*opened)->store();
        EXPECT_EQ(store.tip().header, world.memory().tip());
        const Seen seen{.complete = store.votes().complete,
                        .record = store.votes().record,
                        .id = store.votes().id,
                        .findings = store.findings().size(),
                        .sequence = store.durable()};
        EXPECT_EQ(examine_place(folder).value().trust, PlaceTrust::Same);
        if (orderly) {
            EXPECT_TRUE((*opened)->close());
        }
        return seen;
    }
    /// The votes are lost, and stay lost; that is told once.
    void expect_lost(const fs::path& folder) {
        const Seen first = look(folder);
        EXPECT_FALSE(first.complete);
        EXPECT_EQ(first.record, kVote);
        EXPECT_GE(first.findings, 1U);
        for (const bool orderly : {true, false, true}) {
            const Seen again = look(folder, orderly);
            EXPECT_FALSE(again.complete);
            EXPECT_EQ(again.record, kVote);
            EXPECT_EQ(again.findings, 0U);
            EXPECT_EQ(again.sequence, first.sequence);  // nothing more was written about it
        }
    }
    void expect_kept(const fs::path& folder) {
        for (const bool orderly : {true, false, true}) {
            const Seen seen = look(folder, orderly);
            EXPECT_TRUE(seen.complete);
            EXPECT_EQ(seen.record, kVote);
            EXPECT_EQ(seen.findings, 0U);
        }
    }
    /// Changes a byte of what `place` says, as if it had been made elsewhere.
    void change_place(const fs::path& folder, std::size_t offset) {
        const std::string bytes = test::place_of_another(folder, offset);
        const auto file =
            detail::File::open(place_of(folder), detail::File::Mode::Write).value();  // stays the same file
        const ByteView view = as_bytes(bytes);
        ASSERT_TRUE(file.write(0, std::span{&view, 1}));
    }

    TempFolder home{test::fast_place()};
    fs::path data = home / "data";
    fs::path copy = home / "copy";
    StoredChain world{data};
};

TEST_F(Places, StayTheSameOverOrderlyEndsAndCrashes) {
    world.kill();
    expect_kept(data);
}

TEST_F(Places, ACopyOfARunningNodeMayNotSign) {
    copy_folder(data, copy);
    expect_lost(copy);
    world.kill();
    expect_kept(data);
}

TEST_F(Places, EachCopyBeginsARecordOfItsOwn) {
    ASSERT_TRUE(world.close());
    copy_folder(data, copy);
    EXPECT_EQ(look(data).id, ledger::VoteRecordId{});
    const auto id = look(copy, true).id;
    EXPECT_NE(id, ledger::VoteRecordId{});
    // Of one that has begun its record, too: the owner may have named that.
    copy_folder(copy, home / "second");
    const auto second = look(home / "second").id;
    EXPECT_NE(second, ledger::VoteRecordId{});
    EXPECT_NE(second, id);
    EXPECT_EQ(look(copy).id, id);
    EXPECT_EQ(look(home / "second").id, second);
    auto opened = Chain::open(copy, world.rules(), world.parallel());
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_TRUE((*opened)->store().complete_votes(kVote));
    EXPECT_EQ((*opened)->store().votes().id, ledger::VoteRecordId{});
    ASSERT_TRUE((*opened)->store().lose_votes());
    EXPECT_FALSE((*opened)->store().record_vote(kVote));
    const auto lost = (*opened)->store().votes().id;
    EXPECT_NE(lost, id);
    ASSERT_TRUE((*opened)->close());
    EXPECT_EQ(look(copy).id, lost);
}

TEST_F(Places, ACopyOfAStoppedNodeMayNotSign) {
    ASSERT_TRUE(world.close());
    copy_folder(data, copy);
    EXPECT_EQ(examine_index(copy / "index").value().trust, IndexTrust::Sealed);  // though its index is whole
    expect_lost(copy);
    expect_kept(data);
}

TEST_F(Places, ACopyOfACrashedNodeMayNotSign) {
    world.kill();
    copy_folder(data, copy);
    expect_lost(copy);
    expect_kept(data);
}

TEST_F(Places, ARenamedDirectoryIsStillTheSame) {
    ASSERT_TRUE(world.close());
    fs::rename(data, copy);
    expect_kept(copy);
    fs::create_directory(home / "deeper");
    fs::rename(copy, home / "deeper" / "data");
    expect_kept(home / "deeper" / "data");
}

TEST_F(Places, ADirectoryRenamedWhileItsNodeRunsIsStillTheSame) {
    fs::rename(data, copy);
    world.kill();
    expect_kept(copy);
}

TEST_F(Places, AnOlderCopyWrittenOverTheOriginalMayNotSign) {
    for (const bool same_files : {true, false})
        for (const bool stopped : {true, false}) {
            SCOPED_TRACE(fmt::format("same files: {}, stopped: {}", same_files, stopped));
            if (stopped) {
                ASSERT_TRUE(world.close());
            } else {
                world.kill();
            }
            fs::remove_all(copy);
            copy_folder(data, copy);
            world.reopen();
            if (!world.chain().store().votes().complete) {
                ASSERT_TRUE(world.chain().store().complete_votes(kVote));
            }
            ASSERT_TRUE(world.chain().store().record_vote(Bytes{8}));
            if (stopped) {
                ASSERT_TRUE(world.close());
            } else {
                ASSERT_TRUE(world.chain().store().sync());
                world.kill();
            }
            write_over(copy, data, same_files);
            expect_lost(data);
            world.reopen();
            ASSERT_TRUE(world.chain().store().complete_votes(kVote));
        }
}

TEST_F(Places, AnotherMachineOrFileSystemMayNotSign) {
    ASSERT_TRUE(world.close());
    constexpr std::size_t kInode = 4;
    constexpr std::size_t kBorn = 12;
    constexpr std::size_t kFileSystem = 28;
    constexpr std::size_t kMachine = 36;
    for (const std::size_t offset : {kInode, kBorn, kFileSystem, kMachine, kMachine + 15}) {
        SCOPED_TRACE(offset);
        change_place(data, offset);
        EXPECT_EQ(examine_place(data).value().trust, PlaceTrust::Elsewhere);
        expect_lost(data);
        world.reopen();
        ASSERT_TRUE(world.chain().store().complete_votes(kVote));
        ASSERT_TRUE(world.close());
    }
    expect_kept(data);
}

TEST_F(Places, AMissingOrDamagedFileMayNotSign) {
    ASSERT_TRUE(world.close());
    const std::string good = runtime::read_file(place_of(data), 4096).value();
    EXPECT_EQ(good.size(), 60U);
    const auto is_unknown = [&] { return examine_place(data).value().trust == PlaceTrust::Unknown; };
    for (std::size_t i = 0; i < good.size() * 8; ++i) {
        std::string bad = good;
        bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
        ASSERT_TRUE(runtime::replace_file(place_of(data), bad, 0600));
        ASSERT_TRUE(is_unknown()) << "bit " << i;
    }
    for (const std::string& bad : {std::string{}, good.substr(0, 59), good + "x", std::string(5'000, 'x')}) {
        ASSERT_TRUE(runtime::replace_file(place_of(data), bad, 0600));
        EXPECT_TRUE(is_unknown()) << bad.size();
    }
    expect_lost(data);
    world.reopen();
    ASSERT_TRUE(world.chain().store().complete_votes(kVote));
    ASSERT_TRUE(world.close());
    ASSERT_TRUE(runtime::remove_file(place_of(data)));
    expect_lost(data);
}

TEST_F(Places, ACopiedIndexShowsThatFilesWerePutBack) {
    for (const bool orderly : {true, false}) {
        SCOPED_TRACE(orderly);
        if (orderly) {
            ASSERT_TRUE(world.close());
        } else {
            world.kill();
        }
        const fs::path file = data / "index" / "data.mdb";
        fs::copy_file(file, home / "data.mdb");
        fs::rename(home / "data.mdb", file);
        EXPECT_EQ(examine_place(data).value().trust, PlaceTrust::Same);
        expect_lost(data);
        world.reopen();
        ASSERT_TRUE(world.chain().store().complete_votes(kVote));
    }
}

TEST_F(Places, ALostIndexSaysNothingAboutVotes) {
    ASSERT_TRUE(world.close());
    fs::remove_all(data / "index");
    EXPECT_TRUE(look(data, true).complete);
    expect_kept(data);
}

// ---- what follows from it ------------------------------------------------------------------------------------------

TEST_F(Places, NothingIsSignedUntilTheRecordIsCompleteAgain) {
    ASSERT_TRUE(world.close());
    copy_folder(data, copy);
    {
        const auto store = Store::open(copy).value();
        const auto refused = store->record_vote(Bytes{8});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::Denied);
        EXPECT_NE(refused.error().message.find(copy.native()), std::string::npos);
        EXPECT_EQ(store->votes().record, kVote);
        EXPECT_EQ(store->complete_votes(Bytes(kVoteBytesMax + 1)).error().kind, ErrorKind::Exhausted);
        EXPECT_FALSE(store->votes().complete);
        ASSERT_TRUE(store->complete_votes(Bytes{9}));
        EXPECT_TRUE(store->votes().complete);
        EXPECT_EQ(store->votes().record, Bytes{9});
        ASSERT_TRUE(store->record_vote(Bytes{10}));
        ASSERT_TRUE(store->sync());
    }
    const Seen seen = look(copy);
    EXPECT_TRUE(seen.complete);
    EXPECT_EQ(seen.record, Bytes{10});
}

TEST_F(Places, LostVotesStayLostInLaterSegmentsAndWithoutTheIndex) {
    ASSERT_TRUE(world.close());
    copy_folder(data, copy);
    {
        const Options small{.segment_bytes = 4u << 10};
        auto chain = Chain::open(copy, world.rules(), world.parallel(), small).value();
        EXPECT_FALSE(chain->store().votes().complete);
        while (world.memory().blocks().size() < 20) test::grow(world.memory(), "more", 2);
        for (std::size_t height = chain->tip().height.number() + 1; height < 20; ++height)
            ASSERT_TRUE(chain->add(world.memory().blocks()[height]));
        ASSERT_TRUE(chain->close());
    }
    EXPECT_FALSE(look(copy, true).complete);
    fs::remove_all(copy / "index");
    EXPECT_FALSE(look(copy, true).complete);
}

}  // namespace
}  // namespace rhizome::store
