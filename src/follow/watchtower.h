// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "consensus/vote.h"
#include "ledger/block.h"

namespace rhizome::follow {

/// What a watchtower goes by. Local: every operator chooses.
struct WatchRules {
    /// What was broadcast so long before a block's time belongs into it. A censor whom the others outrun within this
    /// time does no harm and is not told of; lower it where links are fast and the others slow.
    milliseconds bound{1'000};
    /// A block that came later than this after its own time says nothing about its maker: it may have been cut off, and
    /// not have heard what was broadcast here.
    milliseconds fresh{2'000};
    /// Blocks of one proposer that left something out before somebody is told, within `window`: one can be bad luck.
    std::size_t short_blocks = 3;
    seconds window{600};
    /// Transactions remembered; more than a pool holds.
    std::size_t pending_max = 200'000;
};

enum class AlertKind : std::uint8_t {
    Censorship,    ///< a proposer leaves out what was broadcast in time: suspicion, nothing that could be proven
    Equivocation,  ///< a member stands accused by evidence on the chain
};
std::string_view name(AlertKind kind);

struct Alert {
    AlertKind kind{};
    Time at{};
    consensus::MemberKey who{};
    ledger::BlockHash block{};  ///< Censorship: the newest block that lacks something
    ledger::TxId tx{};          ///< and one that it lacks, the oldest
    std::size_t short_blocks = 0;
    std::size_t occasions = 0;  ///< blocks of this proposer in the window that had something due
    std::string what{};         ///< a sentence for people
};

/// The transactions that are valid and wait, all of them.
struct PendingSeen {
    std::vector<ledger::TxId> pending{};
};
/// A block became part of the chain.
struct BlockSeen {
    ledger::BlockHash hash{};
    ledger::Header header{};
    consensus::MemberKey proposer{};
    std::vector<ledger::TxId> txs{};      ///< what it has
    std::vector<ledger::TxId> pending{};  ///< what still waits, and is valid, on top of it
    std::uint64_t bytes = 0;
    std::uint64_t bytes_max = 0;  ///< that a block may have
};
/// Evidence against a member is on the chain.
struct AccusedSeen {
    consensus::MemberKey who{};
};
struct WatchEvent {
    Time now{};
    std::variant<PendingSeen, BlockSeen, AccusedSeen> kind{};
};

/// Watches over those who propose blocks: whether they include what was broadcast, and that nobody says two things.
///
/// A block is *short* when something was pending here since `bound` before the block's own time, is valid on top of the
/// block, and is not in it, although there was room. Proposers with `short_blocks` of them in `window`, and more short
/// blocks than whole ones, are told of once in each window. A member that is cut off, slow or new makes one now and
/// then; one that censors makes nearly all of its blocks so.
///
/// Contradictions are found by every node (core) and proven on the chain by whoever is first; this tells of it.
///
/// Pure, events in and alerts out. Bounded by `WatchRules::pending_max` and the number of members.
class Watchtower {
public:
    explicit Watchtower(WatchRules rules) : rules_(rules) {}
    std::vector<Alert> step(const WatchEvent& event);

    struct Counts {
        std::uint64_t blocks = 0;        ///< judged
        std::uint64_t short_blocks = 0;  ///< of those, how many left something out
        std::uint64_t left_out = 0;      ///< transactions, once for each block that lacks them
        std::uint64_t alerts = 0;
        std::size_t watched = 0;  ///< transactions that wait now
    };
    [[nodiscard]] Counts counts() const;

private:
    struct Occasion {
        Time at{};
        bool is_short = false;
    };
    struct Record {
        std::deque<Occasion> occasions{};
        Time told{};
    };

    void note_pending(const std::vector<ledger::TxId>& pending, Time now);
    std::vector<Alert> judge(const BlockSeen& block, Time now);

    WatchRules rules_;
    std::map<ledger::TxId, Time> since_{};  ///< when what still waits was first seen
    std::map<consensus::MemberKey, Record> records_{};
    Counts counts_{};
};

}  // namespace rhizome::follow
