// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/codec.h"
#include "base/result.h"
#include "base/time.h"
#include "ledger/member.h"
#include "ledger/reject.h"

/// Who has misbehaved, by this node's own evidence only. Black lists are not exchanged: whoever could put a name on
/// other nodes' lists could cut honest nodes off with lies, and what is worth telling everybody (two signatures that
/// contradict each other) is evidence for the chain.
namespace rhizome::p2p {

/// What a peer does wrong on the link itself.
enum class LinkFault : std::uint8_t {
    OutOfOrder,  ///< a second Hello, or anything before the first
    NotAsked,    ///< Peers that nobody asked for
    Flood,       ///< more messages than a link needs
};
std::string_view name(LinkFault fault);

/// A score of so many is a ban.
inline constexpr std::uint32_t kBanScore = 100;
/// What it costs to have sent what is refused so. 0 for what an honest peer may send that knows another tip or clock.
std::uint32_t cost_of(ledger::RejectCode code);
std::uint32_t cost_of(LinkFault fault);

struct Ban {
    ledger::MemberKey identity{};
    Time until{};
    std::uint32_t times = 0;  ///< how often so far
    std::string why{};        ///< what was refused last
};

/// Scores and bans by identity. A score loses a point every ten seconds, so an honest peer's rare mishap is forgotten.
/// A ban lasts an hour, each further one twice as long up to a week; a week without any clears the count.
///
/// Keeps at most `kRecordsMax` identities: a stranger can have any number, so the least of them are forgotten first.
class Conduct {
public:
    static constexpr std::size_t kRecordsMax = 1'024;
    static constexpr seconds kPointEvery{10};
    static constexpr hours kBanFirst{1};
    static constexpr hours kBanMax{7 * 24};

    /// Adds `cost` to its score. True if it is banned from now on.
    bool blame(const ledger::MemberKey& identity, std::uint32_t cost, std::string_view why, Time now);
    [[nodiscard]] std::uint32_t score(const ledger::MemberKey& identity, Time now) const;
    [[nodiscard]] bool is_banned(const ledger::MemberKey& identity, Time now) const;

    /// In the order of the keys.
    [[nodiscard]] std::vector<Ban> bans(Time now) const;
    /// The operator forgives all. False if there was no ban.
    bool lift(const ledger::MemberKey& identity, Time now);

    /// The host's clock has jumped by so much: a ban neither ends by that nor begins anew.
    void shift(microseconds by);

    [[nodiscard]] std::size_t size() const { return records_.size(); }

    /// The bans that stand, for the disk: scores fade within minutes and are not kept.
    [[nodiscard]] Bytes encode(Time now) const;
    static Result<Conduct, DecodeFault> decode(ByteView bytes);

private:
    struct Record {
        std::uint32_t score = 0;
        Time at{};  ///< of the score
        std::optional<Time> until{};
        std::uint32_t times = 0;
        std::string why{};
    };
    [[nodiscard]] static std::uint32_t score_of(const Record& record, Time now);
    [[nodiscard]] static bool is_banned(const Record& record, Time now);
    void make_room(Time now);

    std::map<ledger::MemberKey, Record> records_;
};

}  // namespace rhizome::p2p
