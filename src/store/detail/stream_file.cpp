// SPDX-License-Identifier: Apache-2.0
#include "store/detail/stream_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "runtime/os_error.h"

namespace rhizome::store::detail {
namespace {

constexpr std::size_t kPieceBytes = 1u << 20;

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
}

}  // namespace

Result<NewFile> NewFile::open(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
        return fail(ErrorKind::Conflict,
                    fmt::format("{} exists already\nchoose another name, or delete it first", path.native()));
    std::filesystem::path half = path;
    half += fmt::format(".{}.part", ::getpid());
    TRY(auto file, File::open(half, File::Mode::Create));
    return NewFile{path, std::move(half), std::move(file)};
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      half_(std::exchange(other.half_, {})),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)),
      offset_(other.offset_) {}

NewFile::~NewFile() {
    if (!half_.empty()) ::unlink(half_.c_str());
}

Result<void> NewFile::write(ByteView bytes) {
    const std::size_t end = buffer_.size();
    buffer_.resize(end + bytes.size());
    if (!bytes.empty()) std::memcpy(buffer_.data() + end, bytes.data(), bytes.size());
    return buffer_.size() < kPieceBytes ? Result<void>{} : flush();
}

Result<void> NewFile::flush() {
    const ByteView bytes{buffer_};
    TRY(file_.write(offset_, std::span{&bytes, 1}));
    offset_ += buffer_.size();
    buffer_.clear();
    return {};
}

Result<void> NewFile::finish() {
    TRY(flush());
    TRY(file_.sync());
    // Not `rename`, which would replace a file that came into being meanwhile.
    if (::link(half_.c_str(), path_.c_str()) != 0) return Fail{runtime::os_error("make " + path_.native(), errno)};
    ::unlink(std::exchange(half_, {}).c_str());
    return sync_folder(folder_of(path_));
}

Result<OldFile> OldFile::open(const std::filesystem::path& path) {
    TRY(auto file, File::open(path, File::Mode::Read));
    TRY(const std::uint64_t size, file.size());
    return OldFile{std::move(file), size};
}

Result<Bytes> OldFile::read(std::size_t size) {
    if (size > size_ - offset_)
        return fail(ErrorKind::Corrupt, fmt::format("{} ends at offset {}, {} bytes before it should",
                                                    file_.path().native(), size_, size - (size_ - offset_)));
    Bytes bytes(size);
    TRY(file_.read(offset_, bytes));
    offset_ += size;
    return bytes;
}

}  // namespace rhizome::store::detail
