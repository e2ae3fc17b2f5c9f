// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/u256.h"
#include "consensus/vote.h"
#include "ledger/chain_records.h"
#include "state/view.h"

/// What consensus keeps under `/chain/`, so that whoever has the tree under a header's root judges the next block like
/// one who has the whole chain:
///
///     /chain/voters          chain keys of the voters, sorted
///     /chain/next            chain keys of the voters to be, while a change is under way
///     /chain/electorate      recovery generation ‖ height since which the voters are ‖ since which `next` is
///     /chain/seed            what the order of proposers is drawn from (32)
///     /chain/ends            the last block before the end of each of the last 64 epochs in which there were blocks
///     /chain/final           the newest final checkpoint that a block showed, and the height of the one before it
///     /chain/weight          weight of the chain so far (32)
///     /chain/work            chains of work: bits of the next block ‖ height ‖ time, ms, of the period's first block
///     /chain/absent/<key>    missed its turn: epoch of the block that found so
///     /chain/slots/<key>     last slot for which an attestation of this member was counted
///
/// Readers trust what they find: nobody but `Judge` writes here, and a state from elsewhere was compared with a root
/// (ledger/snapshot.h checks the forms of what comes in a snapshot).
namespace rhizome::consensus::records {

using ledger::Height;

state::Path next();
state::Path electorate();
state::Path seed();
state::Path ends();
state::Path final_checkpoint();
state::Path weight();
state::Path work();
state::Path absent(const MemberKey& key);
state::Path slot(const MemberKey& key);
state::Prefix all_absent();
state::Prefix all_slots();
/// The key in a path of `absent`, `slots`, or the ledger's `members` and `leases`.
MemberKey key_in(const state::Entry& entry);

/// The last blocks before the ends of epochs, oldest first. What a chain's target for an epoch is follows from it.
struct Ends {
    struct End {
        Checkpoint checkpoint{};  ///< the block, and the epoch its time lies in
        Height height{};
        friend bool operator==(const End&, const End&) = default;
    };
    static constexpr std::size_t kKept = 64;
    std::vector<End> ends{};

    /// `block` was the last one of its epoch.
    void append(const End& end);
    /// The last block timed before the end of `epoch`; null when that is older than what is kept.
    [[nodiscard]] const End* target_of(Epoch epoch) const;
};
Bytes encode(const Ends& ends);
Ends ends_of(const state::StateView& view);

/// What blocks have shown to be final.
struct ShownFinal {
    Checkpoint checkpoint{};
    Height height{};
    Height height_before{};  ///< of the one shown before it
    friend bool operator==(const ShownFinal&, const ShownFinal&) = default;
};
Bytes encode(const ShownFinal& shown);
/// Genesis, while nothing was shown yet: `checkpoint.block` is zero then.
ShownFinal shown_final_of(const state::StateView& view);

U256 weight_of(const state::StateView& view);
Bytes encode_weight(const U256& weight);

/// What the next block of a chain of work must meet, and since when.
struct WorkPeriod {
    std::uint32_t bits = 0;
    Height height{};  ///< of the block whose time is the beginning: genesis, or the last one that retargeted
    Time time{};
    friend bool operator==(const WorkPeriod&, const WorkPeriod&) = default;
};
Bytes encode(const WorkPeriod& period);
/// Nothing on chains of other engines, and when the bits are no target.
std::optional<WorkPeriod> work_period_of(const state::StateView& view);

crypto::Hash256 seed_of(const state::StateView& view);

}  // namespace rhizome::consensus::records
