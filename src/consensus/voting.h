// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "consensus/vote.h"
#include "ledger/parameters.h"

namespace rhizome::consensus {

/// When this member votes. Local, never part of a block's validity: a node that kept another time table would only be
/// late.
///
/// Members vote in pairs of epochs (e, e + 1) with e a multiple of the period, so that all who see the same chain vote
/// in the same epochs: a vote for e, and, from what the votes for e justified, another for e + 1, which makes it final.
/// - The shortest period is 2 up to 64 voters: every epoch is voted in. Larger clusters take the power of two below
///   voters / 32, so that votes cost each node the same whatever the cluster's size.
/// - A quorum's votes for e must have come round before the vote for e + 1 is signed. With period 2 that is 250 ms, and
///   nobody waits: fast links need no more. Where three pairs made nothing final the period doubles, and from 4 on the
///   second vote waits until e is justified, up to the next pair: with slow links, or hundreds of members, or a part of
///   the cluster gone. How long the votes did take says when it becomes shorter again. Periods are powers of two: a
///   member with a long one votes only where those with shorter ones do too. The longest one, after 8, is a heartbeat,
///   and its pairs begin with the slots: where nothing becomes final votes are only weight, and two sides of a cut that
///   gave theirs at different places of the slot could not be compared.
/// - While the tip is final: once a heartbeat slot, in the last pair of epochs of it, because most slots have a block,
///   and with it votes that count for the slot as well. (From 65 on not again for what is final.)
class VotingPace {
public:
    static constexpr milliseconds kSettleMin{100};
    static constexpr milliseconds kSettleMax{2'000};
    static constexpr int kLevelMax = 3;  ///< then the period is a heartbeat
    static constexpr std::size_t kQuickVotersMax = 64;

    struct Sight {
        std::size_t voters = 0;
        bool tip_is_final = false;
    };
    /// Epochs from one pair to the next.
    [[nodiscard]] std::uint64_t period(const Sight& sight, const ledger::Parameters& parameters) const;
    /// How many epochs ago the newest pair began, at `epoch`.
    [[nodiscard]] std::uint64_t place(Epoch epoch, const Sight& sight, const ledger::Parameters& parameters) const;
    /// How long after an epoch's end its vote is signed: blocks of its last moments are still on their way. More where
    /// votes split.
    [[nodiscard]] milliseconds settle() const { return settle_; }

    /// First of the pair whose votes have not come round yet.
    [[nodiscard]] std::optional<Epoch> open() const { return open_; }
    /// First of the newest pair that this member began.
    [[nodiscard]] std::optional<Epoch> first() const { return first_; }

    /// The first vote of a pair is signed. `final`: epoch of the newest final checkpoint. `split`: a quorum's votes for
    /// the open pair came, for different blocks.
    void note_first(Epoch epoch, const Sight& sight, Epoch final, bool split);
    /// The newest justified checkpoint is of `epoch` now.
    void note_justified(Epoch epoch, Time now, const ledger::Parameters& parameters);

private:
    std::optional<Epoch> open_{};
    std::optional<Epoch> first_{};
    Epoch final_{};  ///< when the last pair began
    int stuck_ = 0;  ///< pairs in a row in which nothing became final
    int level_ = 0;  ///< the period is 2^(level + 1)
    milliseconds settle_ = kSettleMin;
};

/// No vote for an epoch that ends more than this many heartbeats after the tip's time: where nobody seals, votes would
/// only fill memories.
inline constexpr int kVoteHeartbeatsMax = 3;

}  // namespace rhizome::consensus
