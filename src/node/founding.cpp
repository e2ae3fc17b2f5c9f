// SPDX-License-Identifier: Apache-2.0
#include "node/founding.h"

#include <array>

#include <fmt/core.h>

#include "ledger/block_factory.h"
#include "ledger/draft.h"
#include "ledger/signing.h"
#include "node/first_documents.h"
#include "node/hand_sealing.h"
#include "script/template.h"

namespace rhizome::node {
namespace {

using ledger::Change;

/// A lock from the template language. Our own texts, so they compile.
Bytes lock(const std::string& text) {
    auto compiled = script::compile(text);
    ensure(compiled.has_value(), "a lock of ours compiles");
    return *std::move(compiled);
}

std::string address_of(const crypto::SecretKey& key) { return key.public_key().address().hex(); }

Change node_change(const FoundingWish& wish, const ledger::ChainId& chain) {
    return {.document = json::print(node_document(wish.node, wish.node_keys, chain, wish.traits)),
            .lock = lock(
                fmt::format("either p2pkh {} or p2pkh {}", address_of(wish.node_keys.chain), address_of(wish.owner)))};
}

/// The draft with the owner's signature in every input.
Result<ledger::SharedTx> sign(ledger::Tx tx, const FoundingWish& wish, const ledger::ChainId& chain,
                              const ledger::LedgerState& state) {
    TRY(const auto draft, ledger::check_tx(tx));
    const auto uses = ledger::uses_of_inputs(*draft, state);
    const ledger::Signer signer{wish.owner, wish.owner.public_key()};
    for (std::size_t i = 0; i < uses.size(); ++i) {
        auto progress = ledger::advance(*draft, i, uses[i], chain, state, &signer);
        ensure(progress.complete, "the owner of the Cluster opens its lock");
        tx.inputs[i].unlocking = std::move(progress.unlocking);
    }
    TRY(auto checked, ledger::check_tx(std::move(tx)));
    return checked;
}

}  // namespace

bool is_subdomain(std::string_view name) {
    const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.empty() || name.size() > state::kNameBytesMax) return false;
    char before = '.';
    for (const char c : name) {
        if (!is_word(c) && c != '-' && c != '.') return false;
        // Every part between dots begins and ends with a letter or digit.
        if ((before == '.' || c == '.') && !is_word(c) && !is_word(before)) return false;
        before = c;
    }
    return is_word(before) && is_word(name.front());
}

Result<Founded> found_cluster(const FoundingWish& wish, const ledger::Rules& rules, Parallel& parallel) {
    const json::Object cluster{{"apiVersion", "rhizome.dev/v1"},
                               {"kind", "Cluster"},
                               {"metadata", json::Object{{"name", wish.cluster}}},
                               {"spec", wish.spec}};
    const Time start = Time::from_unix_millis(wish.now.unix_millis());
    const consensus::KeySigner signer{wish.node_keys};
    Founded founded;
    TRY(founded.genesis,
        consensus::seal_genesis(json::print(cluster), lock("p2pkh " + address_of(wish.owner)), start, signer));
    const ledger::BlockHash genesis_hash = hash_of(founded.genesis.block.header);
    founded.chain = ledger::ChainId{genesis_hash.view()};

    const ledger::LedgerState state{founded.genesis.commit.view};
    ledger::DraftWish draft;
    draft.now = start;
    draft.changes = {node_change(wish, founded.chain)};
    for (const json::Value& document : first_namespaces()) draft.changes.push_back({.document = json::print(document)});
    TRY(ledger::Tx tx, ledger::make_draft(draft, state.view()));
    TRY(const auto joined, sign(std::move(tx), wish, founded.chain, state));
    draft.changes.clear();
    for (const json::Value& document : first_roles()) draft.changes.push_back({.document = json::print(document)});
    TRY(tx, ledger::make_draft(draft, state.view()));
    TRY(const auto roles, sign(std::move(tx), wish, founded.chain, state));
    const std::array<ledger::SharedTx, 2> txs{joined, roles};

    const consensus::CurveSignatures signatures;
    const consensus::Judge judge{signatures};
    TRY(const auto hand, prepare_by_hand(state, founded.genesis.block.header, start, judge, signer));
    ledger::SignatureCache cache;
    // A refusal is told by its own sentence, not by a block that lacks the transaction.
    TRY(founded.first_applied,
        ledger::execute(state, hand.next, std::span{&joined, 1}, hand.sealing.part, rules, cache, parallel));
    // The roles are left out of a chain whose blocks are too small for them.
    auto draft_block =
        ledger::build_block(state, hand.next, txs, hand.sealing.part, hand.seal_bytes(), rules, cache, parallel);
    if (draft_block.txs.empty())
        return fail(ErrorKind::Invalid, "the first block has no room for this machine's Node: raise blockBytes");
    founded.first_applied = draft_block.applied;
    founded.first = seal_by_hand(std::move(draft_block), hand, signer);
    return founded;
}

}  // namespace rhizome::node
