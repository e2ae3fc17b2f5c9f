// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/codec.h"
#include "base/time.h"
#include "crypto/keys.h"
#include "net/transport_identity.h"

/// What a node calls out on its local network, so that members of the same cluster find it: the bytes, and who is
/// listened to. Decides only; `beacon.h` has the socket.
namespace rhizome::net {

/// The chain's id as it travels.
using BeaconChain = std::array<std::uint8_t, 32>;

struct BeaconMessage {
    BeaconChain chain{};
    ChainKey key{};          ///< of the node that calls
    std::uint16_t port = 0;  ///< where it listens for links, at the address that the datagram comes from
    Time time{};             ///< by its clock: an old call that is played again is worth nothing
    friend bool operator==(const BeaconMessage&, const BeaconMessage&) = default;
};

/// Letters `rhzb` ‖ version 1 (1 byte) ‖ chain id (32) ‖ chain key (33) ‖ port (2) ‖ time, Unix ms (8) ‖ signature of
/// the chain key over all before it, compact (64). Integers are little-endian.
inline constexpr std::size_t kBeaconBytes = 4 + 1 + 32 + 33 + 2 + 8 + 64;

Bytes encode_beacon(const BeaconMessage& message, const crypto::SecretKey& key);
/// Reads the form; says nothing about the signature.
Result<BeaconMessage, DecodeFault> decode_beacon(ByteView bytes);
/// Whether the key it names signed it: as dear as any signature, so it is asked last.
[[nodiscard]] bool is_beacon_signed(const BeaconMessage& message, ByteView bytes);

/// Whom to believe. Anybody on the network can send anything at any rate: what is cheap is asked first, and signatures
/// are checked at most `kChecksPerSecond` times a second, whoever sends how much. Confined to one strand.
class BeaconGate {
public:
    static constexpr unsigned kChecksPerSecond = 16;
    static constexpr std::size_t kKnownMax = 256;  ///< nodes remembered, so that their next calls cost nothing
    static constexpr seconds kClockApart{120};     ///< between our clock and the caller's
    static constexpr seconds kAgain{20};           ///< a call of the same node from the same place is believed

    BeaconGate(const BeaconChain& chain, const ChainKey& self) : chain_(chain), self_(self) {}

    /// The call, when it is one of our chain by somebody else, signed, recent, and not heard a moment ago. `from` is
    /// the address it came from, as text.
    std::optional<BeaconMessage> hear(ByteView bytes, const std::string& from, Time now);

    struct Counts {
        std::uint64_t malformed = 0;
        std::uint64_t foreign = 0;  ///< of other chains
        std::uint64_t checked = 0;
        std::uint64_t forged = 0;
        std::uint64_t too_many = 0;  ///< not looked at, since too many came
    };
    [[nodiscard]] const Counts& counts() const { return counts_; }

private:
    struct Known {
        std::string from{};
        std::uint16_t port = 0;
        Time heard{};
    };

    BeaconChain chain_;
    ChainKey self_;
    std::map<ChainKey, Known> known_{};
    Time second_{};  ///< that the checks are counted in
    unsigned checks_ = 0;
    Counts counts_{};
};

}  // namespace rhizome::net
