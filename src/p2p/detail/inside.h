// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>

#include "p2p/eviction.h"
#include "p2p/peer_manager.h"

namespace rhizome::p2p {

/// A connection and what was said on it.
struct Link {
    LinkId id{};
    Direction direction = Direction::In;
    Address remote{};
    ledger::MemberKey identity{};
    Purpose purpose = Purpose::Stay;  ///< the dialler's: ours if `Out`, else known with the Hello
    bool greeted = false;             ///< the other's Hello was good
    bool up = false;
    std::uint16_t version = 0;
    Time since{};
    Time hello_by{};                   ///< until it is up
    std::optional<Address> listens{};  ///< where the other can be dialled
    Time ping_at{};
    std::optional<Time> ping_sent{};  ///< and not answered
    Time silent_at{};                 ///< then it should have been, if the other is a member
    bool silent = false;              ///< it was not: somebody else, or a new link, may take its place
    std::uint64_t ping_nonce = 0;
    std::optional<microseconds> ping{};
    std::optional<microseconds> clock_offset{};
    Time ask_peers_at{};
    bool peers_asked = false;
    std::optional<Time> peers_answered{};
    Time active{};
    Time window{};  ///< since when `window_messages` are counted
    std::size_t window_messages = 0;

    [[nodiscard]] bool stays_out() const { return direction == Direction::Out && purpose == Purpose::Stay; }
    /// The host's clock has jumped by so much.
    void shift(microseconds by);
};

/// The parts that the handlers share, and the handlers: links.cpp, messages.cpp, dialling.cpp.
struct PeerManager::Inside {
    Inside(const PeerConfig& config_in, AddrBook book_in, std::uint64_t seed);

    struct Dialling {
        Purpose purpose = Purpose::Stay;
        std::optional<ledger::MemberKey> expected{};
        Time since{};
    };
    /// Back-off of addresses that are dialled whether or not the book has them: seeds and members.
    struct Waiting {
        std::uint8_t failures = 0;
        Time not_before{};
    };

    /// An address, and who must be there.
    using Target = std::pair<Address, std::optional<ledger::MemberKey>>;

    PeerConfig config;
    AddrBook book;
    Random random;
    std::uint64_t nonce;  ///< of this run
    Conduct conduct{};
    Time now{};
    bool started = false;

    std::map<LinkId, Link> links{};
    std::map<Address, Dialling> dialling{};
    std::map<ledger::MemberKey, std::optional<Address>> members{};
    std::vector<Address> seeds{};
    std::vector<Address> anchors{};  ///< of the run before, not yet dialled
    std::map<Address, Waiting> waiting{};
    std::set<Address> own{};  ///< where this node met itself
    Time dial_at{};
    Time feeler_at{};
    Time save_at{};
    bool changed = false;  ///< the book or the bans, since they were saved
    bool leaving = false;
    std::optional<Time> woken{};
    std::optional<Time> due{};  ///< what `woken` was before this step
    std::vector<Effect> effects{};

    // ---- peer_manager.cpp
    void set_time(Time time);
    void handle(const Tick& event);
    void handle(const MembersChanged& event);
    void handle(const AddSeeds& event);
    void handle(const Leave& event);
    void watch_links();
    void wake();

    // ---- links.cpp
    void handle(const Linked& event);
    void handle(const LinkFailed& event);
    void handle(const Closed& event);
    void handle(const Misbehaved& event);
    void handle(const WasActive& event);
    /// Why an inbound link finds no room; makes room if that helps.
    std::optional<std::string> refuse_inbound(const ledger::MemberKey& identity);
    /// Says Bye and closes.
    void end(LinkId id, ByeReason reason, std::string text);
    /// Closes without a word.
    void drop(LinkId id, ByeReason reason, std::string why);
    /// No trace of the link is left but a `Down`. What was known of it.
    Link remove(LinkId id);
    /// Adds to its score; ends all of its links when that makes a ban. True if so.
    bool blame(const ledger::MemberKey& identity, std::uint32_t cost, const std::string& why);
    [[nodiscard]] Link* find(LinkId id);
    [[nodiscard]] bool is_member(const ledger::MemberKey& identity) const { return members.contains(identity); }

    // ---- messages.cpp
    void handle(const Heard& event);
    void hear(Link& link, const Hello& hello);
    void hear(Link& link, const Ping& ping);
    void hear(Link& link, const Pong& pong);
    void hear(Link& link, const GetPeers&);
    void hear(Link& link, const Peers& peers);
    void hear(Link& link, const Bye& bye);
    void bring_up(Link& link);
    void fault(const Link& link, LinkFault fault, std::string_view what);
    void send(LinkId to, const LinkMessage& message);
    void send_hello(const Link& link);

    // ---- dialling.cpp
    void dial_more();
    [[nodiscard]] std::size_t outbound() const;  ///< links that are not silent and dials, of those that are to stay
    bool dial_one();
    bool dial_feeler();
    bool dial_book(const AddrBook::Fits& fits);
    bool dial_waiting(std::vector<Target> candidates);
    /// Lets a non-member go when a member could be dialled instead. True if so.
    bool make_way();
    [[nodiscard]] std::vector<Target> absent_members() const;
    [[nodiscard]] bool waits(const Address& address) const;
    void dial(const Address& address, Purpose purpose, const std::optional<ledger::MemberKey>& expected);
    [[nodiscard]] bool may_dial(const Address& address) const;
    [[nodiscard]] bool may_dial(const KnownAddress& known) const;
    [[nodiscard]] bool is_linked(const ledger::MemberKey& identity) const;
    [[nodiscard]] bool group_is_full(const Address& address) const;
    /// A dial, or a link that was dialled, came to nothing.
    [[nodiscard]] bool is_of_member(const Address& address) const;
    void note_failed(const Address& address);
    void note_good(const Address& address, const ledger::MemberKey& identity);
};

}  // namespace rhizome::p2p
