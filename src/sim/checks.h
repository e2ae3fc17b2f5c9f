// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "consensus/vote.h"
#include "core/effects.h"
#include "sim/disk.h"

namespace rhizome::sim {

/// What must hold whatever happens, looked at after every event. Keeps the first faults it sees.
class Checks {
public:
    explicit Checks(Archive& archive) : archive_(archive) {}

    /// Honest members, whose signatures must never contradict each other.
    void note_honest(const consensus::MemberKey& key, bool honest);

    /// A node says that a block is final. No two conflicting finals in one recovery generation; a node's own final
    /// prefix only grows.
    void final_moved(std::size_t machine, const ledger::BlockHash& block, std::uint64_t generation);
    /// A recovery took back what was final on a machine: only one of a higher generation than any it had.
    void finals_taken_back(std::size_t machine, std::uint64_t generation);
    /// People have begun this generation twice, with different voters: what is final in it may conflict.
    void expect_conflict(std::uint64_t generation) { conflicting_.insert(generation); }
    /// The lease clock of the state after a final block, and how long the world has stood then: leases, and who may
    /// take what another had, go by the first.
    void lease_clock(std::size_t machine, microseconds leases, microseconds real);
    /// All clocks are ahead: time that nobody sealed in has passed, by them.
    void allow_lease_leap(microseconds leap) { lease_leap_ += leap; }
    /// A machine that starts knows what its disk kept: its prefix may be shorter than it was.
    void started(std::size_t machine);
    /// A node follows another tip: nobody honest stands accused in its state.
    void tip_moved(std::size_t machine, const core::TipMoved& moved);
    /// A vote or block as it leaves a machine.
    void vote_sent(const consensus::Vote& vote);
    void block_sent(const ledger::Block& block);

    /// Of these blocks no machine has anything any more: who sealed them cannot be held to it by anybody.
    void forget_seals(const std::function<bool(const ledger::BlockHash&)>& is_gone);

    /// Executes the chain up to `tip` again, without anything remembered, and compares every root.
    void replay(const ledger::BlockHash& genesis, const ledger::BlockHash& tip);

    void fault(std::string what);
    [[nodiscard]] bool clean() const { return faults_.empty(); }
    [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
    [[nodiscard]] std::uint64_t highest_final() const { return highest_final_; }

private:
    Archive& archive_;
    std::vector<std::string> faults_;
    std::set<consensus::MemberKey> honest_;
    std::map<std::uint64_t, std::map<std::uint64_t, ledger::BlockHash>> finals_;   ///< generation, height
    std::set<std::uint64_t> conflicting_;                                          ///< generations
    std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> final_height_;  ///< of each machine
    std::map<consensus::MemberKey, std::map<std::pair<std::uint64_t, consensus::Epoch>, consensus::Vote>> votes_;
    std::map<std::pair<consensus::MemberKey, ledger::BlockHash>, ledger::BlockHash> sealed_;  ///< on which parent
    std::uint64_t highest_final_ = 0;
    microseconds lease_leap_{std::chrono::seconds{2}};  ///< clocks of those who seal differ by as much
};

}  // namespace rhizome::sim
