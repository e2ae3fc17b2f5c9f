// SPDX-License-Identifier: Apache-2.0
#include "support/crash_disk_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::test::crash {
namespace {

namespace fs = std::filesystem;

Bytes read_whole(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    ensure(in.good(), "a file in the watched folder can be read");
    return Bytes{std::istreambuf_iterator<char>{in}, {}};
}

struct stat stat_of(const fs::path& path) {
    struct stat about {};
    ensure(::lstat(path.c_str(), &about) == 0, "a file in the watched folder can be looked at");
    return about;
}

}  // namespace

Recorder::Recorder(const fs::path& folder, CrashDisk::Options options)
    : folder_(fs::canonical(folder)), options_(options), process_(::getpid()) {
    Inside inside;
    add(stat_of(folder_));
    scan(kRoot, folder_, base_);
}

void Recorder::start() {
    Recorder* none = nullptr;
    ensure(active_recorder.compare_exchange_strong(none, this), "there is one CrashDisk at a time in a process");
}

void Recorder::stop() {
    Recorder* self = this;
    active_recorder.compare_exchange_strong(self, nullptr);
}

bool Recorder::in_own_process() const { return ::getpid() == process_; }

/// What is there at the start, as the state of a disk.
void Recorder::scan(Node folder, const fs::path& path, Replay::Tree& tree) {
    for (const auto& entry : fs::directory_iterator{path}) {
        const auto about = stat_of(entry.path());
        if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) continue;
        const Node node = add(about);
        const Name name{folder, entry.path().filename().native()};
        set_name(name, node);
        tree.names[name] = node;
        if (S_ISDIR(about.st_mode)) {
            scan(node, entry.path(), tree);
        } else {
            const auto bytes = read_whole(entry.path());
            Content& content = tree.files[node];
            content.resize(bytes.size());
            for (std::size_t at = 0; at < bytes.size(); at += kPageBytes) {
                // Preallocated files are mostly zeros, which need no place here.
                const auto page = ByteView{bytes}.subspan(at, std::min<std::size_t>(kPageBytes, bytes.size() - at));
                if (std::any_of(page.begin(), page.end(), [](auto byte) { return byte != 0; })) content.write(at, page);
            }
            objects_[node].blocks.assign((bytes.size() + kPageBytes - 1) / kPageBytes, true);
        }
    }
}

// ---- which file is it ----------------------------------------------------------------------------------------------

Node Recorder::add(const struct stat& about) {
    const Node node = objects_.size();
    objects_.push_back({.folder = S_ISDIR(about.st_mode)});
    by_key_[{about.st_dev, about.st_ino}] = node;
    return node;
}

std::optional<Node> Recorder::node_of(const struct stat& about) {
    const auto found = by_key_.find({about.st_dev, about.st_ino});
    if (found == by_key_.end()) return std::nullopt;
    // The file system gives the number of a deleted file to a new one, which may be anywhere.
    if (found->second != kRoot && objects_[found->second].names.empty() && about.st_nlink > 0) {
        by_key_.erase(found);
        return std::nullopt;
    }
    return found->second;
}

std::optional<Recorder::Found> Recorder::find(int fd) {
    Found found;
    if (::fstat(fd, &found.about) != 0) return std::nullopt;
    if (!S_ISREG(found.about.st_mode) && !S_ISDIR(found.about.st_mode)) return std::nullopt;
    auto node = node_of(found.about);
    if (!node && S_ISREG(found.about.st_mode)) node = adopt(fd, found.about);
    if (!node) return std::nullopt;
    found.node = *node;
    return found;
}

std::optional<Node> Recorder::find_folder(int folder, const std::string& path) {
    struct stat about {};
    if (::fstatat(folder, path.c_str(), &about, 0) != 0 || !S_ISDIR(about.st_mode)) return std::nullopt;
    return node_of(about);
}

std::optional<Name> Recorder::resolve(int folder, const char* path) {
    std::string text{path};
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    const auto slash = text.rfind('/');
    const auto parent = slash == std::string::npos ? "." : slash == 0 ? "/" : text.substr(0, slash);
    auto name = slash == std::string::npos ? text : text.substr(slash + 1);
    const auto node = name.empty() ? std::nullopt : find_folder(folder, parent);
    if (!node) return std::nullopt;
    return Name{*node, std::move(name)};
}

std::optional<Node> Recorder::named(const Name& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? std::nullopt : std::optional{found->second};
}

std::string Recorder::path_of(const Name& name) const {
    return name.first == kRoot ? name.second : path_of(name.first) + "/" + name.second;
}

std::string Recorder::path_of(Node node) const {
    if (node == kRoot) return ".";
    const auto& names = objects_[node].names;
    return names.empty() ? "(without a name)" : path_of(*names.begin());
}

/// A file we have not seen being made (mkstemp, fopen), found through its descriptor.
std::optional<Node> Recorder::adopt(int fd, const struct stat& about) {
    if (about.st_nlink == 0) return std::nullopt;
    std::error_code problem;
    const auto path = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), problem);
    if (problem || !path.is_absolute()) return std::nullopt;
    const auto name = resolve(AT_FDCWD, path.c_str());
    if (!name) return std::nullopt;
    return adopt(*name, path, about);
}

Node Recorder::adopt(const Name& name, const fs::path& path, const struct stat& about) {
    const Node node = add(about);
    record_names(S_ISDIR(about.st_mode) ? Act::MakeFolder : Act::Create, fmt::format("create {}", path_of(name)),
                 {{name, node}});
    if (S_ISDIR(about.st_mode)) {
        for (const auto& entry : fs::directory_iterator{path}) {
            const auto inner = stat_of(entry.path());
            if (!S_ISREG(inner.st_mode) && !S_ISDIR(inner.st_mode)) continue;
            adopt(Name{node, entry.path().filename().native()}, entry.path(), inner);
        }
    } else if (about.st_size > 0) {
        auto bytes = read_whole(path);
        take_blocks(objects_[node], 0, bytes.size());
        const auto size = bytes.size();
        trace_.push_back({.act = Act::Write,
                          .node = node,
                          .bytes = std::move(bytes),
                          .grew = size > 0,
                          .text = fmt::format("write {} 0+{} (found there)", path_of(name), size)});
    }
    return node;
}

void Recorder::set_name(const Name& name, std::optional<Node> node) {
    if (const auto old = named(name)) {
        Object& object = objects_[*old];
        object.names.erase(name);
        if (object.names.empty() && !object.folder) free_blocks(object, 0, object.blocks.size() * kPageBytes);
        names_.erase(name);
    }
    if (!node) return;
    names_[name] = *node;
    objects_[*node].names.insert(name);
    objects_[*node].unnamed = false;
}

void Recorder::record_names(Act act, std::string text, std::vector<std::pair<Name, std::optional<Node>>> names) {
    // Old meanings first: in an exchange each name takes the other's file, which must not seem deleted in between.
    for (const auto& [name, node] : names) {
        if (node) objects_[*node].names.insert(name);
    }
    for (const auto& [name, node] : names) set_name(name, node);
    trace_.push_back({.act = act, .names = std::move(names), .text = std::move(text)});
}

bool Recorder::watches(int fd) {
    Inside inside;
    const auto held = lock();
    return find(fd).has_value();
}

bool Recorder::watches(const char* path) {
    Inside inside;
    const auto held = lock();
    struct stat about {};
    return ::stat(path, &about) == 0 && node_of(about).has_value();
}

// ---- faults and space ----------------------------------------------------------------------------------------------

std::optional<Fault> Recorder::fault_for(Fault::On on, const std::string& path, const std::string& other) {
    std::optional<Fault> hit;
    for (auto& planned : faults_) {
        const Fault& fault = planned.fault;
        if (fault.on != on) continue;
        if (path.find(fault.name_has) == std::string::npos && other.find(fault.name_has) == std::string::npos) continue;
        const auto count = ++planned.seen;
        if (count >= fault.nth && count - fault.nth < fault.times && !hit) hit = fault;
    }
    if (hit) ++faults_hit_;
    return hit;
}

void Recorder::fail(Fault fault) {
    ensure(fault.nth > 0 && fault.times > 0, "the first operation is number 1, and a fault happens at least once");
    ensure(!fault.short_write || (fault.on == Fault::On::Write && *fault.short_write > 0),
           "a short write is a write of something");
    ensure(!fault.dirty_lost || fault.on == Fault::On::Sync, "only a sync loses what was to be written");
    const auto held = lock();
    faults_.push_back({std::move(fault)});
}

void Recorder::clear_faults() {
    const auto held = lock();
    faults_.clear();
}

std::uint64_t Recorder::faults_hit() const {
    const auto held = lock();
    return faults_hit_;
}

void Recorder::limit_space(std::optional<std::uint64_t> bytes) {
    const auto held = lock();
    space_left_ = bytes;
}

void Recorder::report_free_space(std::optional<std::uint64_t> bytes) {
    const auto held = lock();
    reported_free_ = bytes;
}

void Recorder::pretend(struct statvfs& space) {
    const auto held = lock();
    const auto free = reported_free_ ? reported_free_ : space_left_;
    if (!free || space.f_frsize == 0) return;
    space.f_bavail = *free / space.f_frsize;
    space.f_bfree = space.f_bavail;
    space.f_blocks = std::max(space.f_blocks, space.f_bfree);
}

std::uint64_t Recorder::blocks_missing(const Object& object, std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t missing = 0;
    for (auto block = begin / kPageBytes; block * kPageBytes < end; ++block) {
        if (block >= object.blocks.size() || !object.blocks[block]) ++missing;
    }
    return missing;
}

/// How many of the bytes there is space for, from the first.
std::size_t Recorder::fits(const Object& object, std::uint64_t offset, std::size_t bytes) const {
    if (!space_left_) return bytes;
    auto left = *space_left_ / kPageBytes;
    for (auto at = offset; at < offset + bytes; at = (at / kPageBytes + 1) * kPageBytes) {
        if (blocks_missing(object, at, at + 1) == 0) continue;
        if (left == 0) return at - offset;
        --left;
    }
    return bytes;
}

void Recorder::take_blocks(Object& object, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    const auto taken = blocks_missing(object, begin, end) * kPageBytes;
    if (space_left_) *space_left_ -= std::min(*space_left_, taken);
    const auto last = (end + kPageBytes - 1) / kPageBytes;
    if (object.blocks.size() < last) object.blocks.resize(last, false);
    for (auto block = begin / kPageBytes; block < last; ++block) object.blocks[block] = true;
}

/// Frees what lies wholly in the range.
void Recorder::free_blocks(Object& object, std::uint64_t begin, std::uint64_t end) {
    const auto last = std::min<std::uint64_t>(end / kPageBytes, object.blocks.size());
    for (auto block = (begin + kPageBytes - 1) / kPageBytes; block < last; ++block) {
        if (object.blocks[block] && space_left_) *space_left_ += kPageBytes;
        object.blocks[block] = false;
    }
}

// ---- the trace -----------------------------------------------------------------------------------------------------

void Recorder::mark(std::string label) {
    const auto held = lock();
    marks_.push_back({trace_.size(), std::move(label)});
}

Replay& Recorder::at(std::size_t point, const std::unique_lock<std::mutex>& lock) {
    ensure(lock.owns_lock() && point <= trace_.size(), "a crash happens at a point of the trace");
    if (!replay_ || replay_->position() > point) replay_.emplace(trace_, base_);
    replay_->advance_to(point);
    return *replay_;
}

}  // namespace rhizome::test::crash
