// SPDX-License-Identifier: Apache-2.0
#include "store/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include <fmt/core.h>

#include "base/ids.h"
#include "runtime/files.h"
#include "runtime/os_error.h"
#include "store/unfinished.h"

namespace rhizome::store {
namespace {

constexpr std::string_view kFormatMagic = "rhizome-store ";

/// Takes the folder for this process, for as long as the descriptor lives: also a killed process lets go.
Result<runtime::Descriptor> take(const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / "lock";
    runtime::Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (!file) return Fail{runtime::os_error("open " + path.native(), errno)};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return Fail{runtime::os_error("lock " + path.native(), errno)};
        std::array<char, 32> text{};
        const ssize_t got = ::pread(file.get(), text.data(), text.size() - 1, 0);
        std::string holder{text.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
        while (!holder.empty() && holder.back() == '\n') holder.pop_back();
        return fail(ErrorKind::Conflict,
                    fmt::format("the data directory {} is in use by another process{}{}\nstop that one first, or use "
                                "another directory (--data)",
                                folder.native(), holder.empty() ? "" : ", pid ", holder));
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    // Only for the message above; whoever cannot write it still holds the lock.
    if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), pid.data(), pid.size(), 0) < 0) (void)errno;
    return file;
}

Error no_chain(const std::filesystem::path& path) {
    return {ErrorKind::NotFound, fmt::format("there is no chain in {}\nmake one with: rhizome init --data {}",
                                             path.native(), path.native())};
}

}  // namespace

Result<DataFolder> DataFolder::make(const std::filesystem::path& path) {
    TRY(runtime::make_folder(path, 0700));
    DataFolder folder;
    folder.path_ = path;
    TRY(folder.lock_, take(path));
    std::error_code fault;
    if (std::filesystem::exists(folder.format(), fault))
        return fail(ErrorKind::Conflict, fmt::format("{} already holds a chain\nlook at it with: rhizome chain show "
                                                     "--data {}",
                                                     path.native(), path.native()));
    for (const auto& part : {folder.log(), folder.index()})
        if (std::filesystem::exists(part, fault))
            return fail(
                ErrorKind::Conflict,
                fmt::format("{} exists, but {} does not say what it is: an interrupted init left it, or the file "
                            "\"format\" was lost\nmove it away, or choose another directory",
                            part.native(), path.native()));
    for (const auto& part : {folder.log(), folder.index()}) {
        const auto made = runtime::make_folder(part, 0700);
        if (made) continue;
        std::filesystem::remove(folder.log(), fault);
        std::filesystem::remove(folder.index(), fault);
        return Fail{made.error()};
    }
    return folder;
}

Result<void> discard_unfinished(const std::filesystem::path& path) {
    std::error_code fault;
    if (!std::filesystem::exists(path, fault)) return {};
    const auto in = [&](const char* name) { return path / name; };
    TRY(const auto lock, take(path));
    if (std::filesystem::exists(in("format"), fault))
        return fail(ErrorKind::Conflict, fmt::format("{} holds a chain: nothing of it is taken away", path.native()));
    for (const char* name : {"log", "index", "place"}) {
        std::filesystem::remove_all(in(name), fault);
        if (fault)
            return fail(ErrorKind::Failed, fmt::format("{} cannot be removed: {}\nremove it by hand, then try again",
                                                       in(name).native(), fault.message()));
    }
    return {};
}

Result<void> DataFolder::finish(const ledger::ChainId& chain) {
    chain_ = chain;
    return runtime::write_new_file(format(), fmt::format("{}{}\n{}\n", kFormatMagic, kSchema, chain.hex()), 0600);
}

Result<DataFolder> DataFolder::open(const std::filesystem::path& path) {
    DataFolder folder;
    folder.path_ = path;
    const std::filesystem::path format = folder.format();
    auto read = runtime::read_file(format, 4096);
    if (!read && read.error().kind == ErrorKind::NotFound) return Fail{no_chain(path)};
    if (!read) return Fail{read.error()};

    const auto corrupt = [&](std::size_t offset, std::string_view what) {
        return fail(ErrorKind::Corrupt, fmt::format("{} is damaged at offset {}: {}\nits two lines are `{}{}` and the "
                                                    "chain id",
                                                    format.native(), offset, what, kFormatMagic, kSchema));
    };
    std::string_view text = *read;
    if (!text.starts_with(kFormatMagic)) return corrupt(0, "it does not begin as it should");
    text.remove_prefix(kFormatMagic.size());
    std::uint32_t schema = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), schema);
    if (fault != std::errc{} || end == text.data() + text.size() || *end != '\n')
        return corrupt(kFormatMagic.size(), "no schema number stands there");
    if (schema > kSchema)
        return fail(
            ErrorKind::Unsupported,
            fmt::format("{} was written by a newer rhizome (schema {}; this one knows up to {})\nuse that version, "
                        "or restore a backup into another directory",
                        path.native(), schema, kSchema));
    if (schema != kSchema) return corrupt(kFormatMagic.size(), fmt::format("there is no schema {}", schema));
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    if (!text.ends_with('\n')) return corrupt(read->size() - text.size(), "the second line has no end");
    text.remove_suffix(1);
    const auto chain = ledger::ChainId::from_hex(text);
    if (!chain) return corrupt(read->size() - text.size() - 1, "no chain id stands there");

    folder.chain_ = *chain;
    TRY(folder.lock_, take(path));
    return folder;
}

Result<std::uint64_t> DataFolder::free_bytes() const {
    struct statvfs facts {};
    if (::statvfs(path_.c_str(), &facts) != 0) return Fail{runtime::os_error("look at " + path_.native(), errno)};
    return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

}  // namespace rhizome::store
