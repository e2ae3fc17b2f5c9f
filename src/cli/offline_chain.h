// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/invocation.h"
#include "cli/progress.h"
#include "consensus/consensus_rules.h"
#include "consensus/judge.h"
#include "ledger/rules.h"
#include "ledger/state_export.h"
#include "runtime/thread_pool.h"
#include "store/chain.h"

/// The chain of a data directory, for commands that work on it while no node does.
namespace rhizome::cli {

/// Tells a `Progress` how far a store's long work is. Keep it until the work is done.
class StoreProgress {
public:
    StoreProgress(Console& console, std::string label) : console_(console), label_(std::move(label)) {}
    [[nodiscard]] store::ProgressSink sink();

private:
    Console& console_;
    std::string label_;
    std::optional<Progress> progress_;
    std::uint64_t done_ = 0;
};

/// An opened chain with everything it borrows. When it goes, the directory is closed in order: a copy of it made after
/// a command that only looked is then as good as one made before.
struct OfflineChain {
    OfflineChain() = default;
    OfflineChain(const OfflineChain&) = delete;
    OfflineChain& operator=(const OfflineChain&) = delete;
    ~OfflineChain();
    /// The same for who has written: says whether everything is on the disk. Nothing may be asked afterwards.
    Result<void> close();

    std::filesystem::path folder{};
    ledger::Rules kinds{};
    consensus::CurveSignatures signatures{};
    consensus::ConsensusRules rules{signatures, kinds};
    consensus::Judge judge{signatures};
    runtime::ThreadPool pool{runtime::ThreadPool::host_width()};
    std::unique_ptr<store::Chain> chain{};

    [[nodiscard]] ledger::BlockRules block_rules() const { return {rules, judge}; }
    [[nodiscard]] const store::Store& store() const { return chain->store(); }
    [[nodiscard]] ledger::ChainId id() const { return chain->store().chain(); }
    [[nodiscard]] ledger::Height height() const { return chain->tip().height; }
};

/// Opens the chain of `data_folder_of`, with a bar when it takes long, and warns of what opening had to mend. Errors
/// say what to try: no chain, another process, damage. The command declares `data_option`.
Result<std::unique_ptr<OfflineChain>> open_chain(Invocation& call);

/// `--at HEIGHT`: a height of the chain or `latest`. A command that declares it uses `height_of`.
Option at_option(std::string help = "the state after the block of this height; default: the latest");
Result<ledger::Height> height_of(const Invocation& call, std::string_view option, const OfflineChain& at);
/// The height that a word says. Usage for no number, NotFound above the tip; `what` names the word in the error.
Result<ledger::Height> parse_height(std::string_view word, std::string_view what, const OfflineChain& at);

/// The state after the block of that height and which block that is, with a bar when it takes long.
Result<ledger::ExportedState> state_of(Invocation& call, OfflineChain& at, ledger::Height height);

/// The Cluster's name in a state; empty when there is none.
std::string cluster_name(const state::StateView& view);

}  // namespace rhizome::cli
