// SPDX-License-Identifier: Apache-2.0
#include "store/detail/lmdb.h"

#include <sys/mman.h>
#include <sys/statvfs.h>

#include <cerrno>

#include <fmt/core.h>
#include <lmdb.h>

#include "base/ensure.h"
#include "runtime/os_error.h"

namespace rhizome::store::detail {
namespace {

/// Address space, not memory and not disk: the file grows as it is filled.
constexpr std::size_t kMapBytes = std::size_t{1} << 38;  // 256 GiB
constexpr unsigned kReadersMax = 126;

MDB_val value_of(ByteView bytes) { return {bytes.size(), const_cast<std::uint8_t*>(bytes.data())}; }
ByteView view_of(const MDB_val& value) { return {static_cast<const std::uint8_t*>(value.mv_data), value.mv_size}; }

Error error_of(std::string_view doing, const std::filesystem::path& path, int code) {
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
    return error_of("write to", path, code);
}

}  // namespace

// ---- transactions ---------------------------------------------------------------------------------------------------

Transaction::~Transaction() {
    if (handle_ != nullptr) ::mdb_txn_abort(handle_);
}

Result<std::optional<ByteView>> Transaction::get(Table table, ByteView key) const {
    MDB_val k = value_of(key);
    MDB_val v{};
    const int code = ::mdb_get(handle_, table, &k, &v);
    if (code == MDB_NOTFOUND) return std::optional<ByteView>{};
    if (code != 0) return Fail{error_of("read", *path_, code)};
    return std::optional{view_of(v)};
}

Result<void> Transaction::put(Table table, ByteView key, ByteView value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    if (const int code = ::mdb_put(handle_, table, &k, &v, 0); code != 0) return Fail{write_error(*path_, code)};
    return {};
}

Result<void> Transaction::append(Table table, ByteView key, ByteView value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    if (const int code = ::mdb_put(handle_, table, &k, &v, MDB_APPEND); code != 0)
        return Fail{write_error(*path_, code)};
    return {};
}

Result<void> Transaction::erase(Table table, ByteView key) {
    MDB_val k = value_of(key);
    const int code = ::mdb_del(handle_, table, &k, nullptr);
    if (code != 0 && code != MDB_NOTFOUND) return Fail{write_error(*path_, code)};
    return {};
}

Result<void> Transaction::erase(Table table, ByteView key, ByteView value) {
    MDB_val k = value_of(key);
    MDB_val v = value_of(value);
    const int code = ::mdb_del(handle_, table, &k, &v);
    if (code != 0 && code != MDB_NOTFOUND) return Fail{write_error(*path_, code)};
    return {};
}

Result<void> Transaction::clear(Table table) {
    if (const int code = ::mdb_drop(handle_, table, 0); code != 0) return Fail{write_error(*path_, code)};
    return {};
}

Result<std::uint64_t> Transaction::count(Table table) const {
    MDB_stat facts{};
    if (const int code = ::mdb_stat(handle_, table, &facts); code != 0) return Fail{error_of("read", *path_, code)};
    return facts.ms_entries;
}

Result<void> Transaction::commit() {
    ensure(handle_ != nullptr, "a transaction is committed once");
    // LMDB frees the handle whatever comes of it.
    if (const int code = ::mdb_txn_commit(std::exchange(handle_, nullptr)); code != 0)
        return Fail{write_error(*path_, code)};
    return {};
}

// ---- walks ----------------------------------------------------------------------------------------------------------

Result<Walk> Walk::open(const Transaction& transaction, Table table, ByteView from) {
    Walk walk;
    walk.path_ = transaction.path_;
    if (const int code = ::mdb_cursor_open(transaction.handle_, table, &walk.cursor_); code != 0)
        return Fail{error_of("read", *walk.path_, code)};
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
    if (code != 0) return Fail{error_of("read", *path_, code)};
    row_ = Row{.key = view_of(k), .value = view_of(v)};
    return {};
}

// ---- environments ---------------------------------------------------------------------------------------------------

Result<Environment> Environment::open(const std::filesystem::path& folder, unsigned tables_max) {
    Environment made;
    made.path_ = std::make_unique<std::filesystem::path>(folder / "data.mdb");
    if (const int code = ::mdb_env_create(&made.handle_); code != 0) return Fail{error_of("open", *made.path_, code)};
    (void)::mdb_env_set_mapsize(made.handle_, kMapBytes);
    (void)::mdb_env_set_maxdbs(made.handle_, tables_max);
    (void)::mdb_env_set_maxreaders(made.handle_, kReadersMax);
    // Readers are our threads, and one may have several transactions: slots go with transactions, not with threads.
    // No read-ahead: what is looked up lies all over the file.
    if (const int code = ::mdb_env_open(made.handle_, folder.c_str(), MDB_NOTLS | MDB_NORDAHEAD, 0600); code != 0)
        return Fail{error_of("open", *made.path_, code)};
    return made;
}

Environment::~Environment() {
    if (handle_ != nullptr) ::mdb_env_close(handle_);
}

Result<Table> Environment::table(const char* name, bool many) {
    TRY(auto transaction, write());
    MDB_dbi table = 0;
    const unsigned flags = MDB_CREATE | (many ? MDB_DUPSORT | MDB_DUPFIXED : 0u);
    if (const int code = ::mdb_dbi_open(transaction.handle_, name, flags, &table); code != 0)
        return Fail{error_of("open a table of", *path_, code)};
    TRY(transaction.commit());
    return table;
}

Result<Transaction> Environment::read() const {
    MDB_txn* handle = nullptr;
    if (const int code = ::mdb_txn_begin(handle_, nullptr, MDB_RDONLY, &handle); code != 0)
        return Fail{error_of("read", *path_, code)};
    return Transaction{handle, *path_};
}

Result<Transaction> Environment::write() {
    MDB_txn* handle = nullptr;
    if (const int code = ::mdb_txn_begin(handle_, nullptr, 0, &handle); code != 0)
        return Fail{write_error(*path_, code)};
    return Transaction{handle, *path_};
}

void Environment::forget_pages() const {
    MDB_envinfo facts{};
    MDB_stat shape{};
    if (::mdb_env_info(handle_, &facts) != 0 || ::mdb_env_stat(handle_, &shape) != 0) return;
    // Shared and read-only: nothing can be lost, pages come back from the cache when they are read again.
    (void)::madvise(facts.me_mapaddr, (facts.me_last_pgno + 1) * shape.ms_psize, MADV_DONTNEED);
}

}  // namespace rhizome::store::detail
