// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "consensus/records.h"
#include "ledger/apply.h"

namespace rhizome::consensus {

/// Who decides what is final, as the state after one block has it.
///
/// **Why a change of voters cannot split finality.** A checkpoint is decided by the electorate of its *own* state, so
/// two nodes that know the block agree on who counts. Let A be the voters and B the next ones. On every chain there is
/// a stretch of blocks whose electorate is both: a quorum of A *and* a quorum of B. Only a block that shows a
/// checkpoint of that stretch final makes B the voters alone. Say c is final by A alone and t, on another chain, by B
/// alone. Then some z below t is final by A and B. Both c and z needed a quorum of A, so one of them descends from the
/// other (vote_book.h): either c descends from z, and then c's own state has B as next, against what we said; or z and
/// with it t descends from c. The same step repeats over any number of changes.
///
/// A recovery replaces the voters at once, by hand of the Cluster's owner: what is final is promised within one
/// generation only.
struct Electorate {
    std::uint64_t generation = 0;
    std::vector<MemberKey> voters{};  ///< sorted
    ledger::Height voters_since{};    ///< first block whose state has them
    std::vector<MemberKey> next{};    ///< sorted; empty when no change is under way
    ledger::Height next_since{};

    /// A recovery that the Cluster's document asks for holds from that very block on, written down or not.
    static Electorate of(const state::StateView& view, const ledger::Parameters& parameters);

    [[nodiscard]] bool is_voter(const MemberKey& key) const;  ///< of either set
    /// Whether these (sorted, none twice) are a quorum of the voters, and of the next ones if there are any.
    [[nodiscard]] bool has_quorum(std::span<const MemberKey> keys, ledger::Trust trust) const;
    /// With one voter and nobody to come, its seal is its vote.
    [[nodiscard]] bool is_only_voter(const MemberKey& key) const;

    /// The records that say so.
    [[nodiscard]] std::vector<std::pair<state::Path, Bytes>> to_records() const;
    friend bool operator==(const Electorate&, const Electorate&) = default;
};

/// ⌊n/2⌋ + 1 where nodes may crash, ⌊2n/3⌋ + 1 where they may lie.
std::size_t quorum_of(std::size_t voters, ledger::Trust trust);

/// Who should vote, by the state after a block: present voters whose Node still exists, and members that were heard to
/// attest; less those under evidence. Never empty: when nobody is left the present voters stay.
std::vector<MemberKey> wanted_voters(const Electorate& now, const state::StateView& view);

}  // namespace rhizome::consensus
