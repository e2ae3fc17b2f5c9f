// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/codec.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "crypto/hash.h"
#include "state/path.h"

/// What a leaf of the tree holds. See docs/spec/chain.md section 4 for the bytes that are hashed.
namespace rhizome::state {

using crypto::Hash256;
using Height = Count<struct HeightTag>;

/// Which output of which change wrote something. The tree does not know what a change is; ledger does.
struct Outpoint {
    Hash256 change;
    std::uint16_t index = 0;
    friend auto operator<=>(const Outpoint&, const Outpoint&) = default;
    friend bool operator==(const Outpoint&, const Outpoint&) = default;
};

/// One of a document's outputs, and the block that carried it.
struct Mark {
    Outpoint output;
    Height height;
    Time time;  ///< whole milliseconds, not before 1970
    friend bool operator==(const Mark&, const Mark&) = default;
};

/// Where a written document comes from: what authority over it is decided by, besides its script.
struct Origin {
    Mark born;    ///< created it: its uid and creation time follow from this one
    Mark latest;  ///< wrote this version
    Mark lock;    ///< the lock point: last changed the locking script; relative locks count from here
    friend bool operator==(const Origin&, const Origin&) = default;
};

enum class EntryFault : unsigned char {
    DocumentTooLarge,
    ScriptTooLarge,
    BadTime,      ///< before 1970, or not whole milliseconds
    OnChainPath,  ///< a written document under `/chain/`, where only the chain itself keeps things
};
std::string_view name(EntryFault fault);
Error to_error(EntryFault fault);

inline constexpr std::size_t kDocumentBytesMax = 4u << 20;  ///< a block's default size: nothing larger can be written
inline constexpr std::size_t kScriptBytesMax = 10'000;      ///< the script machine's own bound

class EntryPtr;

/// One leaf: a path and what stands there. Immutable; path, script and document lie in one piece of memory together
/// with the counter of those who hold it, so a million small documents cost a million allocations and nothing is kept
/// twice. May be read from any thread.
///
/// A **written** entry is a document with its script and origin. A **plain** one is bytes only: what the chain keeps
/// under `/chain/`, and documents that nobody wrote because controllers derive them.
class Entry {
public:
    /// `document` is compact JSON that the caller has checked; it is kept and hashed as it stands.
    static Result<EntryPtr, EntryFault> written(const Path& path, const Origin& origin, ByteView script,
                                                std::string_view document);
    static Result<EntryPtr, EntryFault> plain(const Path& path, ByteView bytes);

    [[nodiscard]] bool is_written() const { return written_; }
    [[nodiscard]] std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size_}; }
    [[nodiscard]] Path path() const { return Path::from_checked_key(key()); }
    /// The document's text, or the bytes of a plain entry.
    [[nodiscard]] std::string_view document() const {
        return {reinterpret_cast<const char*>(hash_place()) + Hash256::kSize + script_size_, document_size_};
    }
    [[nodiscard]] ByteView bytes() const { return as_bytes(document()); }
    /// Empty for plain entries.
    [[nodiscard]] ByteView script() const { return {hash_place() + Hash256::kSize, script_size_}; }
    /// Of a written entry.
    [[nodiscard]] const Origin& origin() const;
    [[nodiscard]] const Hash256& document_hash() const;

    /// What quotas count: bytes that somebody chose to store here.
    [[nodiscard]] std::uint64_t weight() const { return std::uint64_t{document_size_} + script_size_; }
    [[nodiscard]] Hash256 leaf_hash() const;

    /// The same leaf, whoever allocated it.
    friend bool operator==(const Entry& left, const Entry& right);

    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

private:
    friend class EntryPtr;
    Entry() = default;
    ~Entry() = default;
    static EntryPtr make(const Path& path, const Origin* origin, ByteView script, ByteView document);
    [[nodiscard]] std::size_t origin_offset() const {
        return (sizeof(Entry) + key_size_ + alignof(Origin) - 1) / alignof(Origin) * alignof(Origin);
    }
    [[nodiscard]] const std::uint8_t* hash_place() const {
        const std::size_t offset = written_ ? origin_offset() + sizeof(Origin) : sizeof(Entry) + key_size_;
        return reinterpret_cast<const std::uint8_t*>(this) + offset;
    }
    static void destroy(const Entry* entry) noexcept;

    mutable std::atomic<std::uint32_t> holders_{1};
    std::uint32_t document_size_ = 0;
    std::uint16_t key_size_ = 0;
    std::uint16_t script_size_ = 0;
    bool written_ = false;
    // Behind it: the key (so that a lookup reads one or two cache lines), then of a written entry its origin, aligned,
    // then the document's hash, script, document.
};

/// Shared ownership of an entry, from any thread. Null when default-made or moved from.
class EntryPtr {
public:
    EntryPtr() = default;
    /// Keeps an entry that a view showed for longer than the view lives.
    explicit EntryPtr(const Entry* entry) : entry_(entry) {
        if (entry_ != nullptr) entry_->holders_.fetch_add(1, std::memory_order_relaxed);
    }
    EntryPtr(const EntryPtr& other) : EntryPtr(other.entry_) {}
    EntryPtr(EntryPtr&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    EntryPtr& operator=(EntryPtr other) noexcept {
        std::swap(entry_, other.entry_);
        return *this;
    }
    ~EntryPtr() { drop(entry_); }

    [[nodiscard]] const Entry* get() const { return entry_; }
    const Entry& operator*() const { return *entry_; }
    const Entry* operator->() const { return entry_; }
    explicit operator bool() const { return entry_ != nullptr; }
    friend bool operator==(const EntryPtr&, const EntryPtr&) = default;  ///< the same memory

    /// For the tree, whose nodes hold entries by plain pointers: gives up or takes over one hold.
    [[nodiscard]] const Entry* release() && { return std::exchange(entry_, nullptr); }
    static EntryPtr adopt(const Entry* entry) {
        EntryPtr held;
        held.entry_ = entry;
        return held;
    }
    static void hold(const Entry* entry) { entry->holders_.fetch_add(1, std::memory_order_relaxed); }
    static void drop(const Entry* entry) noexcept {
        if (entry != nullptr && entry->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) Entry::destroy(entry);
    }

private:
    const Entry* entry_ = nullptr;
};

/// An entry without its bytes: all that its leaf hash is made of. What a proof shows; whoever receives the document
/// besides compares its hash.
struct Summary {
    struct Written {
        Origin origin;
        Hash256 script_hash;
        Hash256 document_hash;
        friend bool operator==(const Written&, const Written&) = default;
    };
    struct Plain {
        Hash256 bytes_hash;
        friend bool operator==(const Plain&, const Plain&) = default;
    };
    Path path;
    std::variant<Written, Plain> content;

    [[nodiscard]] Hash256 leaf_hash() const;
    friend bool operator==(const Summary&, const Summary&) = default;
};
Summary summarise(const Entry& entry);

/// One canonical form each, for undo records, snapshots and proofs.
void encode(Writer& out, const Entry& entry);
/// What `encode` would write, without doing so.
[[nodiscard]] std::size_t encoded_size(const Entry& entry);
Result<EntryPtr, DecodeFault> decode_entry(Reader& in);
void encode(Writer& out, const Summary& summary);

/// A written entry without its script and document, for records whose reader finds those elsewhere by what wrote them.
struct BareEntry {
    Path path;
    Origin origin;
};
/// key ‖ 1 born by the latest output, 2 locked by it, 3 both ‖ its mark ‖ the marks of birth and lock unless the same.
void encode_bare(Writer& out, const Entry& entry);
[[nodiscard]] std::size_t bare_size(const Entry& entry);
Result<BareEntry, DecodeFault> decode_bare_entry(Reader& in);
Result<Summary, DecodeFault> decode_summary(Reader& in);

}  // namespace rhizome::state
