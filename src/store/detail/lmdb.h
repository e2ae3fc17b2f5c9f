// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

struct MDB_env;
struct MDB_txn;
struct MDB_cursor;

/// LMDB with owners and `Result`: what the index needs of it and no more.
///
/// LMDB trusts its file. It must not be opened on a file that something other than LMDB has changed: `index_seal.h`
/// keeps that from happening.
namespace rhizome::store::detail {

using Table = unsigned;  // MDB_dbi

/// One reading or writing transaction. Views it returns live as long as it (writing: until its next change).
/// A writing one that is dropped without `commit` leaves no trace. Confined to one thread.
class Transaction {
public:
    Transaction(Transaction&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), path_(other.path_) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();

    /// The (first) value of a key; nothing when there is none.
    [[nodiscard]] Result<std::optional<ByteView>> get(Table table, ByteView key) const;
    Result<void> put(Table table, ByteView key, ByteView value);
    /// For keys that come in order into an empty table: fills pages fully.
    Result<void> append(Table table, ByteView key, ByteView value);
    /// All values of the key; none is no error.
    Result<void> erase(Table table, ByteView key);
    /// One of several values.
    Result<void> erase(Table table, ByteView key, ByteView value);
    Result<void> clear(Table table);
    [[nodiscard]] Result<std::uint64_t> count(Table table) const;
    Result<void> commit();

private:
    friend class Environment;
    friend class Walk;
    Transaction(MDB_txn* handle, const std::filesystem::path& path) : handle_(handle), path_(&path) {}
    MDB_txn* handle_;
    const std::filesystem::path* path_;  ///< the environment's, for messages
};

/// The rows of a table in order of keys, from a key on. Goes before its transaction.
class Walk {
public:
    static Result<Walk> open(const Transaction& transaction, Table table, ByteView from = {});
    Walk(Walk&& other) noexcept
        : cursor_(std::exchange(other.cursor_, nullptr)), row_(other.row_), path_(other.path_) {}
    Walk& operator=(Walk&&) = delete;
    ~Walk();

    struct Row {
        ByteView key{};
        ByteView value{};
    };
    /// The row it stands at; nothing behind the last one.
    [[nodiscard]] const std::optional<Row>& row() const { return row_; }
    Result<void> next();

private:
    Walk() = default;
    Result<void> move(unsigned operation, ByteView from);
    MDB_cursor* cursor_ = nullptr;
    std::optional<Row> row_;
    const std::filesystem::path* path_ = nullptr;
};

class Environment {
public:
    /// Opens or makes the file `data.mdb` in a folder that exists.
    static Result<Environment> open(const std::filesystem::path& folder, unsigned tables_max);
    Environment(Environment&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
    Environment& operator=(Environment&&) = delete;
    ~Environment();

    /// Opens or makes a table; `many` allows several values for a key, kept in order. Before any other transaction.
    Result<Table> table(const char* name, bool many = false);
    [[nodiscard]] Result<Transaction> read() const;
    Result<Transaction> write();
    /// Lets go of the memory that reading has filled: the system keeps it cached, but not as ours.
    void forget_pages() const;
    [[nodiscard]] const std::filesystem::path& path() const { return *path_; }

private:
    Environment() = default;
    MDB_env* handle_ = nullptr;
    /// On the heap, so that transactions can point to it while the environment moves.
    std::unique_ptr<std::filesystem::path> path_;
};

}  // namespace rhizome::store::detail
