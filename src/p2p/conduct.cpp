// SPDX-License-Identifier: Apache-2.0
#include "p2p/conduct.h"

#include <algorithm>
#include <tuple>

#include "base/ensure.h"

namespace rhizome::p2p {
namespace {

constexpr std::uint32_t kNothing = 0;
constexpr std::uint32_t kSlight = 10;
constexpr std::uint32_t kGrave = 50;
constexpr std::size_t kWhyMax = 200;
constexpr std::uint8_t kBansVersion = 1;  ///< of the bans on the disk
constexpr std::size_t kBanBytesLeast = 33 + 8 + 4 + 1;

}  // namespace

std::string_view name(LinkFault fault) {
    switch (fault) {
        case LinkFault::OutOfOrder: return "out of order";
        case LinkFault::NotAsked: return "not asked for";
        case LinkFault::Flood: return "too many messages";
    }
    return "unknown";
}

std::uint32_t cost_of(ledger::RejectCode code) {
    using enum ledger::RejectCode;
    switch (code) {
        // Wrong whatever one knows of the chain.
        case BadEncoding:
        case TooLarge: return kGrave;
        // Signed, sealed or computed wrongly: nobody passes such a thing on who has looked at it.
        case BadSeal:
        case BadVote:
        case BadMerkle: return kBanScore;
        // A block that its sender follows and that no rule allows. Not a ban at once: two versions of the program that
        // disagree must not tear the cluster apart over one block.
        case BadStateRoot:
        case BadOrder:
        case NotAuthorised:
        case DuplicateOutput:
        case UnusedInput:
        case OrphanParent:
        case UnknownKind:
        case TooManyChecks:
        case MissingInput:
        case Replay:
        case NotYourTurn: return kGrave;
        // The sender may know another tip, another clock or other settings.
        case StaleInput:
        case AlreadyExists:
        case NotFound:
        case NonFinal:
        case Expired:
        case QuotaExceeded:
        case SchemaInvalid:
        case PolicyDenied:
        case FutureBlock: return kSlight;
        // Ours to bear.
        case TooManyPending:
        case Throttled: return kNothing;
    }
    unreachable("all codes have a cost");
}

std::uint32_t cost_of(LinkFault fault) {
    switch (fault) {
        case LinkFault::OutOfOrder:
        case LinkFault::NotAsked:
        case LinkFault::Flood: return kGrave;
    }
    unreachable("all faults have a cost");
}

std::uint32_t Conduct::score_of(const Record& record, Time now) {
    const auto lost = std::max<std::int64_t>(0, (now - record.at) / microseconds{kPointEvery});
    return lost >= record.score ? 0 : record.score - static_cast<std::uint32_t>(lost);
}

bool Conduct::is_banned(const Record& record, Time now) {
    // A ban beyond the longest is from before the clock was set back.
    return record.until && *record.until > now && *record.until <= now + kBanMax;
}

bool Conduct::blame(const ledger::MemberKey& identity, std::uint32_t cost, std::string_view why, Time now) {
    if (cost == 0) return is_banned(identity, now);
    if (!records_.contains(identity)) make_room(now);
    Record& record = records_[identity];
    if (is_banned(record, now)) return true;
    if (record.until && now - *record.until > kBanMax) record.times = 0;
    record.score = std::min(kBanScore, score_of(record, now) + std::min(cost, kBanScore));
    record.at = now;
    record.why = why.substr(0, kWhyMax);
    if (record.score < kBanScore) return false;
    microseconds length = kBanFirst;
    for (std::uint32_t i = 0; i < record.times && length < kBanMax; ++i) length *= 2;
    record.until = now + std::min<microseconds>(length, kBanMax);
    record.score = 0;
    ++record.times;
    return true;
}

std::uint32_t Conduct::score(const ledger::MemberKey& identity, Time now) const {
    const auto at = records_.find(identity);
    return at == records_.end() ? 0 : score_of(at->second, now);
}

bool Conduct::is_banned(const ledger::MemberKey& identity, Time now) const {
    const auto at = records_.find(identity);
    return at != records_.end() && is_banned(at->second, now);
}

std::vector<Ban> Conduct::bans(Time now) const {
    std::vector<Ban> list;
    for (const auto& [identity, record] : records_)
        if (is_banned(record, now)) list.push_back({identity, *record.until, record.times, record.why});
    return list;
}

bool Conduct::lift(const ledger::MemberKey& identity, Time now) {
    const bool was = is_banned(identity, now);
    if (was) records_.erase(identity);
    return was;
}

void Conduct::shift(microseconds by) {
    for (auto& [identity, record] : records_) {
        record.at += by;
        if (record.until) *record.until += by;
    }
}

Bytes Conduct::encode(Time now) const {
    const auto standing = bans(now);
    Writer out;
    out.u8(kBansVersion).u16(static_cast<std::uint16_t>(standing.size()));
    for (const Ban& ban : standing)
        out.raw(ban.identity)
            .u64(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ban.until.since_epoch().count())))
            .u32(ban.times)
            .short_blob(as_bytes(ban.why));
    return std::move(out).take();
}

Result<Conduct, DecodeFault> Conduct::decode(ByteView bytes) {
    Conduct conduct;
    Reader in{bytes};
    TRY(const auto version, in.u8());
    if (version != kBansVersion) return Fail{DecodeFault::BadValue};
    TRY(const auto written, in.u16());
    TRY(const auto count, in.bounded_count(written, kRecordsMax, kBanBytesLeast));
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto identity, (in.array<std::tuple_size_v<ledger::MemberKey>>()));
        if (!conduct.records_.empty() && identity <= conduct.records_.rbegin()->first)
            return Fail{DecodeFault::BadValue};
        TRY(const auto until, in.u64());
        if (until > INT64_MAX) return Fail{DecodeFault::BadValue};
        Record record{.until = Time{microseconds{static_cast<std::int64_t>(until)}}};
        TRY(record.times, in.u32());
        TRY(const auto why, in.short_blob(kWhyMax));
        record.why = std::string{why.begin(), why.end()};
        conduct.records_.emplace(identity, std::move(record));
    }
    TRY(in.finish());
    return conduct;
}

void Conduct::make_room(Time now) {
    if (records_.size() < kRecordsMax) return;
    // Scores go before bans, low before high, those that end soon before others.
    const auto weight = [&](const auto& entry) {
        const Record& record = entry.second;
        return std::tuple{is_banned(record, now), record.times, score_of(record, now), record.until.value_or(Time{})};
    };
    records_.erase(std::min_element(records_.begin(), records_.end(),
                                    [&](const auto& left, const auto& right) { return weight(left) < weight(right); }));
}

}  // namespace rhizome::p2p
