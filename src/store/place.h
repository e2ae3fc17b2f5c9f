// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

/// Whether a data directory is where it was when it was last used.
///
/// What a node has signed is known only to the directory that it signed from. A copy knows what had been signed when it
/// was made and says nothing about it: two nodes would sign from one vote record, or one node again what it has signed.
/// So the file `place` says which file it is itself (inode and time of birth), on which file system and on which
/// machine. It is made anew whenever the directory is opened and closed, so it is another file each time: a copy is
/// told from the original, and so is an older copy that was written over the original. Renaming the directory, or
/// mounting its disk elsewhere on the same machine, changes nothing.
///
/// Not noticed: a file system that was set back as a whole on its own machine (a snapshot of a volume or of a virtual
/// machine), a virtual machine that was cloned with its machine id, and files of the running node that were written
/// back into the same files after a crash. Nothing inside the machine can tell.
namespace rhizome::store {

enum class PlaceTrust : std::uint8_t {
    Same,       ///< nobody but us has used this directory
    Elsewhere,  ///< it is a copy, or on another machine now
    Unknown,    ///< the file is missing or damaged
};
struct PlaceFinding {
    PlaceTrust trust = PlaceTrust::Same;
    std::string what{};
};

[[nodiscard]] std::filesystem::path place_of(const std::filesystem::path& folder);
Result<PlaceFinding> examine_place(const std::filesystem::path& folder);
/// The directory is here now. Whoever calls this has made sure that the vote record says so if it was not here before.
Result<void> mark_place(const std::filesystem::path& folder);

}  // namespace rhizome::store
