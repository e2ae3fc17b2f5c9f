// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "cli/command.h"
#include "cli/invocation.h"
#include "cli/print.h"
#include "ledger/block.h"
#include "ledger/tx.h"

/// Checking proofs without a chain: the options that say which block is trusted, and what is said about it.
namespace rhizome::cli {

/// `--check FILE`, `--block HASH`, `--anchor FILE`.
Option check_option();
Option block_option();
Option anchor_option();

enum class Trust : unsigned char {
    Unknown,  ///< nobody said which block to trust
    Named,    ///< it is the one that --block or --anchor names
};
/// Whether the header is the trusted one; Denied when it is another. The command declares both options.
Result<Trust> trust_of(Invocation& call, const ledger::ChainId& chain, const ledger::Header& header);

void add_block(json::Object& data, const ledger::ChainId& chain, const ledger::Header& header, Trust trust);
void add_block(Fields& fields, const ledger::ChainId& chain, const ledger::Header& header, Trust trust);

}  // namespace rhizome::cli
