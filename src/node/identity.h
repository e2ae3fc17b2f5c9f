// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"
#include "crypto/derive.h"

/// Who a machine is: 32 bytes in `node/seed` of its data directory, mode 0600, from which all of its keys follow. Not
/// encrypted, since a machine starts without anybody there; whoever reads the file is the machine.
namespace rhizome::node {

/// Where the seed of the machine with this data directory is or would be.
std::filesystem::path seed_file(const std::filesystem::path& data);

struct Identity {
    crypto::NodeKeys keys;
    bool too_open = false;  ///< others than the owner may read or write the file: warn
};

/// NotFound when there is none, Corrupt when the file is no seed.
Result<Identity> load_identity(const std::filesystem::path& data);

/// Makes one from the kernel's entropy. On success it is on the disk. Conflict when there is one already: a machine
/// that changes who it is becomes a stranger to its cluster.
Result<Identity> make_identity(const std::filesystem::path& data);

}  // namespace rhizome::node
