// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "consensus/vote.h"
#include "ledger/block.h"
#include "ledger/check.h"

/// What nodes tell each other. Values without a wire form yet: the peer layer gives them bytes.
namespace rhizome::core {

using SharedBlock = std::shared_ptr<const ledger::Block>;

/// Where a node stands. Sent to a peer that connects, then every `Config::status_every`: whatever got lost on the way
/// is noticed by it.
struct Status {
    Time clock{};
    consensus::MemberKey member{};  ///< all zero when the sender is none
    ledger::BlockHash tip{};
    ledger::Height height{};
    consensus::Checkpoint justified{};
    consensus::Checkpoint final_checkpoint{};
};

/// Transactions the receiver may not have.
struct Transactions {
    std::vector<ledger::SharedTx> txs{};
};

/// A block the receiver may not have: the sender follows it.
struct NewBlock {
    SharedBlock block{};
};

/// "I have these; send me what leads to `wanted`." Who has nothing, not even genesis, gets the first blocks.
struct WantBlocks {
    std::vector<ledger::BlockHash> locator{};
    ledger::BlockHash wanted{};
};
/// The answer, oldest first. `more`: ask again from the last one.
struct Blocks {
    std::vector<SharedBlock> blocks{};
    bool more = false;
};

struct Votes {
    std::vector<consensus::Vote> votes{};
};
/// A vote by its epoch and the first bytes of its voter's key (`consensus::short_key`): enough to tell whether one has
/// it.
struct VoteName {
    consensus::Epoch epoch{};
    std::uint64_t voter = 0;
    friend auto operator<=>(const VoteName&, const VoteName&) = default;
};
/// "I have these": said instead of passing them on where there are so many members that most neighbours have most of
/// their votes already.
struct HaveVotes {
    std::vector<VoteName> names{};
};
/// "Then send me these."
struct AskVotes {
    std::vector<VoteName> names{};
};
/// "I lack what shows this": asked when a status names a checkpoint that is not justified here.
struct WantVotes {
    consensus::Epoch since{};
};

using Message = std::variant<Status, Transactions, NewBlock, WantBlocks, Blocks, Votes, HaveVotes, AskVotes, WantVotes>;
using SharedMessage = std::shared_ptr<const Message>;

}  // namespace rhizome::core
