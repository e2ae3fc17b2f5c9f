// SPDX-License-Identifier: Apache-2.0
// A store whose disk loses its power: what was promised is there again.
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "runtime/files.h"
#include "store/chain.h"
#include "store/chain_index.h"
#include "store/place.h"
#include "support/chain_answers.h"
#include "support/crash_disk.h"
#include "support/same_disk.h"
#include "support/seed.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

namespace fs = std::filesystem;
using ledger::BlockHash;
using ledger::Height;
using test::ask_everything;
using test::Choice;
using test::CrashDisk;
using test::CrashImage;
using test::genesis_of;
using test::kSmallStore;
using test::OpenRules;
using test::take_for_the_same_disk;
using test::TempFolder;
using test::TestChain;
using test::vote_of;

/// What the log says after each of its records, and what was promised when: enough to tell which images are right.
class History {
public:
    struct Said {
        std::vector<ledger::Block> chain{};
        std::vector<state::Commit> commits{};
        Bytes vote{};
        BlockHash final_block{};
        bool votes_complete = true;
    };

    explicit History(CrashDisk& disk) : disk_(disk) {}

    /// The next record is about to be written, and says this.
    void begin(Said said) {
        disk_.mark("begun");
        said_.push_back(std::move(said));
    }
    /// All so far is promised.
    void promise() { disk_.mark(fmt::format("{}", said_.size())); }
    [[nodiscard]] const Said& now() const { return said_.back(); }
    [[nodiscard]] const Said& at(std::size_t records) const { return said_[records - 1]; }

    /// How many records a crash at `point` must leave, and how many it can.
    [[nodiscard]] std::pair<std::size_t, std::size_t> bounds(std::size_t point) const {
        std::size_t least = 0;
        std::size_t most = 0;
        for (const test::Mark& mark : disk_.marks()) {
            if (mark.label == "begun")
                most += mark.point < point ? 1 : 0;
            else if (mark.point <= point)
                least = std::stoul(mark.label);
        }
        return {least, most};
    }

    /// How many records the store shows; nothing when it is none of the possible numbers.
    [[nodiscard]] std::optional<std::size_t> shown(const Store& store, std::size_t least, std::size_t most) const {
        for (std::size_t records = most; records >= std::max<std::size_t>(least, 1); --records) {
            const Said& said = at(records);
            if (store.tip().header == said.chain.back().header && store.votes().record == said.vote &&
                store.votes().complete == said.votes_complete && store.final_block().hash == said.final_block)
                return records;
        }
        return std::nullopt;
    }

private:
    CrashDisk& disk_;
    std::vector<Said> said_;
};

/// A store on a crash disk: everything it is told goes into the history as well.
class PowerWorld {
public:
    PowerWorld() {
        test::grow_namespace(main);
        auto made = Chain::create(folder, genesis_of(main), rules.block_rules(), rules.parallel, kSmallStore);
        ensure(made.has_value(), made ? "" : made.error().message);
        take(*std::move(made));
        history.begin({.chain = {main.blocks().front()},
                       .commits = {main.commits().front()},
                       .final_block = hash_of(main.blocks().front().header)});
        history.promise();
    }

    void sync() {
        ASSERT_TRUE(store->sync());
        history.promise();
    }
    /// The next block of `chain`, which it has already.
    void append(const TestChain& chain) {
        const std::size_t height = history.now().chain.size();
        History::Said said = history.now();
        said.chain.push_back(chain.blocks()[height]);
        said.commits.push_back(chain.commits()[height]);
        history.begin(said);
        const auto done = store->append(chain.blocks()[height], {}, chain.commits()[height]);
        ASSERT_TRUE(done) << done.error().message;
    }
    void vote(std::uint64_t number) {
        History::Said said = history.now();
        said.vote = vote_of(number);
        history.begin(said);
        ASSERT_TRUE(store->record_vote(said.vote));
    }
    void complete_votes(std::uint64_t number) {
        History::Said said = history.now();
        said.vote = vote_of(number);
        said.votes_complete = true;
        history.begin(said);
        ASSERT_TRUE(store->complete_votes(said.vote));
    }
    /// Makes the directory one that was copied here, which is promised to be noticed.
    void copy() {
        kill();
        const std::string bytes = test::place_of_another(folder);
        History::Said said = history.now();
        said.votes_complete = false;
        history.begin(said);
        ASSERT_TRUE(runtime::replace_file(place_of(folder), bytes, 0600));
        foreign_places.insert(bytes);
        history.promise();
    }
    void mark_final(std::size_t height) {
        History::Said said = history.now();
        said.final_block = hash_of(said.chain[height].header);
        history.begin(said);
        ASSERT_TRUE(store->mark_final(said.final_block));
    }
    void keep(const ledger::Block& block) {
        history.begin(history.now());
        ASSERT_TRUE(store->keep(block));
    }
    /// `other` shares its first `fork` blocks with the present chain.
    void move(const TestChain& other, std::size_t fork) {
        std::vector<Store::Adopted> branch;
        for (std::size_t height = fork; height < other.blocks().size(); ++height) {
            keep(other.blocks()[height]);
            branch.push_back({.hash = hash_of(other.blocks()[height].header), .delta = other.commits()[height].delta});
        }
        History::Said said = history.now();
        said.chain = other.blocks();
        said.commits = other.commits();
        history.begin(said);
        ASSERT_TRUE(store->move_tip(hash_of(other.tip()), branch, other.state().view()));
    }
    void reopen(std::size_t findings = 0) {
        auto opened = rules.open(folder, kSmallStore);
        ASSERT_TRUE(opened) << opened.error().message;
        ASSERT_EQ((*opened)->store().findings().size(), findings);
        take(*std::move(opened));
    }
    /// As if the process died.
    void kill() {
        chain_.reset();
        store = nullptr;
    }

    TempFolder home{test::fast_place()};
    fs::path folder = home / "data";
    CrashDisk disk{home.path()};
    History history{disk};
    TestChain main;
    OpenRules rules;
    Store* store = nullptr;
    std::set<std::string> foreign_places;  ///< what `place` said when the directory had just been copied

private:
    // Opening replays, which tells the store what blocks changed; afterwards this test talks to the store itself.
    void take(std::unique_ptr<Chain> chain) {
        chain_ = std::move(chain);
        store = &chain_->store();
    }
    std::unique_ptr<Chain> chain_;
};

/// The store in an image holds what was promised, all of it right, and goes on.
void check_image(PowerWorld& world, const CrashImage& image, const std::map<BlockHash, ledger::Block>& next,
                 std::size_t bodies_from = 0) {
    const auto [least, most] = world.history.bounds(image.point);
    const fs::path folder = image.folder / "data";
    if (least == 0 && !fs::exists(folder / "format")) return;  // not even made yet
    const auto place = runtime::read_file(place_of(folder), 4096);
    const bool copied = place && world.foreign_places.contains(*place);
    if (!copied) take_for_the_same_disk(folder);
    std::size_t records = 0;
    for (int opening = 0; opening < 2; ++opening) {
        auto opened = world.rules.open(folder, kSmallStore);
        ASSERT_TRUE(opened) << opened.error().message;
        Chain& chain = **opened;
        for (const Finding& finding : chain.store().findings()) {
            const bool told_copy =
                copied && (finding.file == place_of(folder) || finding.file.parent_path() == folder / "index");
            ASSERT_TRUE(told_copy || finding.what.find("write was interrupted") != std::string::npos) << finding.what;
        }
        if (opening == 0) {
            const auto shown = world.history.shown(chain.store(), least, std::max<std::size_t>(most, 1));
            ASSERT_TRUE(shown) << "the tip is " << chain.tip().height.number() << ", of " << least << " to " << most;
            records = *shown;
        }
        const History::Said& said = world.history.at(records);
        std::vector<ledger::Block> blocks = said.chain;
        const auto further = next.find(hash_of(blocks.back().header));
        if (opening == 1 && further != next.end()) {
            ASSERT_EQ(chain.tip(), further->second.header);
            ASSERT_TRUE(chain.close());
            return;
        }
        const auto answers = ask_everything(chain, blocks, said.commits, bodies_from);
        ASSERT_EQ(answers.wrong, "") << test::text(answers.refusals);
        ASSERT_EQ(test::text(answers.refusals), "");
        if (further == next.end()) return;
        const auto added = chain.add(further->second);
        ASSERT_TRUE(added) << added.error().message;
        ASSERT_TRUE(chain.store().sync());
    }
}

std::map<BlockHash, ledger::Block> followers(std::initializer_list<const TestChain*> chains) {
    std::map<BlockHash, ledger::Block> next;
    for (const TestChain* chain : chains)
        for (std::size_t i = 1; i < chain->blocks().size(); ++i)
            next.emplace(chain->blocks()[i].header.previous, chain->blocks()[i]);
    return next;
}

void sweep(PowerWorld& world, std::size_t images, std::uint64_t seed, const std::map<BlockHash, ledger::Block>& next,
           test::Names names, std::size_t bodies_from = 0) {
    // RHIZOME_THOROUGH=20 looks at twenty times as many.
    if (const char* times = std::getenv("RHIZOME_THOROUGH")) images *= std::max(1UL, std::strtoul(times, nullptr, 10));
    world.kill();
    world.disk.stop();
    for (const std::string& name : world.disk.unseen()) ASSERT_NE(name.find("lock.mdb"), std::string::npos) << name;
    const std::size_t step = std::max<std::size_t>(1, world.disk.points() * 8 / images);
    const test::Sweep wanted{
        .first = seed % step, .step = step, .subsets = 2, .prefixes = 2, .names = names, .seed = seed};
    SCOPED_TRACE(fmt::format("seed {}, {} points, every {}th", seed, world.disk.points(), step));
    const std::size_t made = world.disk.each_image(wanted, [&](const CrashImage& image) {
        if (::testing::Test::HasFatalFailure()) return;
        SCOPED_TRACE(image.text);
        check_image(world, image, next, bodies_from);
    });
    EXPECT_GT(made, std::min(images / 4, world.disk.points()));
}

/// Every point of a few, where `sweep` might pass by.
void look_between(PowerWorld& world, std::size_t first, std::size_t last,
                  const std::map<BlockHash, ledger::Block>& next) {
    const TempFolder images{test::fast_place()};
    for (std::size_t point = first; point <= last; ++point)
        for (const Choice& choice : {Choice::none(), Choice::all(), Choice::subset(point), Choice::prefix(1)}) {
            const CrashImage image{.point = point, .choice = choice, .folder = images / "image", .text = {}};
            world.disk.image(point, choice, image.folder);
            SCOPED_TRACE(fmt::format("point {}, {}, after {}", point, test::text(choice), world.disk.operation(point)));
            ASSERT_NO_FATAL_FAILURE(check_image(world, image, next));
        }
}

TEST(StorePowerKill, ASyncedBlockSurvivesAndOnlyTheLastOneMayBeMissing) {
    PowerWorld world;
    for (int i = 0; i < 30; ++i) test::grow(world.main, "main", 2);
    for (std::size_t i = 1; i < 30; ++i) {
        ASSERT_NO_FATAL_FAILURE(world.append(world.main));
        ASSERT_NO_FATAL_FAILURE(world.sync());
    }
    const std::size_t first = world.disk.marks()[1].point;
    for (std::size_t point = first; point < world.disk.points(); ++point) {
        const auto [least, most] = world.history.bounds(point);
        ASSERT_LE(most, least + 1) << "one block is under way at a time";
    }
    sweep(world, 500, 11, followers({&world.main}), test::Names::Posix);
}

TEST(StorePowerKill, NothingPromisedIsLostWhateverIsWritten) {
    for (const std::uint64_t usual : {21U, 22U}) {
        const std::uint64_t seed = test::seed_for(usual);
        PowerWorld world;
        Random random{seed};
        SCOPED_TRACE(fmt::format("seed {}", seed));
        std::uint64_t vote = 0;
        const auto grow = [&](TestChain& chain, std::string_view prefix, int blocks) {
            for (int i = 0; i < blocks; ++i) {
                test::grow(chain, prefix, 1 + random.below(3), 20 + random.below(200));
                ASSERT_NO_FATAL_FAILURE(world.append(chain));
                if (random.chance(1, 3)) {
                    ASSERT_NO_FATAL_FAILURE(world.vote(++vote));
                }
                if (random.chance(1, 4) && world.history.now().chain.size() > 4) {
                    ASSERT_NO_FATAL_FAILURE(world.mark_final(world.history.now().chain.size() - 4));
                }
                if (random.chance(1, 2)) {
                    ASSERT_NO_FATAL_FAILURE(world.sync());
                }
                if (random.chance(1, 6)) {
                    ASSERT_TRUE(world.store->settle(random.chance(1, 2)));
                    world.history.promise();
                }
            }
        };
        ASSERT_NO_FATAL_FAILURE(world.append(world.main));
        ASSERT_NO_FATAL_FAILURE(grow(world.main, "main", 8));
        TestChain other = world.main.fork(world.main.blocks().size() - 2);
        const std::size_t fork = other.blocks().size();
        for (int i = 0; i < 3; ++i) test::grow(other, "other", 2);
        ASSERT_NO_FATAL_FAILURE(world.move(other, fork));
        ASSERT_NO_FATAL_FAILURE(grow(other, "other", 4));
        ASSERT_NO_FATAL_FAILURE(world.sync());
        ASSERT_TRUE(world.store->close());
        world.kill();
        ASSERT_NO_FATAL_FAILURE(world.reopen());
        ASSERT_NO_FATAL_FAILURE(grow(other, "again", 6));
        world.kill();
        ASSERT_NO_FATAL_FAILURE(world.reopen());
        ASSERT_NO_FATAL_FAILURE(grow(other, "more", 4));
        test::grow(world.main, "end", 1);
        test::grow(other, "end", 1);
        const auto names = seed % 2 == 0 ? test::Names::Journal : test::Names::Posix;
        sweep(world, 400, seed, followers({&world.main, &other}), names);
    }
}

TEST(StorePowerKill, LostVotesStayLostUntilTheyAreCompleteAgain) {
    PowerWorld world;
    for (int i = 0; i < 20; ++i) test::grow(world.main, "main", 2);
    std::uint64_t vote = 0;
    const auto step = [&] {
        ASSERT_NO_FATAL_FAILURE(world.append(world.main));
        if (world.history.now().votes_complete) {
            ASSERT_NO_FATAL_FAILURE(world.vote(++vote));
        }
        ASSERT_NO_FATAL_FAILURE(world.sync());
    };
    std::vector<std::pair<std::size_t, std::size_t>> changes;
    const auto now = [&] { return world.disk.points() - 1; };
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 2; ++i) ASSERT_NO_FATAL_FAILURE(step());
        changes.emplace_back(now(), 0);
        if (round == 1) {
            ASSERT_TRUE(world.store->close());
        }
        ASSERT_NO_FATAL_FAILURE(world.copy());
        ASSERT_NO_FATAL_FAILURE(world.reopen(1));
        ASSERT_NO_FATAL_FAILURE(step());
        changes.back().second = now();
        world.kill();
        ASSERT_NO_FATAL_FAILURE(world.reopen());
        ASSERT_FALSE(world.store->votes().complete);
        ASSERT_NO_FATAL_FAILURE(step());
        changes.emplace_back(now(), 0);
        ASSERT_NO_FATAL_FAILURE(world.complete_votes(++vote));
        ASSERT_NO_FATAL_FAILURE(step());
        changes.back().second = now();
    }
    const auto next = followers({&world.main});
    sweep(world, 300, 41, next, test::Names::Posix);
    for (const auto& [first, last] : changes) ASSERT_NO_FATAL_FAILURE(look_between(world, first, last, next));
}

TEST(StorePowerKill, PruningLosesOnlyWhatItShould) {
    PowerWorld world;
    for (std::size_t i = 1; i <= 24; ++i) {
        if (i > 1) test::grow(world.main, "main", 2);
        ASSERT_NO_FATAL_FAILURE(world.append(world.main));
    }
    ASSERT_NO_FATAL_FAILURE(world.mark_final(20));
    ASSERT_NO_FATAL_FAILURE(world.sync());
    const std::size_t first = world.disk.points() - 1;
    std::uint64_t pruned = 0;
    for (const Prune what : {Prune::Bodies, Prune::Attestations})
        for (int slice = 0; slice < 20; ++slice) {
            const auto step = world.store->prune(what, Height{18});
            ASSERT_TRUE(step) << step.error().message;
            pruned += step->blocks;
            if (!step->more) break;
        }
    EXPECT_GT(pruned, 10U);
    EXPECT_GT(world.disk.points(), first);
    sweep(world, 300, 31, {}, test::Names::Posix, 18);
}

TEST(StorePowerKill, ANewIndexKeepsWhatItCommitted) {
    const TempFolder home{test::fast_place()};
    const fs::path folder = home / "index";
    fs::create_directory(folder);
    CrashDisk disk{folder};
    const IndexHead head{.durable = 7};
    {
        const auto index = ChainIndex::open(folder).value();
        auto update = index->update().value();
        ASSERT_TRUE(update.put_head(head));
        ASSERT_TRUE(update.commit());
    }
    disk.stop();
    disk.image(disk.points() - 1, Choice::none(), home / "image");
    const auto index = ChainIndex::open(home / "image").value();
    EXPECT_EQ(index->head().value(), head);
}

TEST(StorePowerKill, ARecordTornAtAnyByteIsThereOrIsNot) {
    PowerWorld world;
    test::grow(world.main, "main", 1);
    ASSERT_NO_FATAL_FAILURE(world.append(world.main));
    ASSERT_NO_FATAL_FAILURE(world.sync());
    ASSERT_TRUE(world.store->settle(true));
    const std::size_t before = world.disk.points() - 1;
    ASSERT_NO_FATAL_FAILURE(world.append(world.main));
    std::size_t point = before + 1;
    while (world.disk.operation(point).find("write data/log/0000000001.log") == std::string::npos) ++point;
    world.kill();
    world.disk.stop();

    const ledger::Block& last = world.main.blocks()[2];
    const std::uint64_t size = record_bytes(ledger::encode(last).size());
    const std::uint64_t padding = size - kRecordHeadBytes - ledger::encode(last).size();
    const TempFolder images{test::fast_place()};
    std::size_t there = 0;
    for (std::uint64_t bytes = 0; bytes <= size; ++bytes) {
        SCOPED_TRACE(fmt::format("{} of {} bytes", bytes, size));
        world.disk.image(point, Choice::torn_last(bytes), images / "image");
        take_for_the_same_disk(images / "image" / "data");
        auto opened = world.rules.open(images / "image" / "data", kSmallStore);
        ASSERT_TRUE(opened) << opened.error().message;
        const Store& store = (*opened)->store();
        const bool whole = store.tip().header == last.header;
        there += whole ? 1 : 0;
        ASSERT_TRUE(whole || store.tip().header == world.main.blocks()[1].header);
        ASSERT_EQ((*opened)->state().view().root(), store.tip().header.state_root);
        // A block ends in bytes of its seal that may be zeros themselves, so a little less than all can be enough.
        if (bytes < size - padding - 16) {
            ASSERT_FALSE(whole);
        }
        ASSERT_EQ(store.findings().size(), whole || bytes == 0 ? 0U : 1U);
        if (whole) continue;
        ASSERT_TRUE((*opened)->add(last));
        ASSERT_TRUE((*opened)->close());
    }
    EXPECT_GE(there, 1U);
    EXPECT_LE(there, padding + 17);
}

}  // namespace
}  // namespace rhizome::store
