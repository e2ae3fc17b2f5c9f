// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "consensus/vote_row.h"
#include "core/effects.h"

namespace rhizome::core::detail {

/// Votes on their way to the neighbours, and who has which of them already: whoever sent one, and whoever was sent it.
///
/// A vote is here until every neighbour has it. What gets lost on the way is not noticed here: it comes by another
/// neighbour, or is asked for when a status shows that it is missing.
///
/// Known to a neighbour is a bit for each place of a row, so that what somebody lacks is found for 64 votes at a time.
/// Bounded by what its owner puts in: votes that are new in a `VoteBook`. Confined to the core strand.
class VoteRelay {
public:
    using Signed = consensus::VoteGroup::Signed;

    /// Votes to be passed on, sorted by voter; `from` has them. Zero: they are our own.
    void add(const consensus::Ballot& ballot, std::span<const Signed> votes, PeerId from, Time now);
    /// A neighbour has sent these: it has those that are here, and is one that the others of the row go to.
    void note_heard(const consensus::VoteGroup& group, PeerId peer);
    void note_heard(consensus::Epoch epoch, std::uint64_t short_voter, PeerId peer);
    /// It was sent these.
    void note_sent(std::span<const consensus::VoteGroup> groups, PeerId peer);
    /// A neighbour has the same votes of an epoch as we.
    void note_same(consensus::Epoch epoch, PeerId peer);

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// Of the newest epoch that there are votes of.
    [[nodiscard]] consensus::Epoch newest() const;

    /// A row, as far as it matters for whom its votes go to.
    struct Place {
        const consensus::Ballot& ballot;
        Time since{};           ///< when its first vote came
        Time last{};            ///< when its newest came
        bool heard = false;     ///< the neighbour has sent votes of this row
        std::size_t lacks = 0;  ///< so many of them it is not known to have
    };
    using Pick = std::function<bool(const Place&)>;
    /// How many votes of the rows picked a neighbour is not known to have.
    [[nodiscard]] std::size_t lacking(PeerId peer, const Pick& pick) const;
    /// Those votes, as a set, `most` of them.
    [[nodiscard]] std::vector<consensus::VoteGroup> for_peer(PeerId peer, std::size_t most, const Pick& pick) const;
    /// Which of all votes it is known to have: the same for neighbours that lack the same.
    [[nodiscard]] std::vector<std::uint64_t> pattern(PeerId peer) const;
    template <class See>
    void each_row(See see) const {
        for (const auto& [ballot, row] : rows_) see(ballot, row.since);
    }

    /// Forgets rows from before `until` that all of these neighbours have. Of younger ones it is remembered who sends
    /// votes for them.
    void tidy(std::span<const PeerId> peers, Time until);
    void forget(PeerId peer);
    /// The clock was set back.
    void reset_times(Time now);
    void clear() { rows_.clear(); }

private:
    using Bits = std::vector<std::uint64_t>;
    struct Row {
        consensus::VoteRow votes;
        Time since{};
        Time last{};
        FlatMap<PeerId, Bits> known{};  ///< by place
        std::vector<PeerId> heard{};    ///< who has sent some, sorted
        [[nodiscard]] Bits& note(PeerId peer);
        void note_heard(PeerId peer);
        [[nodiscard]] std::size_t lacking(PeerId peer) const;
        [[nodiscard]] bool has_heard(PeerId peer) const;
        [[nodiscard]] Place place(PeerId peer) const;
    };
    /// By target epoch first, then ballot.
    struct Older {
        bool operator()(const consensus::Ballot& left, const consensus::Ballot& right) const {
            return left.target.epoch != right.target.epoch ? left.target.epoch < right.target.epoch : left < right;
        }
    };
    std::map<consensus::Ballot, Row, Older> rows_;
};

}  // namespace rhizome::core::detail
