// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "store/chain.h"

/// A chain in one file, to be kept elsewhere. docs/spec/store.md has the bytes.
///
/// Holds every block of the chain from genesis to the tip; where older ones were pruned, the state at the tip instead.
/// Also final mark and notes. Never what the node signed: a node restored to an older vote record could sign against
/// itself, so a restored one has none and waits until the chain shows that it is safe. Keys are not in it either.
namespace rhizome::store {

struct BackupSummary {
    ledger::ChainId chain{};
    ledger::Height tip{};
    std::uint64_t blocks = 0;  ///< with their bodies; 0: only the state at the tip
    std::uint64_t notes = 0;
    std::uint64_t bytes = 0;  ///< of the file
};

/// Conflict when the file exists. The chain may be written to by its own thread meanwhile: what counts is the tip when
/// this was called.
Result<BackupSummary> write_backup(Chain& chain, const std::filesystem::path& file, const ProgressSink& progress = {});

/// Blocks that somebody else holds: of a node that runs, whose directory nobody else can open.
struct BackupBlocks {
    ledger::ChainId chain{};
    ledger::Height tip{};      ///< a final block: what comes after it may still be undone while this goes on
    ledger::BlockHash hash{};  ///< its hash
    /// The one of that height; asked from genesis to the tip, in this order.
    std::function<Result<ledger::Block>(ledger::Height)> block{};
};
/// The same from these; without notes. Corrupt when they are not one chain that ends in the tip.
Result<BackupSummary> write_backup(const BackupBlocks& blocks, const std::filesystem::path& file,
                                   const ProgressSink& progress = {});

/// Makes a data directory from a backup, executing every block again. A directory that holds a chain is refused; when
/// it fails half way, nothing that looks like a chain is left.
Result<BackupSummary> restore_backup(const std::filesystem::path& file, const std::filesystem::path& folder,
                                     const ledger::BlockRules& rules, Parallel& parallel, const Options& options = {},
                                     const ProgressSink& progress = {});

}  // namespace rhizome::store
