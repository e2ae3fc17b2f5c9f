// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "p2p/peer_manager.h"
#include "sim/sim.h"

namespace rhizome::sim {

/// The peer layer of the daemon in the simulated world: every machine has a `p2p::PeerManager`, machines are linked
/// where those say so, and whoever is blamed is scored, banned and refused. For worlds made with
/// `Setup::links_by_hand`.
///
/// Beside the machines there may be *phantoms*: addresses with keys and no node behind them, as many as an attacker can
/// make. They greet and answer pings like anybody, knock where they are told to, and name each other when asked for
/// peers.
///
/// Borrows the world and hears of its machines' power, cuts and clocks: what its machines cannot hear, links do not
/// carry, and a link that carries nothing ends when nobody answers its pings.
class PeerLayer {
public:
    /// What the chain says of members besides their keys.
    enum class Told : std::uint8_t { Keys, Addresses };
    /// Everybody knows the first machine's address and, from the chain, all machines' keys.
    explicit PeerLayer(Sim& sim, Told told = Told::Keys);
    ~PeerLayer();
    PeerLayer(const PeerLayer&) = delete;
    PeerLayer& operator=(const PeerLayer&) = delete;

    /// With the address book and the bans that reached its disk, as in the daemon.
    void crash(std::size_t machine) { sim_.crash(machine); }
    void start(std::size_t machine) { sim_.start(machine); }

    /// Where a machine listens: each in a network of its own.
    [[nodiscard]] static p2p::Address address_of(std::size_t machine);
    [[nodiscard]] const p2p::PeerManager& manager(std::size_t machine) const;
    /// The machines and phantoms that it is linked to.
    [[nodiscard]] std::size_t linked_machines(std::size_t machine) const;
    [[nodiscard]] std::size_t linked_phantoms(std::size_t machine) const;
    /// Whether it is linked to that one.
    [[nodiscard]] bool is_linked(std::size_t machine, std::size_t other) const;

    // ---- who attacks -----------------------------------------------------------------------------------------------
    /// A phantom at this address, which gives these addresses to whoever asks for peers. Its number.
    std::size_t add_phantom(const p2p::Address& address, std::vector<p2p::Address> tells);
    /// It connects to a machine.
    void knock(std::size_t phantom, std::size_t machine);
    /// It tells these addresses without having been asked, over every link it has.
    void shout(std::size_t phantom, const std::vector<p2p::Address>& addresses);

private:
    /// Machines first, then phantoms.
    using Place = std::size_t;
    struct Endpoint {
        p2p::Address address{};
        ledger::MemberKey key{};
        std::unique_ptr<p2p::PeerManager> manager{};  ///< of a machine that is up
        Bytes kept{};                                 ///< its address book, on its disk
        Bytes kept_bans{};
        std::uint64_t wakes = 0;
        std::vector<p2p::Address> tells{};  ///< of a phantom
    };
    struct End {
        Place owner = 0;
        Place whom = 0;  ///< at the other end
        p2p::LinkId other{};
        bool open = true;
        bool up = false;  ///< both greeted
    };

    [[nodiscard]] bool is_machine(Place place) const { return place < sim_.size(); }
    [[nodiscard]] bool is_there(Place place) const;
    void make_manager(std::size_t machine);
    void power_lost(std::size_t machine);
    [[nodiscard]] Time clock_of(Place place) const;
    [[nodiscard]] bool can_hear(Place from, Place to) const;
    End* find(p2p::LinkId link);
    /// What is closed at both ends is not remembered.
    void tidy(p2p::LinkId link);
    void tell(Place place, p2p::EventKind event);
    void hear_phantom(Place place, p2p::LinkId link, const p2p::LinkMessage& message);
    void dial(Place from, const p2p::Dial& dial);
    void link(Place from, Place to, const p2p::Address& dialled);
    void send(p2p::LinkId from, const Bytes& payload);
    void close(p2p::LinkId link);
    void set_up(p2p::LinkId link, bool up);

    Sim& sim_;
    Told told_;
    Random random_;
    std::vector<Endpoint> places_;
    std::map<p2p::LinkId, End> ends_;
    std::uint64_t links_ = 0;
};

}  // namespace rhizome::sim
