// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "ledger/reject.h"
#include "ledger/tx.h"
#include "p2p/address.h"

/// What the peer layer itself says on a link (docs/spec/p2p.md). Types 1 to 63 are the core's and pass by unread.
namespace rhizome::p2p {

/// First byte of a message, and the place of its type in `LinkMessage` plus 64. Numbers are never used again.
enum class LinkType : std::uint8_t { Hello = 64, Ping, Pong, GetPeers, Peers, Bye };
inline constexpr std::uint8_t kFirstLinkType = 64;
std::string_view name(LinkType type);

inline constexpr std::size_t kPeersMax = 64;
inline constexpr std::size_t kByeTextMax = 200;

/// Why a link exists.
enum class Purpose : std::uint8_t {
    Stay = 0,  ///< to be peers
    Test = 1,  ///< to see whether somebody listens there: the dialler leaves when it has the other's Hello
};

/// Said once by both sides, before anything else.
struct Hello {
    std::uint16_t lowest = 0;  ///< of the versions of the protocol that the sender speaks
    std::uint16_t highest = 0;
    ledger::ChainId chain{};
    Purpose purpose = Purpose::Stay;
    std::uint16_t port = 0;   ///< where the sender listens, at the address it is seen to have; 0: nowhere
    std::uint64_t nonce = 0;  ///< of the sender's run: who hears its own is talking to itself
    Time clock{};
    friend bool operator==(const Hello&, const Hello&) = default;
};
struct Ping {
    std::uint64_t nonce = 0;
    Time clock{};
    friend bool operator==(const Ping&, const Ping&) = default;
};
/// The ping's nonce, and the answerer's clock.
struct Pong {
    std::uint64_t nonce = 0;
    Time clock{};
    friend bool operator==(const Pong&, const Pong&) = default;
};
struct GetPeers {
    friend bool operator==(const GetPeers&, const GetPeers&) = default;
};
/// Addresses where the sender itself found somebody of this chain. On the wire in rising order, each once.
struct Peers {
    std::vector<Address> addresses{};
    friend bool operator==(const Peers&, const Peers&) = default;
};

/// Why a link ends. A receiver takes numbers it does not know: a later version may have more reasons.
enum class ByeReason : std::uint8_t {
    Leaving = 1,  ///< the sender stops
    WrongChain,
    WrongVersion,
    Self,  ///< both ends are one node
    Duplicate,
    Full,
    Banned,
    Silent,  ///< no Hello or no Pong in time
    Misbehaved,
    Tested,      ///< the link was a test, and it went well
    WrongOwner,  ///< another node than the one wanted listens there
};
std::string_view name(ByeReason reason);
struct Bye {
    ByeReason reason = ByeReason::Leaving;
    std::string text{};  ///< for people: printable ASCII, so that it can stand in a log
    friend bool operator==(const Bye&, const Bye&) = default;
};

using LinkMessage = std::variant<Hello, Ping, Pong, GetPeers, Peers, Bye>;

/// The most that a message of this type may have, type included; 0: it is none of the link's.
[[nodiscard]] std::size_t link_bytes_max(std::uint8_t type);

/// Sorts the addresses of `Peers`; cuts what a message may not have (addresses beyond 64, text beyond 200).
Bytes encode(const LinkMessage& message);
/// BadEncoding or TooLarge with what was wrong. What is decoded encodes to the same bytes.
Result<LinkMessage, ledger::Reject> decode_link_message(ByteView bytes);

}  // namespace rhizome::p2p
