// SPDX-License-Identifier: Apache-2.0
#include "node/joining.h"

#include <gtest/gtest.h>

#include "ledger/chain_records.h"
#include "ledger/draft.h"
#include "ledger/signing.h"
#include "node/founding.h"

namespace rhizome::node {
namespace {

crypto::NodeKeys keys_of(std::string_view name) {
    return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes(name)).view()});
}

JoinTicket ticket_of(std::string_view word) {
    JoinTicket ticket;
    ticket.chain = ledger::ChainId{crypto::sha256(as_bytes("chain")).view()};
    ticket.height = ledger::Height{77};
    ticket.block = ledger::BlockHash{crypto::sha256(as_bytes("block")).view()};
    ticket.name = "t-1";
    const auto secret = crypto::sha256(as_bytes(word));
    std::copy(secret.view().begin(), secret.view().end(), ticket.staging.writable().begin());
    return ticket;
}

TEST(JoinTicket, IsReadAsItWasWritten) {
    const JoinTicket ticket = ticket_of("staging");
    const auto read = JoinTicket::parse(ticket.text());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->chain, ticket.chain);
    EXPECT_EQ(read->height, ticket.height);
    EXPECT_EQ(read->block, ticket.block);
    EXPECT_EQ(read->name, ticket.name);
    EXPECT_EQ(read->key().public_key(), ticket.key().public_key());
}

TEST(JoinTicket, NothingElseIsOne) {
    const std::string good = ticket_of("staging").text();
    for (const std::string& bad : {std::string{}, std::string{"rz1-"}, std::string{"rz1-xyz"}, good.substr(1),
                                   good.substr(0, good.size() - 2), good + "00", "rz2-" + good.substr(4)})
        EXPECT_EQ(JoinTicket::parse(bad).error().kind, ErrorKind::Invalid) << bad;
    for (std::size_t i = 4; i < good.size(); i += 7) {
        std::string changed = good;
        changed[i] = changed[i] == '0' ? '1' : '0';
        EXPECT_FALSE(JoinTicket::parse(changed)) << i;
    }
    EXPECT_FALSE(JoinTicket::parse(std::string(1'000'000, 'a')));
}

/// A founded cluster with a token for two machines.
class JoinTx : public ::testing::Test {
protected:
    JoinTx() {
        auto founded = found_cluster(
            {.cluster = "demo", .node = "n1", .now = start, .owner = owner, .node_keys = founder}, rules, parallel);
        ensure(founded.has_value(), "a cluster can be founded");
        state.emplace(founded->first_applied.commit.view);
        ticket.chain = founded->chain;
        write({{.document = join_token_document("t-1", 2, start + hours{1}),
                .lock = staging_lock(ticket.key().public_key())}});
    }
    ledger::NextBlock next() const {
        return {.height = ledger::Height{2}, .time = start + seconds{5}, .parent_time = start};
    }
    /// Whether it would be taken; and then it is.
    std::string apply(const ledger::SharedTx& tx) {
        const auto applied = ledger::execute(*state, next(), std::span{&tx, 1}, {}, rules, cache, parallel);
        if (!applied) return to_text(applied.error());
        state->advance(applied->commit);
        return "";
    }
    void write(std::vector<ledger::Change> changes) {
        ledger::DraftWish wish{.changes = std::move(changes)};
        wish.now = start;
        ledger::Tx tx = ledger::make_draft(wish, state->view()).value();
        const auto draft = ledger::check_tx(tx).value();
        const ledger::Signer signer{owner, owner.public_key()};
        const auto uses = ledger::uses_of_inputs(*draft, *state);
        for (std::size_t i = 0; i < uses.size(); ++i)
            tx.inputs[i].unlocking = ledger::advance(*draft, i, uses[i], ticket.chain, *state, &signer).unlocking;
        ASSERT_EQ(apply(ledger::check_tx(tx).value()), "");
    }

    const Time start = Time::from_unix_seconds(1'800'000'000);
    crypto::SecretKey owner = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    crypto::NodeKeys founder = keys_of("founder");
    ledger::Rules rules;
    ledger::SignatureCache cache;
    Inline parallel;
    std::optional<ledger::LedgerState> state;
    JoinTicket ticket = ticket_of("staging");
};

TEST_F(JoinTx, MakesAsManyMachinesMembersAsTheTokenSays) {
    for (const auto* name : {"n2", "n3"}) {
        const auto keys = keys_of(name);
        const auto tx = make_join_tx(ticket, name, keys, {.arch = "amd64"}, state->view());
        ASSERT_TRUE(tx) << tx.error().message;
        EXPECT_EQ(apply(*tx), "");
        EXPECT_NE(state->view().get(ledger::records::member(keys.public_keys().chain.bytes())), nullptr);
    }
    EXPECT_EQ(make_join_tx(ticket, "n4", keys_of("n4"), {}, state->view()).error().kind, ErrorKind::NotFound);
}

TEST_F(JoinTx, AnotherKeyDoesNotOpenTheToken) {
    JoinTicket thief = ticket_of("guessed");
    thief.chain = ticket.chain;
    EXPECT_EQ(make_join_tx(thief, "n2", keys_of("n2"), {}, state->view()).error().kind, ErrorKind::Denied);
}

TEST_F(JoinTx, ANameThatIsTakenIsRefusedByTheChain) {
    const auto tx = make_join_tx(ticket, "n1", keys_of("n2"), {}, state->view());
    ASSERT_TRUE(tx);
    EXPECT_NE(apply(*tx), "");
}

}  // namespace
}  // namespace rhizome::node
