// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Power failures and disk faults for code that does not know about them.
///
/// A program that links `rhizome_crash_disk_support` replaces libc's file calls (write, fdatasync, ftruncate, rename …)
/// for itself and for every shared library in it, LMDB included. Without a `CrashDisk` they only pass through. While
/// one lives, what is done below its folder is done for real and also written into a trace; from the trace come
/// *images*: folders as they may look after the power failed at some point.
///
/// The disk that is modelled
/// - A write is safe after a successful fdatasync or fsync of its file that began after the write returned (through any
///   descriptor), or when it returns if its descriptor has O_DSYNC or O_SYNC. Such a write makes only itself safe, with
///   the sectors it touches; in the trace it is two operations, between which the power may fail. So are ftruncate and
///   fallocate: a size is safe after the next fdatasync.
/// - Until then each 512-byte sector stands, independently of all others, as after any of the writes that touched it,
/// or
///   as before them. A sector is never torn (except by `Choice::torn_last`) and holds what the page cache held: of two
///   writes into one sector the second is not there without the first.
/// - The size of a file is one more such thing: it may be old though data are new (they are cut off), or new though
/// data
///   are old (zeros). ext4 in its default mode would not show zeros or mix a lost truncation with later data; XFS and
///   POSIX may.
/// - Names (create, rename, link, unlink, mkdir, rmdir) are not part of a file. With `Names::Posix`, which is the
///   default, a name is safe after an fsync of its folder, and of several unsafe ones any may be missing, except that
///   what was done to one name happens in order. A rename is atomic. A file renamed before its data were synced may be
///   empty under the new name: ext4 has a remedy (auto_da_alloc), which is not modelled because POSIX has none.
/// - With `Names::Journal` names behave as on ext4 and XFS: they become safe in the order they were made, and a sync of
///   a new (or, for fsync, of a renamed) file saves its name and every earlier one.
/// - Nothing that was safe is ever lost, and a sector that nobody wrote since does not change.
///
/// What is not seen: stores into a shared writable mapping until msync (which then counts as a write and an fsync of
/// the whole file: parts of unsynced stores never show), stdio's buffered writes, io_uring, other processes, modes,
/// owners, symbolic links. `unseen()` tells which files were changed that way; a test should expect nothing there but
/// `lock.mdb`. Hard links become separate files in an image. copy_file_range and sendfile into a watched file are
/// refused, so that callers fall back to writing.
///
/// Threads: the traced program may use as many as it likes; so may callers of everything here. Construct when no thread
/// uses the folder yet, and stop or destroy when none does any more. A forked child is not traced.
///
///     TempFolder home;
///     CrashDisk disk{home / "store"};
///     for (…) { store.append(block); disk.mark(fmt::format("{}", height)); }
///     disk.stop();
///     disk.each_image({}, [&](const CrashImage& image) {
///         auto store = open(image.folder);          // must hold at least what disk.promised(image.point) says
///     });
namespace rhizome::test {

/// When names become safe; see above.
enum class Names : std::uint8_t { Posix, Journal };

/// What becomes of everything that was not safe at the moment of the power failure.
struct Choice {
    enum class Kind : std::uint8_t { None, All, Prefix, Subset, TornLast };

    Kind kind = Kind::None;
    std::uint64_t number = 0;  ///< operations, seed or bytes, as the kind says
    Names names = Names::Posix;

    /// All of it is lost.
    static Choice none() { return {Kind::None, 0}; }
    /// All of it is there.
    static Choice all() { return {Kind::All, 0}; }
    /// The first `operations` that were not safe are there whole, the others not at all.
    static Choice prefix(std::uint64_t operations) { return {Kind::Prefix, operations}; }
    /// Drawn from the seed: some seeds keep or lose whole operations, others single sectors; some most, some few.
    static Choice subset(std::uint64_t seed) { return {Kind::Subset, seed}; }
    /// All of it is there, but of the last unsafe write only the first `bytes`, in the middle of a sector if need be.
    static Choice torn_last(std::uint64_t bytes) { return {Kind::TornLast, bytes}; }

    [[nodiscard]] Choice with(Names chosen) const { return {kind, number, chosen}; }

    friend bool operator==(const Choice&, const Choice&) = default;
};

/// As it is written in code: `Choice::subset(17)`.
std::string text(const Choice& choice);

/// Where folders for images, and traced ones, are best made: a file system in memory if there is one with room for
/// `bytes` several times, else where temporary files go. Many times faster on a machine whose disk is busy.
std::filesystem::path fast_place(std::uintmax_t bytes = 64u << 20);

/// Something the test remembered: when the first `point` operations had been done.
struct Mark {
    std::size_t point = 0;
    std::string label;
};

/// An operation that shall fail. The real operation is not done, except as said.
struct Fault {
    enum class On : std::uint8_t {
        Write,     ///< write, pwrite, writev …
        Sync,      ///< fdatasync, fsync, msync, and writes to O_DSYNC descriptors: those are done, then fail
        Allocate,  ///< fallocate, posix_fallocate
        Resize,    ///< ftruncate, truncate, open with O_TRUNC
        Name,      ///< creating, renaming, linking, unlinking; mkdir and rmdir
    };

    On on = On::Write;
    std::string name_has{};   ///< only files whose path below the folder contains this; a rename matches by either name
    std::uint64_t nth = 1;    ///< counted among the matching operations from when the fault was set
    std::uint64_t times = 1;  ///< this many in a row; `kForEver` until cleared
    int error = EIO;
    /// For Write: no error, but at most this many bytes are written. 0 would be no progress, so it must be more.
    std::optional<std::size_t> short_write{};
    /// For Sync: what the sync should have saved will never reach the disk, though the cache still shows it and the
    /// next sync succeeds (what Linux does after EIO). A later write into the same sector saves that sector.
    bool dirty_lost = false;

    static constexpr std::uint64_t kForEver = ~std::uint64_t{0};
};

/// A folder as it may stand after a power failure, handed to a test and removed afterwards.
struct CrashImage {
    std::size_t point = 0;
    Choice choice;
    std::filesystem::path folder;
    /// What makes this image again and what had been done last, for failure messages.
    std::string text;
};

/// Which images `each_image` makes.
struct Sweep {
    std::size_t first = 0;     ///< the first point
    std::size_t step = 1;      ///< every `step`th point; the last one always
    std::size_t subsets = 4;   ///< seeds for each point
    std::size_t prefixes = 4;  ///< at most this many prefixes for each point, spread evenly
    std::vector<std::uint64_t> torn{1, 700};
    Names names = Names::Posix;
    std::uint64_t seed = 1;
};

class CrashDisk {
public:
    struct Options {
        /// Whether syncs of what is watched are really done. Nothing depends on it but time: the power does not really
        /// fail.
        bool real_syncs = false;
        /// Called while a sync of a watched file or folder is under way, before it has saved anything: what is written
        /// here, or by other threads while this waits, the sync does not save. It must not sync itself.
        std::function<void()> during_sync{};
    };

    /// Starts the trace. `folder` exists, or is made; what is in it counts as safe. One at a time in a process.
    explicit CrashDisk(const std::filesystem::path& folder) : CrashDisk(folder, Options{}) {}
    CrashDisk(const std::filesystem::path& folder, Options options);
    CrashDisk(const CrashDisk&) = delete;
    CrashDisk& operator=(const CrashDisk&) = delete;
    ~CrashDisk();

    /// Ends the trace, the faults and the pretended space. Images can still be made.
    void stop();

    // ---- the trace -------------------------------------------------------------------------------------------------
    /// Remembers that something was promised to somebody by now.
    void mark(std::string label);
    [[nodiscard]] std::vector<Mark> marks() const;
    /// The labels of all marks set when at most `point` operations had been done: a crash at `point` must keep these.
    [[nodiscard]] std::vector<std::string> promised(std::size_t point) const;

    /// How many points there are, 0 … points() − 1. At point p the first p operations of the trace have been done.
    [[nodiscard]] std::size_t points() const;
    /// The operation before `point`, for people: `write data.mdb 4096+512`.
    [[nodiscard]] std::string operation(std::size_t point) const;
    /// How many operations are not safe at `point`: the largest useful `Choice::prefix`.
    [[nodiscard]] std::size_t unsafe(std::size_t point, Names names = Names::Posix) const;
    /// Files below the folder that are not what the trace makes of them (see above), sorted.
    [[nodiscard]] std::vector<std::string> unseen() const;

    // ---- images ----------------------------------------------------------------------------------------------------
    /// Makes `target` (whatever was there goes away; not below the traced folder) what the folder may be after a power
    /// failure at `point`. The same arguments give the same files. Cheapest with points in rising order.
    void image(std::size_t point, const Choice& choice, const std::filesystem::path& target) const;

    /// Makes many images one after another, in memory if there is room, and hands each to `check`. Returns how many.
    std::size_t each_image(const Sweep& sweep, const std::function<void(const CrashImage&)>& check) const;

    // ---- faults ----------------------------------------------------------------------------------------------------
    void fail(Fault fault);
    void clear_faults();
    /// How many operations failed or were cut short because of `fail` (not because of `limit_space`).
    [[nodiscard]] std::uint64_t faults_hit() const;

    /// From now on only this much new space can be allocated, in blocks of 4 KiB: writes and allocations beyond it fail
    /// with ENOSPC (a write that fits in part is short); blocks a file has can be overwritten; deleting gives space
    /// back. A hole made by ftruncate has no blocks. statvfs reports what is left. Nothing: no limit.
    void limit_space(std::optional<std::uint64_t> bytes);
    /// What statvfs shall report as free, without limiting anything. Nothing: the limit above, else the truth.
    void report_free_space(std::optional<std::uint64_t> bytes);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rhizome::test
