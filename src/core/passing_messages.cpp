// SPDX-License-Identifier: Apache-2.0
#include "core/passing_messages.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/resource.h"

namespace rhizome::core {
namespace {

using ledger::Reject;
using ledger::RejectCode;

constexpr std::size_t kPassingNameBytes = PassingId::kSize + 8 + PassingTag::kSize;
constexpr std::size_t kBitmapBytes = kPassingGroups / 8;
/// Writer, stamp, until, whether there is a document, signature; the document's key, origin and lengths.
constexpr std::size_t kRecordFrameBytes = 33 + 8 + 8 + 1 + 64 + state::kPathBytesMax + 256;
constexpr std::size_t kRecordBytesMax = kRecordFrameBytes + kPassingDocumentMax;

std::uint64_t micros(Time time) { return static_cast<std::uint64_t>(time.since_epoch().count()); }

void put_signed(Writer& out, const PassingRecord& record) {
    out.raw(record.writer).u64(micros(record.stamp)).u64(micros(record.until)).boolean(static_cast<bool>(record.entry));
    if (record.entry) {
        state::encode(out, *record.entry);
    } else {
        out.short_blob(as_bytes(record.path.key()));
    }
}

void put(Writer& out, const PassingRecords& message) {
    out.varint(message.records.size());
    for (const SharedRecord& record : message.records) {
        Writer one{encoded_size(*record)};
        put_signed(one, *record);
        one.raw(record->signature);
        out.blob(one.view());
    }
}
void put(Writer& out, const PassingHave& message) {
    out.varint(message.names.size());
    for (const PassingName& name : message.names) encode(out, name);
}
void put(Writer& out, const PassingWant& message) {
    out.varint(message.ids.size());
    for (const PassingId& id : message.ids) out.id(id);
}
void put(Writer& out, const PassingSum& message) { out.u32(message.count).id(message.sum); }
void put(Writer& out, const PassingGroups& message) {
    for (const PassingGroupSum& sum : message.sums) out.id(sum);
}
void put(Writer& out, const PassingList& message) {
    std::array<std::uint8_t, kBitmapBytes> bits{};
    for (std::size_t group = 0; group < kPassingGroups; ++group)
        if (message.groups.test(group)) bits[group / 8] |= static_cast<std::uint8_t>(1u << (group % 8));
    out.raw(bits).varint(message.names.size());
    for (const PassingName& name : message.names) encode(out, name);
}

Result<Time, DecodeFault> get_time(Reader& in) {
    TRY(const auto micros, in.u64());
    if (micros > INT64_MAX / 2) return Fail{DecodeFault::BadValue};
    return Time{microseconds{static_cast<std::int64_t>(micros)}};
}
Result<PassingName, DecodeFault> get_name(Reader& in) {
    PassingName name;
    TRY(name.id, in.id<PassingId>());
    TRY(name.version.stamp, get_time(in));
    TRY(name.version.tag, in.id<PassingTag>());
    return name;
}
Result<std::vector<PassingName>, DecodeFault> get_names(Reader& in, std::size_t most) {
    TRY(const auto written, in.varint());
    TRY(const auto count, in.bounded_count(written, most, kPassingNameBytes));
    std::vector<PassingName> names(count);
    for (PassingName& name : names) {
        TRY(name, get_name(in));
    }
    TRY(in.finish());
    return names;
}

Result<PassingRecord, DecodeFault> get_record(ByteView bytes) {
    Reader in{bytes};
    PassingRecord record;
    TRY(record.writer, (in.array<std::tuple_size_v<consensus::MemberKey>>()));
    TRY(record.stamp, get_time(in));
    TRY(record.until, get_time(in));
    if (record.until <= record.stamp || record.until - record.stamp > kPassingLifeMax)
        return Fail{DecodeFault::BadValue};
    TRY(const bool present, in.boolean());
    if (present) {
        TRY(record.entry, state::decode_entry(in));
        if (!record.entry->is_written() || record.entry->weight() > kPassingDocumentMax)
            return Fail{DecodeFault::BadValue};
        record.path = record.entry->path();
    } else {
        TRY(const ByteView key, in.short_blob(state::kPathBytesMax));
        auto path = state::Path::from_key(key);
        if (!path) return Fail{DecodeFault::BadValue};
        record.path = *std::move(path);
    }
    // Kinds with a place of their own live on the chain.
    const auto shape = record.path.shape();
    if (shape != state::Path::Shape::Namespaced && shape != state::Path::Shape::ClusterScoped)
        return Fail{DecodeFault::BadValue};
    TRY(record.signature, (in.array<std::tuple_size_v<consensus::CompactSignature>>()));
    TRY(in.finish());
    return record;
}

/// Whether its document is one, and of the resource that it stands at.
Result<void, Reject> check_document(const PassingRecord& record) {
    if (!record.entry) return {};
    TRY(const auto named, ledger::name_output(record.entry->document()));
    if (named.wish != ledger::Wish::Store || named.resource.path != record.path)
        return ledger::reject(RejectCode::BadEncoding,
                              fmt::format("a passing document at {} names another resource", record.path.text()));
    return {};
}

Fail<Reject> malformed(PassingType type, DecodeFault fault) {
    return ledger::reject(RejectCode::BadEncoding,
                          fmt::format("a message of {}: {}", name(type), to_error(fault).message));
}

Result<PassingMessage, Reject> get_records(Reader& in) {
    PassingRecords message;
    constexpr auto kType = PassingType::Records;
    const auto written = in.varint();
    if (!written) return malformed(kType, written.error());
    const auto count = in.bounded_count(*written, kPassingRecordsMax, 4 + 33);
    if (!count) return malformed(kType, count.error());
    for (std::size_t i = 0; i < *count; ++i) {
        const auto bytes = in.blob(kRecordBytesMax);
        if (!bytes) return malformed(kType, bytes.error());
        auto record = get_record(*bytes);
        if (!record) return malformed(kType, record.error());
        TRY(check_document(*record));
        message.records.push_back(std::make_shared<const PassingRecord>(*std::move(record)));
    }
    if (!in.empty()) return malformed(kType, DecodeFault::Trailing);
    return PassingMessage{std::move(message)};
}

Result<PassingWant, DecodeFault> get_want(Reader& in) {
    PassingWant message;
    TRY(const auto written, in.varint());
    TRY(const auto count, in.bounded_count(written, kPassingNamesMax, PassingId::kSize));
    message.ids.resize(count);
    for (PassingId& id : message.ids) {
        TRY(id, in.id<PassingId>());
    }
    TRY(in.finish());
    return message;
}
Result<PassingSum, DecodeFault> get_sum(Reader& in) {
    PassingSum message;
    TRY(message.count, in.u32());
    TRY(message.sum, in.id<crypto::Hash256>());
    TRY(in.finish());
    return message;
}
Result<PassingGroups, DecodeFault> get_groups(Reader& in) {
    PassingGroups message;
    for (PassingGroupSum& sum : message.sums) {
        TRY(sum, in.id<PassingGroupSum>());
    }
    TRY(in.finish());
    return message;
}
Result<PassingList, DecodeFault> get_list(Reader& in) {
    PassingList message;
    TRY(const auto bits, in.array<kBitmapBytes>());
    for (std::size_t group = 0; group < kPassingGroups; ++group)
        message.groups.set(group, (bits[group / 8] >> (group % 8) & 1) != 0);
    TRY(message.names, get_names(in, kPassingListMax));
    for (std::size_t i = 0; i < message.names.size(); ++i) {
        if (!message.groups.test(message.names[i].id.view()[0])) return Fail{DecodeFault::BadValue};
        if (i > 0 && message.names[i].id <= message.names[i - 1].id) return Fail{DecodeFault::NotCanonical};
    }
    return message;
}

template <class T>
Result<PassingMessage, Reject> or_reject(PassingType type, Result<T, DecodeFault> result) {
    if (!result) return malformed(type, result.error());
    return PassingMessage{*std::move(result)};
}

}  // namespace

crypto::Digest digest_of(const PassingRecord& record, const ledger::ChainId& chain) {
    Writer out{encoded_size(record)};
    put_signed(out, record);
    return crypto::Digest{
        crypto::tagged_hash(crypto::HashTag::Transport, as_bytes("rhizome/passing"), chain.view(), out.view()).view()};
}

PassingId passing_id(const state::Path& path) {
    return PassingId{crypto::sha256(as_bytes(path.key())).view().first<PassingId::kSize>()};
}

PassingVersion version_of(const PassingRecord& record, const crypto::Digest& digest) {
    return {.stamp = record.stamp, .tag = PassingTag{digest.view().first<PassingTag::kSize>()}};
}

void encode(Writer& out, const PassingName& name) {
    out.id(name.id).u64(micros(name.version.stamp)).id(name.version.tag);
}

std::string_view name(PassingType type) {
    switch (type) {
        case PassingType::Records: return "passing-records";
        case PassingType::Have: return "passing-have";
        case PassingType::Want: return "passing-want";
        case PassingType::Sum: return "passing-sum";
        case PassingType::Groups: return "passing-groups";
        case PassingType::List: return "passing-list";
    }
    return "unknown";
}

std::size_t passing_bytes_max(std::uint8_t type) {
    constexpr std::size_t kCount = 10;  // of a varint
    switch (static_cast<PassingType>(type)) {
        case PassingType::Records: return 1 + kCount + kPassingBytesTogether + 4 + kRecordBytesMax;
        case PassingType::Have: return 1 + kCount + kPassingNamesMax * kPassingNameBytes;
        case PassingType::Want: return 1 + kCount + kPassingNamesMax * PassingId::kSize;
        case PassingType::Sum: return 1 + 4 + crypto::Hash256::kSize;
        case PassingType::Groups: return 1 + kPassingGroups * PassingGroupSum::kSize;
        case PassingType::List: return 1 + kBitmapBytes + kCount + kPassingListMax * kPassingNameBytes;
    }
    return 0;
}

std::size_t encoded_size(const PassingRecord& record) {
    return kRecordFrameBytes + (record.entry ? record.entry->weight() : 0);
}

Bytes encode(const PassingMessage& message) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(kFirstPassingType + message.index()));
    std::visit([&](const auto& kind) { put(out, kind); }, message);
    return std::move(out).take();
}

Result<PassingMessage, Reject> decode_passing(ByteView bytes) {
    Reader in{bytes};
    const auto first = in.u8();
    const std::size_t most = first ? passing_bytes_max(*first) : 0;
    if (most == 0) return ledger::reject(RejectCode::BadEncoding, "no message about passing documents");
    const auto type = static_cast<PassingType>(*first);
    if (bytes.size() > most)
        return ledger::reject(RejectCode::TooLarge,
                              fmt::format("a message of {} has {} bytes, {} at most", name(type), bytes.size(), most));
    switch (type) {
        case PassingType::Records: return get_records(in);
        case PassingType::Have: {
            auto names = get_names(in, kPassingNamesMax);
            if (!names) return malformed(type, names.error());
            return PassingMessage{PassingHave{*std::move(names)}};
        }
        case PassingType::Want: return or_reject(type, get_want(in));
        case PassingType::Sum: return or_reject(type, get_sum(in));
        case PassingType::Groups: return or_reject(type, get_groups(in));
        case PassingType::List: return or_reject(type, get_list(in));
    }
    unreachable("the types with a size");
}

}  // namespace rhizome::core
