// SPDX-License-Identifier: Apache-2.0
#include "p2p/addr_book.h"

#include <algorithm>

#include "crypto/hash.h"

namespace rhizome::p2p {
namespace {

constexpr seconds kBackOffFirst{5};
constexpr std::uint8_t kStrikesNew = 3;     ///< of an address where nobody was ever found
constexpr std::uint8_t kStrikesTried = 10;  ///< of one that was good once
constexpr hours kForgotten{30 * 24};        ///< nobody has spoken of it for so long
constexpr hours kFresh{24};
/// What is no longer fresh is tested again before it is no longer handed on.
constexpr hours kHandedOn{3 * 24};
constexpr std::size_t kTriedBucketsOfGroup = 4;

/// How long ago; a time to come is one from before the clock was set back.
microseconds age(Time then, Time now) { return std::max(microseconds{0}, now - then); }

bool waits(const KnownAddress& known, Time now) {
    // Nothing waits longer than the longest back-off: a time beyond it is from a clock that has jumped.
    return known.not_before > now && known.not_before <= now + AddrBook::kBackOffMax;
}

bool is_worthless(const KnownAddress& known, Time now) {
    if (known.good) return known.strikes >= kStrikesTried && age(*known.good, now) > kFresh;
    return known.strikes >= kStrikesNew || age(known.heard, now) > kForgotten;
}

/// An occupant of `tried` that may be replaced by one just found good.
bool is_doubtful(const KnownAddress& known, Time now) {
    return known.failures > 0 || !known.good || age(*known.good, now) > kFresh;
}

bool contains(const std::vector<Address>& list, const Address& address) {
    return std::find(list.begin(), list.end(), address) != list.end();
}

/// Whether addresses of this kind are spoken of with somebody at `other`: never of what is closer than the other.
bool may_speak_of(const Address& address, const Address& other) { return address.scope() >= other.scope(); }

Bytes bytes_of(const Address& address) {
    Writer out{Address::kBytes};
    put(out, address);
    return std::move(out).take();
}

}  // namespace

AddrBook::AddrBook(const Key& key) : key_(key), slots_(kSlots) {}

std::uint64_t AddrBook::draw(std::uint8_t purpose, ByteView first, ByteView second) const {
    const crypto::Hash256 hash = crypto::hmac_sha256(key_, {ByteView{&purpose, 1}, first, second});
    return *Reader{hash.view()}.u64();
}

std::size_t AddrBook::new_slot(const Address& address, const AddressGroup& source) const {
    const std::size_t row = draw('r', address.group().view()) % kSide;
    const std::size_t column = draw('c', source.view()) % kSide;
    return (row * kSide + column) * kBucketSlots + draw('n', bytes_of(address)) % kBucketSlots;
}

std::size_t AddrBook::tried_slot(const Address& address) const {
    const Bytes bytes = bytes_of(address);
    const auto share = static_cast<std::uint8_t>(draw('a', bytes) % kTriedBucketsOfGroup);
    const std::size_t bucket = draw('t', address.group().view(), ByteView{&share, 1}) % kTriedBuckets;
    return kFirstTried + bucket * kBucketSlots + draw('s', bytes) % kBucketSlots;
}

const KnownAddress* AddrBook::find(const Address& address) const {
    const auto at = index_.find(address);
    return at == index_.end() ? nullptr : &*slots_[at->second];
}

KnownAddress* AddrBook::entry(const Address& address) { return const_cast<KnownAddress*>(find(address)); }

std::size_t AddrBook::tried_size() const {
    return static_cast<std::size_t>(
        std::count_if(slots_.begin() + kFirstTried, slots_.end(), [](const auto& slot) { return slot.has_value(); }));
}

void AddrBook::clear(std::size_t slot) {
    if (!slots_[slot]) return;
    index_.erase(slots_[slot]->address);
    slots_[slot].reset();
}

bool AddrBook::place(std::size_t slot, const KnownAddress& known, Time now) {
    if (slots_[slot] && !is_worthless(*slots_[slot], now)) return false;
    clear(slot);
    index_.emplace(known.address, slot);
    slots_[slot] = known;
    slots_[slot]->tried = slot >= kFirstTried;
    return true;
}

bool AddrBook::add(const Address& address, const Address& source, Time now) {
    if (!address.is_routable() || !may_speak_of(address, source)) return false;
    if (KnownAddress* known = entry(address)) {
        known->heard = std::max(known->heard, now);
        return false;
    }
    return place(new_slot(address, source.group()), {.address = address, .source = source.group(), .heard = now}, now);
}

void AddrBook::note_tried(const Address& address, Time now) {
    if (KnownAddress* known = entry(address)) known->not_before = now + kBackOffFirst;
}

void AddrBook::note_good(const Address& address, const ledger::MemberKey& identity, Time now) {
    if (!address.is_routable()) return;
    KnownAddress known{.address = address, .source = address.group(), .heard = now};
    const auto at = index_.find(address);
    if (at != index_.end()) known = *slots_[at->second];
    known.identity = identity;
    known.good = now;
    known.failures = 0;
    known.strikes = 0;
    good_any_ = now;
    if (at != index_.end()) {
        const std::size_t slot = at->second;
        slots_[slot] = known;
        if (known.tried) return;
    }
    const std::size_t wanted = tried_slot(address);
    const std::optional<KnownAddress> displaced = slots_[wanted];
    // Whoever was good a short while ago keeps its place: to push out all good ones an attacker would have to wait
    // until each of them fails.
    if (displaced && !is_doubtful(*displaced, now)) {
        if (at == index_.end()) place(new_slot(address, known.source), known, now);
        return;
    }
    if (at != index_.end()) clear(at->second);
    clear(wanted);
    place(wanted, known, now);
    if (displaced) {
        const std::size_t back = new_slot(displaced->address, displaced->source);
        place(back, *displaced, now);
    }
}

void AddrBook::note_failed(const Address& address, Random& random, Time now, microseconds wait_max) {
    KnownAddress* known = entry(address);
    if (known == nullptr) return;
    if (known->failures < UINT8_MAX) ++known->failures;
    known->not_before = now + std::min(back_off(known->failures, random), wait_max);
    // While nobody can be reached the fault is this node's: a night without network must not empty the book.
    if (good_any_ > known->struck) {
        if (known->strikes < UINT8_MAX) ++known->strikes;
        known->struck = now;
    }
    if (is_worthless(*known, now)) forget(address);
}

void AddrBook::forget(const Address& address) {
    if (const auto at = index_.find(address); at != index_.end()) clear(at->second);
}

std::optional<KnownAddress> AddrBook::pick(Random& random, std::size_t begin, std::size_t end, const Fits& fits) const {
    std::vector<std::vector<const KnownAddress*>> buckets;
    for (std::size_t bucket = begin; bucket < end; bucket += kBucketSlots) {
        std::vector<const KnownAddress*> good;
        for (std::size_t slot = bucket; slot < bucket + kBucketSlots; ++slot)
            if (slots_[slot] && fits(*slots_[slot])) good.push_back(&*slots_[slot]);
        if (!good.empty()) buckets.push_back(std::move(good));
    }
    if (buckets.empty()) return std::nullopt;
    const auto& bucket = buckets[random.below(buckets.size())];
    return *bucket[random.below(bucket.size())];
}

std::optional<KnownAddress> AddrBook::choose(Random& random, Time now, const Fits& fits) const {
    for (const bool others_only : {true, false}) {
        const auto wanted = [&](const KnownAddress& known) {
            return !waits(known, now) && !(others_only && contains(last_run_, known.address)) && fits(known);
        };
        const auto of_tried = [&] { return pick(random, kFirstTried, kSlots, wanted); };
        const auto of_new = [&] { return pick(random, 0, kFirstTried, wanted); };
        const bool tried_first = random.chance(1, 2);
        if (auto found = tried_first ? of_tried() : of_new()) return found;
        if (auto found = tried_first ? of_new() : of_tried()) return found;
        if (last_run_.empty()) break;
    }
    return std::nullopt;
}

std::optional<KnownAddress> AddrBook::choose_feeler(Random& random, Time now, const Fits& fits) const {
    auto found = pick(random, 0, kFirstTried,
                      [&](const KnownAddress& known) { return !waits(known, now) && !known.good && fits(known); });
    if (found) return found;
    return pick(random, 0, kSlots, [&](const KnownAddress& known) {
        return !waits(known, now) && known.good && age(*known.good, now) > kFresh && fits(known);
    });
}

std::vector<Address> AddrBook::sample(Random& random, std::size_t count, const Address& asker, Time now) const {
    std::vector<Address> good;
    for (const auto& [address, slot] : index_) {
        const KnownAddress& known = *slots_[slot];
        if (known.good && known.failures == 0 && age(*known.good, now) <= kHandedOn && may_speak_of(address, asker) &&
            address != asker)
            good.push_back(address);
    }
    random.shuffle(good);
    if (good.size() > count) good.resize(count);
    return good;
}

void AddrBook::note_linked(const Address& address) {
    if (linked_.size() < kLinkedMax && !contains(linked_, address)) linked_.push_back(address);
}

void AddrBook::note_unlinked(const Address& address) { std::erase(linked_, address); }

microseconds back_off(std::uint8_t failures, Random& random) {
    microseconds longest = kBackOffFirst;
    for (std::uint8_t i = 1; i < failures && longest < AddrBook::kBackOffMax; ++i) longest *= 2;
    longest = std::min<microseconds>(longest, AddrBook::kBackOffMax);
    return microseconds{random.between(longest.count() / 2, longest.count())};
}

}  // namespace rhizome::p2p
