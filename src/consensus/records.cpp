// SPDX-License-Identifier: Apache-2.0
#include "consensus/records.h"

#include <algorithm>

#include "base/ensure.h"
#include "crypto/compact_target.h"

namespace rhizome::consensus::records {
namespace {

state::Path path(std::initializer_list<std::string_view> parts) {
    auto made = state::Path::chain(parts);
    ensure(made.has_value(), "a record's path is well formed");
    return *std::move(made);
}

state::Prefix prefix(std::string_view part) { return path({part}).subtree(); }

/// The bytes of a record; none when it is not there.
ByteView bytes_at(const state::StateView& view, const state::Path& where) {
    const state::Entry* entry = view.get(where);
    return entry == nullptr ? ByteView{} : entry->bytes();
}

constexpr std::size_t kEndBytes = 8 + 32 + 8;

Result<Ends, DecodeFault> decode_ends(ByteView bytes) {
    Reader in{bytes};
    Ends out;
    while (!in.empty() && out.ends.size() < Ends::kKept) {
        Ends::End end;
        TRY(const auto epoch, in.u64());
        TRY(end.checkpoint.block, in.id<BlockHash>());
        TRY(const auto height, in.u64());
        end.checkpoint.epoch = Epoch{epoch};
        end.height = Height{height};
        out.ends.push_back(end);
    }
    TRY(in.finish());
    return out;
}

Result<ShownFinal, DecodeFault> decode_shown(ByteView bytes) {
    Reader in{bytes};
    ShownFinal shown;
    TRY(const auto epoch, in.u64());
    TRY(shown.checkpoint.block, in.id<BlockHash>());
    TRY(const auto height, in.u64());
    TRY(const auto before, in.u64());
    TRY(in.finish());
    shown.checkpoint.epoch = Epoch{epoch};
    shown.height = Height{height};
    shown.height_before = Height{before};
    return shown;
}

Result<WorkPeriod, DecodeFault> decode_work(ByteView bytes) {
    Reader in{bytes};
    WorkPeriod period;
    TRY(period.bits, in.u32());
    TRY(const auto height, in.u64());
    TRY(const auto millis, in.u64());
    TRY(in.finish());
    constexpr std::uint64_t kMillisMax = 253'402'300'799'999;  // the year 9999, as for headers
    if (millis > kMillisMax || !crypto::work_target(period.bits, U256::max())) return Fail{DecodeFault::BadValue};
    period.height = Height{height};
    period.time = Time::from_unix_millis(static_cast<std::int64_t>(millis));
    return period;
}

}  // namespace

state::Path next() { return path({"next"}); }
state::Path electorate() { return path({"electorate"}); }
state::Path seed() { return path({"seed"}); }
state::Path ends() { return path({"ends"}); }
state::Path final_checkpoint() { return path({"final"}); }
state::Path weight() { return path({"weight"}); }
state::Path work() { return path({"work"}); }
state::Path absent(const MemberKey& key) { return path({"absent", to_hex(key)}); }
state::Path slot(const MemberKey& key) { return path({"slots", to_hex(key)}); }
state::Prefix all_absent() { return prefix("absent"); }
state::Prefix all_slots() { return prefix("slots"); }

MemberKey key_in(const state::Entry& entry) {
    // chain· kind· 66 hexadecimal digits ·
    const std::string_view key = entry.key();
    constexpr std::size_t kDigits = 2 * std::tuple_size_v<MemberKey>;
    MemberKey out{};
    ensure(key.size() > kDigits && from_hex_into(key.substr(key.size() - 1 - kDigits, kDigits), out),
           "a record by member ends with the member's key");
    return out;
}

void Ends::append(const End& end) {
    if (ends.size() == kKept) ends.erase(ends.begin());
    ends.push_back(end);
}

const Ends::End* Ends::target_of(Epoch epoch) const {
    const auto after = std::upper_bound(ends.begin(), ends.end(), epoch,
                                        [](Epoch left, const End& right) { return left < right.checkpoint.epoch; });
    return after == ends.begin() ? nullptr : &*std::prev(after);
}

Bytes encode(const Ends& ends) {
    Writer out{ends.ends.size() * kEndBytes};
    for (const Ends::End& end : ends.ends)
        out.u64(end.checkpoint.epoch.number()).id(end.checkpoint.block).u64(end.height.number());
    return std::move(out).take();
}

Ends ends_of(const state::StateView& view) {
    auto read = decode_ends(bytes_at(view, ends()));
    return read ? *std::move(read) : Ends{};
}

Bytes encode(const ShownFinal& shown) {
    Writer out;
    out.u64(shown.checkpoint.epoch.number()).id(shown.checkpoint.block);
    out.u64(shown.height.number()).u64(shown.height_before.number());
    return std::move(out).take();
}

ShownFinal shown_final_of(const state::StateView& view) {
    const auto read = decode_shown(bytes_at(view, final_checkpoint()));
    return read ? *read : ShownFinal{};
}

U256 weight_of(const state::StateView& view) {
    const ByteView bytes = bytes_at(view, weight());
    return bytes.size() == 32 ? U256::from_big_endian(bytes.first<32>()) : U256{};
}

Bytes encode_weight(const U256& weight) { return to_bytes(weight.big_endian()); }

Bytes encode(const WorkPeriod& period) {
    Writer out;
    out.u32(period.bits).u64(period.height.number()).u64(static_cast<std::uint64_t>(period.time.unix_millis()));
    return std::move(out).take();
}

std::optional<WorkPeriod> work_period_of(const state::StateView& view) {
    const auto read = decode_work(bytes_at(view, work()));
    if (!read) return std::nullopt;
    return *read;
}

crypto::Hash256 seed_of(const state::StateView& view) {
    const ByteView bytes = bytes_at(view, seed());
    return bytes.size() == 32 ? crypto::Hash256{bytes.first<32>()} : crypto::Hash256{};
}

}  // namespace rhizome::consensus::records
