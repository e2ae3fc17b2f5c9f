// SPDX-License-Identifier: Apache-2.0
// A store on a disk that fails or is full: it says so with the right kind, loses nothing it promised, goes on when a
// full disk has room again, and promises nothing more after a disk that failed.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "runtime/files.h"
#include "store/chain.h"
#include "store/chain_index.h"
#include "store/place.h"
#include "support/chain_answers.h"
#include "support/crash_disk.h"
#include "support/same_disk.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"
#include "support/waiting.h"

namespace rhizome::store {
namespace {

namespace fs = std::filesystem;
using ledger::Height;
using test::Choice;
using test::CrashDisk;
using test::Fault;
using test::StoredChain;
using test::TempFolder;

/// Nothing in reserve, so that faults reach the calls themselves. A backlog of several blocks goes into the index in
/// several pieces.
constexpr Options kSmallForFaults{
    .segment_bytes = 8u << 10, .checkpoint_bytes = 6u << 10, .reserve_bytes = 0, .index_batch_bytes = 2u << 10};

/// A chain on a crash disk that counts what it was promised.
struct FaultWorld {
    TempFolder home{test::fast_place()};
    CrashDisk disk{home.path()};
    StoredChain world{home / "data", kSmallForFaults};
    std::uint64_t promised = 0;
    Bytes promised_vote{};
    std::vector<Error> errors{};

    template <class T>
    bool good(const Result<T>& result) {
        if (!result) errors.push_back(result.error());
        return result.has_value();
    }
    /// A block and a vote, made durable; sometimes a checkpoint. Whether all of it worked.
    bool step(std::uint64_t number) {
        Store& store = world.chain().store();
        Writer vote;
        vote.u64(number);
        bool all = good(world.try_grow(2));
        all &= good(store.record_vote(vote.view()));
        if (good(store.sync())) {
            promised = world.chain().tip().height.number();
            promised_vote = store.votes().record;
        } else {
            all = false;
        }
        if (number % 3 == 0) all &= good(store.settle(true));
        return all;
    }

    /// Opens what is in a folder and compares it with the chain in memory.
    void check(const fs::path& folder) {
        if (folder != home / "data") test::take_for_the_same_disk(folder);
        auto opened = Chain::open(folder, world.rules(), world.parallel(), kSmallForFaults);
        ASSERT_TRUE(opened) << opened.error().message;
        const std::uint64_t tip = (*opened)->tip().height.number();
        ASSERT_GE(tip, promised);
        ASSERT_LT(tip, world.memory().blocks().size());
        const auto answers = test::ask_everything(**opened, std::span{world.memory().blocks()}.first(tip + 1),
                                                  std::span{world.memory().commits()}.first(tip + 1));
        ASSERT_EQ(answers.wrong, "") << test::text(answers.refusals);
        ASSERT_EQ(test::text(answers.refusals), "");
        ASSERT_TRUE((*opened)->store().votes().complete);
        if (tip == promised) {
            ASSERT_GE((*opened)->store().votes().record, promised_vote);
        }
        ASSERT_TRUE((*opened)->close());
    }
};

/// A full disk is Exhausted, all else Failed. So may be a sync that found no room: nobody knows what it wrote.
bool kind_fits(ErrorKind kind, int error, Fault::On on) {
    if (error != ENOSPC) return kind == ErrorKind::Failed;
    return kind == ErrorKind::Exhausted || (on == Fault::On::Sync && kind == ErrorKind::Failed);
}

struct FaultCase {
    std::string_view name;
    Fault fault;
    std::vector<ErrorKind> kinds;  ///< what may be said; none: the fault is not to be noticed
    /// Without being opened again. Nothing: that depends on what was hit.
    std::optional<bool> goes_on = true;
};

TEST(StoreFaultsKill, NothingPromisedIsLostWhicheverOperationFails) {
    using enum ErrorKind;
    const std::vector<FaultCase> cases{
        {"a write to the log fails", {.on = Fault::On::Write, .name_has = ".log"}, {Failed}, false},
        {"the log's file system is full",
         {.on = Fault::On::Write, .name_has = ".log", .times = 3, .error = ENOSPC},
         {Exhausted}},
        {"a short write of one byte", {.on = Fault::On::Write, .name_has = ".log", .short_write = 1}, {}},
        {"short writes", {.on = Fault::On::Write, .name_has = ".log", .times = 9, .short_write = 50}, {}},
        {"a sync of the log fails", {.on = Fault::On::Sync, .name_has = ".log", .dirty_lost = true}, {Failed}, false},
        {"no room for a segment",
         {.on = Fault::On::Allocate, .name_has = ".log", .times = 2, .error = ENOSPC},
         {Exhausted}},
        {"making room for a segment fails", {.on = Fault::On::Allocate, .name_has = ".log", .times = 2}, {Failed}},
        {"no room for a name", {.on = Fault::On::Name, .name_has = ".log", .times = 2, .error = ENOSPC}, {Exhausted}},
        {"a name cannot be made", {.on = Fault::On::Name, .name_has = ".log", .times = 2}, {Failed}},
        {"a write to the index fails", {.on = Fault::On::Write, .name_has = "data.mdb"}, {Failed}, std::nullopt},
        {"a sync of the index fails",
         {.on = Fault::On::Sync, .name_has = "data.mdb", .dirty_lost = true},
         {Failed},
         std::nullopt},
        {"writes to the index fail",
         {.on = Fault::On::Write, .name_has = "data.mdb", .times = Fault::kForEver},
         {Failed},
         false},
        {"syncs of the index fail",
         {.on = Fault::On::Sync, .name_has = "data.mdb", .times = Fault::kForEver, .dirty_lost = true},
         {Failed},
         false},
    };
    for (const FaultCase& each : cases) {
        std::uint64_t hit = 0;
        for (std::uint64_t nth = 1; nth < 400; nth += 1 + nth / 6) {
            SCOPED_TRACE(fmt::format("{}, the {}th", each.name, nth));
            FaultWorld world;
            for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_TRUE(world.step(i)) << test::text(world.errors);
            Fault fault = each.fault;
            fault.nth = nth;
            world.disk.fail(fault);
            for (std::uint64_t i = 3; i <= 16; ++i) (void)world.step(i);
            if (world.disk.faults_hit() == 0) break;
            ++hit;
            for (const Error& error : world.errors) {
                ASSERT_NE(std::find(each.kinds.begin(), each.kinds.end(), error.kind), each.kinds.end())
                    << name(error.kind) << ": " << error.message;
                ASSERT_GT(error.message.size(), 20U);
            }
            world.disk.clear_faults();
            if (each.goes_on == true) {
                world.errors.clear();
                ASSERT_TRUE(world.step(17)) << test::text(world.errors);
            } else if (each.goes_on == false && !world.errors.empty()) {
                ASSERT_FALSE(world.world.try_grow(1)) << "a disk that failed is trusted again";
            }
            world.world.kill();
            world.disk.stop();
            const TempFolder images{test::fast_place()};
            world.disk.image(world.disk.points() - 1, Choice::none(), images / "lost");
            ASSERT_NO_FATAL_FAILURE(world.check(images / "lost" / "data"));
            ASSERT_NO_FATAL_FAILURE(world.check(world.home / "data"));
        }
        EXPECT_GE(hit, 2U) << each.name;
    }
}

TEST(StoreFaultsKill, AFullDiskRefusesAndThenGoesOn) {
    for (std::uint64_t room = 0; room <= 160u << 10; room += room < 40u << 10 ? 4u << 10 : 12u << 10) {
        SCOPED_TRACE(fmt::format("{} bytes of room", room));
        FaultWorld world;
        for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(world.step(i)) << test::text(world.errors);
        world.disk.limit_space(room);
        // How many blocks fit depends on the pages of the index, so until the first is refused, and some more then.
        std::uint64_t step = 4;
        while (world.errors.empty() && step < 500) (void)world.step(step++);
        ASSERT_FALSE(world.errors.empty()) << "there was room for all";
        for (int more = 0; more < 12; ++more) (void)world.step(step++);
        for (const Error& error : world.errors)
            ASSERT_EQ(error.kind, ErrorKind::Exhausted) << name(error.kind) << ": " << error.message;
        const std::uint64_t refused_at = world.promised;
        world.disk.limit_space(std::nullopt);
        world.errors.clear();
        for (int after = 0; after < 6; ++after) ASSERT_TRUE(world.step(step++)) << test::text(world.errors);
        EXPECT_GT(world.promised, refused_at);
        world.world.kill();
        world.disk.stop();
        ASSERT_NO_FATAL_FAILURE(world.check(world.home / "data"));
    }
}

TEST(StoreFaultsKill, AFullDiskIsOpenedForReadingAndGoesOnWhenThereIsRoom) {
    for (const bool orderly : {true, false})
        for (const bool copied : {false, true}) {
            SCOPED_TRACE(fmt::format("orderly {}, copied {}", orderly, copied));
            FaultWorld world;
            for (std::uint64_t i = 1; i <= 5; ++i) ASSERT_TRUE(world.step(i)) << test::text(world.errors);
            if (orderly) {
                ASSERT_TRUE(world.world.close());
            } else {
                world.world.kill();
            }
            const fs::path data = world.home / "data";
            if (copied) {
                ASSERT_TRUE(runtime::replace_file(place_of(data), "x", 0600));
            }
            // Not even what opening itself gives back: somebody else takes that at once.
            world.disk.limit_space(0);
            for (const auto& [on, file] : {std::pair{Fault::On::Write, "place"}, std::pair{Fault::On::Write, ".tmp"},
                                           std::pair{Fault::On::Allocate, ".log"}})
                world.disk.fail({.on = on, .name_has = file, .times = Fault::kForEver, .error = ENOSPC});
            auto opened = Chain::open(data, world.world.rules(), world.world.parallel(), kSmallForFaults);
            ASSERT_TRUE(opened) << opened.error().message;
            Store& store = (*opened)->store();
            const auto last = [&](const Store& at) { return at.votes().record; };
            EXPECT_EQ((*opened)->tip().height.number(), world.promised);
            EXPECT_EQ(last(store), world.promised_vote);
            EXPECT_EQ(store.votes().complete, !copied);
            EXPECT_FALSE(store.findings().empty());
            const auto chain = std::span{world.world.memory().blocks()}.first(world.promised + 1);
            const auto answers =
                test::ask_everything(**opened, chain, std::span{world.world.memory().commits()}.first(chain.size()));
            EXPECT_EQ(answers.wrong, "") << test::text(answers.refusals);
            const auto vote = store.record_vote(Bytes{9});
            ASSERT_FALSE(vote);
            EXPECT_EQ(vote.error().kind, copied ? ErrorKind::Denied : ErrorKind::Exhausted) << vote.error().message;
            const auto marked = store.mark_final(store.tip().hash);
            ASSERT_FALSE(marked) << "nothing is written before what opening has to write down";
            EXPECT_EQ(marked.error().kind, ErrorKind::Exhausted) << marked.error().message;
            const auto closed = store.close();
            ASSERT_FALSE(closed);
            EXPECT_EQ(closed.error().kind, ErrorKind::Exhausted) << closed.error().message;
            opened->reset();
            // Once more, and then there is room.
            opened = Chain::open(data, world.world.rules(), world.world.parallel(), kSmallForFaults);
            ASSERT_TRUE(opened) << opened.error().message;
            world.disk.clear_faults();
            world.disk.limit_space(std::nullopt);
            ASSERT_TRUE((*opened)->store().mark_final((*opened)->store().tip().hash));
            EXPECT_EQ((*opened)->store().votes().complete, !copied);
            // What was begun without room may end as it began.
            ASSERT_TRUE(test::eventually([&] { return (*opened)->store().settle(true).has_value(); }));
            opened->reset();
            const auto again = Store::open(data, kSmallForFaults);
            ASSERT_TRUE(again) << again.error().message;
            EXPECT_EQ((*again)->votes().complete, !copied) << "a copy stays one";
            world.disk.stop();
        }
}

TEST(StoreFaultsKill, NotesThatWaitForRoomOnTheDiskHaveABound) {
    const TempFolder home{test::fast_place()};
    CrashDisk disk{home.path()};
    StoredChain world{home / "data", {.segment_bytes = 64u << 10, .reserve_bytes = 0, .notes_bytes_max = 64u << 10}};
    Store& store = world.chain().store();
    ASSERT_TRUE(store.put_note("peers", "0", as_bytes("written before")));
    ASSERT_TRUE(store.settle(false));
    disk.limit_space(0);

    const auto value = [](std::uint64_t version) { return Bytes(1'000, static_cast<std::uint8_t>(version)); };
    std::uint64_t taken = 0;
    Result<void> refused;
    for (; refused && taken < 1'000; ++taken) refused = store.put_note("peers", fmt::format("{}", taken), value(1));
    --taken;
    ASSERT_FALSE(refused) << "a thousand notes of a kilobyte are in memory, where 64 KiB should be";
    EXPECT_EQ(refused.error().kind, ErrorKind::Exhausted) << refused.error().message;
    EXPECT_GE(taken, 40U);
    EXPECT_LE(taken, 64U);
    // The same name again takes no more memory, however often.
    for (std::uint64_t i = 0; i < 1'000; ++i) ASSERT_TRUE(store.put_note("peers", "7", value(i)));
    EXPECT_FALSE(store.put_note("peers", "one more", value(1)));
    EXPECT_FALSE(store.note("peers", "one more"));
    EXPECT_EQ(store.note("peers", "7").value(), value(999));
    EXPECT_EQ(store.note("peers", "0").value(), value(1));

    disk.limit_space(std::nullopt);
    ASSERT_TRUE(store.settle(false));
    EXPECT_TRUE(store.put_note("peers", "one more", value(2)));
    // A large one is taken by itself.
    EXPECT_TRUE(store.put_note("snapshot", "derived", Bytes(1u << 20, 5)));
    const auto all = store.notes("peers", 1'000);
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->size(), taken + 1);
    EXPECT_EQ(store.note("peers", "7").value(), value(999));
    EXPECT_EQ(store.note("snapshot", "derived").value().size(), 1u << 20);
    ASSERT_TRUE(world.close());
}

TEST(StoreFaultsKill, BlocksAreRefusedBeforeTheDiskIsFull) {
    const TempFolder home{test::fast_place()};
    CrashDisk disk{home.path()};
    StoredChain world{home / "data", {.segment_bytes = 8u << 10, .reserve_bytes = 1u << 20}};
    world.grow(1);
    disk.report_free_space(1u << 20);  // the reserve is there, but no room for a segment on top of it
    const std::size_t before = disk.points();
    const auto refused = world.try_grow(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Exhausted);
    EXPECT_NE(refused.error().message.find("make room"), std::string::npos);
    const std::uint64_t tip = world.chain().tip().height.number();
    EXPECT_TRUE(world.chain().store().record_vote(Bytes{1}));
    EXPECT_TRUE(world.chain().store().sync());
    EXPECT_EQ(world.chain().tip().height.number(), tip);
    EXPECT_GT(disk.points(), before);
    disk.report_free_space(std::nullopt);
    EXPECT_TRUE(world.try_grow(1));
    ASSERT_TRUE(world.close());
}

TEST(StoreFaultsKill, MakingAStoreFailsWholeOrWorks) {
    const test::TestChain memory;
    const ledger::GenesisBlock genesis{.block = memory.blocks().front(), .commit = memory.commits().front()};
    for (const int error : {EIO, ENOSPC})
        for (const auto on : {Fault::On::Write, Fault::On::Sync, Fault::On::Allocate, Fault::On::Name})
            for (std::uint64_t nth = 1; nth < 100; ++nth) {
                SCOPED_TRACE(fmt::format("error {}, operation {}, the {}th", error, static_cast<int>(on), nth));
                const TempFolder home{test::fast_place()};
                CrashDisk disk{home.path()};
                disk.fail({.on = on, .nth = nth, .error = error});
                const auto made = Store::create(home / "data", genesis, kSmallForFaults);
                if (disk.faults_hit() == 0) break;
                disk.clear_faults();
                if (made) continue;  // it was no operation that matters
                ASSERT_TRUE(kind_fits(made.error().kind, error, on)) << test::text({made.error()});
                const auto opened = Store::open(home / "data", kSmallForFaults);
                if (opened) continue;  // its last step was done though it failed
                ASSERT_EQ(opened.error().kind, ErrorKind::NotFound) << opened.error().message;
                const auto again = Store::create(home / "data", genesis, kSmallForFaults);
                ASSERT_TRUE(again) << again.error().message;
            }
}

TEST(StoreFaultsKill, OpeningAndClosingOnABadDiskLosesNothing) {
    for (const int error : {EIO, ENOSPC})
        for (const auto on : {Fault::On::Write, Fault::On::Sync, Fault::On::Allocate, Fault::On::Name})
            for (std::uint64_t nth = 1; nth < 100; ++nth) {
                SCOPED_TRACE(fmt::format("error {}, operation {}, the {}th", error, static_cast<int>(on), nth));
                FaultWorld world;
                for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_TRUE(world.step(i)) << test::text(world.errors);
                if (nth % 2 == 0) {
                    ASSERT_TRUE(world.world.close());
                } else {
                    world.world.kill();
                }
                world.disk.fail({.on = on, .nth = nth, .error = error});
                auto opened =
                    Chain::open(world.home / "data", world.world.rules(), world.world.parallel(), kSmallForFaults);
                const auto closed = opened ? (*opened)->close() : Result<void>{Fail{opened.error()}};
                if (!closed) {
                    ASSERT_TRUE(kind_fits(closed.error().kind, error, on)) << test::text({closed.error()});
                }
                if (opened) opened->reset();
                const bool hit = world.disk.faults_hit() > 0;
                world.disk.clear_faults();
                world.disk.stop();
                ASSERT_NO_FATAL_FAILURE(world.check(world.home / "data"));
                if (!hit) break;
            }
}

TEST(StoreFaultsKill, ACopyThatCannotBeOpenedIsStillACopyAfterwards) {
    const std::vector<std::pair<std::string_view, std::function<void(const fs::path&)>>> copies{
        {"all of it", [](const fs::path& data) { (void)runtime::replace_file(place_of(data), "x", 0600); }},
        {"the index",
         [](const fs::path& data) {
             fs::copy_file(data / "index" / "data.mdb", data / "copy");
             fs::rename(data / "copy", data / "index" / "data.mdb");
         }},
    };
    for (const auto& [name, copy] : copies)
        for (const bool orderly : {true, false}) {
            std::uint64_t failures = 0;
            for (const auto on : {Fault::On::Write, Fault::On::Sync, Fault::On::Allocate, Fault::On::Name})
                for (std::uint64_t nth = 1; nth < 100; ++nth) {
                    SCOPED_TRACE(fmt::format("{}, orderly {}, operation {}, the {}th", name, orderly,
                                             static_cast<int>(on), nth));
                    FaultWorld world;
                    for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(world.step(i)) << test::text(world.errors);
                    if (orderly) {
                        ASSERT_TRUE(world.world.close());
                    } else {
                        world.world.kill();
                    }
                    const fs::path data = world.home / "data";
                    copy(data);
                    world.disk.fail({.on = on, .nth = nth});
                    auto opened = Store::open(data, kSmallForFaults);
                    failures += opened ? 0 : 1;
                    if (opened) {
                        ASSERT_FALSE((*opened)->votes().complete);
                        opened->reset();
                    }
                    const bool hit = world.disk.faults_hit() > 0;
                    world.disk.clear_faults();
                    const auto again = Store::open(data, kSmallForFaults);
                    ASSERT_TRUE(again) << again.error().message;
                    ASSERT_FALSE((*again)->votes().complete);
                    if (!hit) break;
                }
            EXPECT_GE(failures, 10U);
        }
}

TEST(StoreFaultsKill, AnOrderlyEndSealsOnlyWhatIsOnTheDisk) {
    FaultWorld world;
    for (std::uint64_t i = 1; i <= 12; ++i) ASSERT_TRUE(world.step(i)) << test::text(world.errors);
    Store& store = world.world.chain().store();
    ASSERT_TRUE(store.mark_final(store.tip().hash));
    ASSERT_TRUE(store.settle(true));
    // A page of a transaction that came to nothing stays in the file, and nobody syncs it.
    world.disk.fail({.on = Fault::On::Write, .name_has = "data.mdb", .nth = 2, .error = ENOSPC});
    const auto pruned = store.prune(Prune::Bodies, Height{9});
    ASSERT_FALSE(pruned);
    EXPECT_EQ(pruned.error().kind, ErrorKind::Exhausted) << pruned.error().message;
    world.disk.clear_faults();
    ASSERT_TRUE(world.world.close());
    world.disk.stop();
    const TempFolder images{test::fast_place()};
    world.disk.image(world.disk.points() - 1, Choice::none(), images / "lost");
    const auto found = examine_index(images / "lost" / "data" / "index");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->trust, IndexTrust::Sealed) << found->what;
}

SegmentLog::Settings settings_in(const fs::path& folder) {
    return {.folder = folder, .segment_bytes = 64u << 10, .carry = [] { return Bytes{}; }};
}

/// The newest record that the log on this disk has when the power fails now and all is lost that may be.
std::uint64_t last_after_power_failure(const CrashDisk& disk) {
    const TempFolder images{test::fast_place()};
    disk.image(disk.points() - 1, Choice::none(), images / "image");
    std::uint64_t last = 0;
    LogTail tail;
    const auto opened = SegmentLog::open(
        settings_in(images / "image"), std::nullopt, 0,
        [&](const LogRecord& record) -> Result<void> {
            last = record.head.sequence;
            return {};
        },
        tail);
    EXPECT_TRUE(opened) << opened.error().message;
    return last;
}

// Linux tells a failed write-back once for each open file: of two syncs at a time the other one succeeds.
TEST(StoreFaultsKill, ASyncBesideAFailedOnePromisesNothing) {
    const TempFolder home{test::fast_place()};
    std::mutex mutex;
    std::condition_variable changed;
    bool armed = false;
    bool other_done = false;
    SegmentLog* log = nullptr;
    std::thread other;
    const auto beside = [&] {
        std::unique_lock lock{mutex};
        if (!std::exchange(armed, false)) return;
        other = std::thread{[&] {
            EXPECT_TRUE(!log->sync() || log->durable() > 0);
            const std::lock_guard done{mutex};
            other_done = true;
            changed.notify_all();
        }};
        // Only a chance for the other sync, which may just as well wait until this one is done.
        (void)changed.wait_for(lock, std::chrono::milliseconds{300}, [&] { return other_done; });
    };
    CrashDisk disk{home.path(), {.during_sync = beside}};
    auto made = SegmentLog::create(settings_in(home.path()));
    ASSERT_TRUE(made) << made.error().message;
    log = made->get();
    const Bytes payload(100, 7);
    const ByteView view{payload};
    ASSERT_TRUE(log->append(RecordKind::Vote, std::span{&view, 1}));
    disk.fail({.on = Fault::On::Sync, .nth = 2, .dirty_lost = true});
    {
        const std::lock_guard lock{mutex};
        armed = true;
    }
    (void)log->sync();
    other.join();
    const std::uint64_t promised = log->durable();
    EXPECT_GE(last_after_power_failure(disk), promised);
}

TEST(StoreFaultsKill, ASyncPromisesOnlyWhatWasWrittenWhenItBegan) {
    const TempFolder home{test::fast_place()};
    SegmentLog* log = nullptr;
    const Bytes payload(100, 7);
    const ByteView view{payload};
    const auto append = [&] { return log == nullptr || log->append(RecordKind::Vote, std::span{&view, 1}); };
    const auto beside = [&] { EXPECT_TRUE(append()); };
    CrashDisk disk{home.path(), {.during_sync = beside}};
    auto made = SegmentLog::create(settings_in(home.path()));
    ASSERT_TRUE(made) << made.error().message;
    log = made->get();
    ASSERT_TRUE(append());
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const auto promised = log->sync();
        ASSERT_TRUE(promised) << promised.error().message;
        EXPECT_EQ(log->durable(), *promised);
        EXPECT_EQ(*promised, i + 1);
        EXPECT_EQ(last_after_power_failure(disk), *promised);
    }
}

}  // namespace
}  // namespace rhizome::store
