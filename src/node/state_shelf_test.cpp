// SPDX-License-Identifier: Apache-2.0
#include "node/state_shelf.h"

#include <gtest/gtest.h>

#include "node/host.h"
#include "node/joining.h"
#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::node {
namespace {

/// A chain whose changes are kept for four blocks, all of it final.
class StateShelfTest : public ::testing::Test {
protected:
    StateShelfTest() { grow(3); }

    void grow(std::size_t blocks) {
        for (std::size_t i = 0; i < blocks; ++i) {
            stored.grow(2);
            ensure(store().mark_final(hash_of(stored.chain().tip())).has_value(), "a final block");
        }
        ensure(store().settle(true).has_value(), "older changes are gone");
    }
    /// The block that has a token which is good for so long.
    ledger::BlockHash write_token(std::string_view name, std::chrono::hours lasts) {
        auto& memory = stored.memory();
        memory.mine_all({memory.create("/", "creator", join_token_document(name, 1, runtime::now() + lasts),
                                       test::lock_of("alice"))});
        grow(1);
        const auto block = hash_of(stored.chain().tip());
        shelf.keep(block);
        return block;
    }
    store::Store& store() { return stored.chain().store(); }
    std::shared_ptr<const NodeView> look() {
        auto view = std::make_shared<NodeView>();
        view->chain = store().chain();
        view->tip = stored.chain().tip();
        view->tip_hash = hash_of(view->tip);
        view->state = stored.chain().state().view();
        view->final_height = final_height.value_or(view->tip.height);
        return view;
    }
    std::optional<ledger::SnapshotManifest> manifest_of(const ledger::BlockHash& block) {
        const auto answer = std::get<core::StateManifest>(shelf.answer(core::WantManifest{block}));
        EXPECT_EQ(answer.block, block);
        if (answer.bytes.empty()) return std::nullopt;
        auto manifest = ledger::decode_manifest(answer.bytes);
        EXPECT_TRUE(manifest && ledger::check_manifest(*manifest));
        return *std::move(manifest);
    }
    bool has_all_of(const ledger::BlockHash& block) {
        const auto manifest = manifest_of(block);
        if (!manifest) return false;
        EXPECT_EQ(hash_of(manifest->header), block);
        const auto& parts = manifest->partition.parts;
        for (std::uint32_t part = 0; part < parts.size(); ++part) {
            const auto answer = std::get<core::StatePart>(shelf.answer(core::WantPart{block, part, parts[part].hash}));
            if (!ledger::read_part(*manifest, part, answer.bytes)) return false;
        }
        return true;
    }

    test::TempFolder temp;
    test::StoredChain stored{temp.path() / "data", {.undo_blocks = 4}};
    std::optional<ledger::Height> final_height;
    StateShelf shelf{store(), [this] { return look(); }};
};

TEST_F(StateShelfTest, AStateIsGoneBackToAsFarAsChangesAreKept) {
    const auto old = hash_of(stored.chain().tip());
    EXPECT_TRUE(has_all_of(old));
    grow(2);
    const auto newer = hash_of(stored.chain().tip());
    grow(1);
    EXPECT_TRUE(has_all_of(newer)) << "one block back";
    grow(20);
    EXPECT_TRUE(has_all_of(old)) << "what is being fetched does not vanish";
    EXPECT_EQ(shelf.size(), 2u);
    EXPECT_FALSE(has_all_of(hash_of(stored.chain().tip()))) << "and two are enough";
    StateShelf another{store(), [this] { return look(); }};
    EXPECT_TRUE(std::get<core::StateManifest>(another.answer(core::WantManifest{old})).bytes.empty())
        << "who did not have it cannot go back so far";
}

TEST_F(StateShelfTest, TheStateAfterATokensBlockIsKeptWhileTheTokenIsOpen) {
    const auto block = write_token("t-1", std::chrono::hours{1});
    grow(20);
    shelf.tidy();
    EXPECT_EQ(shelf.size(), 1u);
    EXPECT_TRUE(has_all_of(block));
    // Two are kept, the newest.
    const auto second = write_token("t-2", std::chrono::hours{1});
    const auto third = write_token("t-3", std::chrono::hours{1});
    const auto fourth = write_token("t-4", std::chrono::hours{1});
    EXPECT_EQ(shelf.size(), 3u) << "the first one is being fetched";
    grow(20);
    EXPECT_FALSE(has_all_of(second));
    EXPECT_TRUE(has_all_of(third));
    EXPECT_TRUE(has_all_of(fourth));
}

TEST_F(StateShelfTest, ATokenThatIsNoLongerGoodKeepsNothingAndPushesNobodyOut) {
    (void)write_token("t-1", std::chrono::hours{-1});
    EXPECT_EQ(shelf.size(), 0u);
    const auto open = write_token("t-2", std::chrono::hours{1});
    for (const auto* name : {"t-3", "t-4", "t-5"}) (void)write_token(name, std::chrono::hours{-1});
    grow(20);
    EXPECT_EQ(shelf.size(), 1u);
    EXPECT_TRUE(has_all_of(open));
}

TEST_F(StateShelfTest, AfterAStartTheBlocksOfOpenTokensAreFoundAgain) {
    const auto block = write_token("t-1", std::chrono::hours{1});
    grow(2);
    StateShelf another{store(), [this] { return look(); }};
    another.keep_for_open_tokens();
    EXPECT_EQ(another.size(), 1u);
    EXPECT_FALSE(std::get<core::StateManifest>(another.answer(core::WantManifest{block})).bytes.empty());
}

TEST_F(StateShelfTest, WhatIsNotFinalNotOnTheChainOrCutOtherwiseIsNotGivenOut) {
    const auto tip = hash_of(stored.chain().tip());
    final_height = stored.chain().tip().height - 1;
    EXPECT_FALSE(manifest_of(tip));
    EXPECT_FALSE(manifest_of(ledger::BlockHash{}));
    final_height.reset();
    const auto manifest = manifest_of(tip);
    ASSERT_TRUE(manifest);
    const auto part = [&](std::uint32_t number, const crypto::Hash256& hash) {
        return std::get<core::StatePart>(shelf.answer(core::WantPart{tip, number, hash})).bytes.size();
    };
    EXPECT_GT(part(0, manifest->partition.parts[0].hash), 0u);
    EXPECT_EQ(part(0, crypto::sha256(as_bytes("cut otherwise"))), 0u);
    EXPECT_EQ(part(65'535, manifest->partition.parts[0].hash), 0u);
}

}  // namespace
}  // namespace rhizome::node
