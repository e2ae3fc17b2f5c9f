// SPDX-License-Identifier: Apache-2.0
// Golden bytes of transactions and blocks, good and bad: tests/vectors/ledger/.
#include <gtest/gtest.h>

#include "ledger/block_json.h"
#include "ledger/check.h"
#include "ledger/codec.h"
#include "ledger/json_form.h"
#include "support/vectors.h"

namespace rhizome::ledger {
namespace {

using test::text;

Bytes bytes_of(const boost::json::value& row, std::string_view key = "bytes") {
    return from_hex(text(row, key)).value();
}

std::string code_of(const auto& result) { return result ? "OK" : std::string{name(result.error().code)}; }

TEST(TxVectors, BytesFormAndIdsAgree) {
    const auto file = test::own_vectors("ledger/tx.json");
    std::size_t rows = 0;
    for (const auto& row : file.at("good").as_array()) {
        const auto tx = decode_tx(bytes_of(row));
        ASSERT_TRUE(tx) << text(row, "name") << to_text(tx.error());
        EXPECT_EQ(to_hex(encode(*tx)), text(row, "bytes")) << text(row, "name");
        EXPECT_EQ(id_of(*tx).hex(), text(row, "txid")) << text(row, "name");
        EXPECT_EQ(wire_id_of(*tx).hex(), text(row, "wireId")) << text(row, "name");
        EXPECT_EQ(json::print(to_json(*tx)), text(row, "form")) << text(row, "name");
        const auto read = tx_from_json(text(row, "form"));
        ASSERT_TRUE(read) << text(row, "name") << ": " << read.error().message;
        EXPECT_EQ(*read, *tx) << text(row, "name");
        ++rows;
    }
    EXPECT_GE(rows, 9u);
}

TEST(TxVectors, BadBytesAreRefusedByTheirCode) {
    const auto file = test::own_vectors("ledger/tx.json");
    for (const auto& row : file.at("bad").as_array())
        EXPECT_EQ(code_of(decode_tx(bytes_of(row))), text(row, "code")) << text(row, "name");
}

TEST(TxVectors, BadFormsNameTheMember) {
    const auto file = test::own_vectors("ledger/tx.json");
    for (const auto& row : file.at("badForms").as_array()) {
        const auto tx = tx_from_json(text(row, "form"));
        ASSERT_FALSE(tx) << text(row, "name");
        EXPECT_TRUE(tx.error().message.starts_with(text(row, "error")))
            << text(row, "name") << ": " << tx.error().message;
    }
}

TEST(TxVectors, SignaturesSignThisDigest) {
    const auto file = test::own_vectors("ledger/tx.json");
    for (const auto& row : file.at("digests").as_array()) {
        const auto tx = decode_tx(bytes_of(row));
        ASSERT_TRUE(tx);
        // The digest does not depend on unlocking scripts, and those here are no signatures.
        Tx unsigned_tx = *tx;
        for (Input& input : unsigned_tx.inputs) input.unlocking.clear();
        const auto checked = check_tx(unsigned_tx);
        ASSERT_TRUE(checked) << text(row, "name") << to_text(checked.error());
        const auto digest =
            signature_digest(**checked, ChainId::from_hex(text(row, "chain")).value(),
                             static_cast<std::size_t>(row.at("input").as_int64()), bytes_of(row, "script"),
                             {crypto::Hash256::from_hex(text(row, "spent")).value()});
        EXPECT_EQ(digest.hex(), text(row, "digest")) << text(row, "name");
    }
}

TEST(BlockVectors, BytesHashesAndRootsAgree) {
    const auto file = test::own_vectors("ledger/block.json");
    std::size_t rows = 0;
    for (const auto& row : file.at("good").as_array()) {
        const std::string what = text(row, "name");
        const auto block = decode_block(bytes_of(row));
        ASSERT_TRUE(block) << what << to_text(block.error());
        EXPECT_EQ(to_hex(encode(*block)), text(row, "bytes")) << what;
        EXPECT_EQ(encoded_size(*block) * 2, text(row, "bytes").size()) << what;
        const Header& header = block->header;
        EXPECT_EQ(to_hex(encode(header)), text(row, "header")) << what;
        const auto alone = decode_header(bytes_of(row, "header"));
        ASSERT_TRUE(alone) << what;
        EXPECT_EQ(*alone, header) << what;
        EXPECT_EQ(hash_of(header).hex(), text(row, "hash")) << what;
        std::vector<WireId> wire_ids;
        for (const Tx& tx : block->txs) wire_ids.push_back(wire_id_of(tx));
        EXPECT_EQ(merkle_root_of(wire_ids).hex(), text(row, "merkleRoot")) << what;
        EXPECT_EQ(seal_root_of(block->seal).hex(), text(row, "sealRoot")) << what;
        EXPECT_EQ(header.merkle_root.hex(), text(row, "merkleRoot")) << what;
        EXPECT_EQ(header.seal_root.hex(), text(row, "sealRoot")) << what;
        EXPECT_EQ(header.state_root.hex(), text(row, "stateRoot")) << what;
        EXPECT_EQ(header.previous.hex(), text(row, "previous")) << what;
        EXPECT_EQ(header.time.unix_millis(), row.at("timeMillis").as_int64()) << what;
        EXPECT_EQ(std::to_string(header.height.number()), text(row, "height")) << what;
        EXPECT_EQ(static_cast<std::int64_t>(header.consensus), row.at("consensus").as_int64()) << what;
        EXPECT_EQ(static_cast<std::int64_t>(header.bits), row.at("bits").as_int64()) << what;
        EXPECT_EQ(std::to_string(header.nonce), text(row, "nonce")) << what;
        EXPECT_EQ(block->txs.size(), static_cast<std::size_t>(row.at("transactions").as_int64())) << what;
        EXPECT_EQ(json::print(to_json(*block)), text(row, "form")) << what;
        const auto read = block_from_json(text(row, "form"));
        ASSERT_TRUE(read) << what << ": " << read.error().message;
        EXPECT_EQ(*read, *block) << what;
        ++rows;
    }
    EXPECT_GE(rows, 6u);
}

TEST(BlockVectors, BadFormsNameTheMember) {
    const auto file = test::own_vectors("ledger/block.json");
    for (const auto& row : file.at("badForms").as_array()) {
        const auto block = block_from_json(text(row, "form"));
        ASSERT_FALSE(block) << text(row, "name");
        EXPECT_TRUE(block.error().message.starts_with(text(row, "error")))
            << text(row, "name") << ": " << block.error().message;
    }
}

TEST(BlockVectors, BadBytesAreRefusedByTheirCode) {
    const auto file = test::own_vectors("ledger/block.json");
    for (const auto& row : file.at("bad").as_array())
        EXPECT_EQ(code_of(decode_block(bytes_of(row))), text(row, "code")) << text(row, "name");
    for (const auto& row : file.at("badHeaders").as_array())
        EXPECT_EQ(code_of(decode_header(bytes_of(row))), text(row, "code")) << text(row, "name");
}

}  // namespace
}  // namespace rhizome::ledger
