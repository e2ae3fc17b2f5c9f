// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "support/crash_disk.h"

/// The trace of a `CrashDisk` and what a disk makes of it. Nothing here touches files.
namespace rhizome::test::crash {

/// A file or folder for as long as it exists, whatever its names. 0 is the watched folder.
using Node = std::size_t;
constexpr Node kRoot = 0;
constexpr std::uint64_t kSectorBytes = 512;
constexpr std::uint64_t kPageBytes = 4096;

/// The bytes of a file. Pages of zeros take no memory and copies share pages, so a large preallocated file is cheap.
class Content {
public:
    using Page = std::array<std::uint8_t, kPageBytes>;

    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Shrinking also forgets what was behind the new end.
    void resize(std::uint64_t size);
    /// Grows to at least `size`; what is stored there already shows.
    void cover(std::uint64_t size) { size_ = size_ < size ? size : size_; }
    /// Grows as needed.
    void write(std::uint64_t offset, ByteView bytes);
    /// Takes the bytes [begin, end) of `other` without changing the size; they show once the size covers them.
    void copy(const Content& other, std::uint64_t begin, std::uint64_t end);
    /// Zeros where there is nothing.
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const;
    /// Pages that may hold something, in order.
    [[nodiscard]] const std::map<std::uint64_t, std::shared_ptr<const Page>>& pages() const { return pages_; }

private:
    Page& page_for_writing(std::uint64_t number);
    void store(std::uint64_t offset, ByteView bytes);

    std::uint64_t size_ = 0;
    std::map<std::uint64_t, std::shared_ptr<const Page>> pages_;
};

using Name = std::pair<Node, std::string>;  ///< a name in a folder

enum class Act : std::uint8_t {
    Write,
    Resize,
    Allocate,
    Sync,
    FailedSync,
    SyncAll,
    Create,
    MakeFolder,
    Rename,
    Remove
};

struct Operation {
    Act act = Act::Write;
    Node node = 0;             ///< the file, or the folder that was synced
    std::uint64_t offset = 0;  ///< Write
    Bytes bytes{};             ///< Write
    std::uint64_t size = 0;    ///< Resize
    bool grew = false;         ///< changed the size
    bool lost = false;         ///< a FailedSync after which nothing that it covered will ever be safe
    bool whole = false;        ///< a Sync by fsync rather than fdatasync
    bool one_write = false;    ///< a Sync or FailedSync of the operation before it only (O_DSYNC)
    std::size_t covers = 0;    ///< Sync: how many operations had been done when it began
    std::vector<std::pair<Name, std::optional<Node>>> names{};  ///< what the names mean afterwards
    std::string text{};

    [[nodiscard]] bool on_data() const { return act == Act::Write || act == Act::Resize; }
    [[nodiscard]] bool on_names() const { return !names.empty(); }
};

/// What is on the disk for certain and what is not, after some number of operations. Walks forward only.
class Replay {
public:
    struct Tree {
        std::map<Name, Node> names;
        std::map<Node, Content> files;
    };

    /// `trace` is borrowed and may grow.
    Replay(const std::vector<Operation>& trace, Tree base);

    [[nodiscard]] std::size_t position() const { return position_; }
    void advance_to(std::size_t point);

    /// The indexes of all operations that are not safe, in order.
    [[nodiscard]] std::vector<std::size_t> unsafe(Names names) const;
    [[nodiscard]] Tree image(const Choice& choice) const;
    /// What programs see without a crash.
    [[nodiscard]] Tree live() const;

private:
    struct File {
        Content safe;
        Content seen;                        ///< what the page cache held before `pending`
        std::vector<std::size_t> pending{};  ///< in order; those in `synced_` and `lost_` among them
    };
    struct PendingNames {
        std::size_t index = 0;
        bool posix = false;    ///< safe by the rule of Names::Posix
        bool journal = false;  ///< safe by the rule of Names::Journal
        [[nodiscard]] bool safe(Names names) const { return names == Names::Posix ? posix : journal; }
    };
    class Fate;

    void sync(const Operation& operation);
    void sync_write(const Operation& operation);
    void absorb(File& file, std::size_t covers, bool lost);
    void commit_file(Node node, std::size_t covers, bool whole);
    void commit_folder(Node folder, std::size_t covers);
    void commit_journal(std::size_t covers);
    void commit_with_earlier(std::size_t position);
    void forget_committed();

    const std::vector<Operation>& trace_;
    std::size_t position_ = 0;
    std::map<Name, Node> safe_names_;
    std::map<Node, File> files_;
    std::vector<PendingNames> pending_names_;
    std::set<std::size_t> synced_;  ///< writes that were synced on their own, before what was pending
    std::set<std::size_t> lost_;    ///< writes whose own sync failed, so that they never will be safe
};

}  // namespace rhizome::test::crash
