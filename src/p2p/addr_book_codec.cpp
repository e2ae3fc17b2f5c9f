// SPDX-License-Identifier: Apache-2.0
#include "p2p/addr_book.h"

/// The book on the disk: version (1) ‖ addresses (2), in rising order, each: address (18), source (19), flags (1),
/// identity (33) and time found good (8) as the flags say, time heard (8), strikes (1) ‖ anchors (1), addresses ‖
/// linked in the last run (1), addresses.
namespace rhizome::p2p {
namespace {

constexpr std::uint8_t kBookVersion = 1;
constexpr std::uint8_t kHasIdentity = 1;
constexpr std::uint8_t kWasGood = 2;
constexpr std::uint8_t kInTried = 4;
constexpr std::size_t kEntryBytesMin = Address::kBytes + AddressGroup::kSize + 1 + 8 + 1;

void put_time(Writer& out, Time time) {
    out.u64(static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.since_epoch().count())));
}

Result<Time, DecodeFault> get_time(Reader& in) {
    TRY(const auto count, in.u64());
    if (count > INT64_MAX) return Fail{DecodeFault::BadValue};
    return Time{microseconds{static_cast<std::int64_t>(count)}};
}

void put_list(Writer& out, const std::vector<Address>& list) {
    out.u8(static_cast<std::uint8_t>(list.size()));
    for (const Address& address : list) put(out, address);
}

Result<std::vector<Address>, DecodeFault> get_list(Reader& in, std::size_t most) {
    TRY(const auto written, in.u8());
    TRY(const auto count, in.bounded_count(written, most, Address::kBytes));
    std::vector<Address> list;
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto address, get_address(in));
        list.push_back(address);
    }
    return list;
}

Result<KnownAddress, DecodeFault> get_entry(Reader& in) {
    KnownAddress known;
    TRY(known.address, get_address(in));
    TRY(known.source, in.id<AddressGroup>());
    TRY(const auto flags, in.u8());
    if (flags > (kHasIdentity | kWasGood | kInTried)) return Fail{DecodeFault::BadValue};
    if (flags & kHasIdentity) {
        TRY(known.identity, (in.array<std::tuple_size_v<ledger::MemberKey>>()));
    }
    if (flags & kWasGood) {
        TRY(known.good, get_time(in));
    }
    known.tried = (flags & kInTried) != 0;
    if (known.tried && !known.good) return Fail{DecodeFault::BadValue};
    TRY(known.heard, get_time(in));
    TRY(known.strikes, in.u8());
    return known;
}

}  // namespace

Bytes AddrBook::encode() const {
    Writer out;
    out.u8(kBookVersion).u16(static_cast<std::uint16_t>(index_.size()));
    for (const auto& [address, slot] : index_) {
        const KnownAddress& known = *slots_[slot];
        put(out, address);
        out.id(known.source);
        out.u8(static_cast<std::uint8_t>((known.identity ? kHasIdentity : 0) | (known.good ? kWasGood : 0) |
                                         (known.tried ? kInTried : 0)));
        if (known.identity) out.raw(*known.identity);
        if (known.good) put_time(out, *known.good);
        put_time(out, known.heard);
        out.u8(known.strikes);
    }
    // A node that is alone when it stops keeps the anchors it had.
    std::vector<Address> anchors = linked_.empty() ? anchors_ : linked_;
    if (anchors.size() > kAnchors) anchors.resize(kAnchors);
    put_list(out, anchors);
    put_list(out, linked_.empty() ? last_run_ : linked_);
    return std::move(out).take();
}

Result<AddrBook, DecodeFault> AddrBook::decode(ByteView bytes, const Key& key) {
    AddrBook book{key};
    Reader in{bytes};
    TRY(const auto version, in.u8());
    if (version != kBookVersion) return Fail{DecodeFault::BadValue};
    TRY(const auto written, in.u16());
    TRY(const auto count, in.bounded_count(written, kSlots, kEntryBytesMin));
    std::optional<Address> before;
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto known, get_entry(in));
        if (before && known.address <= *before) return Fail{DecodeFault::NotCanonical};
        before = known.address;
        if (!known.address.is_routable()) return Fail{DecodeFault::BadValue};
        // What is worthless is not known before the time is; here an occupant only yields when it is beyond doubt.
        if (known.tried && book.place(book.tried_slot(known.address), known, known.heard)) continue;
        book.place(book.new_slot(known.address, known.source), known, known.heard);
    }
    TRY(book.anchors_, get_list(in, kAnchors));
    TRY(book.last_run_, get_list(in, kLinkedMax));
    TRY(in.finish());
    return book;
}

}  // namespace rhizome::p2p
