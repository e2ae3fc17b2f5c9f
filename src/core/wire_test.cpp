// SPDX-License-Identifier: Apache-2.0
#include "core/wire.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/config.h"
#include "crypto/hash.h"
#include "ledger/codec.h"
#include "support/test_chain.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

ledger::BlockHash hash(std::string_view word) { return ledger::BlockHash{crypto::sha256(as_bytes(word)).view()}; }

consensus::Vote vote_of(std::uint8_t voter, std::uint64_t epoch) {
    consensus::Vote vote;
    vote.voter.fill(voter);
    vote.ballot.source = {consensus::Epoch{epoch - 1}, hash("source")};
    vote.ballot.target = {consensus::Epoch{epoch}, hash("target")};
    vote.signature.fill(static_cast<std::uint8_t>(voter + 1));
    return vote;
}

ledger::SharedTx some_tx(std::string_view name) {
    ledger::Tx tx{.inputs = {{.previous = {ledger::TxId{crypto::sha256(as_bytes("before")).view()}, 0}}},
                  .outputs = {{.value = fmt::format(
                                   R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", name)}},
                  .expiry = 1'800'000'000};
    return ledger::check_tx(std::move(tx)).value();
}

SharedBlock some_block() {
    ledger::Block block;
    block.header.height = ledger::Height{7};
    block.header.previous = hash("parent");
    block.seal.proof = Bytes(33, 2);
    block.txs = {some_tx("a")->tx};
    return std::make_shared<const ledger::Block>(std::move(block));
}

SealedHeader sealed_of(const SharedBlock& block) {
    SealedHeader sealed{block->header, block->signature, block->seal};
    sealed.seal.attestations = Bytes(5, 9);
    return sealed;
}
std::shared_ptr<const std::vector<ledger::Tx>> body_of(const SharedBlock& block) { return {block, &block->txs}; }

std::vector<Message> one_of_each() {
    return {
        Status{.clock = Time::from_unix_seconds(1'800'000'000),
               .member = vote_of(3, 5).voter,
               .tip = hash("tip"),
               .height = ledger::Height{12},
               .justified = {consensus::Epoch{9}, hash("j")},
               .final_checkpoint = {consensus::Epoch{8}, hash("f")},
               .generation = 2,
               .record = {1, 2, 3}},
        Transactions{{some_tx("a"), some_tx("b")}},
        NewBlock{some_block()},
        WantBlocks{.locator = {hash("1"), hash("2")}, .wanted = hash("3")},
        Blocks{.blocks = {some_block(), some_block()}, .more = true},
        Votes{consensus::grouped(std::vector{vote_of(1, 5), vote_of(2, 5), vote_of(1, 6)})},
        HaveVotes{{{consensus::Epoch{4}, 77}, {consensus::Epoch{5}, 78}}},
        AskVotes{{{consensus::Epoch{4}, 77}}},
        WantVotes{consensus::Epoch{99}},
        WantHeaders{.locator = {hash("1"), hash("2")}, .wanted = hash("3")},
        Headers{.headers = {sealed_of(some_block()), sealed_of(some_block())}, .more = true},
        WantBodies{{hash("1"), hash("2")}},
        Bodies{.first = hash("1"), .bodies = {{hash("1"), body_of(some_block())}, {hash("2"), body_of(some_block())}}},
        HaveTxs{{some_tx("a")->wire_id, some_tx("b")->wire_id}},
        WantTxs{{some_tx("a")->wire_id}},
        CompactBlock{.sealed = sealed_of(some_block()),
                     .short_ids = {1, 0xffff'ffff'ffff, 3},
                     .given = {{0, some_tx("a")->tx}, {2, some_tx("b")->tx}}},
        WantBlockTxs{hash("1"), {0, 7, 8}},
        BlockTxs{hash("1"), {some_tx("a")->tx, some_tx("b")->tx}},
        WantManifest{hash("1")},
        StateManifest{hash("1"), Bytes(9, 7)},
        WantPart{hash("1"), 65'535, crypto::sha256(as_bytes("part"))},
        StatePart{hash("1"), 65'535, Bytes(9, 7)}};
}

TEST(Wire, EveryMessageIsReadAsItWasWritten) {
    const auto messages = one_of_each();
    ASSERT_EQ(messages.size(), std::variant_size_v<Message>) << "a message of each type";
    for (const Message& message : messages) {
        const Bytes bytes = encode(message);
        EXPECT_EQ(bytes[0], message.index() + 1);
        EXPECT_LE(bytes.size(), bytes_max(static_cast<MessageType>(bytes[0])));
        const auto read = decode_message(bytes);
        ASSERT_TRUE(read) << to_text(read.error());
        EXPECT_EQ(read->index(), message.index());
        EXPECT_EQ(encode(*read), bytes);
    }
}

TEST(Wire, NoPieceOfAMessageIsOne) {
    for (const Message& message : one_of_each()) {
        const Bytes bytes = encode(message);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            // A set of votes may have none: then it has no bytes.
            if (std::holds_alternative<Votes>(message) && size == 1) continue;
            EXPECT_FALSE(decode_message(ByteView{bytes}.first(size))) << int{bytes[0]} << " of " << size << " bytes";
        }
        Bytes longer = bytes;
        longer.push_back(0);
        EXPECT_FALSE(decode_message(longer)) << int{bytes[0]};
    }
}

TEST(Wire, CountsAreBoundedBeforeAnythingIsAllocated) {
    const Config limits;
    const struct {
        const char* what;
        Message message;
    } rows[] = {
        {"locator", WantBlocks{.locator = std::vector<ledger::BlockHash>(129)}},
        {"names", HaveVotes{std::vector<VoteName>(limits.message_votes_max + 1)}},
        {"names", AskVotes{std::vector<VoteName>(limits.message_votes_max + 1)}},
        {"transactions", Transactions{std::vector<ledger::SharedTx>(limits.message_txs_max + 1, some_tx("a"))}},
        {"blocks", Blocks{.blocks = std::vector<SharedBlock>(limits.answer_blocks_max + 1, some_block())}},
        {"headers", Headers{.headers = std::vector<SealedHeader>(limits.answer_headers_max + 1)}},
        {"bodies asked for", WantBodies{std::vector<ledger::BlockHash>(limits.ask_bodies_max + 1)}},
        {"bodies",
         Bodies{.bodies = std::vector<Body>(limits.ask_bodies_max + 1, Body{hash("1"), body_of(some_block())})}},
        {"ids", HaveTxs{std::vector<ledger::WireId>(limits.message_txs_max + 1)}},
        {"ids", WantTxs{std::vector<ledger::WireId>(limits.message_txs_max + 1)}},
        {"a given place beyond the block", CompactBlock{.short_ids = {1}, .given = {{1, some_tx("a")->tx}}}},
        {"a place given twice", CompactBlock{.short_ids = {1, 2, 3}, .given = {{1, {}}, {1, {}}}}},
        {"places that do not rise", WantBlockTxs{hash("1"), {3, 2}}},
    };
    for (const auto& row : rows) EXPECT_FALSE(decode_message(encode(row.message))) << row.what;
    // A count that the bytes cannot hold.
    const Bytes liar{static_cast<std::uint8_t>(MessageType::HaveVotes), 0xfd, 0xff, 0x0f};
    EXPECT_EQ(decode_message(liar).error().code, RejectCode::BadEncoding);
    EXPECT_EQ(decode_message(Bytes(bytes_max(MessageType::Status) + 1, 1)).error().code, RejectCode::TooLarge);
    EXPECT_EQ(decode_message(Bytes{0}).error().code, RejectCode::BadEncoding);
    EXPECT_EQ(decode_message(Bytes{19}).error().code, RejectCode::BadEncoding);
    EXPECT_EQ(decode_message({}).error().code, RejectCode::BadEncoding);
}

}  // namespace
}  // namespace rhizome::core
