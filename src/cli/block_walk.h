// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/offline_chain.h"
#include "ledger/apply.h"
#include "ledger/block.h"

/// What blocks did to documents, found by doing it again.
namespace rhizome::cli {

enum class Verb : unsigned char { Created, Updated, Deleted };
std::string_view name(Verb verb);

/// One document and what a transaction did to it.
struct DocumentChange {
    Verb verb = Verb::Created;
    state::Path path = state::Path::cluster();
    ledger::TxId tx{};
    state::EntryPtr before{};  ///< null when created
    state::EntryPtr after{};   ///< null when deleted
};

/// In order of their paths. What was deleted and made again in one block is both.
std::vector<DocumentChange> changes_of(const ledger::Applied& applied);

/// Blocks of a chain in order, each executed on the state before it.
class BlockWalk {
public:
    /// `first` is the height of the first block that `next` gives. Unavailable when the state before it is gone.
    static Result<BlockWalk> from(Invocation& call, OfflineChain& at, ledger::Height first);

    struct Step {
        ledger::Block block;
        ledger::Applied applied;
    };
    /// The next one; there must be one. Corrupt when it does not hold: `chain verify` says more.
    Result<Step> next();

private:
    explicit BlockWalk(OfflineChain& at) : at_(&at) {}
    Result<Step> genesis(ledger::Block block);

    OfflineChain* at_;
    ledger::Height height_{};
    ledger::Header parent_{};
    std::optional<ledger::LedgerState> state_;  ///< after `parent_`; nothing before genesis
};

}  // namespace rhizome::cli
