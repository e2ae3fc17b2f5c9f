// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include <gtest/gtest.h>

#include "runtime/files.h"
#include "store/snapshot_file.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

using ledger::Height;
using test::StoredChain;
using test::TempFolder;

class Backups : public ::testing::Test {
protected:
    TempFolder temp;
    std::filesystem::path folder = temp / "data";
    std::filesystem::path file = temp / "backup";
    std::filesystem::path other = temp / "restored";
};
using Snapshots = Backups;

TEST_F(Backups, HoldEveryBlockAndNoVote) {
    const std::string vote = "what the node has signed, which must not come back";
    StoredChain world{folder};
    for (int i = 0; i < 5; ++i) world.grow(2);
    Store& store = world.chain().store();
    ASSERT_TRUE(store.record_vote(as_bytes(vote)));
    ASSERT_TRUE(store.mark_final(store.info_at(Height{4}).value().hash));
    ASSERT_TRUE(store.put_note("peers", "alice", as_bytes("10.0.0.1")));
    const BackupSummary made = write_backup(world.chain(), file).value();
    EXPECT_EQ(made.blocks, 7U);
    EXPECT_EQ(made.notes, 1U);
    EXPECT_EQ(made.bytes, std::filesystem::file_size(file));
    EXPECT_EQ(runtime::read_file(file, 1u << 20).value().find(vote), std::string::npos);
    EXPECT_EQ(write_backup(world.chain(), file).error().kind, ErrorKind::Conflict);

    const BackupSummary back = restore_backup(file, other, world.rules(), world.parallel()).value();
    EXPECT_EQ(back.blocks, made.blocks);
    EXPECT_EQ(back.tip, made.tip);
    const auto restored = Chain::open(other, world.rules(), world.parallel()).value();
    EXPECT_EQ(restored->tip(), world.memory().tip());
    EXPECT_EQ(restored->state().view().root(), world.memory().tip().state_root);
    EXPECT_EQ(restored->store().final_block().height(), Height{4});
    EXPECT_EQ(restored->store().note("peers", "alice").value().size(), 8U);
    EXPECT_FALSE(restored->store().votes().complete);
    EXPECT_TRUE(restored->store().votes().record.empty());
    EXPECT_EQ(restore_backup(file, other, world.rules(), world.parallel()).error().kind, ErrorKind::Conflict);
}

TEST_F(Backups, OfAPrunedChainHoldItsState) {
    StoredChain world{folder, {.segment_bytes = 8u << 10, .undo_blocks = 0}};
    for (int i = 0; i < 20; ++i) world.grow(2);
    Store& store = world.chain().store();
    ASSERT_TRUE(store.mark_final(store.tip().hash));
    while (store.prune(Prune::Bodies, Height{15}).value().more) {
    }
    EXPECT_EQ(write_backup(world.chain(), file).value().blocks, 0U);
    ASSERT_TRUE(restore_backup(file, other, world.rules(), world.parallel()));
    const auto restored = Chain::open(other, world.rules(), world.parallel()).value();
    EXPECT_EQ(restored->tip(), world.memory().tip());
    EXPECT_EQ(restored->state().view().root(), world.memory().tip().state_root);
    EXPECT_FALSE(restored->store().base().has_body);
    EXPECT_EQ(restored->store().seal(restored->store().tip().hash).value(), world.memory().blocks().back().seal);
}

TEST_F(Backups, ThatAreDamagedRestoreNothing) {
    StoredChain world{folder};
    for (int i = 0; i < 3; ++i) world.grow(1);
    ASSERT_TRUE(write_backup(world.chain(), file));
    const std::string good = runtime::read_file(file, 1u << 20).value();
    for (std::size_t at = 0; at < good.size(); at += 97) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1);
        ASSERT_TRUE(runtime::replace_file(file, bad, 0600));
        const auto refused = restore_backup(file, other, world.rules(), world.parallel());
        ASSERT_FALSE(refused) << at;
        EXPECT_NE(refused.error().message.find(file.native()), std::string::npos) << refused.error().message;
        EXPECT_FALSE(std::filesystem::exists(other / "format")) << at;
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() / 2, good.size() - 48}) {
        ASSERT_TRUE(runtime::replace_file(file, good.substr(0, size), 0600));
        EXPECT_FALSE(restore_backup(file, other, world.rules(), world.parallel())) << size;
    }
    ASSERT_TRUE(runtime::replace_file(file, good, 0600));
    EXPECT_TRUE(restore_backup(file, other, world.rules(), world.parallel()));
}

TEST_F(Snapshots, BeginAChainThatGoesOn) {
    StoredChain world{folder};
    for (int i = 0; i < 4; ++i) world.grow(2);
    const Bytes derived{1, 2, 3};
    const SnapshotSummary made = export_snapshot(world.chain(), file, Height{3}, derived).value();
    EXPECT_EQ(made.header, world.memory().blocks()[3].header);
    EXPECT_EQ(inspect_snapshot(file).value().documents, made.documents);

    const auto wrong = import_snapshot(file, other, world.rules(), world.parallel(), {}, hash_of(world.memory().tip()));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().kind, ErrorKind::Denied);
    auto chain = import_snapshot(file, other, world.rules(), world.parallel(), {}, hash_of(made.header)).value();
    EXPECT_EQ(chain->state().view().root(), made.header.state_root);
    EXPECT_FALSE(chain->store().votes().complete);
    EXPECT_EQ(chain->store().note("snapshot", "derived").value(), derived);
    for (std::size_t i = 4; i < world.memory().blocks().size(); ++i)  // decides like one with the whole chain
        ASSERT_TRUE(chain->add(world.memory().blocks()[i]));
    EXPECT_EQ(chain->state().view().root(), world.memory().tip().state_root);
    ASSERT_TRUE(chain->close());
    chain = Chain::open(other, world.rules(), world.parallel()).value();
    EXPECT_EQ(chain->tip(), world.memory().tip());
    EXPECT_EQ(chain->store().base().height(), Height{3});
    const Store::Extent extent = chain->store().extent().value();
    EXPECT_EQ(extent.blocks, 3U);
    EXPECT_EQ(extent.transactions, 4U);
    EXPECT_EQ(extent.headers_from, Height{3});
    EXPECT_EQ(extent.bodies_from, Height{4});
    const VerifyReport report = verify(chain->store(), world.rules(), world.parallel()).value();
    EXPECT_FALSE(report.fault);
    EXPECT_EQ(report.from, Height{3});
    EXPECT_EQ(chain->state_at(Height{2}).error().kind, ErrorKind::Unavailable);
    EXPECT_TRUE(export_snapshot(*chain, temp / "second", Height{3}));  // also of the block it began with
}

TEST_F(Snapshots, ThatAreDamagedMakeNothing) {
    StoredChain world{folder};
    for (int i = 0; i < 3; ++i) world.grow(2);
    ASSERT_TRUE(export_snapshot(world.chain(), file));
    const std::string good = runtime::read_file(file, 1u << 20).value();
    for (std::size_t at = 0; at < good.size(); at += 61) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 4);
        ASSERT_TRUE(runtime::replace_file(file, bad, 0600));
        // Only the proposer's signature is in no hash: that one is for consensus to check.
        const auto trusted = hash_of(world.memory().tip());
        const auto made = import_snapshot(file, other, world.rules(), world.parallel(), {}, trusted);
        if (made) {
            EXPECT_EQ((*made)->state().view().root(), world.memory().tip().state_root) << at;
            EXPECT_NE((*made)->store().tip().signature, world.memory().blocks().back().signature) << at;
            ASSERT_TRUE((*made)->close());
            std::filesystem::remove_all(other);
        } else {
            EXPECT_NE(made.error().message.find(file.native()), std::string::npos) << made.error().message;
            EXPECT_FALSE(std::filesystem::exists(other / "format")) << at;
        }
    }
}

}  // namespace
}  // namespace rhizome::store
