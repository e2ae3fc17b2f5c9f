// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <variant>

#include "base/json.h"
#include "consensus/signatures.h"
#include "consensus/vote.h"
#include "ledger/apply.h"
#include "state/view.h"

/// Proofs that a member contradicted itself. Anybody may submit one: it needs no signature but those it shows.
namespace rhizome::consensus {

/// A header with the proposer's signature over its hash: what of a block is enough to accuse with.
struct SignedHeader {
    ledger::Header header{};
    CompactSignature signature{};
    friend bool operator==(const SignedHeader&, const SignedHeader&) = default;
};

/// Two things that one key has signed and no honest node signs both of (own_votes.h): two votes that contradict each
/// other, or two blocks on one parent.
///
/// **No honest member can be accused**, whatever is copied, replayed or bent:
/// - What is compared is what was signed, never the signatures: one ballot, or one header, signed twice (ECDSA allows
///   many signatures of one message) contradicts nothing. High S is refused besides.
/// - A vote's digest has the chain id in it, so votes of another chain are not signed here. Votes of two recovery
///   generations contradict nothing: after a recovery members have to vote from older sources.
/// - A header names no chain, but its parent, and through its parent's hash all blocks before it down to one genesis
///   block. Two chains with different genesis blocks have no block hash in common, so two headers on one parent are of
///   one chain, and an honest node seals at most one block on a parent, on any chain and in any generation. Only
///   genesis blocks have the same parent (none) on all chains: whoever founds two clusters with one key signs two of
///   those, so they are no evidence.
/// - What else a chain key signs cannot be taken for a header, whose hash is untagged: a header is 161 bytes; what is
///   signed for an input of a transaction has at least 211, votes and proofs of possession are hashed with tags.
///
/// A key that two clusters share and that truly sealed twice on one parent in one of them can be accused in the other
/// as well: headers do not tell the two apart. A node makes its key for one data directory, so that takes copying it.
struct Evidence {
    MemberKey accused{};
    std::variant<std::array<Vote, 2>, std::array<SignedHeader, 2>> proof{};
    friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// The accused, when the evidence proves something on this chain; BadVote otherwise, with the reason. Cheap faults are
/// found before signatures are checked.
Result<MemberKey, ledger::Reject> check_evidence(const Evidence& evidence, const ledger::ChainId& chain,
                                                 const Signatures& signatures);
/// Signature checks that it makes at most.
inline constexpr std::size_t kEvidenceChecks = 2;

/// When the later of the two was signed, by its own account: the end of a vote's target epoch, a header's time.
Time time_of(const Evidence& evidence, milliseconds epoch);

/// `{"apiVersion":"rhizome.dev/v1","kind":"Evidence","metadata":{"name":<accused>},"spec":{"votes":[<vote>,<vote>]}}`,
/// or `"headers":[{"header","signature"},{…}]`: all in lower-case hexadecimal, a vote as `encode` gives it, a header as
/// its 161 bytes.
json::Object to_document(const Evidence& evidence);
/// Reads that form and nothing else: BadEncoding names the member that is missing, malformed or not known. Says nothing
/// about what the evidence proves.
Result<Evidence, ledger::Reject> from_document(const json::Value& document);
/// A document is about 1,100 bytes when printed; people may indent it.
inline constexpr std::size_t kEvidenceBytesMax = 2'048;

/// The transaction that submits it: complete, signed by nobody, good until `kExpirySecondsDefault` after `now` or until
/// the Cluster's lock changes. `state` is the tip's.
ledger::Tx evidence_tx(const Evidence& evidence, const ledger::LedgerState& state, Time now);

/// The kind of such documents.
inline constexpr std::string_view kEvidenceGroup = "rhizome.dev";
inline constexpr std::string_view kEvidenceKind = "Evidence";

/// Where the proof that a member contradicted itself stands, once somebody submitted it: one is enough.
state::Path evidence_path(const MemberKey& accused);
state::Prefix all_evidence();
/// A member under evidence neither seals nor votes. Its Node keeps its pods; a new key begins anew, and whoever holds
/// the Cluster's lock may delete the evidence.
[[nodiscard]] bool is_accused(const MemberKey& key, const state::StateView& view);

}  // namespace rhizome::consensus
