// SPDX-License-Identifier: Apache-2.0
// libc's file calls, replaced: the definitions of an executable win over those of libc, also for its shared libraries.
// Each either goes straight to libc's own or through the recorder. Calls from inside libc (stdio) do not come here.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "support/crash_disk_recorder.h"

// Function types carry attributes that a template argument loses, to no harm.
#pragma GCC diagnostic ignored "-Wignored-attributes"

using rhizome::Bytes;
using rhizome::test::crash::Recorder;

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the names are the C library's own.
extern "C" {
// What headers call instead of open when they are compiled with checks (_FORTIFY_SOURCE).
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
}

namespace rhizome::test::crash {
/// Named by crash_disk.cpp, so that the linker takes this file and with it all definitions.
void replace_file_calls() {}
}  // namespace rhizome::test::crash

namespace {

/// libc's own, or that of a sanitizer before it. Found at the first call, which may come before main.
template <class Function>
Function* next_definition(std::atomic<Function*>& found, const char* name) {
    Function* function = found.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
        if (function == nullptr) ::abort();
        found.store(function, std::memory_order_relaxed);
    }
    return function;
}

#define REAL(function)                                                                              \
    ([]() -> decltype(&::function) {                                                                \
        static constinit std::atomic<std::remove_pointer_t<decltype(&::function)>*> found{nullptr}; \
        return next_definition(found, #function);                                                   \
    }())

mode_t mode_in(int flags, va_list& arguments) {
    const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

template <class Real>
int do_open(int folder, const char* path, int flags, const Real& real) {
    Recorder* recorder = Recorder::active();
    const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return recorder == nullptr || !changes ? real() : recorder->open(folder, path, flags, real);
}

template <class Real>
ssize_t do_write(int fd, const void* from, std::size_t bytes, std::optional<off_t> offset, const Real& real) {
    Recorder* recorder = Recorder::active();
    if (recorder == nullptr) return real(bytes);
    const auto* first = static_cast<const std::uint8_t*>(from);
    return recorder->write(fd, {.bytes = bytes, .offset = offset, .real = real, .written = [first](std::size_t wrote) {
                                    return Bytes(first, first + wrote);
                                }});
}

/// `real` writes everything, `real_part` one run of bytes.
template <class Real, class RealPart>
ssize_t do_write(int fd, const iovec* parts, int count, std::optional<off_t> offset, bool synced, const Real& real,
                 const RealPart& real_part) {
    Recorder* recorder = Recorder::active();
    if (recorder == nullptr || count < 0) return real();
    std::size_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
    const auto written = [parts, count](std::size_t wrote) {
        Bytes copy;
        for (int i = 0; i < count && copy.size() < wrote; ++i) {
            const auto* first = static_cast<const std::uint8_t*>(parts[i].iov_base);
            copy.insert(copy.end(), first, first + std::min(parts[i].iov_len, wrote - copy.size()));
        }
        return copy;
    };
    const auto some = [&](std::size_t part) -> ssize_t {
        if (part == bytes) return real();
        const Bytes run = written(part);
        return real_part(run.data(), run.size());
    };
    return recorder->write(fd, {.bytes = bytes, .offset = offset, .synced = synced, .real = some, .written = written});
}

template <class Real>
int do_sync(int fd, bool whole, const Real& real) {
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->sync(fd, whole, real);
}

template <class Real>
int do_resize(int fd, off_t size, const Real& real) {
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->resize(fd, size, real);
}

template <class Real>
int do_allocate(int fd, int mode, off_t offset, off_t length, const Real& real) {
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->allocate(fd, mode, offset, length, real);
}

/// posix_fallocate returns its error instead of setting errno.
template <class Real>
int do_posix_allocate(int fd, off_t offset, off_t length, const Real& real) {
    if (Recorder::active() == nullptr) return real();
    const int before = errno;
    const int result = do_allocate(fd, 0, offset, length, [&real] {
        const int error = real();
        errno = error;
        return error == 0 ? 0 : -1;
    });
    const int error = result == 0 ? 0 : errno;
    errno = before;
    return error;
}

template <class Real>
int do_rename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags, const Real& real) {
    Recorder* recorder = Recorder::active();
    if (recorder == nullptr) return real();
    return recorder->rename(from_folder, from, to_folder, to, (flags & RENAME_EXCHANGE) != 0, real);
}

template <class Real>
int do_link(int folder, const char* path, const Real& real) {
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->link(folder, path, real);
}

template <class Real>
int do_remove(int folder, const char* path, const Real& real) {
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->remove(folder, path, real);
}

template <class Real>
int do_make_folder(int folder, const char* path, const Real& real) {
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->make_folder(folder, path, real);
}

/// Copies inside the kernel show us no bytes; who is refused copies by writing.
template <class Real>
ssize_t do_copy(int to, const Real& real) {
    Recorder* recorder = Recorder::active();
    if (recorder == nullptr || !recorder->watches(to)) return real();
    errno = EINVAL;
    return -1;
}

template <class Place, class Space, class Real>
int do_space(Place place, Space* space, const Real& real) {
    static_assert(sizeof(Space) == sizeof(struct statvfs));
    const int result = real();
    Recorder* recorder = Recorder::active();
    if (result == 0 && recorder != nullptr && recorder->watches(place)) {
        recorder->pretend(*reinterpret_cast<struct statvfs*>(space));
    }
    return result;
}

}  // namespace

// The …64 names are the same functions under a second name on this platform.
static_assert(sizeof(off_t) == 8);

extern "C" {

// ---- opening -------------------------------------------------------------------------------------------------------

#define REPLACE_OPEN(name)                                                                    \
    int name(const char* path, int flags, ...) {                                              \
        va_list arguments;                                                                    \
        va_start(arguments, flags);                                                           \
        const mode_t mode = mode_in(flags, arguments);                                        \
        va_end(arguments);                                                                    \
        return do_open(AT_FDCWD, path, flags, [=] { return REAL(name)(path, flags, mode); }); \
    }
REPLACE_OPEN(open)
REPLACE_OPEN(open64)

#define REPLACE_OPENAT(name)                                                                        \
    int name(int folder, const char* path, int flags, ...) {                                        \
        va_list arguments;                                                                          \
        va_start(arguments, flags);                                                                 \
        const mode_t mode = mode_in(flags, arguments);                                              \
        va_end(arguments);                                                                          \
        return do_open(folder, path, flags, [=] { return REAL(name)(folder, path, flags, mode); }); \
    }
REPLACE_OPENAT(openat)
REPLACE_OPENAT(openat64)

int creat(const char* path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int __open_2(const char* path, int flags) { return open(path, flags); }
int __open64_2(const char* path, int flags) { return open(path, flags); }
int __openat_2(int folder, const char* path, int flags) { return openat(folder, path, flags); }
int __openat64_2(int folder, const char* path, int flags) { return openat(folder, path, flags); }

// ---- writing -------------------------------------------------------------------------------------------------------

ssize_t write(int fd, const void* from, size_t bytes) {
    return do_write(fd, from, bytes, std::nullopt, [=](std::size_t some) { return REAL(write)(fd, from, some); });
}
ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
    return do_write(fd, from, bytes, offset, [=](std::size_t some) { return REAL(pwrite)(fd, from, some, offset); });
}
ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t offset) { return pwrite(fd, from, bytes, offset); }

ssize_t writev(int fd, const iovec* parts, int count) {
    return do_write(
        fd, parts, count, std::nullopt, false, [=] { return REAL(writev)(fd, parts, count); },
        [=](const void* from, std::size_t bytes) { return REAL(write)(fd, from, bytes); });
}
ssize_t pwritev(int fd, const iovec* parts, int count, off_t offset) {
    return do_write(
        fd, parts, count, offset, false, [=] { return REAL(pwritev)(fd, parts, count, offset); },
        [=](const void* from, std::size_t bytes) { return REAL(pwrite)(fd, from, bytes, offset); });
}
ssize_t pwritev64(int fd, const iovec* parts, int count, off64_t offset) { return pwritev(fd, parts, count, offset); }
ssize_t pwritev2(int fd, const iovec* parts, int count, off_t offset, int flags) {
    if ((flags & RWF_APPEND) != 0 && Recorder::active() != nullptr && Recorder::active()->watches(fd)) {
        errno = EOPNOTSUPP;  // nobody here uses it
        return -1;
    }
    const auto at = offset == -1 ? std::nullopt : std::optional<off_t>{offset};
    const auto real_part = [=](const void* from, std::size_t bytes) {
        const iovec part{const_cast<void*>(from), bytes};
        return REAL(pwritev2)(fd, &part, 1, offset, flags);
    };
    return do_write(
        fd, parts, count, at, (flags & (RWF_DSYNC | RWF_SYNC)) != 0,
        [=] { return REAL(pwritev2)(fd, parts, count, offset, flags); }, real_part);
}
ssize_t pwritev64v2(int fd, const iovec* parts, int count, off64_t offset, int flags) {
    return pwritev2(fd, parts, count, offset, flags);
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes, unsigned flags) {
    return do_copy(to, [=] { return REAL(copy_file_range)(from, from_offset, to, to_offset, bytes, flags); });
}
ssize_t sendfile(int to, int from, off_t* offset, size_t bytes) noexcept {
    return do_copy(to, [=] { return REAL(sendfile)(to, from, offset, bytes); });
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t bytes) noexcept {
    return sendfile(to, from, offset, bytes);
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

int ftruncate(int fd, off_t size) noexcept {
    return do_resize(fd, size, [=] { return REAL(ftruncate)(fd, size); });
}
int ftruncate64(int fd, off64_t size) noexcept { return ftruncate(fd, size); }
int truncate(const char* path, off_t size) noexcept {
    if (Recorder::active() == nullptr) return REAL(truncate)(path, size);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int result = ftruncate(fd, size);
    const int error = errno;
    close(fd);
    errno = error;
    return result;
}
int truncate64(const char* path, off64_t size) noexcept { return truncate(path, size); }
int fallocate(int fd, int mode, off_t offset, off_t length) {
    return do_allocate(fd, mode, offset, length, [=] { return REAL(fallocate)(fd, mode, offset, length); });
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return fallocate(fd, mode, offset, length); }
int posix_fallocate(int fd, off_t offset, off_t length) {
    return do_posix_allocate(fd, offset, length, [=] { return REAL(posix_fallocate)(fd, offset, length); });
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }

// ---- syncing -------------------------------------------------------------------------------------------------------

int fsync(int fd) {
    return do_sync(fd, true, [=] { return REAL(fsync)(fd); });
}
int fdatasync(int fd) {
    return do_sync(fd, false, [=] { return REAL(fdatasync)(fd); });
}
int msync(void* address, size_t length, int flags) {
    const auto real = [=] { return REAL(msync)(address, length, flags); };
    Recorder* recorder = Recorder::active();
    return recorder == nullptr || (flags & MS_SYNC) == 0 ? real() : recorder->sync_map(address, length, real);
}
void sync() noexcept {
    const auto real = [] {
        REAL(sync)();
        return 0;
    };
    Recorder* recorder = Recorder::active();
    (void)(recorder == nullptr ? real() : recorder->sync_all(-1, real));
}
int syncfs(int fd) noexcept {
    const auto real = [=] { return REAL(syncfs)(fd); };
    Recorder* recorder = Recorder::active();
    return recorder == nullptr ? real() : recorder->sync_all(fd, real);
}

// ---- names ---------------------------------------------------------------------------------------------------------

int rename(const char* from, const char* to) noexcept {
    return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0, [=] { return REAL(rename)(from, to); });
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    return do_rename(from_folder, from, to_folder, to, 0,
                     [=] { return REAL(renameat)(from_folder, from, to_folder, to); });
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    return do_rename(from_folder, from, to_folder, to, flags,
                     [=] { return REAL(renameat2)(from_folder, from, to_folder, to, flags); });
}
int link(const char* from, const char* to) noexcept {
    return do_link(AT_FDCWD, to, [=] { return REAL(link)(from, to); });
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    return do_link(to_folder, to, [=] { return REAL(linkat)(from_folder, from, to_folder, to, flags); });
}
int unlink(const char* path) noexcept {
    return do_remove(AT_FDCWD, path, [=] { return REAL(unlink)(path); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    return do_remove(folder, path, [=] { return REAL(unlinkat)(folder, path, flags); });
}
int remove(const char* path) noexcept {
    return do_remove(AT_FDCWD, path, [=] { return REAL(remove)(path); });
}
int mkdir(const char* path, mode_t mode) noexcept {
    return do_make_folder(AT_FDCWD, path, [=] { return REAL(mkdir)(path, mode); });
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
    return do_make_folder(folder, path, [=] { return REAL(mkdirat)(folder, path, mode); });
}
int rmdir(const char* path) noexcept {
    return do_remove(AT_FDCWD, path, [=] { return REAL(rmdir)(path); });
}

// ---- space ---------------------------------------------------------------------------------------------------------

int statvfs(const char* path, struct statvfs* space) noexcept {
    return do_space(path, space, [=] { return REAL(statvfs)(path, space); });
}
int statvfs64(const char* path, struct statvfs64* space) noexcept {
    return do_space(path, space, [=] { return REAL(statvfs64)(path, space); });
}
int fstatvfs(int fd, struct statvfs* space) noexcept {
    return do_space(fd, space, [=] { return REAL(fstatvfs)(fd, space); });
}
int fstatvfs64(int fd, struct statvfs64* space) noexcept {
    return do_space(fd, space, [=] { return REAL(fstatvfs64)(fd, space); });
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
