// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "p2p/detail/inside.h"

/// Whom to dial, and when.
namespace rhizome::p2p {
namespace {

/// Below so many outbound links seeds are dialled as well as the book's addresses, since those may all be stale.
constexpr std::size_t kSeedsBelow = 2;
constexpr std::size_t kDialsAtOnce = 4;
/// Outbound links to non-members that are not given up for members: somebody who sees the cluster from outside.
constexpr std::size_t kStrangersKept = 2;

}  // namespace

std::size_t PeerManager::Inside::outbound() const {
    const auto stays = [](const auto& entry) { return entry.second.purpose == Purpose::Stay; };
    const auto stands = [](const auto& entry) { return entry.second.stays_out() && !entry.second.silent; };
    return static_cast<std::size_t>(std::count_if(links.begin(), links.end(), stands) +
                                    std::count_if(dialling.begin(), dialling.end(), stays));
}

bool PeerManager::Inside::is_linked(const ledger::MemberKey& identity) const {
    return std::any_of(links.begin(), links.end(), [&](const auto& entry) {
        return entry.second.up && !entry.second.silent && entry.second.identity == identity;
    });
}

bool PeerManager::Inside::may_dial(const Address& address) const {
    if (own.contains(address) || dialling.contains(address)) return false;
    return std::none_of(links.begin(), links.end(), [&](const auto& entry) {
        const Link& link = entry.second;
        return link.listens == address && !link.silent && (link.up || link.direction == Direction::Out);
    });
}

bool PeerManager::Inside::may_dial(const KnownAddress& known) const {
    if (!may_dial(known.address)) return false;
    return !known.identity || (!is_linked(*known.identity) && !conduct.is_banned(*known.identity, now));
}

bool PeerManager::Inside::group_is_full(const Address& address) const {
    if (address.scope() != Scope::World) return false;
    const AddressGroup group = address.group();
    std::size_t count = 0;
    for (const auto& [id, link] : links)
        if (link.stays_out() && !is_member(link.identity) && link.remote.group() == group) ++count;
    for (const auto& [other, one] : dialling)
        if (one.purpose == Purpose::Stay && !one.expected && other.group() == group) ++count;
    return count >= config.outbound_group_max;
}

void PeerManager::Inside::dial(const Address& address, Purpose purpose,
                               const std::optional<ledger::MemberKey>& expected) {
    book.note_tried(address, now);
    dialling[address] = {purpose, expected, now};
    effects.emplace_back(Dial{address, expected});
}

bool PeerManager::Inside::waits(const Address& address) const {
    const auto at = waiting.find(address);
    // As in the book: nothing waits longer than the longest back-off.
    return at != waiting.end() && at->second.not_before > now && at->second.not_before <= now + AddrBook::kBackOffMax;
}

std::vector<PeerManager::Inside::Target> PeerManager::Inside::absent_members() const {
    std::vector<Target> absent;
    for (const auto& [key, address] : members)
        if (address && !is_linked(key) && !conduct.is_banned(key, now)) absent.emplace_back(*address, key);
    return absent;
}

bool PeerManager::Inside::dial_waiting(std::vector<Target> candidates) {
    std::erase_if(candidates, [&](const Target& one) { return waits(one.first) || !may_dial(one.first); });
    if (candidates.empty()) return false;
    const auto& [address, expected] = candidates[random.below(candidates.size())];
    dial(address, Purpose::Stay, expected);
    return true;
}

bool PeerManager::Inside::dial_book(const AddrBook::Fits& fits) {
    const auto chosen =
        book.choose(random, now, [&](const KnownAddress& known) { return may_dial(known) && fits(known); });
    if (chosen) dial(chosen->address, Purpose::Stay, std::nullopt);
    return chosen.has_value();
}

bool PeerManager::Inside::dial_one() {
    while (!anchors.empty()) {
        const Address anchor = anchors.front();
        anchors.erase(anchors.begin());
        if (!may_dial(anchor)) continue;
        dial(anchor, Purpose::Stay, std::nullopt);
        return true;
    }
    if (dial_waiting(absent_members())) return true;
    if (dial_book([&](const KnownAddress& known) { return known.identity && is_member(*known.identity); })) return true;

    std::vector<Target> of_seeds;
    for (const Address& seed : seeds) {
        const KnownAddress* known = book.find(seed);
        if (known == nullptr || may_dial(*known)) of_seeds.emplace_back(seed, std::nullopt);
    }
    const auto standing = std::count_if(links.begin(), links.end(), [](const auto& entry) { return entry.second.up; });
    const bool alone = static_cast<std::size_t>(standing) < kSeedsBelow;
    if (alone && random.chance(1, 2) && dial_waiting(of_seeds)) return true;
    if (dial_book([&](const KnownAddress& known) { return !group_is_full(known.address); })) return true;
    return dial_waiting(std::move(of_seeds));
}

bool PeerManager::Inside::dial_feeler() {
    const auto testing = std::count_if(dialling.begin(), dialling.end(),
                                       [](const auto& entry) { return entry.second.purpose == Purpose::Test; });
    if (static_cast<std::size_t>(testing) >= config.feelers_max) return false;
    // Also where a peer that dialled us says it listens: only what was tested is handed on.
    const auto chosen = book.choose_feeler(random, now, [&](const KnownAddress& known) {
        if (own.contains(known.address) || dialling.contains(known.address)) return false;
        return !known.identity || !conduct.is_banned(*known.identity, now);
    });
    if (chosen) dial(chosen->address, Purpose::Test, std::nullopt);
    return chosen.has_value();
}

bool PeerManager::Inside::make_way() {
    const auto absent = absent_members();
    if (std::none_of(absent.begin(), absent.end(),
                     [&](const Target& one) { return !waits(one.first) && may_dial(one.first); }))
        return false;
    std::vector<const Link*> strangers;
    for (const auto& [id, link] : links)
        if (link.up && link.stays_out() && !is_member(link.identity)) strangers.push_back(&link);
    if (strangers.size() <= kStrangersKept) return false;
    const Link* youngest =
        *std::max_element(strangers.begin(), strangers.end(), [](const Link* left, const Link* right) {
            return std::tie(left->since, left->id) < std::tie(right->since, right->id);
        });
    end(youngest->id, ByeReason::Full, "the place is needed for a member");
    return true;
}

void PeerManager::Inside::dial_more() {
    if (outbound() >= config.outbound_max) {
        if (now < feeler_at) return;
        if (!make_way()) dial_feeler();
        // Not all at the same moment, or a network that started together would test together.
        feeler_at = now + microseconds{config.feeler_every} * 3 / 4 +
                    microseconds{random.between(0, microseconds{config.feeler_every}.count() / 2)};
        return;
    }
    if (now < dial_at) return;
    bool dialled = false;
    for (std::size_t i = 0; i < kDialsAtOnce && outbound() < config.outbound_max && dial_one(); ++i) dialled = true;
    // Nobody left to dial: time to find out who is where.
    if (!dialled)
        for (std::size_t i = 0; i < config.feelers_max && dial_feeler();) ++i;
    const bool misses_any = std::any_of(members.begin(), members.end(), [&](const auto& member) {
        return member.first != config.self && !is_linked(member.first);
    });
    dial_at = now + (dialled || misses_any ? config.dial_every : config.dial_idle);
}

bool PeerManager::Inside::is_of_member(const Address& address) const {
    const KnownAddress* known = book.find(address);
    if (known != nullptr && known->identity && is_member(*known->identity)) return true;
    return std::any_of(members.begin(), members.end(), [&](const auto& member) { return member.second == address; });
}

void PeerManager::Inside::note_failed(const Address& address) {
    const microseconds most = is_of_member(address) ? microseconds{config.member_wait_max} : AddrBook::kBackOffMax;
    book.note_failed(address, random, now, most);
    const bool fixed =
        std::find(seeds.begin(), seeds.end(), address) != seeds.end() ||
        std::any_of(members.begin(), members.end(), [&](const auto& member) { return member.second == address; });
    if (!fixed) return;
    Waiting& wait = waiting[address];
    if (wait.failures < UINT8_MAX) ++wait.failures;
    wait.not_before = now + std::min(back_off(wait.failures, random), most);
}

void PeerManager::Inside::note_good(const Address& address, const ledger::MemberKey& identity) {
    waiting.erase(address);
    book.note_good(address, identity, now);
    changed = true;
}

}  // namespace rhizome::p2p
