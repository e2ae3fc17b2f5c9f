// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "p2p/addr_book.h"
#include "p2p/conduct.h"
#include "p2p/events.h"

namespace rhizome::p2p {

/// The versions of the protocol that this program speaks.
inline constexpr std::uint16_t kVersionLowest = 3;
inline constexpr std::uint16_t kVersionHighest = 3;

/// Who this node is, and what it may choose for itself.
struct PeerConfig {
    ledger::ChainId chain{};
    ledger::MemberKey self{};
    std::uint16_t port = 0;  ///< where it listens; 0: nowhere
    std::uint16_t version_lowest = kVersionLowest;
    std::uint16_t version_highest = kVersionHighest;

    /// Eight links hold a random network together: of 10,000 nodes less than one in a thousand is cut off when a third
    /// of all fail (3⁻⁸ = 1 in 6,561 loses all of its own dials, and has inbound links besides).
    std::size_t outbound_max = 8;
    /// Non-members of one network among the outbound links, where addresses have networks worth the name
    /// (`Scope::World`).
    std::size_t outbound_group_max = 2;
    std::size_t inbound_max = 64;
    /// Of these for nodes that are not members, as long as any member is known: the rest is the cluster's.
    std::size_t inbound_strangers_max = 16;

    seconds hello_timeout{10};
    seconds ping_every{15};
    seconds ping_timeout{30};
    /// Members are asked more often. One that leaves a ping unanswered for `silent_after` is dialled anew beside the
    /// link that stands: after a cut TCP may try the old one again only when half a minute has passed, and the two
    /// sides of a cluster should find each other at once.
    seconds member_ping_every{2};
    seconds silent_after{3};
    seconds dial_timeout{30};  ///< a dial that the host has not answered by then is forgotten
    seconds dial_every{1};     ///< while slots are empty
    seconds dial_idle{5};      ///< the same when there was nobody to dial
    /// The longest that a member is left alone after dials that failed: when a cut is healed its two sides should find
    /// each other at once. Four dials a second are the most, whoever is away, so this costs little.
    seconds member_wait_max{2};
    seconds feeler_every{120};       ///< while all slots are full
    std::size_t feelers_max = 4;     ///< at the same time, when there is nobody left to dial
    seconds peers_first{5};          ///< after a link is up it is asked for peers,
    seconds peers_again{70};         ///< again after so long while slots are empty (more than `peers_answer_every`),
    seconds peers_rarely{600};       ///< and when they are full
    seconds peers_answer_every{60};  ///< a link is answered no more often
    std::size_t link_messages_max = 30;  ///< from one link in ten seconds; an honest one needs three
    seconds save_every{60};
};

/// One link, for `rhizome peers`.
struct PeerStatus {
    LinkId link{};
    ledger::MemberKey identity{};
    Address address{};  ///< where it can be dialled, if that is known, else as it is seen
    Direction direction = Direction::In;
    bool up = false;
    bool member = false;
    Time since{};
    std::optional<Time> useful{};  ///< when something new and good came over it last
    std::optional<microseconds> ping{};
    std::optional<microseconds> clock_offset{};  ///< how far its clock is ahead of ours
    std::uint32_t score = 0;
};

/// Decides to whom this node is linked. Events in, effects out (`events.h`), the same from the same seed everywhere.
///
/// - Dials until `outbound_max` links stand: first the anchors of the run before, then members, then whatever the book
///   chooses; seeds while hardly anybody is there. When all slots are full a feeler tests a new address now and then,
///   so that the book knows good ones before they are needed.
/// - Inbound links are for members first: a full house lets a stranger go (`eviction.h`).
/// - One link for each identity. Of two that cross, both sides keep the one dialled by the smaller key. Where the older
///   has stood for a while, or both were dialled by the same side, they keep the newer: its dialler has lost the older.
/// - Hello first and once; wrong chain, wrong version, itself: a Bye that says so, and the end.
/// - Bans are by this node's own evidence only (`conduct.h`) and end.
///
/// Everything is bounded: links by their limits, dials by slots, members by the chain's, seeds by 64.
/// Confined to the core strand.
class PeerManager {
public:
    /// `seed`: from the kernel; it draws the nonce that tells this node from others, and all choices.
    /// `conduct`: the bans of the run before.
    PeerManager(const PeerConfig& config, AddrBook book, std::uint64_t seed, Conduct conduct = {});
    PeerManager(PeerManager&&) noexcept;
    PeerManager& operator=(PeerManager&&) noexcept;
    ~PeerManager();

    std::vector<Effect> step(const Event& event);

    [[nodiscard]] const AddrBook& book() const;
    /// In the order of the links.
    [[nodiscard]] std::vector<PeerStatus> peers() const;
    [[nodiscard]] std::vector<Ban> bans() const;
    /// For the disk (`Conduct::decode`).
    [[nodiscard]] Bytes encode_bans() const;
    /// For the operator. False if it was not banned.
    bool lift_ban(const ledger::MemberKey& identity);

    static constexpr std::size_t kSeedsMax = 64;

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::p2p
