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
/// **Memory.** LMDB gives nothing back while it is open: pages that were ever read stay mapped, and the memory of as
/// many pages as its largest transaction changed stays allocated. Under load both come to hundreds of megabytes. So
/// - after some dozens of lookups or changes each, whoever is there looks how much is mapped, and lets go of all of it
///   when it is more than 3 MiB: the system still has the pages in its cache, and who needs one gets it back;
/// - after a transaction that changed thousands of rows the file is closed and opened again, as soon as no other
///   transaction is under way. Those should therefore be short.
///
/// LMDB trusts its file. It must not be opened on a file that something other than LMDB has changed: `index_seal.h`
/// keeps that from happening.
namespace rhizome::store::detail {

using Table = unsigned;  // MDB_dbi

struct OpenFile;

/// One reading or writing transaction. Views it returns live as long as it (writing: until its next change).
/// A writing one that is dropped without `commit` leaves no trace. Confined to one thread.
class Transaction {
public:
    Transaction(Transaction&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)),
          file_(std::exchange(other.file_, nullptr)),
          changed_(other.changed_) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction() { leave(); }

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
    Transaction(MDB_txn* handle, OpenFile& file) : handle_(handle), file_(&file) {}
    void leave() noexcept;
    MDB_txn* handle_;
    OpenFile* file_;             ///< the environment's; null once the transaction is over
    std::uint64_t changed_ = 0;  ///< rows
};

/// The rows of a table in order of keys, from a key on. Goes before its transaction.
class Walk {
public:
    static Result<Walk> open(const Transaction& transaction, Table table, ByteView from = {});
    Walk(Walk&& other) noexcept
        : cursor_(std::exchange(other.cursor_, nullptr)),
          row_(other.row_),
          transaction_(other.transaction_),
          place_(other.place_) {}
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
    const Transaction* transaction_ = nullptr;
    std::uintptr_t place_ = 0;  ///< which part of the file the row is in
};

class Environment {
public:
    /// Opens or makes the file `data.mdb` in a folder that exists.
    static Result<Environment> open(const std::filesystem::path& folder, unsigned tables_max);
    Environment(Environment&& other) noexcept;
    Environment& operator=(Environment&&) = delete;
    ~Environment();

    /// Opens or makes a table; `many` allows several values for a key, kept in order. Before any other transaction.
    Result<Table> table(const char* name, bool many = false);
    /// Any thread; also while the same thread has another.
    [[nodiscard]] Result<Transaction> read() const { return begin(true); }
    /// Waits for another one that writes. A thread that has one must not ask for a second.
    Result<Transaction> write() { return begin(false); }
    [[nodiscard]] const std::filesystem::path& path() const;
    /// How often the file was opened again.
    [[nodiscard]] std::uint64_t renewals() const;

private:
    explicit Environment(std::unique_ptr<OpenFile> file);
    [[nodiscard]] Result<Transaction> begin(bool read_only) const;
    /// On the heap, so that transactions can point to it while the environment moves.
    std::unique_ptr<OpenFile> file_;
};

}  // namespace rhizome::store::detail
