// SPDX-License-Identifier: Apache-2.0
#include "state/document.h"

#include <cstring>
#include <limits>
#include <new>

#include "state/detail/leaf_bytes.h"

namespace rhizome::state {

using crypto::sha256;

static_assert(kPathBytesMax <= std::numeric_limits<std::uint16_t>::max());
static_assert(kScriptBytesMax <= std::numeric_limits<std::uint16_t>::max());
static_assert(alignof(Origin) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ && alignof(Hash256) == 1);

namespace {

/// The number of milliseconds that is hashed and stored; nothing for times that have none.
bool is_storable(Time time) { return time.unix_millis() >= 0 && Time::from_unix_millis(time.unix_millis()) == time; }

Hash256 hash_of(std::string_view key, const Origin& origin, const Hash256& script, const Hash256& document) {
    detail::LeafBytes bytes;
    bytes.add_u8(detail::kWrittenTag);
    bytes.add_u16(static_cast<std::uint16_t>(key.size()));
    bytes.add(as_bytes(key));
    for (const Mark* mark : {&origin.born, &origin.latest, &origin.lock}) {
        bytes.add(mark->output.change.view());
        bytes.add_u16(mark->output.index);
        bytes.add_u64(mark->height.number());
        bytes.add_u64(static_cast<std::uint64_t>(mark->time.unix_millis()));
    }
    bytes.add(script.view());
    bytes.add(document.view());
    return sha256(bytes.view());
}

Hash256 hash_of(std::string_view key, const Hash256& document) {
    detail::LeafBytes bytes;
    bytes.add_u8(detail::kPlainTag);
    bytes.add_u16(static_cast<std::uint16_t>(key.size()));
    bytes.add(as_bytes(key));
    bytes.add(document.view());
    return sha256(bytes.view());
}

}  // namespace

std::string_view name(EntryFault fault) {
    switch (fault) {
        case EntryFault::DocumentTooLarge: return "DocumentTooLarge";
        case EntryFault::ScriptTooLarge: return "ScriptTooLarge";
        case EntryFault::BadTime: return "BadTime";
        case EntryFault::OnChainPath: return "OnChainPath";
    }
    unreachable("all entry faults are named");
}

Error to_error(EntryFault fault) {
    const auto sentence = [&]() -> std::string_view {
        switch (fault) {
            case EntryFault::DocumentTooLarge: return "the document is larger than 4 MiB";
            case EntryFault::ScriptTooLarge: return "the locking script is longer than 10,000 bytes";
            case EntryFault::BadTime: return "the time is before 1970 or not in whole milliseconds";
            case EntryFault::OnChainPath: return "documents cannot be written under /chain/";
        }
        unreachable("all entry faults have a sentence");
    };
    return {ErrorKind::Invalid, std::string{sentence()}};
}

// ---- entries ------------------------------------------------------------------------------------------------------

Result<EntryPtr, EntryFault> Entry::written(const Path& path, const Origin& origin, ByteView script,
                                            std::string_view document) {
    if (path.shape() == Path::Shape::Chain) return Fail{EntryFault::OnChainPath};
    if (document.size() > kDocumentBytesMax) return Fail{EntryFault::DocumentTooLarge};
    if (script.size() > kScriptBytesMax) return Fail{EntryFault::ScriptTooLarge};
    for (const Mark* mark : {&origin.born, &origin.latest, &origin.lock}) {
        if (!is_storable(mark->time)) return Fail{EntryFault::BadTime};
    }
    return make(path, &origin, script, as_bytes(document));
}

Result<EntryPtr, EntryFault> Entry::plain(const Path& path, ByteView bytes) {
    if (bytes.size() > kDocumentBytesMax) return Fail{EntryFault::DocumentTooLarge};
    return make(path, nullptr, {}, bytes);
}

EntryPtr Entry::make(const Path& path, const Origin* origin, ByteView script, ByteView document) {
    Entry sizes;
    sizes.document_size_ = static_cast<std::uint32_t>(document.size());
    sizes.key_size_ = static_cast<std::uint16_t>(path.key().size());
    sizes.script_size_ = static_cast<std::uint16_t>(script.size());
    sizes.written_ = origin != nullptr;
    const auto hash_offset = static_cast<std::size_t>(sizes.hash_place() - reinterpret_cast<std::uint8_t*>(&sizes));

    auto* memory =
        static_cast<std::uint8_t*>(::operator new(hash_offset + Hash256::kSize + script.size() + document.size()));
    auto* entry = new (memory) Entry;
    entry->document_size_ = sizes.document_size_;
    entry->key_size_ = sizes.key_size_;
    entry->script_size_ = sizes.script_size_;
    entry->written_ = sizes.written_;
    std::memcpy(memory + sizeof(Entry), path.key().data(), path.key().size());
    if (origin != nullptr) new (memory + sizes.origin_offset()) Origin(*origin);
    new (memory + hash_offset) Hash256(sha256(document));
    std::uint8_t* to = memory + hash_offset + Hash256::kSize;
    for (const ByteView part : {script, document}) {
        if (!part.empty()) std::memcpy(to, part.data(), part.size());
        to += part.size();
    }
    return EntryPtr::adopt(entry);
}

void Entry::destroy(const Entry* entry) noexcept {
    auto* memory = const_cast<Entry*>(entry);
    memory->~Entry();  // what lies behind it needs no destructor
    ::operator delete(memory);
}

const Hash256& Entry::document_hash() const { return *std::launder(reinterpret_cast<const Hash256*>(hash_place())); }

const Origin& Entry::origin() const {
    ensure(written_, "only written entries have an origin");
    return *std::launder(
        reinterpret_cast<const Origin*>(reinterpret_cast<const std::uint8_t*>(this) + origin_offset()));
}

Hash256 Entry::leaf_hash() const {
    return written_ ? hash_of(key(), origin(), sha256(script()), document_hash()) : hash_of(key(), document_hash());
}

bool operator==(const Entry& left, const Entry& right) {
    if (&left == &right) return true;
    if (left.written_ != right.written_ || left.document_hash() != right.document_hash() || left.key() != right.key())
        return false;
    if (!left.written_) return true;
    return left.origin() == right.origin() && as_text(left.script()) == as_text(right.script());
}

Hash256 Summary::leaf_hash() const {
    if (const auto* is_written = std::get_if<Written>(&content))
        return hash_of(path.key(), is_written->origin, is_written->script_hash, is_written->document_hash);
    return hash_of(path.key(), std::get<Plain>(content).bytes_hash);
}

Summary summarise(const Entry& entry) {
    if (entry.is_written())
        return {entry.path(), Summary::Written{entry.origin(), sha256(entry.script()), entry.document_hash()}};
    return {entry.path(), Summary::Plain{entry.document_hash()}};
}

// ---- codec --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kMarkBytes = 32 + 2 + 8 + 8;

/// As short_blob writes it: seven bits of the length a byte.
constexpr std::size_t with_length(std::size_t size) { return size + (size < 0x80 ? 1 : size < 0x4000 ? 2 : 3); }

void encode_mark(Writer& out, const Mark& mark) {
    out.id(mark.output.change).u16(mark.output.index).u64(mark.height.number());
    out.u64(static_cast<std::uint64_t>(mark.time.unix_millis()));
}

void encode_head(Writer& out, std::string_view key, const Origin* origin) {
    out.u8(origin != nullptr ? detail::kWrittenTag : detail::kPlainTag).short_blob(as_bytes(key));
    if (origin == nullptr) return;
    for (const Mark* mark : {&origin->born, &origin->latest, &origin->lock}) encode_mark(out, *mark);
}

Result<Mark, DecodeFault> decode_mark(Reader& in) {
    Mark mark;
    TRY(mark.output.change, in.id<Hash256>());
    TRY(mark.output.index, in.u16());
    TRY(const std::uint64_t height, in.u64());
    TRY(const std::uint64_t millis, in.u64());
    // Later times would not fit a signed count of microseconds (the year 294,247).
    constexpr std::uint64_t kMillisMax = std::numeric_limits<std::int64_t>::max() / 1000;
    if (millis > kMillisMax) return Fail{DecodeFault::BadValue};
    mark.height = Height{height};
    mark.time = Time::from_unix_millis(static_cast<std::int64_t>(millis));
    return mark;
}

struct Head {
    Path path;
    std::optional<Origin> origin;
};

Result<Path, DecodeFault> decode_path(Reader& in) {
    TRY(const ByteView key, in.short_blob(kPathBytesMax));
    auto path = Path::from_key(key);
    if (!path) return Fail{DecodeFault::BadValue};
    return *std::move(path);
}

/// Of a written entry: nobody writes what the chain itself keeps.
Result<Path, DecodeFault> decode_written_path(Reader& in) {
    TRY(Path path, decode_path(in));
    if (path.shape() == Path::Shape::Chain) return Fail{DecodeFault::BadValue};
    return path;
}

Result<Head, DecodeFault> decode_head(Reader& in) {
    TRY(const std::uint8_t tag, in.u8());
    if (tag != detail::kWrittenTag && tag != detail::kPlainTag) return Fail{DecodeFault::BadValue};
    if (tag == detail::kPlainTag) {
        TRY(Path plain, decode_path(in));
        return Head{std::move(plain), std::nullopt};
    }
    TRY(Path path, decode_written_path(in));
    Origin origin;
    TRY(origin.born, decode_mark(in));
    TRY(origin.latest, decode_mark(in));
    TRY(origin.lock, decode_mark(in));
    return Head{std::move(path), origin};
}

}  // namespace

void encode(Writer& out, const Entry& entry) {
    encode_head(out, entry.key(), entry.is_written() ? &entry.origin() : nullptr);
    if (entry.is_written()) out.short_blob(entry.script());
    out.blob(entry.bytes());
}

std::size_t encoded_size(const Entry& entry) {
    const std::size_t head = 1 + with_length(entry.key().size());
    const std::size_t authority = entry.is_written() ? 3 * kMarkBytes + with_length(entry.script().size()) : 0;
    return head + authority + 4 + entry.bytes().size();
}

Result<EntryPtr, DecodeFault> decode_entry(Reader& in) {
    TRY(const Head head, decode_head(in));
    ByteView script;
    if (head.origin) {
        TRY(script, in.short_blob(kScriptBytesMax));
    }
    TRY(const ByteView document, in.blob(kDocumentBytesMax));
    const auto entry = head.origin ? Entry::written(head.path, *head.origin, script, as_text(document))
                                   : Entry::plain(head.path, document);
    ensure(entry.has_value(), "the head and the lengths were checked");
    return *entry;
}

namespace {
constexpr std::uint8_t kBornByLatest = 1;
constexpr std::uint8_t kLockedByLatest = 2;
}  // namespace

void encode_bare(Writer& out, const Entry& entry) {
    const Origin& origin = entry.origin();
    const bool born = origin.born == origin.latest;
    const bool locked = origin.lock == origin.latest;
    out.short_blob(as_bytes(entry.key()));
    out.u8(static_cast<std::uint8_t>((born ? kBornByLatest : 0) | (locked ? kLockedByLatest : 0)));
    encode_mark(out, origin.latest);
    if (!born) encode_mark(out, origin.born);
    if (!locked) encode_mark(out, origin.lock);
}

std::size_t bare_size(const Entry& entry) {
    const Origin& origin = entry.origin();
    const std::size_t marks = 1 + (origin.born == origin.latest ? 0 : 1) + (origin.lock == origin.latest ? 0 : 1);
    return with_length(entry.key().size()) + 1 + marks * kMarkBytes;
}

Result<BareEntry, DecodeFault> decode_bare_entry(Reader& in) {
    TRY(Path path, decode_written_path(in));
    TRY(const std::uint8_t same, in.u8());
    if (same > (kBornByLatest | kLockedByLatest)) return Fail{DecodeFault::BadValue};
    Origin origin;
    TRY(origin.latest, decode_mark(in));
    origin.born = origin.lock = origin.latest;
    if ((same & kBornByLatest) == 0) {
        TRY(origin.born, decode_mark(in));
        if (origin.born == origin.latest) return Fail{DecodeFault::NotCanonical};
    }
    if ((same & kLockedByLatest) == 0) {
        TRY(origin.lock, decode_mark(in));
        if (origin.lock == origin.latest) return Fail{DecodeFault::NotCanonical};
    }
    return BareEntry{std::move(path), origin};
}

void encode(Writer& out, const Summary& summary) {
    const auto* written = std::get_if<Summary::Written>(&summary.content);
    encode_head(out, summary.path.key(), written != nullptr ? &written->origin : nullptr);
    if (written != nullptr)
        out.id(written->script_hash).id(written->document_hash);
    else
        out.id(std::get<Summary::Plain>(summary.content).bytes_hash);
}

Result<Summary, DecodeFault> decode_summary(Reader& in) {
    TRY(Head head, decode_head(in));
    if (!head.origin) {
        TRY(const auto hash, in.id<Hash256>());
        return Summary{std::move(head.path), Summary::Plain{hash}};
    }
    TRY(const auto script, in.id<Hash256>());
    TRY(const auto document, in.id<Hash256>());
    return Summary{std::move(head.path), Summary::Written{*head.origin, script, document}};
}

}  // namespace rhizome::state
