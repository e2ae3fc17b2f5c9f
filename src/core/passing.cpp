// SPDX-License-Identifier: Apache-2.0
#include "core/passing.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "ledger/chain_records.h"
#include "ledger/member.h"

namespace rhizome::core {
namespace {

/// So many a second, and some at once.
class Budget {
public:
    Budget(std::uint64_t per_second, std::uint64_t at_once, Time now)
        : per_second_(per_second), most_(at_once * kUnit), left_(most_), seen_(now) {}

    bool spend(Time now) {
        if (now > seen_) {
            const auto passed = static_cast<std::uint64_t>((now - seen_).count());
            left_ = passed >= most_ / per_second_ ? most_ : std::min(most_, left_ + passed * per_second_);
        }
        seen_ = now;
        if (left_ < kUnit) return false;
        left_ -= kUnit;
        return true;
    }

private:
    static constexpr std::uint64_t kUnit = 1'000'000;  // one, in millionths: times are in microseconds
    std::uint64_t per_second_;
    std::uint64_t most_;
    std::uint64_t left_;
    Time seen_;
};

}  // namespace

struct Passing::Inside {
    Inside(const ledger::ChainId& chain_in, const PassingConfig& config_in, PassingPorts ports_in)
        : chain(chain_in), config(config_in), ports(std::move(ports_in)), set(config_in.room) {}

    ledger::ChainId chain;
    PassingConfig config;
    PassingPorts ports;
    detail::PassingSet set;
    std::set<consensus::MemberKey> members;

    struct Peer {
        Time compare{};  ///< with it, next
        Time groups_after{};
        Time list_after{};
        Time give_after{};
        Budget served;
    };
    std::map<PeerId, Peer> peers;
    struct Writer {
        Budget taken;
        Time named{};
        std::uint64_t left_out = 0;
    };
    std::map<consensus::MemberKey, Writer> writers;
    /// What was not passed on yet, and who has it already.
    struct News {
        bool own = false;
        std::vector<PeerId> known_to{};
    };
    std::map<PassingId, News> news;
    std::optional<Time> flush_at{};
    std::map<PassingId, Time> asked;
    Time now{};
    std::uint64_t taken = 0;
    std::uint64_t left_out = 0;
    std::vector<PassingEffect> effects;

    void send(PeerId to, PassingMessage message) {
        effects.emplace_back(PassingSend{to, std::make_shared<const PassingMessage>(std::move(message))});
    }
    void show(const PassingRecord& record) {
        effects.emplace_back(PassingStands{record.path, record.entry, record.until});
    }
    void show_gone(const std::vector<SharedRecord>& gone) {
        for (const SharedRecord& record : gone)
            if (record->entry) effects.emplace_back(PassingStands{record->path, {}, record->until});
    }
    void name_flood(const consensus::MemberKey& key, Writer& writer) {
        ++writer.left_out;
        ++left_out;
        if (writer.named != Time{} && now < writer.named + config.flood_again) return;
        writer.named = now;
        effects.emplace_back(PassingFlood{key, std::exchange(writer.left_out, 0)});
    }
    Writer& writer_of(const consensus::MemberKey& key) {
        return writers.try_emplace(key, Writer{{config.writer_per_second, config.room.writer_records_max, now}})
            .first->second;
    }
    void pass_on(const PassingId& id, bool own, std::optional<PeerId> from) {
        News& one = news[id];
        // Another version of the same: who had the one before lacks this one.
        one = {.own = own};
        if (from) one.known_to.push_back(*from);
        if (!flush_at) flush_at = now + config.gather;
    }

    void put(const PassingId& id, const SharedRecord& record, const PassingVersion& version) {
        show(*record);
        show_gone(set.put(id, record, version));
    }

    // ---- events ----------------------------------------------------------------------------------------------------
    void on(const Tick&) {}
    void on(const PeerUp& event) {
        peers.insert_or_assign(
            event.peer, Peer{.compare = now, .served = {config.served_per_second, config.room.records_max, now}});
    }
    void on(const PeerDown& event) { peers.erase(event.peer); }
    void on(const PassingMembers& event) {
        if (members == event.members) return;
        members = event.members;
        show_gone(set.keep_only(members));
        std::erase_if(writers, [&](const auto& one) { return !members.contains(one.first); });
        // What somebody wrote before it was known to be a member was not taken.
        for (auto& [id, peer] : peers) peer.compare = now;
    }
    void on(const PassingWritten& event);
    void on(const PassingHeard& event) {
        if (!peers.contains(event.from)) return;
        std::visit([&](const auto& message) { heard(event.from, peers.at(event.from), message); }, *event.message);
    }

    // ---- what peers say --------------------------------------------------------------------------------------------
    void heard(PeerId from, Peer& peer, const PassingRecords& message);
    void heard(PeerId from, Peer& peer, const PassingHave& message);
    void heard(PeerId from, Peer& peer, const PassingWant& message);
    void heard(PeerId from, Peer& peer, const PassingSum& message);
    void heard(PeerId from, Peer& peer, const PassingGroups& message);
    void heard(PeerId from, Peer& peer, const PassingList& message);
    /// False: it was made up, and its sender is to blame.
    bool take(PeerId from, const SharedRecord& record);
    [[nodiscard]] bool is_news(const PassingName& name) const;
    void ask(PeerId from, const std::vector<PassingId>& ids);
    void serve(PeerId to, Peer& peer, const std::vector<SharedRecord>& records);

    void flush();
    void finish();
    void clock_set_back(Time to);
};

void Passing::Inside::on(const PassingWritten& event) {
    if (ports.signer == nullptr || !members.contains(ports.signer->key())) return;
    if (event.entry && event.entry->weight() > kPassingDocumentMax) return;
    const PassingId id = passing_id(event.path);
    const auto* present = set.find(id);
    auto record = std::make_shared<PassingRecord>();
    record->writer = ports.signer->key();
    record->path = event.path;
    record->entry = event.entry;
    // Later than what this node has of the document: what its client saw is what it changed. Not later than other
    // documents: one stamp ahead of the clock, its own or a liar's, would drag all others along.
    record->stamp = now;
    if (present != nullptr) record->stamp = std::max(record->stamp, present->version.stamp + microseconds{1});
    record->until = event.until;
    if (!event.entry) {
        // As long as what it deletes could be found somewhere.
        record->until = now + config.deleted_kept;
        if (present != nullptr) record->until = std::max(record->until, present->record->until);
    }
    record->until = std::clamp(record->until, record->stamp + microseconds{1}, record->stamp + kPassingLifeMax);
    const crypto::Digest digest = digest_of(*record, chain);
    record->signature = ports.signer->sign(digest);
    Writer& writer = writer_of(record->writer);
    const bool in_time = writer.taken.spend(now);
    put(id, record, version_of(*record, digest));
    if (in_time) {
        pass_on(id, true, std::nullopt);
    } else {
        name_flood(record->writer, writer);  // others find it when they compare
    }
}

bool Passing::Inside::take(PeerId from, const SharedRecord& record) {
    const PassingId id = passing_id(record->path);
    asked.erase(id);
    if (const auto known = news.find(id); known != news.end()) {
        const auto* here = set.find(id);
        if (here != nullptr && here->version.stamp == record->stamp) known->second.known_to.push_back(from);
    }
    const auto* present = set.find(id);
    if (present != nullptr && record->stamp < present->version.stamp) return true;
    // Not an error: clocks differ, and so does what the chain says here and there.
    if (record->until <= now || record->stamp > now + config.ahead_max || !members.contains(record->writer))
        return true;
    const crypto::Digest digest = digest_of(*record, chain);
    const PassingVersion version = version_of(*record, digest);
    if (present != nullptr && version <= present->version) return true;
    // Where an older version stands it goes in any case: a deletion holds though there is no room for it.
    if (present == nullptr && !set.has_room_for(id, *record, version)) return true;
    Writer& writer = writer_of(record->writer);
    Budget after = writer.taken;
    if (!after.spend(now)) {
        name_flood(record->writer, writer);
        return true;
    }
    if (!ports.signatures.is_good(record->writer, digest, record->signature)) return false;
    writer.taken = after;
    if (record->entry && ports.may_stand && !ports.may_stand(*record->entry)) return true;
    ++taken;
    put(id, record, version);
    pass_on(id, false, from);
    return true;
}

void Passing::Inside::heard(PeerId from, Peer&, const PassingRecords& message) {
    for (const SharedRecord& record : message.records) {
        if (take(from, record)) continue;
        effects.emplace_back(
            Blame{from,
                  {.code = ledger::RejectCode::NotAuthorised,
                   .why = fmt::format("what it sent of {} is not signed by who wrote it", record->path.text())}});
        return;
    }
}

bool Passing::Inside::is_news(const PassingName& name) const {
    if (name.version.stamp > now + config.ahead_max) return false;
    const auto* present = set.find(name.id);
    return present == nullptr || present->version < name.version;
}

void Passing::Inside::heard(PeerId from, Peer&, const PassingHave& message) {
    std::vector<PassingId> lacking;
    for (const PassingName& name : message.names) {
        if (is_news(name)) {
            lacking.push_back(name.id);
        } else if (const auto known = news.find(name.id); known != news.end()) {
            known->second.known_to.push_back(from);
        }
    }
    ask(from, lacking);
}

void Passing::Inside::ask(PeerId from, const std::vector<PassingId>& ids) {
    if (asked.size() + ids.size() > config.asked_max)
        std::erase_if(asked, [&](const auto& one) { return now >= one.second + config.ask_again; });
    PassingWant want;
    for (const PassingId& id : ids) {
        const auto before = asked.find(id);
        if (before != asked.end() && now < before->second + config.ask_again) continue;
        if (before == asked.end() && asked.size() >= config.asked_max) break;  // the next comparison finds the rest
        asked[id] = now;
        want.ids.push_back(id);
        if (want.ids.size() == kPassingNamesMax) send(from, std::exchange(want, {}));
    }
    if (!want.ids.empty()) send(from, std::move(want));
}

void Passing::Inside::heard(PeerId from, Peer& peer, const PassingWant& message) {
    std::vector<SharedRecord> found;
    for (const PassingId& id : message.ids)
        if (const auto* held = set.find(id)) found.push_back(held->record);
    serve(from, peer, found);
}

void Passing::Inside::serve(PeerId to, Peer& peer, const std::vector<SharedRecord>& records) {
    PassingRecords message;
    std::size_t bytes = 0;
    for (const SharedRecord& record : records) {
        if (!peer.served.spend(now)) break;
        const std::size_t size = encoded_size(*record);
        if (!message.records.empty() &&
            (message.records.size() == kPassingRecordsMax || bytes + size > kPassingBytesTogether)) {
            send(to, std::exchange(message, {}));
            bytes = 0;
        }
        message.records.push_back(record);
        bytes += size;
    }
    if (!message.records.empty()) send(to, std::move(message));
}

void Passing::Inside::heard(PeerId from, Peer& peer, const PassingSum& message) {
    if (now < peer.groups_after) return;
    const PassingSum ours = set.sum();
    if (ours.count == message.count && ours.sum == message.sum) {
        peer.compare = now + config.compare_every;  // this was it
        return;
    }
    peer.groups_after = now + config.compare_again;
    send(from, set.groups());
}

void Passing::Inside::heard(PeerId from, Peer& peer, const PassingGroups& message) {
    if (now < peer.list_after) return;
    PassingList list;
    for (std::size_t group = 0; group < kPassingGroups; ++group)
        list.groups.set(group, set.groups().sums[group] != message.sums[group]);
    if (list.groups.none()) return;
    peer.list_after = now + config.compare_again;
    for (std::size_t group = 0; group < kPassingGroups; ++group) {
        if (!list.groups.test(group)) continue;
        const auto end = set.group(group + 1);
        for (auto at = set.group(group); at != end; ++at) list.names.push_back({at->first, at->second.version});
    }
    send(from, std::move(list));
}

void Passing::Inside::heard(PeerId from, Peer& peer, const PassingList& message) {
    // 40 bytes that name nothing ask for everything: all of it is looked through before the budget says no.
    if (now < peer.give_after) return;
    peer.give_after = now + config.compare_again;
    std::vector<PassingId> lacking;
    std::vector<SharedRecord> newer;
    auto theirs = message.names.begin();
    for (std::size_t group = 0; group < kPassingGroups; ++group) {
        if (!message.groups.test(group)) continue;
        const auto end = set.group(group + 1);
        for (auto ours = set.group(group); ours != end; ++ours) {
            for (; theirs != message.names.end() && theirs->id < ours->first; ++theirs)
                if (is_news(*theirs)) lacking.push_back(theirs->id);
            const bool is_there = theirs != message.names.end() && theirs->id == ours->first;
            if (is_there && is_news(*theirs)) {
                lacking.push_back(theirs->id);
            } else if (!is_there || theirs->version < ours->second.version) {
                newer.push_back(ours->second.record);
            }
            if (is_there) ++theirs;
        }
        for (; theirs != message.names.end() && theirs->id.view()[0] == group; ++theirs)
            if (is_news(*theirs)) lacking.push_back(theirs->id);
    }
    ask(from, lacking);
    // The newest first: of a member that wrote too much the others take no more than they have room for.
    std::stable_sort(newer.begin(), newer.end(),
                     [](const SharedRecord& left, const SharedRecord& right) { return left->stamp > right->stamp; });
    serve(from, peer, newer);
    if (!lacking.empty() || !newer.empty()) peer.compare = std::min(peer.compare, now + config.compare_again);
}

void Passing::Inside::flush() {
    flush_at.reset();
    const auto fresh = std::exchange(news, {});
    for (auto& [id, peer] : peers) {
        std::vector<SharedRecord> whole;
        PassingHave named;
        for (const auto& [document, one] : fresh) {
            const auto* held = set.find(document);
            if (held == nullptr) continue;
            if (std::find(one.known_to.begin(), one.known_to.end(), id) != one.known_to.end()) continue;
            if (one.own) {
                whole.push_back(held->record);
                continue;
            }
            named.names.push_back({document, held->version});
            if (named.names.size() == kPassingNamesMax) send(id, std::exchange(named, {}));
        }
        serve(id, peer, whole);
        if (!named.names.empty()) send(id, std::move(named));
    }
}

void Passing::Inside::finish() {
    show_gone(set.expire(now));
    if (flush_at && *flush_at <= now) flush();
    std::optional<Time> next = flush_at;
    const auto not_later_than = [&](Time time) { next = next ? std::min(*next, time) : time; };
    for (auto& [id, peer] : peers) {
        if (peer.compare <= now) {
            peer.compare = now + config.compare_every;
            send(id, set.sum());
        }
        not_later_than(peer.compare);
    }
    if (const auto end = set.next_end()) not_later_than(*end);
    if (next) effects.emplace_back(Wake{*next});
}

void Passing::Inside::clock_set_back(Time to) {
    // What was to happen later would not happen for as long.
    const microseconds back = now - to;
    for (auto& [id, peer] : peers) {
        peer.compare -= back;
        peer.groups_after = peer.list_after = peer.give_after = to;
    }
    for (auto& [key, writer] : writers) writer.named = std::min(writer.named, to);
    if (flush_at) flush_at = *flush_at - back;
    asked.clear();
    // What this node wrote while its clock was ahead nobody else takes, and what it wrote over that nobody would
    // either, until their clocks get there.
    if (ports.signer == nullptr) return;
    const auto gone = set.forget_later(ports.signer->key(), to + config.ahead_max);
    show_gone(gone);
    if (gone.empty()) return;
    for (auto& [id, peer] : peers) peer.compare = to;  // they may have what stood there before
}

PassingMembers members_in(const state::StateView& view) {
    PassingMembers event;
    state::Cursor cursor = view.walk(ledger::records::all_members());
    while (const state::Entry* entry = cursor.next())
        if (const auto member = ledger::decode_member(entry->bytes())) event.members.insert(member->chain);
    return event;
}

Passing::Passing(const ledger::ChainId& chain, const PassingConfig& config, PassingPorts ports)
    : inside_(std::make_unique<Inside>(chain, config, std::move(ports))) {}
Passing::~Passing() = default;

std::vector<PassingEffect> Passing::step(const PassingEvent& event) {
    Inside& in = *inside_;
    if (event.now < in.now) in.clock_set_back(event.now);
    in.now = event.now;
    std::visit([&](const auto& kind) { in.on(kind); }, event.kind);
    in.finish();
    return std::exchange(in.effects, {});
}

std::vector<PassingStands> Passing::standing() const {
    std::vector<PassingStands> all;
    for (const auto& [id, held] : inside_->set.all())
        if (held.record->entry) all.push_back({held.record->path, held.record->entry, held.record->until});
    return all;
}

std::optional<PassingStands> Passing::standing_at(const state::Path& path) const {
    const auto* held = inside_->set.find(passing_id(path));
    if (held == nullptr) return std::nullopt;
    return PassingStands{held->record->path, held->record->entry, held->record->until};
}

Passing::Usage Passing::usage() const {
    return {.records = inside_->set.size(),
            .bytes = inside_->set.bytes(),
            .taken = inside_->taken,
            .left_out = inside_->left_out};
}

PassingSum Passing::sum() const { return inside_->set.sum(); }

}  // namespace rhizome::core
