// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/offline_chain.h"
#include "ledger/block.h"
#include "store/store.h"

/// What the chain commands have in common: bodies of blocks, what transactions say, and where output goes.
namespace rhizome::cli::chain {

/// The block itself; says so when its body was pruned.
Result<ledger::Block> read_block(const store::BlockInfo& info, const OfflineChain& at);

/// What an output says it does: `write Pod web/db`, `delete Namespace web`, `delete what an input names`.
std::string wish_text(const ledger::Output& output);

/// Where the history up to a block (without it) leads: the root of the mountain range over block hashes.
Result<crypto::Hash256> history_root(Invocation& call, OfflineChain& at, ledger::Height height);

/// `--out FILE`: where what would go to stdout goes instead.
Option out_option(std::string help);
/// Prints `text`, or writes it to the file of `--out`.
Result<void> put_out(Invocation& call, std::string_view text);

}  // namespace rhizome::cli::chain
