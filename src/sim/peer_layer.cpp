// SPDX-License-Identifier: Apache-2.0
#include "sim/peer_layer.h"

#include <algorithm>

#include "base/ensure.h"
#include "crypto/hash.h"

namespace rhizome::sim {
namespace {

constexpr milliseconds kWay{5};         ///< of a message of the links' own
constexpr milliseconds kInVain{3'000};  ///< until a dial is given up
constexpr std::uint16_t kPort = 7'700;

p2p::AddrBook::Key book_key(std::size_t machine) {
    p2p::AddrBook::Key key;
    Random{1'000 + machine}.fill(key);
    return key;
}

}  // namespace

PeerLayer::PeerLayer(Sim& sim, Told told) : sim_(sim), told_(told), random_(sim.setup().seed ^ 0x70'65'65'72) {
    ensure(sim.setup().links_by_hand, "a world whose links are made here");
    for (std::size_t i = 0; i < sim.size(); ++i) {
        Endpoint& endpoint = places_.emplace_back();
        endpoint.address = address_of(i);
        endpoint.key = sim.key(i);
    }
    for (std::size_t i = 0; i < sim.size(); ++i)
        if (sim.is_up(i)) make_manager(i);
    const auto tell_of = [this](std::size_t machine, std::size_t other, const auto& make) {
        for (const auto& [id, end] : ends_)
            if (end.open && end.owner == machine && end.whom == other) return tell(machine, make(id));
    };
    sim.blamed = [tell_of](std::size_t machine, std::size_t other, const ledger::Reject& why) {
        tell_of(machine, other, [&](p2p::LinkId link) { return p2p::Misbehaved{link, why}; });
    };
    sim.praised = [tell_of](std::size_t machine, std::size_t other) {
        tell_of(machine, other, [](p2p::LinkId link) { return p2p::WasActive{link}; });
    };
    sim.power_changed = [this](std::size_t machine, bool up) { up ? make_manager(machine) : power_lost(machine); };
    sim.disk_replaced = [this](std::size_t machine) {
        places_[machine].kept.clear();
        places_[machine].kept_bans.clear();
    };
}

PeerLayer::~PeerLayer() {
    sim_.blamed = nullptr;
    sim_.praised = nullptr;
    sim_.power_changed = nullptr;
    sim_.disk_replaced = nullptr;
}

Time PeerLayer::clock_of(Place place) const {
    return is_machine(place) ? sim_.now() + sim_.clock_ahead(place) : sim_.now();
}

bool PeerLayer::can_hear(Place from, Place to) const {
    return !is_machine(from) || !is_machine(to) || sim_.can_hear(from, to);
}

PeerLayer::End* PeerLayer::find(p2p::LinkId link) {
    const auto at = ends_.find(link);
    return at == ends_.end() ? nullptr : &at->second;
}

void PeerLayer::tidy(p2p::LinkId link) {
    const End* end = find(link);
    if (end == nullptr || end->open) return;
    const p2p::LinkId other = end->other;
    if (const End* there = find(other); there != nullptr && there->open) return;
    ends_.erase(link);
    ends_.erase(other);
}

p2p::Address PeerLayer::address_of(std::size_t machine) {
    return p2p::Address::v4(static_cast<std::uint8_t>(20 + machine), 1, 1, 1, kPort);
}

bool PeerLayer::is_there(Place place) const { return !is_machine(place) || places_[place].manager != nullptr; }

void PeerLayer::make_manager(std::size_t machine) {
    Endpoint& endpoint = places_[machine];
    p2p::AddrBook book{book_key(machine)};
    if (!endpoint.kept.empty())
        if (auto read = p2p::AddrBook::decode(endpoint.kept, book_key(machine))) book = *std::move(read);
    p2p::Conduct conduct;
    if (!endpoint.kept_bans.empty())
        if (auto read = p2p::Conduct::decode(endpoint.kept_bans)) conduct = *std::move(read);
    const p2p::PeerConfig config{.chain = sim_.chain(), .self = endpoint.key, .port = kPort};
    endpoint.manager = std::make_unique<p2p::PeerManager>(config, std::move(book), random_.next(), std::move(conduct));
    p2p::MembersChanged members;
    for (std::size_t i = 0; i < sim_.size(); ++i) {
        members.members.push_back({.key = sim_.key(i)});
        if (told_ == Told::Addresses) members.members.back().address = address_of(i);
    }
    tell(machine, std::move(members));
    tell(machine, p2p::AddSeeds{{address_of(0)}});
}

void PeerLayer::power_lost(std::size_t machine) {
    Endpoint& endpoint = places_[machine];
    if (!endpoint.manager) return;
    endpoint.manager.reset();
    ++endpoint.wakes;
    std::vector<std::pair<p2p::LinkId, p2p::LinkId>> cut;
    for (auto& [id, end] : ends_)
        if (end.open && end.owner == machine) {
            end.open = end.up = false;
            cut.emplace_back(id, end.other);
        }
    for (const auto& [id, other] : cut) {
        // Who is cut off from it does not hear it fall.
        if (const End* there = find(other); there != nullptr && can_hear(machine, there->owner)) close(other);
        tidy(id);
    }
}

const p2p::PeerManager& PeerLayer::manager(std::size_t machine) const { return *places_[machine].manager; }

std::size_t PeerLayer::linked_machines(std::size_t machine) const {
    return static_cast<std::size_t>(std::count_if(ends_.begin(), ends_.end(), [&](const auto& one) {
        return one.second.up && one.second.owner == machine && is_machine(one.second.whom);
    }));
}

std::size_t PeerLayer::linked_phantoms(std::size_t machine) const {
    return static_cast<std::size_t>(std::count_if(ends_.begin(), ends_.end(), [&](const auto& one) {
        return one.second.up && one.second.owner == machine && !is_machine(one.second.whom);
    }));
}

bool PeerLayer::is_linked(std::size_t machine, std::size_t other) const {
    return std::any_of(ends_.begin(), ends_.end(), [&](const auto& one) {
        return one.second.up && one.second.owner == machine && one.second.whom == other;
    });
}

// ---- who attacks ----------------------------------------------------------------------------------------------------

std::size_t PeerLayer::add_phantom(const p2p::Address& address, std::vector<p2p::Address> tells) {
    Endpoint& endpoint = places_.emplace_back();
    endpoint.address = address;
    endpoint.tells = std::move(tells);
    endpoint.key[0] = 2;
    const auto hash = crypto::sha256(as_bytes(p2p::to_text(address)));
    std::copy(hash.view().begin(), hash.view().end(), endpoint.key.begin() + 1);
    return places_.size() - 1;
}

void PeerLayer::knock(std::size_t phantom, std::size_t machine) {
    if (is_there(machine)) link(phantom, machine, places_[machine].address);
}

void PeerLayer::shout(std::size_t phantom, const std::vector<p2p::Address>& addresses) {
    const Bytes payload = p2p::encode(p2p::LinkMessage{p2p::Peers{addresses}});
    for (const auto& [id, end] : ends_)
        if (end.open && end.owner == phantom) send(id, payload);
}

void PeerLayer::hear_phantom(Place place, p2p::LinkId id, const p2p::LinkMessage& message) {
    if (std::holds_alternative<p2p::Hello>(message)) {
        p2p::Hello hello{.lowest = p2p::kVersionLowest, .highest = p2p::kVersionHighest, .chain = sim_.chain()};
        hello.port = places_[place].address.port;
        hello.nonce = random_.next();
        hello.clock = sim_.now();
        send(id, p2p::encode(p2p::LinkMessage{hello}));
    } else if (const auto* ping = std::get_if<p2p::Ping>(&message)) {
        send(id, p2p::encode(p2p::LinkMessage{p2p::Pong{ping->nonce, sim_.now()}}));
    } else if (std::holds_alternative<p2p::GetPeers>(message)) {
        send(id, p2p::encode(p2p::LinkMessage{p2p::Peers{places_[place].tells}}));
    }
}

// ---- links ----------------------------------------------------------------------------------------------------------

void PeerLayer::tell(Place place, p2p::EventKind event) {
    if (!places_[place].manager) return;
    for (p2p::Effect& effect : places_[place].manager->step({clock_of(place), std::move(event)})) {
        if (const auto* wanted = std::get_if<p2p::Dial>(&effect)) {
            dial(place, *wanted);
        } else if (const auto* message = std::get_if<p2p::Send>(&effect)) {
            send(message->to, message->payload);
        } else if (const auto* met = std::get_if<p2p::Up>(&effect)) {
            set_up(met->link, true);
        } else if (const auto* down = std::get_if<p2p::Down>(&effect)) {
            set_up(down->link, false);
        } else if (const auto* ended = std::get_if<p2p::Close>(&effect)) {
            End* end = find(ended->link);
            if (end == nullptr || !std::exchange(end->open, false)) continue;
            sim_.after(kWay, [this, from = place, link = ended->link, to = end->whom, other = end->other] {
                if (can_hear(from, to)) close(other);
                tidy(link);
            });
        } else if (const auto* wake = std::get_if<p2p::Wake>(&effect)) {
            const std::uint64_t number = ++places_[place].wakes;
            sim_.at(sim_.now() + (wake->at - clock_of(place)), [this, place, number] {
                if (places_[place].wakes == number) tell(place, p2p::Tick{});
            });
        } else if (std::holds_alternative<p2p::Save>(effect)) {
            places_[place].kept = places_[place].manager->book().encode();
            places_[place].kept_bans = places_[place].manager->encode_bans();
        }
    }
}

void PeerLayer::dial(Place from, const p2p::Dial& wanted) {
    sim_.after(kWay, [this, from, wanted] {
        for (Place to = 0; to < places_.size(); ++to) {
            if (places_[to].address != wanted.address || !is_there(to) || to == from) continue;
            if (wanted.expected && *wanted.expected != places_[to].key) continue;
            if (!can_hear(from, to) || !can_hear(to, from)) continue;
            return link(from, to, wanted.address);
        }
        sim_.after(kInVain, [this, from, wanted] { tell(from, p2p::LinkFailed{wanted.address, "no answer"}); });
    });
}

void PeerLayer::link(Place from, Place to, const p2p::Address& dialled) {
    const p2p::LinkId out{++links_};
    const p2p::LinkId in{++links_};
    ends_[out] = {.owner = from, .whom = to, .other = in};
    ends_[in] = {.owner = to, .whom = from, .other = out};
    const p2p::Address seen{places_[from].address.ip, static_cast<std::uint16_t>(40'000 + links_ % 20'000)};
    tell(from, p2p::Linked{out, p2p::Direction::Out, dialled, places_[to].key});
    tell(to, p2p::Linked{in, p2p::Direction::In, seen, places_[from].key});
}

void PeerLayer::send(p2p::LinkId from, const Bytes& payload) {
    const End* end = find(from);
    if (end == nullptr || !can_hear(end->owner, end->whom)) return;
    auto message = p2p::decode_link_message(payload);
    ensure(message.has_value(), "what the layer says can be read");
    sim_.after(kWay, [this, to = end->other, said = *std::move(message)] {
        const End* there = find(to);
        if (there == nullptr || !there->open) return;
        if (is_machine(there->owner)) {
            tell(there->owner, p2p::Heard{to, said});
        } else {
            hear_phantom(there->owner, to, said);
        }
    });
}

void PeerLayer::close(p2p::LinkId id) {
    End* end = find(id);
    if (end == nullptr || !std::exchange(end->open, false)) return;
    tell(end->owner, p2p::Closed{id});
    tidy(id);
}

void PeerLayer::set_up(p2p::LinkId id, bool up) {
    End* end = find(id);
    if (end == nullptr) return;
    const auto carries = [&] {
        if (!end->up || !is_machine(end->owner) || !is_machine(end->whom)) return false;
        const End* there = find(end->other);
        return there != nullptr && there->up;
    };
    const bool before = carries();
    end->up = up;
    const bool now = carries();
    if (before == now) return;
    if (now) {
        sim_.link(end->owner, end->whom);
    } else {
        sim_.unlink(end->owner, end->whom);
        // Of two links that crossed the other one may stand.
        for (const auto& [other, one] : ends_) {
            if (other == id || !one.up || one.owner != end->owner || one.whom != end->whom) continue;
            if (const End* there = find(one.other); there != nullptr && there->up)
                return sim_.link(end->owner, end->whom);
        }
    }
}

}  // namespace rhizome::sim
