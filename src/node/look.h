// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"
#include "ledger/proof_files.h"
#include "state/view.h"
#include "store/store.h"

/// What a stored chain and its state show, as data: for the RPC of a running node and for commands on a data directory
/// alike, so that both answer the same. All may be called from any thread.
namespace rhizome::node {

/// A chain at one moment. Borrows the store.
struct Sight {
    const store::Store& store;
    ledger::Header tip{};
    ledger::BlockHash tip_hash{};
    state::StateView state{};  ///< after the tip
    ledger::Height final_height{};
};

/// The block that a word names: a height, a hash of 64 digits (which may lie on another branch), `latest` or `final`.
Result<store::BlockInfo> find_block(const Sight& at, std::string_view word);
/// The block itself; Unavailable when its body was pruned.
Result<ledger::Block> read_block(const Sight& at, const store::BlockInfo& info);
/// A transaction's id from its 64 digits.
Result<ledger::TxId> parse_txid(std::string_view word);
Result<store::TxPlace> find_tx(const Sight& at, const ledger::TxId& id);

/// `{"cluster","chainId","consensus","height","tip","time","stateRoot","documents",…,"disk":{…},"last":[…]}` with the
/// newest `last` blocks.
Result<json::Object> overview_json(const Sight& at, std::uint64_t last);
/// `{"hash","height","time","previous",…,"transactions","bytes","sealedBy","onChain","final"}`.
json::Object header_json(const Sight& at, const store::BlockInfo& info);
/// Where a transaction of the chain stands, itself, and what it did as far as that is kept:
/// `{"txid","status":"included"|"final","wireId","block","height","time","index","count","transaction","changes"}`.
Result<json::Object> tx_json(const Sight& at, const store::TxPlace& place);

/// The state after an older block of the chain and that block, as far back as changes are kept. NotFound above the tip,
/// Unavailable below with the oldest height that can be had.
struct PastState {
    store::BlockInfo block{};
    state::StateView view{};
};
Result<PastState> state_at(const Sight& at, ledger::Height height);
/// The same for a word: a height or `latest`.
Result<PastState> state_at(const Sight& at, std::string_view word);

/// One entry: `{"path","group","kind","namespace","name","born":{"txid","vout","height","time"},"written":{…},
/// "locked":{…},"script","decidedBy","bytes","document"}`, or of the chain's records `{"path","record"}`. `script` is
/// the lock in hexadecimal, `decidedBy` the path whose lock decides: its own, or the nearest above; missing when nobody
/// does.
json::Object entry_json(const state::Entry& entry, const state::StateView& view, bool with_document);

Result<ledger::TxProof> prove_tx(const Sight& at, const store::TxPlace& place);
Result<ledger::StateProof> prove_state(const ledger::ChainId& chain, const ledger::Header& header,
                                       const state::StateView& view, const state::Path& path);

}  // namespace rhizome::node
