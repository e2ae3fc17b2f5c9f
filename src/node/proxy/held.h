// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ledger/tx.h"

/// Transactions that wait for more signatures, as files: `<id>.json` in a folder of the person's, in the form of
/// `rhizome tx` (docs/spec/chain.md section 1), so that `tx sign` and `tx submit` take them as they are.
namespace rhizome::node {

/// `held/` of the user's configuration.
std::filesystem::path held_folder(const std::filesystem::path& config);

struct HeldTx {
    std::string id{};  ///< the transaction's, which signatures do not change
    std::filesystem::path file{};
    Time since{};  ///< when it was put there
    ledger::Tx tx{};
};
/// Puts it there; gives its file.
Result<std::filesystem::path> hold_tx(const std::filesystem::path& folder, const ledger::Tx& tx);
/// What waits, oldest first; files that are no transactions are passed over.
Result<std::vector<HeldTx>> held_txs(const std::filesystem::path& folder);

}  // namespace rhizome::node
