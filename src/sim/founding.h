// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "consensus/judge.h"
#include "crypto/derive.h"
#include "ledger/apply.h"
#include "ledger/check.h"
#include "ledger/vote_record_id.h"
#include "sim/fast_signatures.h"

/// The cluster that a simulation begins with, and the transactions that its people write.
namespace rhizome::sim {

/// A machine's keys, the same in every run.
crypto::NodeKeys keys_of(std::size_t machine);
std::string name_of(std::size_t machine);

/// Everything is locked by a word that all clients know: scripts run, curves do not.
Bytes owner_lock();
Bytes owner_unlock();

/// A cluster's first blocks, made by machine 0: genesis, and one that registers the others as members and writes a
/// namespace.
struct Founding {
    ledger::GenesisBlock genesis{};
    std::shared_ptr<const ledger::Block> members{};  ///< the second block
    ledger::Applied applied{};
    ledger::ChainId chain{};
};
/// `spec` is the Cluster's. Keys' proofs of possession are dear, so foundings are remembered for as long as the process
/// lives. May be called from any thread, as all functions here.
const Founding& found(std::size_t machines, const std::string& spec, Time time);

/// What the two blocks did, as the beginning of a line of states of its own. The memory of such a line is given back
/// when it ends, and not before: histories that all grew out of one founding would keep what the largest of them ever
/// needed.
struct FirstStates {
    ledger::Applied genesis{};
    ledger::Applied members{};
};
FirstStates first_states(const Founding& founding);

// ---- what people write, on top of a state they see
// -------------------------------------------------------------------

/// A ConfigMap in namespace `work`.
ledger::SharedTx create_map(const ledger::LedgerState& state, const std::string& name, const std::string& text,
                            Time now);
/// Another version of it; null when it does not exist in this state.
ledger::SharedTx update_map(const ledger::LedgerState& state, const std::string& name, const std::string& text);
/// Null when it does not exist.
ledger::SharedTx delete_map(const ledger::LedgerState& state, const std::string& name);
/// Another version of namespace `work` under the same lock.
ledger::SharedTx relabel_namespace(const ledger::LedgerState& state, const std::string& label);
/// Registers another machine.
ledger::SharedTx register_machine(const ledger::LedgerState& state, std::size_t machine, const ledger::ChainId& chain,
                                  Time now);
/// Deletes a Node; null when there is none.
ledger::SharedTx remove_machine(const ledger::LedgerState& state, std::size_t machine);
/// A recovery in this generation with these machines as voters.
/// `records`: those of members that do not know what they signed before, which begin anew with it.
ledger::SharedTx recover(const ledger::LedgerState& state, std::uint64_t generation,
                         const std::vector<std::size_t>& machines,
                         const std::map<consensus::MemberKey, ledger::VoteRecordId>& records = {});

}  // namespace rhizome::sim
