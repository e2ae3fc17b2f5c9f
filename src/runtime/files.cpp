// SPDX-License-Identifier: Apache-2.0
#include "runtime/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/core.h>

#include "runtime/descriptor.h"
#include "runtime/entropy.h"
#include "runtime/os_error.h"

namespace rhizome::runtime {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kModeBits = 07777;

Fail<Error> failed(std::string_view verb, const fs::path& path, int number) {
    return Fail{os_error(fmt::format("{} {}", verb, path.native()), number)};
}

fs::path folder_of(const fs::path& path) {
    auto folder = path.parent_path();
    return folder.empty() ? fs::path{"."} : folder;
}

/// The last part of `path`, which must name a file: not empty, not `.` or `..`.
Result<std::string> name_in_folder(const fs::path& path) {
    auto name = path.filename().native();
    if (name.empty() || name == "." || name == "..") {
        return fail(ErrorKind::Invalid, fmt::format("\"{}\" does not name a file", path.native()));
    }
    return name;
}

Result<Descriptor> open_folder(const fs::path& folder) {
    Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!opened) return failed("open the folder", folder, errno);
    return opened;
}

int write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto wrote = ::write(file, bytes.data(), bytes.size());
        if (wrote < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return 0;
}

/// Some file systems (and some kernels in containers) cannot sync a folder and say EINVAL; the file itself was synced.
int sync_folder(int folder) { return ::fsync(folder) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno; }

/// Gives the temporary file its name unless that name is taken. File systems without RENAME_NOREPLACE get a hard link.
int rename_if_free(int folder, const std::string& from, const std::string& to) {
    if (::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (::linkat(folder, from.c_str(), folder, to.c_str(), 0) != 0) return errno;
    ::unlinkat(folder, from.c_str(), 0);
    return 0;
}

int rename_over(int folder, const std::string& from, const std::string& to) {
    return ::renameat(folder, from.c_str(), folder, to.c_str()) == 0 ? 0 : errno;
}

using Rename = int (*)(int folder, const std::string& from, const std::string& to);

Result<void> write_through_temporary(const fs::path& path, std::string_view bytes, mode_t mode, Rename rename) {
    TRY(const auto name, name_in_folder(path));
    TRY(const auto folder, open_folder(folder_of(path)));
    // Not made from `name`: a name may be as long as the file system allows.
    const auto temporary = fmt::format(".rhizome-{:016x}.tmp", random_number());
    Descriptor file{
        ::openat(folder.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file) return failed("write", path, errno);

    int problem = write_all(file.get(), bytes);
    if (problem == 0 && ::fchmod(file.get(), mode & kModeBits) != 0) problem = errno;
    if (problem == 0 && ::fsync(file.get()) != 0) problem = errno;
    if (problem == 0) problem = rename(folder.get(), temporary, name);
    if (problem != 0) {
        ::unlinkat(folder.get(), temporary.c_str(), 0);
        return failed("write", path, problem);
    }
    problem = sync_folder(folder.get());
    if (problem != 0) return failed("save the name of", path, problem);
    return ok();
}

Result<Descriptor> open_to_read(const fs::path& path) {
    Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    if (!file) return failed("read", path, errno);
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) return failed("read", path, errno);
    if (S_ISDIR(about.st_mode)) return failed("read", path, EISDIR);
    return file;
}

Fail<Error> too_large(const fs::path& path, std::size_t max_bytes) {
    return fail(ErrorKind::Exhausted, fmt::format("cannot read {}: it is larger than {} bytes, the most that is "
                                                  "accepted here",
                                                  path.native(), max_bytes));
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
    constexpr std::size_t kStep = 64u << 10;
    TRY(const auto file, open_to_read(path));
    std::string content;
    for (;;) {
        const auto before = content.size();
        // One byte beyond the bound tells a file of exactly `max_bytes` from a larger one.
        content.resize(before + std::min(kStep, max_bytes - before + 1));
        const auto got = ::read(file.get(), content.data() + before, content.size() - before);
        if (got < 0 && errno != EINTR) return failed("read", path, errno);
        content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (content.size() > max_bytes) return too_large(path, max_bytes);
        if (got == 0) return content;
    }
}

Result<SecretBytes> read_secret_file(const fs::path& path, std::size_t max_bytes) {
    TRY(const auto file, open_to_read(path));
    // The largest buffer at once: one that grows would leave copies behind.
    SecretBytes buffer{max_bytes + 1};
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const auto got = ::read(file.get(), buffer.writable().data() + filled, buffer.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("read", path, errno);
        if (got == 0) return SecretBytes{buffer.view().first(filled)};
        filled += static_cast<std::size_t>(got);
    }
    return too_large(path, max_bytes);
}

Result<void> write_new_file(const fs::path& path, std::string_view bytes, mode_t mode) {
    return write_through_temporary(path, bytes, mode, rename_if_free);
}

Result<void> replace_file(const fs::path& path, std::string_view bytes, mode_t mode) {
    return write_through_temporary(path, bytes, mode, rename_over);
}

Result<void> make_folder(const fs::path& path, mode_t mode) {
    std::error_code ignored;
    if (path.empty()) return fail(ErrorKind::Invalid, "cannot make a folder without a name");
    // `a/b/` and `a/b/.` name the same folder as `a/b`.
    if (path.filename().empty() || path.filename() == ".") {
        return path.has_parent_path() && path.parent_path() != path ? make_folder(path.parent_path(), mode) : ok();
    }
    if (fs::is_directory(path, ignored)) return ok();
    const auto above = folder_of(path);
    TRY(make_folder(above, mode));
    if (::mkdir(path.c_str(), mode & kModeBits) != 0) {
        const int number = errno;
        if (number == EEXIST && fs::is_directory(path, ignored)) return ok();  // somebody was faster
        return failed("make the folder", path, number);
    }
    if (::chmod(path.c_str(), mode & kModeBits) != 0) return failed("set the mode of", path, errno);
    TRY(const auto opened, open_folder(above));
    if (const int number = sync_folder(opened.get()); number != 0) return failed("save the name of", path, number);
    return ok();
}

Result<std::vector<std::string>> list_folder(const fs::path& path, std::size_t max_names) {
    std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir(path.c_str()), ::closedir};
    if (!folder) return failed("list", path, errno);
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const auto* entry = ::readdir(folder.get());
        if (entry == nullptr) break;
        const std::string_view name{entry->d_name};
        if (name == "." || name == "..") continue;
        if (names.size() == max_names) {
            return fail(ErrorKind::Exhausted,
                        fmt::format("cannot list {}: it holds more than {} names", path.native(), max_names));
        }
        names.emplace_back(name);
    }
    if (errno != 0) return failed("list", path, errno);
    std::sort(names.begin(), names.end());
    return names;
}

bool is_too_open(const fs::path& path) {
    std::error_code failed;
    const auto status = fs::status(path, failed);
    return !failed && (status.permissions() & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none;
}

Result<void> remove_file(const fs::path& path) {
    TRY(const auto name, name_in_folder(path));
    TRY(const auto folder, open_folder(folder_of(path)));
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0) return failed("delete", path, errno);
    if (const int number = sync_folder(folder.get()); number != 0) return failed("delete", path, number);
    return ok();
}

}  // namespace rhizome::runtime
