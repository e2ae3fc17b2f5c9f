// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "ledger/snapshot.h"
#include "store/chain.h"

/// The state after one block as a file (ledger/snapshot.h has the format), and a data directory from one.
namespace rhizome::store {

struct SnapshotSummary {
    ledger::ChainId chain{};
    ledger::Header header{};
    std::uint64_t documents = 0;  ///< entries of the state, the chain's own records among them
    std::size_t parts = 0;
    std::uint64_t bytes = 0;  ///< of the file
};

/// Writes the state after the block of that height (the tip without one), with what was derived from it. Conflict when
/// the file exists.
Result<SnapshotSummary> export_snapshot(Chain& chain, const std::filesystem::path& file,
                                        std::optional<ledger::Height> at = {}, ByteView derived = {},
                                        const ProgressSink& progress = {});

/// What a snapshot file says it is, with its manifest checked and its parts not.
Result<SnapshotSummary> inspect_snapshot(const std::filesystem::path& file);

/// Makes a data directory that begins with the snapshot's block. Every entry is checked against the header's root; the
/// header is believed: `trusted` is the hash it must have, from a join token or an operator. What was derived is kept
/// as the note "derived" in the table "snapshot".
Result<std::unique_ptr<Chain>> import_snapshot(const std::filesystem::path& file, const std::filesystem::path& folder,
                                               const ledger::BlockRules& rules, Parallel& parallel,
                                               const Options& options = {},
                                               std::optional<ledger::BlockHash> trusted = {});

}  // namespace rhizome::store
