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
/// each part is checked alone when it comes: whoever sends another is blamed by name and asked no more. So a liar
/// costs a part, and the rest comes from the others; who says that it has nothing is asked no more either.
///
/// Several questions are open at each peer, and on a slow link their answers come one after the other: the time of all
/// begins anew with each that comes. When it is up, all go to others as well, the second time in a row also to the same
/// peer again, and the third time it is left alone. What comes late is taken all the same, from whoever was not left
/// for a lie: over a slow link there may be nothing better.
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
        bool lacks = false;      ///< it said so, or lied
        std::uint32_t late = 0;  ///< how often its time was up, one after the other
    };
    /// Without a part: for the manifest.
    struct Question {
        PeerId peer{};
        Time asked{};  ///< or when the peer last answered another
        std::optional<std::size_t> part{};
        bool overdue = false;  ///< another may be asked as well
    };

    void heard(PeerId from, const StateManifest& message);
    void heard(PeerId from, const StatePart& message);
    /// Null for who is not to be listened to.
    Helper* listened_to(PeerId peer);
    void came_from(PeerId peer, Helper& helper);
    void give_up_on(PeerId peer, std::optional<ledger::Reject> why);
    /// The question is answered; false when there was none, or it was taken back.
    bool answered(PeerId from, std::optional<std::size_t> part);
    void look_at_time();
    void ask();
    /// Whom to ask for this, of those who do not owe it yet.
    [[nodiscard]] std::optional<PeerId> helper_for(std::optional<std::size_t> part) const;
    /// By somebody whose time is not up.
    [[nodiscard]] bool is_asked(std::optional<std::size_t> part) const;
    [[nodiscard]] bool is_owed(std::size_t part) const;
    [[nodiscard]] static bool is_left(const Helper& helper);
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
