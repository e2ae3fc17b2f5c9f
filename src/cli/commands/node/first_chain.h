// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/invocation.h"
#include "node/joining.h"
#include "runtime/interrupt.h"

/// How a machine that joins comes to its chain.
namespace rhizome::cli {

/// `--sync`.
Option sync_option();

struct FirstChain {
    const node::JoinTicket& ticket;
    stream::Address address;     ///< of a node of the cluster
    std::filesystem::path data;  ///< without a chain
};

/// Makes the machine's keys and a chain in its directory: either of genesis alone, so that the node fetches and checks
/// every block, or of the state after the block that the ticket names. Which, `--sync` says: `auto` takes the state
/// when the chain is long and somebody has it. Whatever kills it, there is a chain afterwards or none, and calling it
/// again begins again.
Result<void> begin_chain(Invocation& call, const FirstChain& wish, const runtime::Interrupt& interrupt);

/// Takes keys and chain out of the directory of a machine that is no member any more, so that it can join again:
/// nothing that its old keys signed is known afterwards, so they are gone first and never sign again. Killed half way,
/// it is gone on with: `is_given_up`. What people keep there (keys of theirs, settings, the API's authority) stays.
Result<void> give_up_chain(const std::filesystem::path& data);
Result<bool> is_given_up(const std::filesystem::path& data);

/// Conflict when a join was begun in this directory and has not come to its chain: whoever would found a cluster there
/// meant something else.
Result<void> check_no_join_begun(const Invocation& call, const std::filesystem::path& data);

}  // namespace rhizome::cli
