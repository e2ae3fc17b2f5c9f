// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "ledger/codec.h"
#include "runtime/files.h"
#include "runtime/thread_pool.h"
#include "store/chain.h"
#include "support/crash_disk.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

using ledger::Height;
using test::StoredChain;
using test::TempFolder;

class Stores : public ::testing::Test {
protected:
    TempFolder temp{test::fast_place()};
    std::filesystem::path folder = temp / "data";
};

TEST_F(Stores, GiveBackWhatWasAppended) {
    StoredChain world{folder};
    for (int i = 0; i < 5; ++i) world.grow(3);
    ASSERT_TRUE(world.close());

    world.reopen();
    const Store& store = world.chain().store();
    EXPECT_TRUE(store.findings().empty());
    EXPECT_EQ(store.tip().header, world.memory().tip());
    EXPECT_EQ(world.chain().state().view().root(), world.memory().tip().state_root);
    for (const ledger::Block& block : world.memory().blocks()) {
        const auto hash = hash_of(block.header);
        EXPECT_EQ(store.block(hash).value(), block);
        EXPECT_EQ(store.info_at(block.header.height).value().hash, hash);
        for (std::size_t i = 0; i < block.txs.size(); ++i) {
            const auto place = store.find_tx(id_of(block.txs[i])).value();
            EXPECT_EQ(place.block.hash, hash);
            EXPECT_EQ(place.index, i);
        }
    }
    EXPECT_EQ(store.info_at(Height{99}).error().kind, ErrorKind::NotFound);
    EXPECT_EQ(store.find_tx(ledger::TxId{}).error().kind, ErrorKind::NotFound);
}

// On several threads: with the thread sanitizer this also shows that what is verified ahead meets nothing that moves.
TEST_F(Stores, TakeARowOfBlocksLikeOneAfterAnother) {
    StoredChain world{folder};
    for (int i = 0; i < 8; ++i) world.grow(40);
    runtime::ThreadPool pool{3};
    auto chain = Chain::create(temp / "row", world.genesis(), world.rules(), pool).value();
    std::vector<ledger::Block> blocks(world.memory().blocks().begin() + 1, world.memory().blocks().end());
    std::vector<Height> seen;
    const auto added = [&](Ticket) -> Result<void> {
        seen.push_back(chain->tip().height);
        return {};
    };
    const auto head = std::span{blocks}.first(6);
    ASSERT_TRUE(chain->add_all(head, added));
    EXPECT_EQ(seen.size(), head.size());
    EXPECT_EQ(chain->tip(), head.back().header);
    EXPECT_EQ(chain->state().view().root(), head.back().header.state_root);

    // A bad one ends it; those before it stay.
    blocks[7].txs[3].outputs[0].value += " ";
    const auto refused = chain->add_all(std::span{blocks}.subspan(6), added);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("block 8 is refused"), std::string::npos) << refused.error().message;
    EXPECT_EQ(chain->tip(), blocks[6].header);
    EXPECT_EQ(chain->store().tip().header, blocks[6].header);
    // So does whoever is told of each.
    blocks[7] = world.memory().blocks()[8];
    const auto stopped = chain->add_all(std::span{blocks}.subspan(7),
                                        [](Ticket) -> Result<void> { return fail(ErrorKind::Denied, "no more"); });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().message, "no more");
    EXPECT_EQ(chain->tip(), blocks[7].header);
    const auto report = verify(chain->store(), world.rules(), pool).value();
    EXPECT_FALSE(report.fault);
    EXPECT_EQ(report.blocks, 9U) << "genesis and eight";
}

TEST_F(Stores, AnswerBeforeTheIndexHasCaughtUp) {
    StoredChain world{folder};
    world.grow(2);
    const ledger::Block& newest = world.memory().blocks().back();
    const Store& store = world.chain().store();
    EXPECT_EQ(store.tip().hash, hash_of(newest.header));
    EXPECT_EQ(store.block(hash_of(newest.header)).value(), newest);
    EXPECT_EQ(store.find_tx(id_of(newest.txs[1])).value().index, 1U);
    EXPECT_TRUE(store.change(hash_of(newest.header)));
}

TEST_F(Stores, OpenAfterBeingKilledWithTheIndexBehind) {
    StoredChain world{folder};
    for (int i = 0; i < 4; ++i) world.grow(2);
    ASSERT_TRUE(world.chain().store().sync());
    world.kill();
    world.reopen();
    EXPECT_EQ(world.chain().store().tip().header, world.memory().tip());
    EXPECT_EQ(world.chain().state().view().root(), world.memory().tip().state_root);
    world.grow(1);
    ASSERT_TRUE(world.close());
}

TEST_F(Stores, ReplayOnlyWhatIsBehindTheCheckpoint) {
    StoredChain world{folder};
    for (int i = 0; i < 6; ++i) world.grow(1);
    ASSERT_TRUE(world.chain().store().settle(true));
    world.grow(1);
    world.grow(1);
    ASSERT_TRUE(world.chain().store().sync());
    world.kill();
    std::uint64_t replayed = 0;
    world.reopen([&](std::uint64_t done, std::uint64_t) { replayed = done; });
    EXPECT_EQ(replayed, 2U);
    EXPECT_EQ(world.chain().state().view().root(), world.memory().tip().state_root);
}

TEST_F(Stores, SpreadOverManySegments) {
    StoredChain world{folder, {.segment_bytes = 8u << 10}};
    for (int i = 0; i < 30; ++i) world.grow(2);
    ASSERT_TRUE(world.close());
    std::size_t segments = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder / "log")) segments += file.is_regular_file();
    EXPECT_GE(segments, 5U);
    world.reopen();
    EXPECT_EQ(world.chain().store().tip().header, world.memory().tip());
    const VerifyReport report = verify(world.chain().store(), world.rules(), world.parallel()).value();
    EXPECT_FALSE(report.fault);
    EXPECT_EQ(report.blocks, 32U);
}

TEST_F(Stores, KeepVotesAndFinalMarks) {
    const Bytes vote{1, 2, 3, 4};
    StoredChain world{folder, {.segment_bytes = 8u << 10}};
    EXPECT_TRUE(world.chain().store().votes().complete);
    world.grow(1);
    ASSERT_TRUE(world.chain().store().record_vote(vote));
    ASSERT_TRUE(world.chain().store().mark_final(world.chain().store().tip().hash));
    ASSERT_TRUE(world.chain().store().sync());
    for (int i = 0; i < 20; ++i) world.grow(2);  // far into later segments
    ASSERT_TRUE(world.chain().store().sync());
    world.kill();
    world.reopen();
    EXPECT_EQ(world.chain().store().votes().record, vote);
    EXPECT_EQ(world.chain().store().final_block().height(), Height{2});
}

TEST_F(Stores, KeepNotes) {
    StoredChain world{folder};
    Store& store = world.chain().store();
    ASSERT_TRUE(store.put_note("peers", "alice", as_bytes("10.0.0.1")));
    ASSERT_TRUE(store.put_note("peers", "bob", as_bytes("10.0.0.2")));
    ASSERT_TRUE(store.put_note("other", "x", as_bytes("y")));
    EXPECT_EQ(store.note("peers", "alice").value(), (Bytes{'1', '0', '.', '0', '.', '0', '.', '1'}));
    ASSERT_TRUE(store.put_note("peers", "bob", {}));
    EXPECT_EQ(store.note("peers", "bob").error().kind, ErrorKind::NotFound);
    EXPECT_EQ(store.notes("peers", 10).value().size(), 1U);
    EXPECT_EQ(store.put_note("", "x", as_bytes("y")).error().kind, ErrorKind::Invalid);
    ASSERT_TRUE(world.close());
    world.reopen();
    EXPECT_EQ(world.chain().store().notes("peers", 10).value().size(), 1U);
}

TEST_F(Stores, MoveTheTipToAnotherBranch) {
    StoredChain world{folder};
    world.grow(2);
    test::TestChain other = world.fork();
    world.grow(1);
    world.grow(2);
    std::vector<Store::Adopted> branch;
    Store& store = world.chain().store();
    for (int i = 0; i < 3; ++i) {
        test::grow(other, "other", 1);
        ASSERT_TRUE(store.keep(other.blocks().back()));
        branch.push_back({.hash = hash_of(other.tip()), .delta = other.commits().back().delta});
    }
    const auto lost = id_of(world.memory().blocks().back().txs[0]);
    EXPECT_TRUE(store.find_tx(lost));
    ASSERT_TRUE(store.move_tip(hash_of(other.tip()), branch, other.state().view()));
    const auto check = [&](const Store& at) {
        EXPECT_EQ(at.tip().header, other.tip());
        for (const ledger::Block& block : other.blocks())
            EXPECT_EQ(at.info_at(block.header.height).value().hash, hash_of(block.header));
        EXPECT_EQ(at.find_tx(lost).error().kind, ErrorKind::NotFound);
        EXPECT_TRUE(at.find_tx(id_of(other.blocks().back().txs[0])));
        EXPECT_EQ(at.all_at(Height{3}).value().size(), 2U);
    };
    check(store);
    ASSERT_TRUE(store.sync());
    world.kill();
    world.reopen();
    check(world.chain().store());
    EXPECT_EQ(world.chain().state().view().root(), other.tip().state_root);
    ASSERT_TRUE(world.close());
    world.reopen();
    check(world.chain().store());
}

TEST_F(Stores, ARecoveryTakesTheFinalMarkBackToTheFork) {
    StoredChain world{folder};
    world.grow(2);
    const BlockHash fork = world.chain().store().tip().hash;
    test::TestChain other = world.fork();
    world.grow(1);
    world.grow(1);
    ASSERT_TRUE(world.chain().store().mark_final(world.chain().store().tip().hash));
    test::grow(other, "other", 2);
    const std::vector<Store::Adopted> branch{{.hash = hash_of(other.tip()), .delta = other.commits().back().delta}};
    {
        Store& store = world.chain().store();
        ASSERT_TRUE(store.keep(other.blocks().back()));
        EXPECT_DEATH((void)store.move_tip(hash_of(other.tip()), branch, other.state().view()), "only by a recovery");
        ASSERT_TRUE(store.move_tip(hash_of(other.tip()), branch, other.state().view(), Store::Finals::TakenBack));
        EXPECT_EQ(store.final_block().hash, fork);
        EXPECT_DEATH((void)store.mark_final(store.all_at(Height{4}).value().front().hash), "of the chain");
        ASSERT_TRUE(store.sync());
    }
    // Killed right then: the log says it; ended in order: so does the index.
    world.kill();
    world.reopen();
    EXPECT_EQ(world.chain().store().final_block().hash, fork);
    ASSERT_TRUE(world.close());
    world.reopen();
    EXPECT_EQ(world.chain().store().final_block().hash, fork);
    EXPECT_TRUE(world.chain().store().findings().empty());
    ASSERT_TRUE(world.chain().store().mark_final(hash_of(other.tip())));
    EXPECT_EQ(world.chain().store().final_block().hash, hash_of(other.tip()));
}

TEST_F(Stores, AMarkThatAnOlderVersionLeftBesideTheChainComesHome) {
    StoredChain world{folder};
    world.grow(2);
    const BlockHash fork = world.chain().store().tip().hash;
    test::TestChain other = world.fork();
    world.grow(1);
    world.grow(1);
    const BlockInfo left = world.chain().store().tip();
    ASSERT_TRUE(world.chain().store().mark_final(left.hash));
    test::grow(other, "other", 2);
    const std::vector<Store::Adopted> branch{{.hash = hash_of(other.tip()), .delta = other.commits().back().delta}};
    ASSERT_TRUE(world.chain().store().keep(other.blocks().back()));
    ASSERT_TRUE(
        world.chain().store().move_tip(hash_of(other.tip()), branch, other.state().view(), Store::Finals::TakenBack));
    ASSERT_TRUE(world.close());
    {
        auto index = ChainIndex::open(folder / "index");
        ASSERT_TRUE(index);
        auto head = (*index)->head();
        ASSERT_TRUE(head && *head);
        (*head)->facts.final_block = {.hash = left.hash, .height = left.height()};
        auto update = (*index)->update();
        ASSERT_TRUE(update);
        ASSERT_TRUE(update->put_head(**head));
        ASSERT_TRUE(update->commit());
    }
    ASSERT_TRUE(seal_index(folder / "index"));
    world.reopen();
    Store& store = world.chain().store();
    EXPECT_EQ(store.tip().hash, hash_of(other.tip()));
    EXPECT_EQ(store.final_block().hash, fork);
    ASSERT_EQ(store.findings().size(), 1U);
    EXPECT_NE(
        store.findings().front().what.find("block 4 was marked final, and a recovery has led the chain elsewhere"),
        std::string::npos)
        << store.findings().front().what;
    ASSERT_TRUE(store.mark_final(hash_of(other.tip())));
    ASSERT_TRUE(world.close());
    world.reopen();
    EXPECT_EQ(world.chain().store().final_block().hash, hash_of(other.tip()));
    EXPECT_TRUE(world.chain().store().findings().empty());
}

TEST_F(Stores, StepBackFromACheckpointOnALostBranch) {
    StoredChain world{folder};
    world.grow(2);
    test::TestChain other = world.fork();
    world.grow(1);
    world.grow(1);
    Store& store = world.chain().store();
    ASSERT_TRUE(store.settle(true));  // the checkpoint is at height 4 of the branch that will lose
    test::grow(other, "other", 2);
    ASSERT_TRUE(store.keep(other.blocks().back()));
    const std::vector<Store::Adopted> branch{{.hash = hash_of(other.tip()), .delta = other.commits().back().delta}};
    ASSERT_TRUE(store.move_tip(hash_of(other.tip()), branch, other.state().view()));
    ASSERT_TRUE(store.settle(false));
    world.kill();
    world.reopen();
    EXPECT_EQ(world.chain().store().tip().header, other.tip());
    EXPECT_EQ(world.chain().state().view().root(), other.tip().state_root);
    EXPECT_EQ(world.chain().store().info_at(Height{4}).error().kind, ErrorKind::NotFound);
}

TEST_F(Stores, ShowOlderStates) {
    StoredChain world{folder, {.undo_blocks = 3}};
    for (int i = 0; i < 8; ++i) {
        world.grow(1);
        ASSERT_TRUE(world.chain().store().mark_final(world.chain().store().tip().hash));
    }
    ASSERT_TRUE(world.chain().store().settle(false));
    for (const ledger::Block& block : world.memory().blocks()) {  // near ones by undoing, far ones from genesis
        EXPECT_EQ(world.chain().state_at(block.header.height).value().root(), block.header.state_root);
        const auto again = execute_again(world.chain().store(), hash_of(block.header), world.chain().rules(),
                                         world.chain().parallel());
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(again->root(), block.header.state_root);
    }
    EXPECT_EQ(world.chain().store().change(hash_of(world.memory().blocks()[1].header)).error().kind,
              ErrorKind::NotFound);
}

// Records of changes are kept without the documents that their blocks have anyway.
TEST_F(Stores, GiveBackWhatBlocksChanged) {
    StoredChain world{folder};
    for (int i = 0; i < 5; ++i) world.grow(3);
    const test::TestChain& memory = world.memory();
    ASSERT_TRUE(world.chain().store().settle(false));
    const auto expect_all = [&](const Store& store) {
        for (std::size_t i = 1; i < memory.blocks().size(); ++i) {
            const auto change = store.change(hash_of(memory.blocks()[i].header));
            ASSERT_TRUE(change) << change.error().message;
            EXPECT_EQ(state::encode(*change), state::encode(memory.commits()[i].delta));
        }
    };
    ASSERT_NO_FATAL_FAILURE(expect_all(world.chain().store()));
    world.kill();  // the index has them, not what was in memory
    world.reopen();
    ASSERT_NO_FATAL_FAILURE(expect_all(world.chain().store()));
    // Executed again because the index is gone, there are no blocks at hand: then the whole of them is kept.
    ASSERT_TRUE(world.close());
    std::filesystem::remove_all(folder / "index");
    world.reopen();
    ASSERT_TRUE(world.chain().store().settle(false));
    ASSERT_NO_FATAL_FAILURE(expect_all(world.chain().store()));
}

// A chain that is caught up with: what is final as soon as it is here is not going to be undone.
TEST_F(Stores, KeepTheChangesOfOldBlocksUntilTheyAreFinal) {
    test::TestChain memory;
    test::grow_namespace(memory);
    while (memory.blocks().size() < 12) test::grow(memory, "main", 2);
    const ledger::GenesisBlock genesis{.block = memory.blocks().front(), .commit = memory.commits().front()};
    // Only what is settled is indexed.
    auto made = Store::create(folder, genesis, {.index_patience = hours{1}});
    ASSERT_TRUE(made) << made.error().message;
    const auto hash_at = [&](std::size_t i) { return hash_of(memory.blocks()[i].header); };
    const auto append = [&](std::size_t i) {
        ASSERT_TRUE((*made)->append(memory.blocks()[i], {}, memory.commits()[i], KeepChange::UntilFinal));
    };
    for (std::size_t i = 1; i <= 3; ++i) append(i);
    ASSERT_TRUE((*made)->settle(false));  // nothing of this is final yet: all of it may be undone
    const auto kept = [&](const Store& store, std::size_t i) { return store.change(hash_at(i)).has_value(); };
    for (std::size_t i = 1; i <= 3; ++i) EXPECT_TRUE(kept(**made, i)) << i;
    for (std::size_t i = 4; i <= 10; ++i) {
        append(i);
        ASSERT_TRUE((*made)->mark_final(hash_at(i)));
        ASSERT_TRUE((*made)->settle(false));
        EXPECT_FALSE(kept(**made, i)) << i;
    }
    append(11);
    ASSERT_TRUE((*made)->settle(false));
    made->reset();
    auto again = Store::open(folder, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ((*again)->final_block().hash, hash_at(10));
    EXPECT_TRUE(kept(**again, 11));
}

TEST_F(Stores, ForgetWhatPrunedBlocksChanged) {
    StoredChain world{folder, {.segment_bytes = 8u << 10}};
    for (int i = 0; i < 40; ++i) world.grow(2);
    Store& store = world.chain().store();
    ASSERT_TRUE(store.mark_final(store.tip().hash));
    while (store.prune(Prune::Bodies, Height{30}).value().more) {
    }
    const BlockInfo pruned = store.info_at(Height{3}).value();
    ASSERT_FALSE(pruned.has_body);
    EXPECT_EQ(store.change(pruned.hash).error().kind, ErrorKind::NotFound);
    EXPECT_TRUE(store.change(store.tip().hash));
}

TEST_F(Stores, RefuseASecondProcess) {
    StoredChain world{folder};
    const auto second = Store::open(folder);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::Conflict);
    EXPECT_NE(second.error().message.find("in use by another process, pid"), std::string::npos);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto third = Store::open(folder);
        ::_exit(!third && third.error().kind == ErrorKind::Conflict ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(Stores, RefuseANewerSchema) {
    {
        StoredChain world{folder};
        ASSERT_TRUE(world.close());
    }
    std::string format = runtime::read_file(folder / "format", 4096).value();
    ASSERT_TRUE(format.starts_with("rhizome-store 1\n"));
    format.replace(0, 15, "rhizome-store 7");
    ASSERT_TRUE(runtime::replace_file(folder / "format", format, 0600));
    const auto opened = Store::open(folder);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::Unsupported);
    EXPECT_NE(opened.error().message.find("schema 7"), std::string::npos);
}

TEST_F(Stores, RefuseAFolderWithoutAChain) {
    EXPECT_EQ(Store::open(temp / "nothing").error().kind, ErrorKind::NotFound);
    StoredChain world{folder};
    ASSERT_TRUE(world.close());
    EXPECT_EQ(Store::create(folder, world.genesis()).error().kind, ErrorKind::Conflict);
}

TEST_F(Stores, MakeALostIndexAgain) {
    StoredChain world{folder};
    for (int i = 0; i < 5; ++i) world.grow(2);
    ASSERT_TRUE(world.close());
    std::filesystem::remove_all(folder / "index");
    std::filesystem::create_directory(folder / "index");
    world.reopen();
    ASSERT_EQ(world.chain().store().findings().size(), 1U);
    EXPECT_EQ(world.chain().state().view().root(), world.memory().tip().state_root);
    EXPECT_TRUE(world.chain().store().find_tx(id_of(world.memory().blocks()[2].txs[0])));
    ASSERT_TRUE(world.close());
    world.reopen();
    EXPECT_TRUE(world.chain().store().findings().empty());
}

TEST_F(Stores, PruneBodiesThenAttestationsThenHeaders) {
    StoredChain world{folder, {.segment_bytes = 8u << 10, .undo_blocks = 0}};
    for (int i = 0; i < 40; ++i) world.grow(2);
    Store& store = world.chain().store();
    const auto early = id_of(world.memory().blocks()[3].txs[0]);
    EXPECT_EQ(store.prune(Prune::Bodies, Height{30}).error().kind, ErrorKind::Invalid);  // nothing is final yet
    ASSERT_TRUE(store.mark_final(store.info_at(Height{35}).value().hash));
    const auto all = [&](Prune what) {
        Store::Pruned sum;
        for (bool more = true; more;) {
            const auto step = store.prune(what, Height{30}).value();
            sum.blocks += step.blocks;
            sum.bytes += step.bytes;
            more = step.more && step.blocks > 0;
        }
        return sum;
    };
    const Store::Pruned bodies = all(Prune::Bodies);
    EXPECT_GT(bodies.blocks, 15U);
    EXPECT_LE(bodies.blocks, 30U);
    EXPECT_GT(bodies.bytes, 16u << 10);
    const BlockInfo third = store.info_at(Height{3}).value();
    EXPECT_FALSE(third.has_body);
    EXPECT_EQ(third.header, world.memory().blocks()[3].header);
    EXPECT_EQ(store.seal(third.hash).value(), world.memory().blocks()[3].seal);
    EXPECT_EQ(store.block(third.hash).error().kind, ErrorKind::NotFound);
    EXPECT_EQ(store.find_tx(early).error().kind, ErrorKind::NotFound);
    EXPECT_TRUE(store.block(store.info_at(Height{32}).value().hash));
    (void)all(Prune::Attestations);
    EXPECT_TRUE(store.seal(third.hash).value().attestations.empty());
    EXPECT_GT(all(Prune::Headers).blocks, 15U);
    EXPECT_EQ(store.info_at(Height{3}).error().kind, ErrorKind::NotFound);
    EXPECT_EQ(store.base().height(), Height{0});

    ASSERT_TRUE(store.sync());
    world.kill();
    world.reopen();  // the checkpoint is enough
    EXPECT_EQ(world.chain().state().view().root(), world.memory().tip().state_root);
    world.grow(1);
    ASSERT_TRUE(world.close());
    std::filesystem::remove_all(folder / "index");
    std::filesystem::create_directory(folder / "index");
    const auto refused = Store::open(folder);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Corrupt);
    EXPECT_NE(refused.error().message.find("pruned"), std::string::npos);
}

TEST_F(Stores, KnowHowMuchOfTheChainIsHere) {
    StoredChain world{folder, {.segment_bytes = 8u << 10, .undo_blocks = 0}};
    // The same, found by looking at every block.
    const auto expect_counted = [&](const Store& store) {
        const Store::Extent extent = store.extent().value();
        std::uint64_t blocks = 0;
        std::uint64_t transactions = 0;
        Height height = store.tip().height();
        Height bodies_from = height;
        for (;; --height) {
            const auto info = store.info_at(height);
            if (!info) break;
            ++blocks;
            transactions += info->tx_count;
            if (info->has_body) bodies_from = height;
            if (height == store.base().height()) break;
        }
        EXPECT_EQ(extent.blocks, blocks);
        EXPECT_EQ(extent.transactions, transactions);
        EXPECT_EQ(extent.bodies_from, bodies_from);
        EXPECT_EQ(extent.headers_from, Height{store.tip().height().number() + 1 - blocks});
        return extent;
    };
    const auto expect_everywhere = [&] {
        expect_counted(world.chain().store());
        ASSERT_TRUE(world.chain().store().settle(false));
        expect_counted(world.chain().store());
        world.kill();
        world.reopen();
        expect_counted(world.chain().store());
    };
    ASSERT_NO_FATAL_FAILURE(expect_everywhere());
    for (std::size_t i = 0; i < 30; ++i) world.grow(1 + i % 3);
    ASSERT_NO_FATAL_FAILURE(expect_everywhere());
    EXPECT_EQ(expect_counted(world.chain().store()).transactions, 62U);  // with genesis and the namespace

    // Another branch, and back to where it began.
    test::TestChain other = world.memory().fork(29);
    std::vector<Store::Adopted> branch;
    for (int i = 0; i < 4; ++i) {
        test::grow(other, "other", 5);
        ASSERT_TRUE(world.chain().store().keep(other.blocks().back()));
        branch.push_back({.hash = hash_of(other.tip()), .delta = other.commits().back().delta});
    }
    ASSERT_TRUE(world.chain().store().move_tip(hash_of(other.tip()), branch, other.state().view()));
    ASSERT_NO_FATAL_FAILURE(expect_everywhere());
    const test::TestChain fork = world.memory().fork(29);
    ASSERT_TRUE(world.chain().store().move_tip(hash_of(fork.tip()), {}, fork.state().view()));
    ASSERT_NO_FATAL_FAILURE(expect_everywhere());

    ASSERT_TRUE(world.close());
    std::filesystem::remove_all(folder / "index");
    world.reopen();
    ASSERT_NO_FATAL_FAILURE(expect_everywhere());

    ASSERT_TRUE(world.chain().store().mark_final(world.chain().store().tip().hash));
    for (const Prune what : {Prune::Bodies, Prune::Attestations, Prune::Headers}) {
        while (world.chain().store().prune(what, Height{20}).value().more) {
        }
        ASSERT_NO_FATAL_FAILURE(expect_everywhere());
    }
    EXPECT_GT(expect_counted(world.chain().store()).headers_from, Height{10});
}

/// What is read comes from memory or from the index, and from which one changes with every piece that is written.
class StoresBeingWritten : public Stores, public testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(BatchBytes, StoresBeingWritten, testing::Values(1, 3'000, 4u << 20));

TEST_P(StoresBeingWritten, AreRead) {
    test::TestChain memory;
    test::grow_namespace(memory);
    while (memory.blocks().size() < 80) test::grow(memory, "main", 2);
    const ledger::GenesisBlock genesis{.block = memory.blocks().front(), .commit = memory.commits().front()};
    auto made = Store::create(
        folder, genesis, {.segment_bytes = 8u << 10, .checkpoint_bytes = 8u << 10, .index_batch_bytes = GetParam()});
    ASSERT_TRUE(made) << made.error().message;
    Store& store = **made;
    std::atomic<std::size_t> newest = 0;
    std::atomic<bool> done = false;
    const auto read = [&](std::size_t start) {
        for (std::size_t i = start; !done; i += 7) {
            const ledger::Block& block = memory.blocks()[i % (newest.load() + 1)];
            const auto hash = hash_of(block.header);
            ASSERT_EQ(store.info_at(block.header.height).value().hash, hash);
            ASSERT_EQ(store.block(hash).value(), block);
            ASSERT_EQ(store.all_at(block.header.height).value().size(), 1U);
            for (const ledger::Tx& tx : block.txs) ASSERT_EQ(store.find_tx(id_of(tx)).value().block.hash, hash);
            if (block.header.height > Height{0}) {
                ASSERT_TRUE(store.change(hash));
            }
            ASSERT_GE(store.tip().height(), block.header.height);
            ASSERT_LE(store.final_block().height(), store.tip().height());
            ASSERT_TRUE(store.votes().complete);
            ASSERT_TRUE(store.usage());
            ASSERT_GE(store.extent().value().blocks, block.header.height.number());
            ASSERT_TRUE(store.notes("peers", 10));
        }
    };
    std::vector<std::thread> threads;
    threads.emplace_back(read, 0);
    threads.emplace_back(read, 3);
    threads.emplace_back([&] {
        while (!done) ASSERT_TRUE(store.sync());
    });
    for (std::size_t i = 1; i < memory.blocks().size(); ++i) {
        EXPECT_TRUE(store.append(memory.blocks()[i], {}, memory.commits()[i]));
        newest = i;
        EXPECT_TRUE(store.record_vote(Bytes{static_cast<std::uint8_t>(i)}));
        EXPECT_TRUE(store.put_note("peers", "newest", Bytes{static_cast<std::uint8_t>(i)}));
        EXPECT_TRUE(i % 5 != 0 || store.mark_final(hash_of(memory.blocks()[i - 3].header)));
        EXPECT_TRUE(i % 9 != 0 || store.settle(i % 18 == 0));
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(store.close());
}

TEST_F(Stores, RefuseBlocksWhileTheDiskIsNearlyFull) {
    StoredChain world{folder, {.reserve_bytes = std::uint64_t{1} << 60}};
    const auto refused = world.try_grow(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Exhausted);
    EXPECT_TRUE(world.chain().store().record_vote(Bytes{1}));  // has room inside the segment
    EXPECT_EQ(world.chain().store().tip().height(), Height{0});
    ASSERT_TRUE(world.close());
    world.reopen({}, Options{});
    EXPECT_TRUE(world.try_grow(1));
}

}  // namespace
}  // namespace rhizome::store
