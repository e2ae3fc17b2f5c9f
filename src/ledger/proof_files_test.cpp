// SPDX-License-Identifier: Apache-2.0
#include "ledger/proof_files.h"

#include <gtest/gtest.h>

#include "ledger/codec.h"
#include "support/bad_forms.h"
#include "support/golden.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

using test::with;

class ProofFiles : public ::testing::Test {
protected:
    ProofFiles() { test::fill_sample(chain); }

    TxProof tx_proof(std::size_t height, std::size_t index) const {
        const Block& block = chain.blocks().at(height);
        std::vector<WireId> wire_ids;
        for (const Tx& tx : block.txs) wire_ids.push_back(wire_id_of(tx));
        return {.chain = chain.chain_id(),
                .header = block.header,
                .tx = block.txs.at(index),
                .path = crypto::merkle_proof(wire_ids, index).value()};
    }
    StateProof state_proof(std::string_view text) const {
        const auto path = state::Path::parse(text).value();
        StateProof proof{.chain = chain.chain_id(),
                         .header = chain.tip(),
                         .path = path,
                         .proof = state::prove(chain.state().view(), path)};
        if (const state::Entry* entry = chain.state().view().get(path))
            proof.content =
                StateProof::Content{entry->is_written(), to_bytes(entry->script()), std::string{entry->document()}};
        return proof;
    }

    test::TestChain chain;
};

TEST_F(ProofFiles, TransactionsAreShownToStrangers) {
    for (std::size_t index = 0; index < 2; ++index) {
        const TxProof proof = tx_proof(1, index);
        const auto read = tx_proof_from_json(json::print_pretty(to_json(proof)));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, proof);
        EXPECT_TRUE(check(*read));
    }
    TxProof other = tx_proof(1, 0);
    other.tx = tx_proof(1, 1).tx;
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = tx_proof(1, 0);
    other.header = chain.tip();
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = tx_proof(1, 0);
    other.path.path[0].writable()[3] ^= 1;
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
}

TEST_F(ProofFiles, StatesAreShownToStrangers) {
    for (const auto* path : {"/", "/namespaces/web/core/Pod/db", "/chain/history"}) {
        const StateProof proof = state_proof(path);
        const auto read = state_proof_from_json(json::print_pretty(to_json(proof)));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, proof);
        const auto found = check(*read);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_TRUE(std::holds_alternative<state::Presence>(*found));
    }
    const auto absent = state_proof_from_json(json::print(to_json(state_proof("/namespaces/no"))));
    ASSERT_TRUE(absent);
    EXPECT_TRUE(std::holds_alternative<state::Absence>(check(*absent).value()));
}

TEST_F(ProofFiles, AnotherContentIsNotShown) {
    const StateProof good = state_proof("/namespaces/web/core/Pod/db");
    StateProof other = good;
    other.content->document += " ";
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = good;
    other.content->script.push_back(0x51);
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = good;
    other.content->written = false;
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = state_proof("/namespaces/no");
    other.content = good.content;
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = good;
    other.path = state::Path::parse("/namespaces/web/core/Pod/dc").value();
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
    other = good;
    other.header = chain.blocks().at(1).header;
    EXPECT_EQ(check(other).error().kind, ErrorKind::Corrupt);
}

TEST_F(ProofFiles, FaultsNameTheMember) {
    const std::string tx = json::print(to_json(tx_proof(1, 0)));
    const std::string state = json::print(to_json(state_proof("/")));
    const std::string zeros(64, '0');
    const test::BadForm forms[] = {
        {"", "line 1"},
        {"{}", "kind: is missing"},
        {with(tx, "rhizome-tx-proof", "rhizome-state-proof"), "kind: is not rhizome-tx-proof"},
        {with(tx, "\"version\":1", "\"version\":2"), "version: 2 is not known", ErrorKind::Unsupported},
        {with(tx, "\"block\":\"" + hash_of(tx_proof(1, 0).header).hex(), "\"block\":\"" + zeros),
         "block: is not the hash"},
        {with(tx, "\"header\":\"01", "\"header\":\"02"), "header: BadEncoding"},
        {with(tx, "\"header\":\"01", "\"header\":\""), "header: BadEncoding"},
        {with(tx, "\"txid\":\"" + id_of(tx_proof(1, 0).tx).hex(), "\"txid\":\"" + zeros), "txid: is not that"},
        {with(tx, "\"wireId\":\"" + wire_id_of(tx_proof(1, 0).tx).hex(), "\"wireId\":\"" + zeros),
         "wireId: is not that"},
        {with(tx, "\"path\":[\"", "\"path\":[\"0"), "path[0]: is not 64 hexadecimal digits"},
        {with(tx, "\"path\":[\"", "\"path\":[1,\""), "path[0]: is no string"},
        {with(tx, "\"about\"", "\"abuot\""), "there is no member \"abuot\" here"},
        {with(tx, "\"locktime\":0", "\"locktime\":\"\""), "transaction: locktime"},
    };
    test::expect_refused(forms, [](const std::string& text) { return tx_proof_from_json(text); });
    EXPECT_TRUE(
        state_proof_from_json(with(state, "\"path\":\"/\"", "\"path\":\"x\"")).error().message.starts_with("path: "));
    EXPECT_TRUE(
        state_proof_from_json(with(state, "\"proof\":\"", "\"proof\":\"ff")).error().message.starts_with("proof: "));
    EXPECT_TRUE(state_proof_from_json(with(state, "\"script\":\"", "\"script\":\"OP_NO "))
                    .error()
                    .message.starts_with("script: "));
    EXPECT_EQ(anchor_from_json(tx).error().message.substr(0, 5), "kind:");
}

TEST_F(ProofFiles, AreWrittenAsInTheVectors) {
    const Anchor anchor{.chain = chain.chain_id(),
                        .height = chain.tip().height,
                        .block = hash_of(chain.tip()),
                        .state_root = chain.tip().state_root,
                        .history_root = crypto::sha256(as_bytes("history"))};
    EXPECT_EQ(anchor_from_json(json::print(to_json(anchor))).value(), anchor);
    test::expect_golden("ledger/anchor.json", json::print_pretty(to_json(anchor)));
    test::expect_golden("ledger/tx-proof.json", json::print_pretty(to_json(tx_proof(1, 1))));
    test::expect_golden("ledger/state-proof.json",
                        json::print_pretty(to_json(state_proof("/namespaces/web/core/Pod/db"))));
    test::expect_golden("ledger/state-proof-absent.json", json::print_pretty(to_json(state_proof("/namespaces/no"))));
}

}  // namespace
}  // namespace rhizome::ledger
