// SPDX-License-Identifier: Apache-2.0
#include "store/detail/lmdb.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <lmdb.h>

#include "base/ensure.h"
#include "runtime/descriptor.h"
#include "runtime/os_error.h"

namespace rhizome::store::detail {
namespace {

/// Address space, not memory and not disk: the file grows as it is filled.
constexpr std::size_t kMapBytes = std::size_t{1} << 38;  // 256 GiB
constexpr unsigned kReadersMax = 126;
/// How much of the file may be mapped. Reading a page maps what the cache has around it, 64 KiB in all, so this is what
/// some dozens of lookups bring.
constexpr std::uint64_t kMappedBytesMax = 3u << 20;
/// So often is looked how much it is, which takes about as long as a lookup.
constexpr std::uint64_t kTouchesUnseen = 64;
constexpr std::uintptr_t kMappedAtOnce = 64u << 10;
/// Each changes a page or two: 16 MiB or so are kept for the next transaction. A block of 3,000 transactions is below:
/// opening the file again after each of those cost about a percent of all processor time under load.
constexpr std::uint64_t kChangedMax = 4'096;

MDB_val value_of(ByteView bytes) { return {bytes.size(), const_cast<std::uint8_t*>(bytes.data())}; }
ByteView view_of(const MDB_val& value) { return {static_cast<const std::uint8_t*>(value.mv_data), value.mv_size}; }

Error lmdb_error(std::string_view doing, const std::filesystem::path& path, int code) {
    if (code > 0) return runtime::os_error(fmt::format("{} {}", doing, path.native()), code);
    const ErrorKind kind =
        code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND || code == MDB_INVALID  ? ErrorKind::Corrupt
        : code == MDB_MAP_FULL || code == MDB_READERS_FULL || code == MDB_TXN_FULL ? ErrorKind::Exhausted
        : code == MDB_VERSION_MISMATCH                                             ? ErrorKind::Unsupported
                                                                                   : ErrorKind::Failed;
    return {kind, fmt::format("cannot {} {}: {}", doing, path.native(), ::mdb_strerror(code))};
}

/// A write that found too little room for all of it is an I/O error for LMDB. What it had written then fills the disk,
/// which can be seen. Should the disk really have failed besides, nothing is lost: the transaction did not come about.
Error write_error(const std::filesystem::path& path, int code) {
    constexpr std::uint64_t kRoomMax = 1u << 20;
    struct statvfs facts {};
    if (code == EIO && ::statvfs(path.c_str(), &facts) == 0 &&
        static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize < kRoomMax)
        code = ENOSPC;
    return lmdb_error("write to", path, code);
}

/// Where LMDB has mapped its file, which it tells nobody; null when the system does not tell either.
void* find_map(MDB_env* environment) {
    int descriptor = -1;
    struct stat facts {};
    if (::mdb_env_get_fd(environment, &descriptor) != 0 || ::fstat(descriptor, &facts) != 0) return nullptr;
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t offset = 0;
        unsigned long inode = 0;
        // The size is no other mapping's, the inode tells apart the files of several environments.
        // NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers
        if (std::sscanf(line.c_str(), "%zx-%zx %*s %zx %*s %lu", &begin, &end, &offset, &inode) == 4 &&
            end - begin == kMapBytes && offset == 0 && inode == facts.st_ino)
            return reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
    }
    return nullptr;
}

}  // namespace

// ---- the file -------------------------------------------------------------------------------------------------------

/// An LMDB file, open or about to be opened again, and who is using it.
struct OpenFile {
    struct NamedTable {
        std::string name;
        unsigned flags;
        Table table;
    };
    std::filesystem::path folder;
    std::filesystem::path path;
    unsigned tables_max;
    std::vector<NamedTable> tables{};
    std::mutex mutex{};
    MDB_env* handle = nullptr;
    void* map = nullptr;
    std::size_t users = 0;  ///< transactions under way
    std::atomic<std::uint64_t> touches{0};
    std::atomic<std::uint64_t> other_bytes{0};  ///< of files that are mapped besides
    runtime::Descriptor counts{};
    bool renewal_due = false;
    /// After a write that failed LMDB may refuse all others, with good reason: it shall not forget that.
    bool write_failed = false;
    std::uint64_t renewals = 0;

    OpenFile(const std::filesystem::path& folder_in, unsigned tables_max_in)
        : folder(folder_in),
          path(folder_in / "data.mdb"),
          tables_max(tables_max_in),
          counts(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { close(); }

    Result<void> open();
    void close() noexcept {
        map = nullptr;
        if (handle != nullptr) ::mdb_env_close(std::exchange(handle, nullptr));
    }
    /// The handle stays good until `leave`.
    Result<MDB_env*> enter();
    void leave(std::uint64_t changed_by_it) noexcept;
    /// Somebody looked at a page, probably another one than before.
    void touch() noexcept {
        if (touches.fetch_add(1, std::memory_order_relaxed) % kTouchesUnseen == kTouchesUnseen - 1) bound_pages();
    }

private:
    Result<void> open_tables();
    void bound_pages() noexcept;
    [[nodiscard]] std::optional<std::uint64_t> file_bytes() const noexcept;
};

Result<void> OpenFile::open() {
    if (const int code = ::mdb_env_create(&handle); code != 0) return Fail{lmdb_error("open", path, code)};
    (void)::mdb_env_set_mapsize(handle, kMapBytes);
    (void)::mdb_env_set_maxdbs(handle, tables_max);
    (void)::mdb_env_set_maxreaders(handle, kReadersMax);
    // Readers are our threads, and one may have several transactions: slots go with transactions, not with threads.
    // No read-ahead: what is looked up lies all over the file.
    const int code = ::mdb_env_open(handle, folder.c_str(), MDB_NOTLS | MDB_NORDAHEAD, 0600);
    Result<void> opened = code == 0 ? open_tables() : Result<void>{Fail{lmdb_error("open", path, code)}};
    if (!opened) close();
    map = opened ? find_map(handle) : nullptr;
    other_bytes = file_bytes().value_or(0);
    return opened;
}

/// The tables that were open before, under the numbers they had: LMDB gives them out in order.
Result<void> OpenFile::open_tables() {
    if (tables.empty()) return {};
    MDB_txn* transaction = nullptr;
    int code = ::mdb_txn_begin(handle, nullptr, MDB_RDONLY, &transaction);
    if (code != 0) return Fail{lmdb_error("read", path, code)};
    for (const NamedTable& each : tables) {
        MDB_dbi table = 0;
        code = ::mdb_dbi_open(transaction, each.name.c_str(), each.flags, &table);
        if (code != 0) {
            ::mdb_txn_abort(transaction);
            return Fail{lmdb_error("open a table of", path, code)};
        }
        ensure(table == each.table, "a table keeps its number");
    }
    code = ::mdb_txn_commit(transaction);
    if (code != 0) return Fail{lmdb_error("read", path, code)};
    return {};
}

Result<MDB_env*> OpenFile::enter() {
    const std::lock_guard lock{mutex};
    if (handle == nullptr) TRY(open());
    ++users;
    return handle;
}

void OpenFile::leave(std::uint64_t changed_by_it) noexcept {
    const std::lock_guard lock{mutex};
    if (changed_by_it > kChangedMax) renewal_due = true;
    if (--users > 0 || !renewal_due || write_failed) return;
    renewal_due = false;
    ++renewals;
    close();
    (void)open();  // should it fail, whoever needs it next tries again and is told
}

/// The memory of this process that is pages of files.
std::optional<std::uint64_t> OpenFile::file_bytes() const noexcept {
    std::array<char, 128> text{};
    std::uint64_t pages = 0;
    if (::pread(counts.get(), text.data(), text.size() - 1, 0) <= 0 ||
        std::sscanf(text.data(), "%*u %*u %" SCNu64, &pages) != 1)  // NOLINT(cert-err34-c): the kernel's own numbers
        return std::nullopt;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Lets go of mapped pages when they are many. Nobody who looks there notices: they are shared with the file, and come
/// back. Where the system tells less than Linux does, opening the file again has to do.
void OpenFile::bound_pages() noexcept {
    const auto now = file_bytes();
    if (now && *now < other_bytes + kMappedBytesMax) return;
    if (map == nullptr) {
        const std::lock_guard lock{mutex};
        renewal_due = true;
        return;
    }
    (void)::madvise(map, kMapBytes, MADV_DONTNEED);
    other_bytes = file_bytes().value_or(0);
}

// ---- transactions ---------------------------------------------------------------------------------------------------

void Transaction::leave() noexcept {
    if (handle_ != nullptr) ::mdb_txn_abort(std::exchange(handle_, nullptr));
    if (file_ != nullptr) std::exchange(file_, nullptr)->leave(changed_);
}

Result<std::optional<ByteView>> Transaction::get(Table table, ByteView key) const {
    MDB_val k = value_of(key);
    MDB_val v{};
    file_->touch();
    const int code = ::mdb_get(handle_, table, &k, &v);
    if (code == MDB_NOTFOUND) return std::optional<ByteView>{};
    if (code != 0) return Fail{lmdb_error("read", file_->path, code)};
    return std::optional{view_of(v)};
}

Result<void> Transaction::put(Table table, ByteView key, ByteView value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    ++changed_;
    file_->touch();
    if (const int code = ::mdb_put(handle_, table, &k, &v, 0); code != 0) return Fail{write_error(file_->path, code)};
    return {};
}

Result<void> Transaction::append(Table table, ByteView key, ByteView value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    ++changed_;
    file_->touch();
    if (const int code = ::mdb_put(handle_, table, &k, &v, MDB_APPEND); code != 0)
        return Fail{write_error(file_->path, code)};
    return {};
}

Result<void> Transaction::erase(Table table, ByteView key) {
    MDB_val k = value_of(key);
    ++changed_;
    file_->touch();
    const int code = ::mdb_del(handle_, table, &k, nullptr);
    if (code != 0 && code != MDB_NOTFOUND) return Fail{write_error(file_->path, code)};
    return {};
}

Result<void> Transaction::erase(Table table, ByteView key, ByteView value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    ++changed_;
    file_->touch();
    const int code = ::mdb_del(handle_, table, &k, &v);
    if (code != 0 && code != MDB_NOTFOUND) return Fail{write_error(file_->path, code)};
    return {};
}

Result<void> Transaction::clear(Table table) {
    changed_ += kChangedMax + 1;  // it looks at all of the table's pages
    if (const int code = ::mdb_drop(handle_, table, 0); code != 0) return Fail{write_error(file_->path, code)};
    return {};
}

Result<std::uint64_t> Transaction::count(Table table) const {
    MDB_stat facts{};
    if (const int code = ::mdb_stat(handle_, table, &facts); code != 0)
        return Fail{lmdb_error("read", file_->path, code)};
    return facts.ms_entries;
}

Result<void> Transaction::commit() {
    ensure(handle_ != nullptr, "a transaction is committed once");
    // LMDB frees the handle whatever comes of it.
    const int code = ::mdb_txn_commit(std::exchange(handle_, nullptr));
    Result<void> done;
    if (code != 0) done = Fail{write_error(file_->path, code)};
    {
        const std::lock_guard lock{file_->mutex};
        file_->write_failed = code != 0;
    }
    leave();
    return done;
}

// ---- walks ----------------------------------------------------------------------------------------------------------

Result<Walk> Walk::open(const Transaction& transaction, Table table, ByteView from) {
    Walk walk;
    walk.transaction_ = &transaction;
    if (const int code = ::mdb_cursor_open(transaction.handle_, table, &walk.cursor_); code != 0)
        return Fail{lmdb_error("read", transaction.file_->path, code)};
    transaction.file_->touch();
    TRY(walk.move(from.empty() ? MDB_FIRST : MDB_SET_RANGE, from));
    return walk;
}

Walk::~Walk() {
    if (cursor_ != nullptr) ::mdb_cursor_close(cursor_);
}

Result<void> Walk::next() { return move(MDB_NEXT, {}); }

Result<void> Walk::move(unsigned operation, ByteView from) {
    MDB_val k = value_of(from);
    MDB_val v{};
    const int code = ::mdb_cursor_get(cursor_, &k, &v, static_cast<MDB_cursor_op>(operation));
    row_.reset();
    if (code == MDB_NOTFOUND) return {};
    if (code != 0) return Fail{lmdb_error("read", transaction_->file_->path, code)};
    // Rows follow each other in the table, not in the file: where a page ends, the next one is anywhere.
    const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(v.mv_data) / kMappedAtOnce;
    if (std::exchange(place_, place) != place) transaction_->file_->touch();
    row_ = Row{.key = view_of(k), .value = view_of(v)};
    return {};
}

// ---- environments ---------------------------------------------------------------------------------------------------

Environment::Environment(std::unique_ptr<OpenFile> file) : file_(std::move(file)) {}
Environment::Environment(Environment&& other) noexcept = default;
Environment::~Environment() = default;

Result<Environment> Environment::open(const std::filesystem::path& folder, unsigned tables_max) {
    auto file = std::make_unique<OpenFile>(folder, tables_max);
    TRY(file->open());
    return Environment{std::move(file)};
}

Result<Table> Environment::table(const char* name, bool many) {
    TRY(auto transaction, write());
    MDB_dbi table = 0;
    const unsigned flags = many ? MDB_DUPSORT | MDB_DUPFIXED : 0u;
    if (const int code = ::mdb_dbi_open(transaction.handle_, name, MDB_CREATE | flags, &table); code != 0)
        return Fail{lmdb_error("open a table of", path(), code)};
    TRY(transaction.commit());
    const std::lock_guard lock{file_->mutex};
    file_->tables.push_back({.name = name, .flags = flags, .table = table});
    return table;
}

Result<Transaction> Environment::begin(bool read_only) const {
    TRY(MDB_env* const environment, file_->enter());
    MDB_txn* handle = nullptr;
    const int code = ::mdb_txn_begin(environment, nullptr, read_only ? MDB_RDONLY : 0, &handle);
    Transaction transaction{handle, *file_};
    if (code != 0) return Fail{read_only ? lmdb_error("read", path(), code) : write_error(path(), code)};
    return transaction;
}

const std::filesystem::path& Environment::path() const { return file_->path; }

std::uint64_t Environment::renewals() const {
    const std::lock_guard lock{file_->mutex};
    return file_->renewals;
}

}  // namespace rhizome::store::detail
