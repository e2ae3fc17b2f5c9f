// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "runtime/descriptor.h"

namespace rhizome::store::detail {

/// Which file this is, wherever its disk is mounted: a copy is another file.
struct FileIdentity {
    std::uint64_t inode = 0;
    std::uint64_t born_seconds = 0;  ///< 0 where the file system does not know
    std::uint64_t born_nanoseconds = 0;
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
Result<FileIdentity> identity_of(const std::filesystem::path& path);

/// A file that is read and written at given places. Errors name the path; whole reads and writes or an error.
/// May be used from several threads, as far as they mean different places.
class File {
public:
    enum class Mode : std::uint8_t { Read, Write, Create };
    /// Create: Conflict when it exists. The name is durable only after `sync_folder`.
    static Result<File> open(const std::filesystem::path& path, Mode mode);

    /// Exactly `into.size()` bytes; Corrupt when the file ends before.
    Result<void> read(std::uint64_t offset, std::span<std::uint8_t> into) const;
    /// As many as there are, at most `into.size()`.
    Result<std::size_t> read_some(std::uint64_t offset, std::span<std::uint8_t> into) const;
    /// The parts one behind the other.
    Result<void> write(std::uint64_t offset, std::span<const ByteView> parts) const;
    /// Room on the disk for this much, read as zeros. Exhausted when there is none.
    Result<void> allocate(std::uint64_t offset, std::uint64_t size) const;
    /// The first place from `offset` on that may hold other bytes than zeros, as far as the file system knows; nothing
    /// when there is none. Room that was made and never written to costs nothing to pass over.
    [[nodiscard]] Result<std::optional<std::uint64_t>> next_content(std::uint64_t offset) const;
    /// Data, and the size where it matters for reading it, are on the disk.
    Result<void> sync() const;
    [[nodiscard]] Result<std::uint64_t> size() const;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] int descriptor() const { return descriptor_.get(); }

private:
    std::filesystem::path path_;
    runtime::Descriptor descriptor_;
};

/// Gives a file another name, in the place of what has that name. Durable only after `sync_folder`.
Result<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Names made or removed in a folder are on the disk.
Result<void> sync_folder(const std::filesystem::path& path);

}  // namespace rhizome::store::detail
