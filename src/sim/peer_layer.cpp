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

PeerLayer::PeerLayer(Sim& sim) : sim_(sim), random_(sim.setup().seed ^ 0x70'65'65'72) {
    ensure(sim.setup().links_by_hand, "a world whose links are made here");
    for (std::size_t i = 0; i < sim.size(); ++i) {
        Endpoint& endpoint = places_.emplace_back();
        endpoint.address = address_of(i);
        endpoint.key = sim.key(i);
    }
    for (std::size_t i = 0; i < sim.size(); ++i)
        if (sim.is_up(i)) make_manager(i);
    sim.blamed = [this](std::size_t machine, std::size_t other, const ledger::Reject& why) {
        for (const auto& [id, end] : ends_)
            if (end.open && end.owner == machine && ends_.at(end.other).owner == other)
                return tell(machine, p2p::Misbehaved{id, why});
    };
}

PeerLayer::~PeerLayer() { sim_.blamed = nullptr; }

p2p::Address PeerLayer::address_of(std::size_t machine) {
    return p2p::Address::v4(static_cast<std::uint8_t>(20 + machine), 1, 1, 1, kPort);
}

bool PeerLayer::is_there(Place place) const { return !is_machine(place) || places_[place].manager != nullptr; }

void PeerLayer::make_manager(std::size_t machine) {
    Endpoint& endpoint = places_[machine];
    p2p::AddrBook book{book_key(machine)};
    if (!endpoint.kept.empty())
        if (auto read = p2p::AddrBook::decode(endpoint.kept, book_key(machine))) book = *std::move(read);
    const p2p::PeerConfig config{.chain = sim_.chain(), .self = endpoint.key, .port = kPort};
    endpoint.manager = std::make_unique<p2p::PeerManager>(config, std::move(book), random_.next());
    p2p::MembersChanged members;
    for (std::size_t i = 0; i < sim_.size(); ++i) members.members.push_back({.key = sim_.key(i)});
    tell(machine, std::move(members));
    tell(machine, p2p::AddSeeds{{address_of(0)}});
}

void PeerLayer::crash(std::size_t machine) {
    Endpoint& endpoint = places_[machine];
    if (!endpoint.manager) return;
    endpoint.kept = endpoint.manager->book().encode();
    endpoint.manager.reset();
    ++endpoint.wakes;
    for (auto& [id, end] : ends_)
        if (end.open && end.owner == machine) {
            end.open = false;
            close(end.other);
        }
    sim_.crash(machine);
}

void PeerLayer::start(std::size_t machine) {
    sim_.start(machine);
    make_manager(machine);
}

const p2p::PeerManager& PeerLayer::manager(std::size_t machine) const { return *places_[machine].manager; }

std::size_t PeerLayer::linked_machines(std::size_t machine) const {
    return static_cast<std::size_t>(std::count_if(ends_.begin(), ends_.end(), [&](const auto& one) {
        return one.second.up && one.second.owner == machine && is_machine(ends_.at(one.second.other).owner);
    }));
}

std::size_t PeerLayer::linked_phantoms(std::size_t machine) const {
    return static_cast<std::size_t>(std::count_if(ends_.begin(), ends_.end(), [&](const auto& one) {
        return one.second.up && one.second.owner == machine && !is_machine(ends_.at(one.second.other).owner);
    }));
}

bool PeerLayer::is_linked(std::size_t machine, std::size_t other) const {
    return std::any_of(ends_.begin(), ends_.end(), [&](const auto& one) {
        return one.second.up && one.second.owner == machine && ends_.at(one.second.other).owner == other;
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
    for (p2p::Effect& effect : places_[place].manager->step({sim_.now(), std::move(event)})) {
        if (const auto* wanted = std::get_if<p2p::Dial>(&effect)) {
            dial(place, *wanted);
        } else if (const auto* message = std::get_if<p2p::Send>(&effect)) {
            send(message->to, message->payload);
        } else if (const auto* met = std::get_if<p2p::Up>(&effect)) {
            set_up(met->link, true);
        } else if (const auto* down = std::get_if<p2p::Down>(&effect)) {
            set_up(down->link, false);
        } else if (const auto* ended = std::get_if<p2p::Close>(&effect)) {
            End& end = ends_.at(ended->link);
            end.open = false;
            const p2p::LinkId other = end.other;
            sim_.after(kWay, [this, other] { close(other); });
        } else if (const auto* wake = std::get_if<p2p::Wake>(&effect)) {
            const std::uint64_t number = ++places_[place].wakes;
            sim_.at(wake->at, [this, place, number] {
                if (places_[place].wakes == number) tell(place, p2p::Tick{});
            });
        }
    }
}

void PeerLayer::dial(Place from, const p2p::Dial& wanted) {
    sim_.after(kWay, [this, from, wanted] {
        for (Place to = 0; to < places_.size(); ++to) {
            if (places_[to].address != wanted.address || !is_there(to) || to == from) continue;
            if (wanted.expected && *wanted.expected != places_[to].key) continue;
            if (is_machine(to) && !(sim_.can_hear(from, to) && sim_.can_hear(to, from))) continue;
            return link(from, to, wanted.address);
        }
        sim_.after(kInVain, [this, from, wanted] { tell(from, p2p::LinkFailed{wanted.address, "no answer"}); });
    });
}

void PeerLayer::link(Place from, Place to, const p2p::Address& dialled) {
    const p2p::LinkId out{++links_};
    const p2p::LinkId in{++links_};
    ends_[out] = {.owner = from, .other = in};
    ends_[in] = {.owner = to, .other = out};
    const p2p::Address seen{places_[from].address.ip, static_cast<std::uint16_t>(40'000 + links_ % 20'000)};
    tell(from, p2p::Linked{out, p2p::Direction::Out, dialled, places_[to].key});
    tell(to, p2p::Linked{in, p2p::Direction::In, seen, places_[from].key});
}

void PeerLayer::send(p2p::LinkId from, const Bytes& payload) {
    const p2p::LinkId to = ends_.at(from).other;
    auto message = p2p::decode_link_message(payload);
    ensure(message.has_value(), "what the layer says can be read");
    sim_.after(kWay, [this, to, said = *std::move(message)] {
        const End& end = ends_.at(to);
        if (!end.open) return;
        if (is_machine(end.owner)) {
            tell(end.owner, p2p::Heard{to, said});
        } else {
            hear_phantom(end.owner, to, said);
        }
    });
}

void PeerLayer::close(p2p::LinkId id) {
    End& end = ends_.at(id);
    if (!std::exchange(end.open, false)) return;
    tell(end.owner, p2p::Closed{id});
}

void PeerLayer::set_up(p2p::LinkId id, bool up) {
    End& end = ends_.at(id);
    End& other = ends_.at(end.other);
    const bool before = end.up && (other.up || !is_machine(other.owner));
    end.up = up;
    const bool now = end.up && (other.up || !is_machine(other.owner));
    if (before == now || !is_machine(end.owner) || !is_machine(other.owner)) return;
    if (now) {
        sim_.link(end.owner, other.owner);
    } else {
        sim_.unlink(end.owner, other.owner);
    }
}

}  // namespace rhizome::sim
