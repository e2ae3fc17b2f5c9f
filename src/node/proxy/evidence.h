// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ledger/block.h"
#include "ledger/check.h"
#include "node/rpc_client.h"
#include "state/view.h"

/// Whether a transaction has happened, by what can be seen and not by what a node says of it. Transactions are whole:
/// one trace of it in a state is enough.
namespace rhizome::node {

/// The height of the block that a document of this state has from the transaction: it wrote the version that stands, or
/// made the document, or gave it its lock. Nothing when there is no trace of it: it has not happened, it only deleted,
/// or somebody has written over all of it since.
std::optional<ledger::Height> written_in(const state::StateView& state, const ledger::CheckedTx& tx);

/// Whether it writes nothing, and all that it deletes by name is gone. Somebody else may have deleted it.
bool is_gone(const state::StateView& state, const ledger::CheckedTx& tx);

/// The height of the block that holds the transaction, shown by its Merkle proof and the headers between there and
/// `known`; at most `kHeadersMax` are asked for. Corrupt when what the node shows does not fit together.
Result<ledger::Height> place_below(RpcClient& client, const ledger::CheckedTx& tx, const ledger::Header& known);
inline constexpr std::uint64_t kHeadersMax = 256;

}  // namespace rhizome::node
