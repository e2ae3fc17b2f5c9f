// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "ledger/member.h"
#include "ledger/reject.h"
#include "p2p/address.h"
#include "p2p/link_messages.h"

/// What happens to the peer layer, and what it wants done about it.
///
/// A host takes one event at a time and carries out the effects of a step in the order they come before it begins the
/// next step. A link exists from `Linked` until `Closed` or `Close`, whichever is first; events of other links are
/// ignored. Who is at the other end has been proven by the transport before `Linked` (the certificate is bound to the
/// chain key): nothing that a peer says of itself is believed.
namespace rhizome::p2p {

/// A link, by a number of the host's that is never used again.
using LinkId = Count<struct LinkTag>;

/// Who dialled.
enum class Direction : std::uint8_t { In, Out };

// ---- events --------------------------------------------------------------------------------------------------------

/// The time is now. Also the answer to `Wake`; may come at any other moment.
struct Tick {};
/// A connection stands and its other end is proven. `remote` is the address that was dialled (`Out`: the one of
/// `Dial`), or the one that the other is seen to have (`In`).
struct Linked {
    LinkId link{};
    Direction direction = Direction::In;
    Address remote{};
    ledger::MemberKey identity{};
};
/// A `Dial` came to nothing: nobody there, not in time, or somebody else than expected. Every dial ends in this or in
/// `Linked`.
struct LinkFailed {
    Address address{};
    std::string why{};
};
/// The other end is gone.
struct Closed {
    LinkId link{};
};
/// A link's own message. The core's messages go to the core, and only between `Up` and `Down`: one that comes before is
/// `Misbehaved`.
struct Heard {
    LinkId from{};
    LinkMessage message{};
};
/// A peer sent what no honest one sends: `core::Blame`, a frame or a message that could not be read.
struct Misbehaved {
    LinkId link{};
    ledger::Reject why{};
};
/// The members now, with their addresses where the chain knows them; instead of those told before.
struct MembersChanged {
    struct Member {
        ledger::MemberKey key{};
        std::optional<Address> address{};
    };
    std::vector<Member> members{};
};
/// Addresses that the operator, DNS or the LAN gave: dialled again for ever when there is nobody else.
struct AddSeeds {
    std::vector<Address> seeds{};
};
/// Something new and good came over this link: a block, a vote. Such links are the last to be evicted.
struct WasActive {
    LinkId link{};
};

/// This node stops in order: everybody is told so, and nobody is dialled any more.
struct Leave {};

using EventKind =
    std::variant<Tick, Linked, LinkFailed, Closed, Heard, Misbehaved, MembersChanged, AddSeeds, WasActive, Leave>;
struct Event {
    Time now{};  ///< by the host's clock. When it jumps, everything that waits for a time waits as long as before
    EventKind kind{};
};

// ---- effects -------------------------------------------------------------------------------------------------------

/// Connect to `address`; if `expected` is given, to nobody else. Within 30 s.
struct Dial {
    Address address{};
    std::optional<ledger::MemberKey> expected{};
};
/// The payload of one frame.
struct Send {
    LinkId to{};
    Bytes payload{};
};
/// Both Hellos fit: the core may speak (`core::PeerUp`).
struct Up {
    LinkId link{};
    ledger::MemberKey identity{};
    std::uint16_t version = 0;  ///< the highest that both speak
};
/// The core's peer is gone. Comes once for each `Up`, before a `Close` of the same link.
struct Down {
    LinkId link{};
};
/// How long a ping and its answer took, on a link that is up.
struct Measured {
    LinkId link{};
    microseconds round_trip{};
};
/// End the link when what was sent before has left, or after a second.
struct Close {
    LinkId link{};
    ByeReason reason{};
    std::string why{};  ///< for the log
};
/// A `Tick` is wanted at this time, instead of any wanted before.
struct Wake {
    Time at{};
};
/// The address book or the bans have changed: `book().encode()` and `encode_bans()` should reach the disk soon.
struct Save {};

using Effect = std::variant<Dial, Send, Up, Down, Measured, Close, Wake, Save>;

}  // namespace rhizome::p2p
