// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

/// Whole files, read within a bound and written so that a crash at any moment leaves the old file or the new one, never
/// half of one. Every error names the path and the system's reason, and carries the kind that follows from it
/// (NotFound, Denied, Conflict, Exhausted …). All functions block and may be called from any thread.
///
/// Writing goes through a temporary file `.rhizome-<16 hex digits>.tmp` in the same folder; after a power failure one
/// may stay behind and can be deleted.
namespace rhizome::runtime {

/// The content of `path`, following symbolic links. Exhausted when there are more than `max_bytes`, Invalid for a
/// folder. Works on pipes and on files of /proc, which do not know their size.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// The same for passphrases and keys: every buffer the bytes went through is wiped.
Result<SecretBytes> read_secret_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Makes the file with exactly this mode, whatever the umask. Conflict when anything of that name exists, which then
/// stays as it is; of two writers at once exactly one wins. On success the bytes and the name are on the disk.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode);

/// Makes the file, or puts a new one in the place of the old one, with exactly this mode. A symbolic link is replaced,
/// not followed. On success the bytes and the name are on the disk.
Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode);

/// Makes the folder and the missing ones above it, each with exactly this mode. A folder that exists stays as it is;
/// anything else of that name is a Conflict.
Result<void> make_folder(const std::filesystem::path& path, mode_t mode);

/// The names in a folder, sorted by bytes, without `.` and `..`. Exhausted when there are more than `max_names`.
Result<std::vector<std::string>> list_folder(const std::filesystem::path& path, std::size_t max_names);

/// Whether the group or others may do anything with it, which nobody wants of a key. False when nothing is there.
bool is_too_open(const std::filesystem::path& path);

/// Deletes a file (not a folder), and makes that last over a power failure.
Result<void> remove_file(const std::filesystem::path& path);

}  // namespace rhizome::runtime
