// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/bytes.h"
#include "base/result.h"
#include "store/detail/file.h"

namespace rhizome::store::detail {

/// A large file written front to back, which appears under its name only when it is whole and on the disk. Dropped
/// before `finish`, it leaves nothing.
class NewFile {
public:
    /// Conflict when something of that name exists.
    static Result<NewFile> open(const std::filesystem::path& path);
    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&&) = delete;
    ~NewFile();

    Result<void> write(ByteView bytes);
    Result<void> finish();
    [[nodiscard]] std::uint64_t size() const { return offset_ + buffer_.size(); }

private:
    NewFile(std::filesystem::path path, std::filesystem::path half, File file)
        : path_(std::move(path)), half_(std::move(half)), file_(std::move(file)) {}
    Result<void> flush();

    std::filesystem::path path_;
    std::filesystem::path half_;  ///< its name until it is whole; empty afterwards
    File file_;
    Bytes buffer_;
    std::uint64_t offset_ = 0;
};

/// A file read front to back in large pieces.
class OldFile {
public:
    static Result<OldFile> open(const std::filesystem::path& path);
    /// Exactly so many bytes; Corrupt when the file ends before.
    Result<Bytes> read(std::size_t size);
    [[nodiscard]] bool at_end() const { return offset_ == size_; }
    [[nodiscard]] std::uint64_t offset() const { return offset_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] const File& file() const { return file_; }

private:
    OldFile(File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
    File file_;
    std::uint64_t size_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace rhizome::store::detail
