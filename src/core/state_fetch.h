// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "consensus/signatures.h"
#include "core/config.h"
#include "core/effects.h"
#include "ledger/snapshot.h"

namespace rhizome::core {

/// What a machine believes of a chain before it has seen any of it: a join token says so.
struct TrustedBlock {
    ledger::ChainId chain{};
    ledger::BlockHash block{};
};

/// How a machine that has nothing comes to the state after a block that it trusts: one peer gives the manifest, all
/// that have the state give its parts, several at a time and in any order.
///
/// Only the block's hash is believed. The header must have it, the manifest the header's state root, the seal's
/// proposer must have signed (its signature is in no hash, and whoever is given it from here must find it good), and
/// each part is checked alone when it comes: whoever sends another is blamed by name and asked no more. A question that
/// is not answered in time goes to another peer; who left two in a row unanswered, or says that it has nothing, is
/// asked no more either. So a liar, a slow one and one that dies cost a part each, and the rest comes from the others.
///
/// Events in, effects out, as `Node`: PeerUp, PeerDown, Heard and Tick matter, Send, Blame and Wake come of them.
/// Bounded: `state_asks_per_peer` and `state_asks_max` questions of at most 16 MiB, and the state itself. Nothing of it
/// is on a disk before all of it is here, so nothing has to be mended after a crash. Confined to one strand.
class StateFetch {
public:
    /// Borrows `signatures`, and `parallel`, on which parts are checked.
    StateFetch(const Config& config, const TrustedBlock& trusted, const consensus::Signatures& signatures,
               Parallel& parallel);

    std::vector<Effect> step(const Event& event);

    struct Progress {
        std::size_t parts = 0;  ///< of the state; 0 while nobody has said how many
        std::size_t here = 0;
        std::uint64_t bytes = 0;  ///< of the parts that are here
        std::size_t peers = 0;    ///< that may have it
        std::size_t lacking = 0;  ///< that said they do not, were silent, or lied
        std::uint64_t asked_again = 0;
    };
    [[nodiscard]] Progress progress() const;
    /// There are peers, and none of them can be asked any more.
    [[nodiscard]] bool nobody_has_it() const;
    [[nodiscard]] bool is_done() const { return assembler_ && assembler_->missing() == 0; }

    struct Fetched {
        ledger::SnapshotManifest manifest{};
        state::StateView view{};
    };
    /// Once, when it is done. An error means that the trusted block itself is not one of the trusted chain.
    Result<Fetched, ledger::SnapshotFault> take();

private:
    struct Helper {
        bool lacks = false;
        std::uint32_t late = 0;  ///< questions that it did not answer, one after the other
    };
    /// Without a part: for the manifest.
    struct Question {
        PeerId peer{};
        Time asked{};
        std::optional<std::size_t> part{};
    };

    void heard(PeerId from, const StateManifest& message);
    void heard(PeerId from, const StatePart& message);
    void give_up_on(PeerId peer, std::optional<ledger::Reject> why);
    /// The question is answered; false when there was none, or it was taken back.
    bool answered(PeerId from, std::optional<std::size_t> part);
    void look_at_time();
    void ask();
    [[nodiscard]] std::optional<PeerId> helper() const;
    [[nodiscard]] bool is_asked(std::size_t part) const;
    void send(PeerId to, Message message);

    Config config_;
    TrustedBlock trusted_;
    const consensus::Signatures& signatures_;
    Parallel& parallel_;
    Time now_{};
    std::map<PeerId, Helper> helpers_;
    std::vector<Question> questions_;
    std::optional<ledger::SnapshotAssembler> assembler_;
    std::size_t next_part_ = 0;  ///< all below are here or asked for
    std::uint64_t bytes_ = 0;
    std::uint64_t asked_again_ = 0;
    std::vector<Effect> effects_;
};

}  // namespace rhizome::core
