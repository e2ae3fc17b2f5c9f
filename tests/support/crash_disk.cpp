// SPDX-License-Identifier: Apache-2.0
#include "support/crash_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/core.h>

#include "base/ensure.h"
#include "support/crash_disk_recorder.h"
#include "support/crash_disk_replay.h"
#include "support/temp_folder.h"

namespace rhizome::test {

namespace crash {
void replace_file_calls();
}

namespace {

namespace fs = std::filesystem;
using crash::Content;
using crash::kPageBytes;
using crash::Name;
using crash::Node;
using crash::Recorder;
using Tree = crash::Replay::Tree;

void write_file(const fs::path& path, const Content& content) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ensure(fd >= 0, "a crash image can be written");
    bool good = ::ftruncate(fd, static_cast<off_t>(content.size())) == 0;
    for (const auto& [number, page] : content.pages()) {
        const auto offset = number * kPageBytes;
        if (offset >= content.size()) break;
        const auto bytes = std::min(kPageBytes, content.size() - offset);
        good = good && ::pwrite(fd, page->data(), bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
    }
    ::close(fd);
    ensure(good, "a crash image can be written");
}

void write_folder(const Tree& tree, Node folder, const fs::path& path) {
    fs::create_directories(path);
    for (auto entry = tree.names.lower_bound({folder, ""}); entry != tree.names.end() && entry->first.first == folder;
         ++entry) {
        const auto file = tree.files.find(entry->second);
        const auto place = path / entry->first.second;
        if (file != tree.files.end()) {
            write_file(place, file->second);
        } else {
            write_folder(tree, entry->second, place);
        }
    }
}

bool same_bytes(const fs::path& path, const Content& content) {
    std::ifstream in{path, std::ios::binary};
    Bytes now(kPageBytes);
    Bytes traced(kPageBytes);
    std::uint64_t offset = 0;
    while (in) {
        in.read(reinterpret_cast<char*>(now.data()), static_cast<std::streamsize>(now.size()));
        const auto got = static_cast<std::size_t>(in.gcount());
        content.read(offset, traced);
        if (!std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(got), traced.begin())) return false;
        offset += got;
    }
    return offset == content.size();
}

/// Adds every path in the folder or in the tree that is not the same in both.
void compare(const Tree& tree, Node folder, const fs::path& path, const fs::path& shown, std::set<std::string>& found) {
    for (const auto& entry : fs::directory_iterator{path}) {
        const auto name = entry.path().filename();
        if (!tree.names.contains({folder, name.native()})) found.insert((shown / name).native());
    }
    for (auto entry = tree.names.lower_bound({folder, ""}); entry != tree.names.end() && entry->first.first == folder;
         ++entry) {
        const auto& name = entry->first.second;
        const auto file = tree.files.find(entry->second);
        const bool is_file = file != tree.files.end();
        if (is_file ? !fs::is_regular_file(path / name) : !fs::is_directory(path / name)) {
            found.insert((shown / name).native());
        } else if (!is_file) {
            compare(tree, entry->second, path / name, shown / name, found);
        } else if (!same_bytes(path / name, file->second)) {
            found.insert((shown / name).native());
        }
    }
}

std::uintmax_t bytes_in(const fs::path& folder) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator{folder}) {
        if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
}

std::vector<Choice> choices_at(const Sweep& sweep, std::size_t point, std::size_t unsafe) {
    if (unsafe == 0) return {Choice::none()};  // all choices give the same
    std::vector<Choice> choices{Choice::none(), Choice::all()};
    const auto prefixes = std::min(sweep.prefixes, unsafe - 1);  // 0 and all are there already
    for (std::size_t i = 1; i <= prefixes; ++i) choices.push_back(Choice::prefix(i * unsafe / (prefixes + 1)));
    for (const auto bytes : sweep.torn) choices.push_back(Choice::torn_last(bytes));
    for (std::size_t i = 0; i < sweep.subsets; ++i) {
        choices.push_back(Choice::subset(sweep.seed + point * sweep.subsets + i));
    }
    return choices;
}

}  // namespace

std::string text(const Choice& choice) {
    const auto names = choice.names == Names::Journal ? ".with(Names::Journal)" : "";
    switch (choice.kind) {
        case Choice::Kind::None: return fmt::format("Choice::none(){}", names);
        case Choice::Kind::All: return fmt::format("Choice::all(){}", names);
        case Choice::Kind::Prefix: return fmt::format("Choice::prefix({}){}", choice.number, names);
        case Choice::Kind::Subset: return fmt::format("Choice::subset({}){}", choice.number, names);
        case Choice::Kind::TornLast: return fmt::format("Choice::torn_last({}){}", choice.number, names);
    }
    unreachable("a kind of choice without a text");
}

fs::path fast_place(std::uintmax_t bytes) {
    std::error_code problem;
    const fs::path memory{"/dev/shm"};
    const auto space = fs::space(memory, problem);
    const bool good = !problem && ::access(memory.c_str(), W_OK) == 0 && space.available / 4 > bytes;
    return good ? memory : fs::temp_directory_path();
}

class CrashDisk::Impl {
public:
    Impl(const fs::path& folder, Options options) : recorder(folder, options) {}
    mutable Recorder recorder;
};

CrashDisk::CrashDisk(const fs::path& folder, Options options) {
    crash::replace_file_calls();
    fs::create_directories(folder);
    impl_ = std::make_unique<Impl>(folder, options);
    impl_->recorder.start();
}

CrashDisk::~CrashDisk() { stop(); }

void CrashDisk::stop() { impl_->recorder.stop(); }

void CrashDisk::mark(std::string label) { impl_->recorder.mark(std::move(label)); }

std::vector<Mark> CrashDisk::marks() const {
    const auto held = impl_->recorder.lock();
    return impl_->recorder.marks();
}

std::vector<std::string> CrashDisk::promised(std::size_t point) const {
    std::vector<std::string> labels;
    for (auto& mark : marks()) {
        if (mark.point <= point) labels.push_back(std::move(mark.label));
    }
    return labels;
}

std::size_t CrashDisk::points() const {
    const auto held = impl_->recorder.lock();
    return impl_->recorder.trace().size() + 1;
}

std::string CrashDisk::operation(std::size_t point) const {
    const auto held = impl_->recorder.lock();
    const auto& trace = impl_->recorder.trace();
    ensure(point <= trace.size(), "an operation of the trace is asked for");
    return point == 0 ? "(the beginning)" : trace[point - 1].text;
}

std::size_t CrashDisk::unsafe(std::size_t point, Names names) const {
    const auto held = impl_->recorder.lock();
    return impl_->recorder.at(point, held).unsafe(names).size();
}

std::vector<std::string> CrashDisk::unseen() const {
    Recorder::Inside inside;
    const auto held = impl_->recorder.lock();
    const auto tree = impl_->recorder.at(impl_->recorder.trace().size(), held).live();
    std::set<std::string> found;
    compare(tree, crash::kRoot, impl_->recorder.folder(), {}, found);
    return {found.begin(), found.end()};
}

void CrashDisk::image(std::size_t point, const Choice& choice, const fs::path& target) const {
    Recorder::Inside inside;
    const auto place = fs::weakly_canonical(target).native() + "/";
    ensure(!place.starts_with(impl_->recorder.folder().native() + "/"), "an image lies outside the traced folder");
    auto held = impl_->recorder.lock();
    const auto tree = impl_->recorder.at(point, held).image(choice);
    held.unlock();
    fs::remove_all(target);
    write_folder(tree, crash::kRoot, target);
}

std::size_t CrashDisk::each_image(const Sweep& sweep, const std::function<void(const CrashImage&)>& check) const {
    ensure(sweep.step > 0, "a sweep moves on");
    const TempFolder home{fast_place(bytes_in(impl_->recorder.folder()))};
    const auto count = points();
    std::size_t made = 0;
    for (auto point = sweep.first; point < count;) {
        for (const auto& choice : choices_at(sweep, point, unsafe(point, sweep.names))) {
            CrashImage shown{point, choice.with(sweep.names), home / "image", {}};
            shown.text = fmt::format("image({}, {}): after \"{}\"", point, test::text(shown.choice), operation(point));
            image(point, shown.choice, shown.folder);
            check(shown);
            ++made;
        }
        point = point + 1 == count ? count : std::min(point + sweep.step, count - 1);
    }
    return made;
}

void CrashDisk::fail(Fault fault) { impl_->recorder.fail(std::move(fault)); }
void CrashDisk::clear_faults() { impl_->recorder.clear_faults(); }
std::uint64_t CrashDisk::faults_hit() const { return impl_->recorder.faults_hit(); }
void CrashDisk::limit_space(std::optional<std::uint64_t> bytes) { impl_->recorder.limit_space(bytes); }
void CrashDisk::report_free_space(std::optional<std::uint64_t> bytes) { impl_->recorder.report_free_space(bytes); }

}  // namespace rhizome::test
