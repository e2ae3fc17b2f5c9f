// SPDX-License-Identifier: Apache-2.0
#include "store/chain_index.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "base/ensure.h"
#include "crypto/hash.h"
#include "ledger/codec.h"
#include "state/document.h"
#include "state/tree.h"
#include "store/detail/file.h"
#include "store/record.h"

namespace rhizome::store {
namespace {

using ledger::BlockHash;
using ledger::Height;

constexpr std::string_view kHeadKey = "head";
constexpr std::size_t kLmdbKeyMax = 511;
constexpr std::size_t kUndoSliceBytes = 256u << 10;  ///< LMDB wants a value's pages in one piece
constexpr std::size_t kFillSliceBytes = 16u << 20;   ///< all pages of a transaction are in memory
constexpr std::size_t kChecksumBytes = 8;

/// Big-endian, so that LMDB's order is the order of numbers.
std::array<std::uint8_t, 8> key_of(Height height) {
    std::array<std::uint8_t, 8> key{};
    std::uint64_t value = height.number();
    for (std::size_t i = key.size(); i > 0; --i, value >>= 8) key[i - 1] = static_cast<std::uint8_t>(value);
    return key;
}

std::uint64_t number_of(ByteView key) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : key.first(8)) value = value << 8 | byte;
    return value;
}

bool same(ByteView left, ByteView right) { return std::equal(left.begin(), left.end(), right.begin(), right.end()); }

/// A row ends in a checksum of its key and content: LMDB has none of its own.
Bytes with_checksum(ByteView key, Bytes content) {
    const std::array<ByteView, 2> parts{key, ByteView{content}};
    const std::uint64_t checksum = checksum_of(parts);
    const std::size_t end = content.size();
    content.resize(end + sizeof checksum);
    std::memcpy(content.data() + end, &checksum, sizeof checksum);
    return content;
}

Result<ByteView> without_checksum(const std::filesystem::path& file, std::string_view table, ByteView key,
                                  ByteView row) {
    if (row.size() >= kChecksumBytes) {
        const ByteView content = row.first(row.size() - kChecksumBytes);
        std::uint64_t checksum;
        std::memcpy(&checksum, row.data() + content.size(), sizeof checksum);
        const std::array<ByteView, 2> parts{key, content};
        if (checksum_of(parts) == checksum) return content;
    }
    return fail(
        ErrorKind::Corrupt,
        fmt::format("{} is damaged: the row {} of its table \"{}\" has a wrong checksum\nstop the node and remove "
                    "the folder it is in: it is made again from the log",
                    file.native(), to_hex(key), table));
}

Bytes encode(const BlockRow& row) {
    Writer out;
    out.u32(row.position.segment).u32(row.position.offset).u32(row.bytes).u32(row.tx_count);
    out.raw(ledger::encode(row.header)).raw(row.signature);
    return std::move(out).take();
}

Result<BlockRow, DecodeFault> decode_block_row(ByteView bytes) {
    Reader in{bytes};
    BlockRow row;
    TRY(row.position.segment, in.u32());
    TRY(row.position.offset, in.u32());
    TRY(row.bytes, in.u32());
    TRY(row.tx_count, in.u32());
    TRY(const ByteView header, in.raw(ledger::kHeaderBytes));
    auto decoded = ledger::decode_header(header);
    if (!decoded) return Fail{DecodeFault::BadValue};
    row.header = *decoded;
    TRY(row.signature, in.array<64>());
    TRY(in.finish());
    return row;
}

Bytes encode(const IndexHead& head) {
    Writer out;
    out.u32(head.log.position.segment).u32(head.log.position.offset).u64(head.log.sequence).u64(head.log.link);
    out.u64(head.durable).id(head.checkpoint.hash).u64(head.checkpoint.height.number()).u64(head.undo_from.number());
    out.raw(store::encode(head.facts));
    return std::move(out).take();
}

/// More than the table of readers takes.
constexpr std::uint64_t kLockBytes = 16u << 10;

Result<IndexHead, DecodeFault> decode_index_head(ByteView bytes) {
    Reader in{bytes};
    IndexHead head;
    TRY(head.log.position.segment, in.u32());
    TRY(head.log.position.offset, in.u32());
    TRY(head.log.sequence, in.u64());
    TRY(head.log.link, in.u64());
    TRY(head.durable, in.u64());
    TRY(head.checkpoint.hash, in.id<BlockHash>());
    TRY(const std::uint64_t checkpoint, in.u64());
    TRY(const std::uint64_t undo_from, in.u64());
    head.checkpoint.height = Height{checkpoint};
    head.undo_from = Height{undo_from};
    TRY(head.facts, decode_facts(in.rest()));
    return head;
}

Bytes undo_key(const BlockHash& hash, std::uint32_t slice) {
    Writer out{36};
    out.id(hash);
    for (int shift = 24; shift >= 0; shift -= 8) out.u8(static_cast<std::uint8_t>(slice >> shift));
    return std::move(out).take();
}

/// `table·name`, the dot a zero byte.
Result<Bytes> note_key(std::string_view table, std::string_view name) {
    if (table.empty() || table.size() > 64 || table.find('\0') != table.npos || name.size() > kLmdbKeyMax - 65)
        return fail(ErrorKind::Invalid, "a note's table and name are short, and the table's name holds no zero byte");
    Writer out;
    out.raw(as_bytes(table)).u8(0).raw(as_bytes(name));
    return std::move(out).take();
}

}  // namespace

Result<std::unique_ptr<ChainIndex>> ChainIndex::open(const std::filesystem::path& folder) {
    // Locks left by a killed process are of no use, and LMDB begins anew with the file since nobody else holds it. It
    // writes there through a map: where the blocks are missing and the disk is full, that would end the process.
    const std::filesystem::path locks = folder / "lock.mdb";
    std::error_code ignored;
    const bool there = std::filesystem::exists(locks, ignored);
    {
        TRY(const auto file, detail::File::open(locks, there ? detail::File::Mode::Write : detail::File::Mode::Create));
        TRY(file.allocate(0, kLockBytes));
    }  // closed: that would end the locks that LMDB takes
    TRY(auto environment, detail::Environment::open(folder, 16));
    std::unique_ptr<ChainIndex> index{new ChainIndex{std::move(environment)}};
    Tables& tables = index->tables_;
    TRY(tables.meta, index->environment_.table("meta"));
    TRY(tables.blocks, index->environment_.table("blocks"));
    TRY(tables.heights, index->environment_.table("heights", true));
    TRY(tables.chain, index->environment_.table("chain"));
    TRY(tables.transactions, index->environment_.table("transactions", true));
    TRY(tables.undo, index->environment_.table("undo"));
    TRY(tables.seals, index->environment_.table("seals"));
    TRY(tables.notes, index->environment_.table("notes"));
    TRY(tables.state, index->environment_.table("state"));
    TRY(tables.long_state, index->environment_.table("long_state"));
    TRY(detail::sync_folder(folder));  // LMDB does not: a new file's name must last before anything relies on it
    return index;
}

// ---- reading --------------------------------------------------------------------------------------------------------

Result<std::optional<IndexHead>> ChainIndex::head() const {
    TRY(const auto transaction, environment_.read());
    TRY(const auto row, transaction.get(tables_.meta, as_bytes(kHeadKey)));
    if (!row) return std::optional<IndexHead>{};
    TRY(const ByteView content, without_checksum(path(), "meta", as_bytes(kHeadKey), *row));
    TRY(auto head, decode_index_head(content));
    return std::optional{std::move(head)};
}

Result<std::optional<BlockRow>> ChainIndex::block(const BlockHash& hash) const {
    TRY(const auto transaction, environment_.read());
    TRY(const auto row, transaction.get(tables_.blocks, hash.view()));
    if (!row) return std::optional<BlockRow>{};
    TRY(const ByteView content, without_checksum(path(), "blocks", hash.view(), *row));
    TRY(auto decoded, decode_block_row(content));
    return std::optional{decoded};
}

Result<std::optional<ChainRow>> ChainIndex::on_chain(Height height) const {
    TRY(const auto transaction, environment_.read());
    const auto key = key_of(height);
    TRY(const auto row, transaction.get(tables_.chain, key));
    if (!row) return std::optional<ChainRow>{};
    TRY(const ByteView content, without_checksum(path(), "chain", key, *row));
    Reader in{content};
    ChainRow decoded;
    TRY(decoded.hash, in.id<BlockHash>());
    TRY(decoded.tx_total, in.u64());
    TRY(in.finish());
    return std::optional{decoded};
}

Result<std::vector<BlockHash>> ChainIndex::all_at(Height height) const {
    TRY(const auto transaction, environment_.read());
    const auto key = key_of(height);
    std::vector<BlockHash> hashes;
    TRY(auto walk, detail::Walk::open(transaction, tables_.heights, key));
    while (walk.row() && same(walk.row()->key, key)) {
        Reader in{walk.row()->value};
        TRY(const auto hash, in.id<BlockHash>());
        hashes.push_back(hash);
        TRY(walk.next());
    }
    return hashes;
}

Result<std::vector<TxRow>> ChainIndex::transactions(const crypto::Hash256& id) const {
    TRY(const auto transaction, environment_.read());
    std::vector<TxRow> rows;
    TRY(auto walk, detail::Walk::open(transaction, tables_.transactions, id.view()));
    while (walk.row() && same(walk.row()->key, id.view())) {
        if (walk.row()->value.size() != 12)
            return fail(ErrorKind::Corrupt,
                        fmt::format("{} is damaged: a row of its table \"transactions\" has another "
                                    "size than it should",
                                    path().native()));
        Reader in{walk.row()->value.subspan(8)};
        TRY(const std::uint32_t place, in.u32());
        rows.push_back({.height = Height{number_of(walk.row()->value)}, .index = place});
        TRY(walk.next());
    }
    return rows;
}

Result<std::optional<Bytes>> ChainIndex::undo(const BlockHash& hash) const {
    TRY(const auto transaction, environment_.read());
    Bytes whole;
    TRY(auto walk, detail::Walk::open(transaction, tables_.undo, hash.view()));
    for (; walk.row() && same(walk.row()->key.first(32), hash.view());) {
        const ByteView piece = walk.row()->value;
        const std::size_t end = whole.size();
        whole.resize(end + piece.size());
        std::memcpy(whole.data() + end, piece.data(), piece.size());
        TRY(walk.next());
    }
    if (whole.empty()) return std::optional<Bytes>{};
    TRY(const ByteView content, without_checksum(path(), "undo", hash.view(), whole));
    whole.resize(content.size());
    return std::optional{std::move(whole)};
}

Result<std::optional<Bytes>> ChainIndex::seal(const BlockHash& hash) const {
    TRY(const auto transaction, environment_.read());
    TRY(const auto row, transaction.get(tables_.seals, hash.view()));
    if (!row) return std::optional<Bytes>{};
    TRY(const ByteView content, without_checksum(path(), "seals", hash.view(), *row));
    return std::optional{Bytes{content.begin(), content.end()}};
}

Result<std::optional<Bytes>> ChainIndex::note(std::string_view table, std::string_view name) const {
    TRY(const Bytes key, note_key(table, name));
    TRY(const auto transaction, environment_.read());
    TRY(const auto row, transaction.get(tables_.notes, key));
    if (!row) return std::optional<Bytes>{};
    TRY(const ByteView content, without_checksum(path(), "notes", key, *row));
    return std::optional{Bytes{content.begin(), content.end()}};
}

Result<std::vector<std::pair<std::string, Bytes>>> ChainIndex::notes(std::string_view table,
                                                                     std::size_t count_max) const {
    TRY(const Bytes from, note_key(table, ""));
    TRY(const auto transaction, environment_.read());
    std::vector<std::pair<std::string, Bytes>> found;
    TRY(auto walk, detail::Walk::open(transaction, tables_.notes, from));
    while (walk.row() && found.size() < count_max) {
        const ByteView key = walk.row()->key;
        if (key.size() < from.size() || !same(key.first(from.size()), from)) break;
        TRY(const ByteView content, without_checksum(path(), "notes", key, walk.row()->value));
        const ByteView name = key.subspan(from.size());
        found.emplace_back(std::string{name.begin(), name.end()}, Bytes{content.begin(), content.end()});
        TRY(walk.next());
    }
    return found;
}

Result<state::StateView> ChainIndex::state(Parallel& parallel) const {
    const auto damaged = [&](std::string_view what) {
        return fail(ErrorKind::Corrupt, fmt::format("{} is damaged: {} in its table \"state\"", path().native(), what));
    };
    const auto entry_of = [&](ByteView bytes) -> Result<state::EntryPtr> {
        Reader in{bytes};
        auto entry = state::decode_entry(in);
        if (!entry || !in.empty()) return damaged("an entry cannot be read");
        return *std::move(entry);
    };
    TRY(const auto transaction, environment_.read());
    // Keys too long for LMDB lie apart, in no order: few, and merged in here.
    std::vector<state::EntryPtr> long_ones;
    TRY(auto apart, detail::Walk::open(transaction, tables_.long_state));
    for (; apart.row();) {
        TRY(auto entry, entry_of(apart.row()->value));
        long_ones.push_back(std::move(entry));
        TRY(apart.next());
    }
    std::sort(long_ones.begin(), long_ones.end(), [](const auto& a, const auto& b) { return a->key() < b->key(); });

    state::OrderedBuilder builder;
    std::size_t next_long = 0;
    TRY(auto walk, detail::Walk::open(transaction, tables_.state));
    for (; walk.row();) {
        TRY(auto entry, entry_of(walk.row()->value));
        for (; next_long < long_ones.size() && long_ones[next_long]->key() < entry->key(); ++next_long)
            if (!builder.add(long_ones[next_long])) return damaged("entries are not in order");
        if (!builder.add(std::move(entry))) return damaged("entries are not in order");
        TRY(walk.next());
    }
    for (; next_long < long_ones.size(); ++next_long)
        if (!builder.add(long_ones[next_long])) return damaged("entries are not in order");
    return std::move(builder).finish(&parallel);
}

// ---- writing --------------------------------------------------------------------------------------------------------

Result<void> ChainIndex::mark_in_use() {
    const std::lock_guard lock{marking_};
    if (marked_) return {};
    TRY(mark_index_in_use(path().parent_path()));
    marked_ = true;
    return {};
}

Result<ChainIndex::Update> ChainIndex::update() {
    TRY(mark_in_use());
    TRY(auto transaction, environment_.write());
    return Update{*this, std::move(transaction)};
}

Result<void> ChainIndex::Update::commit() { return transaction_.commit(); }

Result<void> ChainIndex::Update::put_head(const IndexHead& head) {
    return transaction_.put(index_.tables_.meta, as_bytes(kHeadKey), with_checksum(as_bytes(kHeadKey), encode(head)));
}

Result<void> ChainIndex::Update::put_block(const BlockHash& hash, const BlockRow& row) {
    TRY(transaction_.put(index_.tables_.heights, key_of(row.header.height), hash.view()));
    return transaction_.put(index_.tables_.blocks, hash.view(), with_checksum(hash.view(), encode(row)));
}

namespace {

std::array<std::uint8_t, 12> tx_value(Height height, std::size_t index) {
    std::array<std::uint8_t, 12> value{};
    const auto key = key_of(height);
    std::memcpy(value.data(), key.data(), key.size());
    const auto place = static_cast<std::uint32_t>(index);
    std::memcpy(value.data() + 8, &place, sizeof place);
    return value;
}

/// In the order of the table: neighbouring rows share pages.
std::vector<std::pair<crypto::Hash256, std::size_t>> sorted(std::span<const crypto::Hash256> ids) {
    std::vector<std::pair<crypto::Hash256, std::size_t>> rows;
    rows.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) rows.emplace_back(ids[i], i);
    std::sort(rows.begin(), rows.end());
    return rows;
}

}  // namespace

Result<void> ChainIndex::Update::put_transactions(Height height, std::span<const crypto::Hash256> ids) {
    for (const auto& [id, index] : sorted(ids))
        TRY(transaction_.put(index_.tables_.transactions, id.view(), tx_value(height, index)));
    return {};
}

Result<void> ChainIndex::Update::erase_transactions(Height height, std::span<const crypto::Hash256> ids) {
    for (const auto& [id, index] : sorted(ids))
        TRY(transaction_.erase(index_.tables_.transactions, id.view(), tx_value(height, index)));
    return {};
}

Result<void> ChainIndex::Update::put_on_chain(Height height, const ChainRow& row) {
    const auto key = key_of(height);
    Writer out;
    out.id(row.hash).u64(row.tx_total);
    return transaction_.put(index_.tables_.chain, key, with_checksum(key, std::move(out).take()));
}

Result<void> ChainIndex::Update::cut_chain_above(Height height) {
    std::vector<Height> above;
    {
        TRY(auto walk, detail::Walk::open(transaction_, index_.tables_.chain, key_of(height + 1)));
        while (walk.row()) {
            above.emplace_back(number_of(walk.row()->key));
            TRY(walk.next());
        }
    }
    for (const Height each : above) TRY(erase_on_chain(each));
    return {};
}

Result<void> ChainIndex::Update::erase_on_chain(Height height) {
    return transaction_.erase(index_.tables_.chain, key_of(height));
}

Result<void> ChainIndex::Update::put_undo(const BlockHash& hash, Bytes delta) {
    const Bytes whole = with_checksum(hash.view(), std::move(delta));
    std::uint32_t slice = 0;
    for (std::size_t at = 0; at < whole.size(); at += kUndoSliceBytes, ++slice)
        TRY(transaction_.put(index_.tables_.undo, undo_key(hash, slice),
                             ByteView{whole}.subspan(at, std::min(kUndoSliceBytes, whole.size() - at))));
    return {};
}

Result<void> ChainIndex::Update::erase_undo(Height from, Height below) {
    std::vector<BlockHash> hashes;
    {
        TRY(auto walk, detail::Walk::open(transaction_, index_.tables_.heights, key_of(from)));
        while (walk.row() && number_of(walk.row()->key) < below.number()) {
            Reader in{walk.row()->value};
            TRY(const auto hash, in.id<BlockHash>());
            hashes.push_back(hash);
            TRY(walk.next());
        }
    }
    for (const BlockHash& hash : hashes) {
        for (std::uint32_t slice = 0;; ++slice) {
            const Bytes key = undo_key(hash, slice);
            TRY(const auto row, transaction_.get(index_.tables_.undo, key));
            if (!row) break;
            TRY(transaction_.erase(index_.tables_.undo, key));
        }
    }
    return {};
}

Result<void> ChainIndex::Update::put_note(std::string_view table, std::string_view name, ByteView bytes) {
    TRY(const Bytes key, note_key(table, name));
    if (bytes.empty()) return transaction_.erase(index_.tables_.notes, key);
    return transaction_.put(index_.tables_.notes, key, with_checksum(key, {bytes.begin(), bytes.end()}));
}

Result<void> ChainIndex::Update::put_seal(const BlockHash& hash, ByteView seal) {
    return transaction_.put(index_.tables_.seals, hash.view(), with_checksum(hash.view(), {seal.begin(), seal.end()}));
}

Result<void> ChainIndex::Update::erase_seal(const BlockHash& hash) {
    return transaction_.erase(index_.tables_.seals, hash.view());
}

Result<void> ChainIndex::Update::erase_block(Height height, const BlockHash& hash) {
    TRY(transaction_.erase(index_.tables_.heights, key_of(height), hash.view()));
    return transaction_.erase(index_.tables_.blocks, hash.view());
}

// ---- checkpoints ----------------------------------------------------------------------------------------------------

Result<void> ChainIndex::Update::change_state(const state::Delta& delta) {
    Result<void> done;
    delta.visit([&](const state::Change& change) {
        if (!done) return;
        const std::string_view key = change.key();
        const bool fits = key.size() <= kLmdbKeyMax;
        const crypto::Hash256 hash = fits ? crypto::Hash256{} : crypto::sha256(as_bytes(key));
        const detail::Table table = fits ? index_.tables_.state : index_.tables_.long_state;
        const ByteView row = fits ? as_bytes(key) : hash.view();
        if (change.after) {
            Writer out{change.after->document().size() + 512};
            state::encode(out, *change.after);
            done = transaction_.put(table, row, out.view());
        } else {
            done = transaction_.erase(table, row);
        }
    });
    return done;
}

Result<std::size_t> ChainIndex::Update::append_entry(const state::Entry& entry) {
    Writer out{entry.document().size() + 512};
    state::encode(out, entry);
    if (entry.key().size() <= kLmdbKeyMax) {
        TRY(transaction_.append(index_.tables_.state, as_bytes(entry.key()), out.view()));
    } else {
        TRY(transaction_.put(index_.tables_.long_state, crypto::sha256(as_bytes(entry.key())).view(), out.view()));
    }
    return out.view().size();
}

Result<void> ChainIndex::Update::replace_state(const state::StateView& view) {
    TRY(transaction_.clear(index_.tables_.state));
    TRY(transaction_.clear(index_.tables_.long_state));
    state::Cursor cursor = view.walk(state::Prefix::everything());
    while (const state::Entry* entry = cursor.next()) TRY(append_entry(*entry));
    return {};
}

Result<ChainIndex::Update> ChainIndex::fill_state(const state::StateView& view) {
    state::Cursor cursor = view.walk(state::Prefix::everything());
    const state::Entry* entry = cursor.next();
    for (;;) {
        TRY(auto slice, update());
        for (std::size_t bytes = 0; entry != nullptr && bytes < kFillSliceBytes; entry = cursor.next()) {
            TRY(const std::size_t more, slice.append_entry(*entry));
            bytes += more;
        }
        if (entry == nullptr) return slice;
        TRY(slice.commit());
    }
}

}  // namespace rhizome::store
