// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The rules that keep a cluster's word, each of which can be left out, one at a time, by a program that was built for
/// it: the mutation check of the simulator (`sim/mutation_sim_test.cpp`). A checker that finds nothing when a rule is
/// missing proves nothing when none is.
namespace rhizome {

enum class SafetyRule : std::uint8_t {
    DurableVotes,        ///< what a node signs is on disk before it leaves
    SourceNotBelow,      ///< a vote's source is not below that of an earlier one
    NextEpoch,           ///< only votes from k to k + 1 make k final
    JointVoters,         ///< while the voters change, a quorum is one of the old and one of the new
    SameParentEvidence,  ///< two headers accuse only when they stand on one parent
    LockPoints,          ///< an ancestor's authority outlives its edits
    Standing,            ///< whoever missed a turn waits behind the others
    FinalsStay,          ///< only a higher recovery generation takes back what is final
    TellLosses,          ///< what a client was told to be included is kept until it is final or told to be lost
    LateVotes,           ///< votes for epochs that are decided are kept for the blocks that may carry them
    ProvenConflicts,     ///< that something else is final is believed when votes show it, not when somebody says so
    ConflictsStop,       ///< who knows of two conflicting finals neither seals nor votes
    ChainTimeSlower,     ///< chain time that is ahead of the clocks goes on slower than they do
    OwnClockCounts,      ///< a machine that compares clocks counts its own
    NamedRecord,         ///< a recovery gives its vote back to the vote record that it names, and to no other
    OwnKeyHeard,         ///< whoever hears its own key say what it did not say signs nothing any more
    NothingOnAFullDisk,  ///< a node whose disk has no room takes no blocks
};
inline constexpr std::size_t kSafetyRules = 17;

/// All hold in every program but that one. Asked only in files that the mutation check compiles again
/// (`sim/CMakeLists.txt`), so that no program mixes both answers.
#ifdef RHIZOME_MUTATION
bool holds(SafetyRule rule);
#else
constexpr bool holds(SafetyRule) { return true; }
#endif

}  // namespace rhizome
