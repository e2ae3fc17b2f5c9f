// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "consensus/electorate.h"
#include "consensus/signatures.h"
#include "follow/finality_proof.h"
#include "ledger/proof_files.h"

namespace rhizome::follow {

/// Why a light node does not believe what it was shown. The names are stable: logs, metrics and `status` carry them.
enum class LightFault : std::uint8_t {
    Malformed,       ///< not the one encoding of a proof
    WrongChain,      ///< of another chain
    WrongBlock,      ///< not the block that a person vouched for
    WrongSeal,       ///< the seal is not the header's, or names nobody
    WrongSignature,  ///< the proposer did not sign the header, or a voter its vote
    WrongProof,      ///< a state proof does not lead to the header's state root, or is about something else
    ForgedDocument,  ///< the document (or record) that came along is not the one that the proof shows
    Incomplete,      ///< an entry that the proof shows did not come and is not known from before
    NotFinal,        ///< the votes do not show it final
    UnknownVoters,   ///< decided by voters that nobody known here handed over to
    Stale,           ///< of a block before the newest that is known to be final
    Conflict,        ///< another block of this height is final: more voters lied than the cluster allows for
    Recovered,       ///< the owner began a new generation: only a person can say which history holds
};
inline constexpr std::size_t kLightFaults = static_cast<std::size_t>(LightFault::Recovered) + 1;
std::string_view name(LightFault fault);

struct LightRefusal {
    LightFault fault = LightFault::Malformed;
    std::string why{};  ///< what happened and why, without the fault's name
};
std::string to_text(const LightRefusal& refusal);

/// `known` with the sub-tree of the proof as it stands in the state of the proof's header; entries that are missing in
/// the proof and did not change are taken from `known`. Whether the header is to be believed is another question.
Result<state::StateView, LightRefusal> with_subtree(const state::StateView& known, const SubtreeProof& proof);

/// A chain as one follows it who keeps no blocks: the newest final header, who decides about the next one, and the
/// sub-trees of the state that are of interest. Everything is checked here; whoever it comes from need not be trusted,
/// and can at worst be silent.
///
/// **Why a new final header is believed.** It comes with the voters of its own state and votes that show it final under
/// them (consensus/vote_book.h). Those voters must be the ones known here, or the ones that the known state has named
/// as next: then a quorum of people already believed stands behind it. Between two voter sets there is always a final
/// block whose state has both (consensus/electorate.h), so following each change needs no more than one such block.
/// The headers in between are not needed: who votes for a block votes for all before it.
///
/// What it does not see: whether the blocks between were good. A quorum that lies can show it anything, as it can
/// everybody.
///
/// Pure; confined to one thread. Borrows `signatures`.
class LightChain {
public:
    /// Begins at a block whose hash a person vouches for; without one at whatever `basis` is, if its own votes show it
    /// final: `trusts_first_peer` then says so for ever.
    static Result<LightChain, LightRefusal> begin(const ledger::ChainId& chain, const FinalityProof& basis,
                                                  const std::optional<ledger::BlockHash>& vouched,
                                                  const consensus::Signatures& signatures);

    /// A newer final block. False when it is the one known already; refusals leave everything as it was.
    Result<bool, LightRefusal> take(const FinalityProof& proof);
    /// All that stands below a prefix in the state of the newest final block. Entries that are missing in it and did
    /// not change are taken from what is here.
    Result<void, LightRefusal> take(const SubtreeProof& proof);

    /// What stands at one path there: what is above a sub-tree, whose lock decides where there is none of its own.
    Result<void, LightRefusal> take(const ledger::StateProof& proof);

    [[nodiscard]] const ledger::ChainId& chain() const { return chain_; }
    [[nodiscard]] const ledger::Header& header() const { return header_; }
    [[nodiscard]] const ledger::BlockHash& hash() const { return hash_; }
    [[nodiscard]] const consensus::Electorate& electorate() const { return electorate_; }
    [[nodiscard]] ledger::Trust trust() const { return trust_; }  ///< how large a quorum has to be
    [[nodiscard]] bool trusts_first_peer() const { return trusts_first_peer_; }
    /// The sub-trees, as far as they were shown.
    [[nodiscard]] const state::StateView& state() const { return state_; }
    /// The height of the block that a sub-tree was last shown for; nothing when it never was.
    [[nodiscard]] std::optional<ledger::Height> shown_at(const state::Prefix& prefix) const;

private:
    LightChain(const ledger::ChainId& chain, const consensus::Signatures& signatures)
        : chain_(chain), signatures_(&signatures) {}

    /// Whether a proof about this header's state is worth looking at.
    [[nodiscard]] Result<void, LightRefusal> check_block(const ledger::ChainId& chain,
                                                         const ledger::Header& header) const;

    ledger::ChainId chain_;
    const consensus::Signatures* signatures_;
    ledger::Header header_{};
    ledger::BlockHash hash_{};
    consensus::Electorate electorate_{};
    ledger::Trust trust_ = ledger::Trust::Crash;
    bool trusts_first_peer_ = false;
    state::StateView state_{};
    std::map<state::Prefix, ledger::Height> shown_{};
};

}  // namespace rhizome::follow
