// SPDX-License-Identifier: Apache-2.0
// The recorded side of each file call.
#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

#include "support/crash_disk_recorder.h"

namespace rhizome::test::crash {
namespace {

int failed(int error) {
    errno = error;
    return -1;
}

/// The files mapped at these addresses.
std::vector<std::string> files_mapped(std::uintptr_t begin, std::uintptr_t end) {
    std::vector<std::string> paths;
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::istringstream in{line};
        std::uintptr_t from = 0;
        std::uintptr_t to = 0;
        char dash = 0;
        std::string rights, offset, device, number, path;
        in >> std::hex >> from >> dash >> to >> rights >> offset >> device >> number;
        std::getline(in >> std::ws, path);
        if (from < end && begin < to && path.starts_with('/')) paths.push_back(path);
    }
    return paths;
}

}  // namespace

// ---- data ----------------------------------------------------------------------------------------------------------

ssize_t Recorder::write(int fd, const WriteCall& call) {
    Inside inside;
    auto held = lock();
    const auto found = find(fd);
    const int flags = ::fcntl(fd, F_GETFL);
    const bool append = (flags & O_APPEND) != 0;
    const off_t at = append && found ? found->about.st_size : call.offset ? *call.offset : ::lseek(fd, 0, SEEK_CUR);
    if (!found || !S_ISREG(found->about.st_mode) || flags < 0 || at < 0) {
        held.unlock();
        return call.real(call.bytes);
    }
    const auto path = path_of(found->node);
    auto bytes = call.bytes;
    if (const auto fault = fault_for(Fault::On::Write, path)) {
        if (!fault->short_write) return failed(fault->error);
        bytes = std::min(bytes, *fault->short_write);
    }
    const auto offset = static_cast<std::uint64_t>(at);
    const auto fitting = fits(objects_[found->node], offset, bytes);
    if (fitting == 0 && bytes > 0) return failed(ENOSPC);

    const ssize_t result = call.real(fitting);
    if (result <= 0) return result;
    const auto wrote = static_cast<std::size_t>(result);
    take_blocks(objects_[found->node], offset, offset + wrote);
    trace_.push_back({.act = Act::Write,
                      .node = found->node,
                      .offset = offset,
                      .bytes = call.written(wrote),
                      .grew = offset + wrote > static_cast<std::uint64_t>(found->about.st_size),
                      .text = fmt::format("write {} {}+{}", path, offset, wrote)});
    if (!call.synced && (flags & O_DSYNC) == 0) return result;  // O_SYNC has this bit, too

    // Two operations, because the power may fail between them: then the write is unsafe like any other.
    Operation operation{.act = Act::Sync,
                        .node = found->node,
                        .one_write = true,
                        .covers = trace_.size(),
                        .text = fmt::format("sync {} {}+{}", path, offset, wrote)};
    const auto error = fail_sync(operation, path);
    trace_.push_back(std::move(operation));
    return error ? failed(*error) : result;
}

int Recorder::resize(int fd, off_t size, const std::function<int()>& real) {
    Inside inside;
    auto held = lock();
    const auto found = find(fd);
    if (!found || !S_ISREG(found->about.st_mode)) {
        held.unlock();
        return real();
    }
    const auto path = path_of(found->node);
    if (const auto fault = fault_for(Fault::On::Resize, path)) return failed(fault->error);
    if (const int result = real(); result != 0) return result;
    if (size == found->about.st_size) return 0;
    const auto bytes = static_cast<std::uint64_t>(size);
    Object& object = objects_[found->node];
    free_blocks(object, bytes, object.blocks.size() * kPageBytes);
    trace_.push_back({.act = Act::Resize,
                      .node = found->node,
                      .size = bytes,
                      .grew = true,
                      .text = fmt::format("resize {} to {}", path, bytes)});
    return 0;
}

int Recorder::allocate(int fd, int mode, off_t offset, off_t length, const std::function<int()>& real) {
    Inside inside;
    auto held = lock();
    const auto found = find(fd);
    if (!found || !S_ISREG(found->about.st_mode) || offset < 0 || length <= 0) {
        held.unlock();
        return real();
    }
    if ((mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0) return failed(EOPNOTSUPP);
    const auto path = path_of(found->node);
    const auto begin = static_cast<std::uint64_t>(offset);
    const auto end = begin + static_cast<std::uint64_t>(length);
    const auto size = static_cast<std::uint64_t>(found->about.st_size);
    const bool punch = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
    Object& object = objects_[found->node];
    if (const auto fault = fault_for(Fault::On::Allocate, path)) return failed(fault->error);
    if (!punch && space_left_ && blocks_missing(object, begin, end) > *space_left_ / kPageBytes) return failed(ENOSPC);
    if (const int result = real(); result != 0) return result;

    if (punch) {
        free_blocks(object, begin, end);
    } else {
        take_blocks(object, begin, end);
    }
    const auto zeros = std::min(end, size);
    if ((punch || (mode & FALLOC_FL_ZERO_RANGE) != 0) && begin < zeros) {
        trace_.push_back({.act = Act::Write,
                          .node = found->node,
                          .offset = begin,
                          .bytes = Bytes(zeros - begin),
                          .text = fmt::format("zero {} {}+{}", path, begin, zeros - begin)});
    }
    const bool grew = (mode & FALLOC_FL_KEEP_SIZE) == 0 && end > size;
    trace_.push_back({.act = grew ? Act::Resize : Act::Allocate,
                      .node = found->node,
                      .size = end,
                      .grew = grew,
                      .text = fmt::format("allocate {} {}+{}", path, begin, end - begin)});
    return 0;
}

// ---- syncs ---------------------------------------------------------------------------------------------------------

std::optional<int> Recorder::fail_sync(Operation& sync, const std::string& path) {
    const auto fault = fault_for(Fault::On::Sync, path);
    if (!fault) return std::nullopt;
    sync.act = Act::FailedSync;
    sync.lost = fault->dirty_lost;
    sync.text += " failed";
    return fault->error;
}

int Recorder::sync(int fd, bool whole, const std::function<int()>& real) {
    Inside inside;
    auto held = lock();
    const auto found = find(fd);
    if (!found) {
        held.unlock();
        return real();
    }
    const auto path = path_of(found->node);
    Operation operation{.act = Act::Sync,
                        .node = found->node,
                        .whole = whole,
                        .covers = trace_.size(),
                        .text = fmt::format("sync {}", path)};
    if (const auto error = fail_sync(operation, path)) {
        trace_.push_back(std::move(operation));
        return failed(*error);
    }
    held.unlock();  // other threads write meanwhile, as they do on a disk
    if (options_.real_syncs) {
        if (const int result = real(); result != 0) return result;
    }
    if (options_.during_sync) {
        const Inside outside{false};
        options_.during_sync();
    }
    held.lock();
    trace_.push_back(std::move(operation));
    return 0;
}

int Recorder::sync_map(void* address, std::size_t length, const std::function<int()>& real) {
    Inside inside;
    if (const int result = real(); result != 0) return result;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    for (const auto& path : files_mapped(begin, begin + length)) {
        const auto held = lock();
        struct stat about {};
        const auto node = ::stat(path.c_str(), &about) == 0 ? node_of(about) : std::nullopt;
        if (!node) continue;
        const auto name = path_of(*node);
        const auto tree = at(trace_.size(), held).live();
        const auto known = tree.files.find(*node);
        std::ifstream in{path, std::ios::binary};
        Bytes now(kPageBytes);
        Bytes before(kPageBytes);
        for (std::uint64_t offset = 0; in; offset += kPageBytes) {
            in.read(reinterpret_cast<char*>(now.data()), static_cast<std::streamsize>(now.size()));
            const auto got = static_cast<std::size_t>(in.gcount());
            std::fill(before.begin(), before.end(), std::uint8_t{0});
            if (known != tree.files.end()) known->second.read(offset, before);
            if (std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(got), before.begin())) continue;
            trace_.push_back({.act = Act::Write,
                              .node = *node,
                              .offset = offset,
                              .bytes = Bytes(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(got)),
                              .text = fmt::format("write {} {}+{} (through a mapping)", name, offset, got)});
        }
        Operation operation{
            .act = Act::Sync, .node = *node, .covers = trace_.size(), .text = fmt::format("sync {}", name)};
        const auto error = fail_sync(operation, name);
        trace_.push_back(std::move(operation));
        if (error) return failed(*error);
    }
    return 0;
}

int Recorder::sync_all(int fd, const std::function<int()>& real) {
    Inside inside;
    auto held = lock();
    if (fd >= 0 && !find(fd)) {
        held.unlock();
        return real();
    }
    if (options_.real_syncs) {
        if (const int result = real(); result != 0) return result;
    }
    trace_.push_back({.act = Act::SyncAll, .whole = true, .covers = trace_.size(), .text = "sync everything"});
    return 0;
}

// ---- names ---------------------------------------------------------------------------------------------------------

int Recorder::open(int folder, const char* path, int flags, const std::function<int()>& real) {
    Inside inside;
    auto held = lock();
    const bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
    const auto name = temporary ? std::nullopt : resolve(folder, path);
    const auto home = temporary ? find_folder(folder, path) : std::nullopt;
    if (!name && !home) {
        held.unlock();
        return real();
    }
    struct stat about {};
    const bool there = name && ::fstatat(folder, path, &about, 0) == 0;
    if (!there && (flags & O_CREAT) != 0 && name) {
        if (const auto fault = fault_for(Fault::On::Name, path_of(*name))) return failed(fault->error);
    }
    const bool cut = there && (flags & O_TRUNC) != 0 && about.st_size > 0;
    if (cut) {
        if (const auto fault = fault_for(Fault::On::Resize, path_of(*name))) return failed(fault->error);
    }
    const int fd = real();
    if (fd < 0) return fd;
    if (temporary) {
        if (::fstat(fd, &about) == 0) objects_[add(about)].unnamed = true;
        return fd;
    }
    const auto found = find(fd);
    if (found && cut) {
        Object& object = objects_[found->node];
        free_blocks(object, 0, object.blocks.size() * kPageBytes);
        trace_.push_back({.act = Act::Resize,
                          .node = found->node,
                          .grew = true,
                          .text = fmt::format("resize {} to 0", path_of(found->node))});
    }
    return fd;
}

int Recorder::rename(int from_folder, const char* from, int to_folder, const char* to, bool exchange,
                     const std::function<int()>& real) {
    Inside inside;
    auto held = lock();
    const auto source = resolve(from_folder, from);
    const auto target = resolve(to_folder, to);
    if (!source && !target) {
        held.unlock();
        return real();
    }
    const auto source_path = source ? path_of(*source) : std::string{from};
    const auto target_path = target ? path_of(*target) : std::string{to};
    if (const auto fault = fault_for(Fault::On::Name, source_path, target_path)) return failed(fault->error);
    struct stat about {};
    std::filesystem::path target_place = target ? folder_ / target_path : std::filesystem::path{};
    if (const int result = real(); result != 0) return result;

    const auto moved = source ? named(*source) : std::nullopt;
    const auto replaced = target ? named(*target) : std::nullopt;
    const auto text = fmt::format("rename {} to {}", source_path, target_path);
    if (moved && moved == replaced) return 0;  // two names of one file: nothing happens
    if (source && target && moved) {
        record_names(Act::Rename, text, {{*source, exchange ? replaced : std::nullopt}, {*target, moved}});
    } else if (target && ::lstat(target_place.c_str(), &about) == 0) {
        adopt(*target, target_place, about);  // it came from elsewhere
    } else if (source && moved) {
        record_names(Act::Remove, text, {{*source, std::nullopt}});
    }
    return 0;
}

int Recorder::change_name(int folder, const char* path, const std::function<int()>& real,
                          const std::function<void(const Name&)>& record) {
    Inside inside;
    auto held = lock();
    const auto name = resolve(folder, path);
    if (!name) {
        held.unlock();
        return real();
    }
    if (const auto fault = fault_for(Fault::On::Name, path_of(*name))) return failed(fault->error);
    if (const int result = real(); result != 0) return result;
    record(*name);
    return 0;
}

int Recorder::link(int folder, const char* path, const std::function<int()>& real) {
    return change_name(folder, path, real, [&](const Name& name) {
        struct stat about {};
        const auto place = folder_ / path_of(name);
        if (::lstat(place.c_str(), &about) != 0) return;
        const auto known = by_key_.find({about.st_dev, about.st_ino});
        if (known != by_key_.end() && (objects_[known->second].unnamed || !objects_[known->second].names.empty())) {
            record_names(Act::Create, fmt::format("link {}", path_of(name)), {{name, known->second}});
        } else {
            adopt(name, place, about);
        }
    });
}

int Recorder::remove(int folder, const char* path, const std::function<int()>& real) {
    return change_name(folder, path, real, [&](const Name& name) {
        if (named(name)) record_names(Act::Remove, fmt::format("remove {}", path_of(name)), {{name, std::nullopt}});
    });
}

int Recorder::make_folder(int folder, const char* path, const std::function<int()>& real) {
    return change_name(folder, path, real, [&](const Name& name) {
        struct stat about {};
        const auto place = folder_ / path_of(name);
        if (::lstat(place.c_str(), &about) == 0)
            record_names(Act::MakeFolder, fmt::format("make folder {}", path_of(name)), {{name, add(about)}});
    });
}

}  // namespace rhizome::test::crash
