// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/codec.h"
#include "state/document.h"
#include "state/view.h"

/// Showing what a state holds, and what it does not, to somebody who has only its root.
///
/// Looking up a key ends at one leaf whether the key is there or not: it is decided by the key's bits at the positions
/// that inner nodes name. So one kind of proof serves both: the way from the root to that leaf, and the leaf. Where the
/// leaf has the key, it is present; where it has another, the key is absent, since the tree has no other place for it.
namespace rhizome::state {

enum class ProofFault : unsigned char {
    WrongRoot,    ///< the proof does not lead to this root
    WrongWay,     ///< the way does not follow the bits of the key that was asked for
    BadOrder,     ///< bit positions do not grow, or leaves are not in order
    Incomplete,   ///< a leaf is missing
    WrongPrefix,  ///< a leaf is not under the prefix that was asked for
};
std::string_view name(ProofFault fault);
Error to_error(ProofFault fault);

/// An inner node on the way, seen from below.
struct Step {
    std::uint16_t bit = 0;
    Hash256 sibling;
    friend bool operator==(const Step&, const Step&) = default;
};

struct Proof {
    std::vector<Step> steps;      ///< from the root down
    std::optional<Summary> leaf;  ///< none only for the empty state
    friend bool operator==(const Proof&, const Proof&) = default;
};

struct Presence {
    Summary entry;
    friend bool operator==(const Presence&, const Presence&) = default;
};
struct Absence {
    friend bool operator==(Absence, Absence) = default;
};
using Finding = std::variant<Presence, Absence>;

Proof prove(const StateView& view, const Path& path);
/// What the state with this root has at `path`, if `proof` shows it.
Result<Finding, ProofFault> verify(const Hash256& root, const Path& path, const Proof& proof);

/// The same for everything under a prefix: the way to the subtree, and all its leaves, so that a light node knows it
/// was told of every one. Where there are none, one leaf that stands in the only place they could have.
struct PrefixProof {
    std::vector<Step> steps;
    std::vector<Summary> leaves;
    friend bool operator==(const PrefixProof&, const PrefixProof&) = default;
};

/// Nothing when more than `leaves_max` entries are there: ask for a narrower prefix.
std::optional<PrefixProof> prove_under(const StateView& view, const Prefix& prefix, std::size_t leaves_max);
/// All entries under `prefix` in the state with this root, in order, if `proof` shows it.
Result<std::vector<Summary>, ProofFault> verify_under(const Hash256& root, const Prefix& prefix,
                                                      const PrefixProof& proof);

/// number of steps (varint) ‖ per step: bit (2), sibling (32) ‖ 0 or 1 ‖ leaf
Bytes encode(const Proof& proof);
Result<Proof, DecodeFault> decode_proof(ByteView bytes);
/// number of steps (varint) ‖ steps ‖ number of leaves (varint) ‖ leaves
Bytes encode(const PrefixProof& proof);
Result<PrefixProof, DecodeFault> decode_prefix_proof(ByteView bytes, std::size_t leaves_max);

}  // namespace rhizome::state
