// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "ledger/tx.h"
#include "runtime/descriptor.h"

namespace rhizome::store {

/// Raised when older programs could not read what newer ones write.
inline constexpr std::uint32_t kSchema = 1;

/// The folder of one chain: whose it is, which schema it has, and that nobody else uses it now.
///
///     format     `rhizome-store 1`, then the chain id: written last when a chain is made
///     place      which file it is itself, and on which machine: a copy is told from the original (place.h)
///     lock       locked while a process uses the folder; holds its pid, for the message
///     log/       the block log
///     index/     LMDB, and the checksums of its last orderly end
class DataFolder {
public:
    /// Makes the folder (it may exist, but no chain may be in it: Conflict) and locks it. `finish` makes it a chain.
    static Result<DataFolder> make(const std::filesystem::path& path);
    Result<void> finish(const ledger::ChainId& chain);

    /// NotFound when there is no chain, Conflict when another process uses it, Unsupported for a newer schema, Corrupt.
    static Result<DataFolder> open(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path format() const { return path_ / "format"; }
    [[nodiscard]] std::filesystem::path log() const { return path_ / "log"; }
    [[nodiscard]] std::filesystem::path index() const { return path_ / "index"; }
    [[nodiscard]] const ledger::ChainId& chain() const { return chain_; }

    /// What an ordinary user could still write on the file system that the folder is on.
    [[nodiscard]] Result<std::uint64_t> free_bytes() const;

private:
    std::filesystem::path path_;
    ledger::ChainId chain_{};
    runtime::Descriptor lock_;
};

}  // namespace rhizome::store
