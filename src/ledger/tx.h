// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "crypto/hash.h"
#include "state/document.h"

namespace rhizome::ledger {

/// Names a change whatever its unlocking scripts: H(transaction with every unlocking script emptied). Nobody who relays
/// a change can alter its id.
using TxId = crypto::Hash256;
/// Names one variant of a change, unlocking scripts included: H(whole). Announcements, caches and the Merkle tree use
/// it, so that a broken copy does not stand in for the good one.
using WireId = Id<struct WireIdTag, 32>;
using ChainId = Id<struct ChainIdTag, 32>;  ///< the hash of the genesis block

using Outpoint = state::Outpoint;

inline constexpr std::uint32_t kTxVersion = 1;
inline constexpr std::uint32_t kSequenceFinal = 0xffffffff;
inline constexpr std::uint16_t kGenesisIndex = 0xffff;
/// Lock times below this are heights, others Unix seconds (as in Bitcoin).
inline constexpr std::uint32_t kLockTimeThreshold = 500'000'000;

/// Names the latest output of a resource (it is consumed) or the lock point of an ancestor (authority, not consumed).
struct Input {
    Outpoint previous;
    Bytes unlocking{};  ///< pushes only; empty when the input is only a version
    std::uint32_t sequence = kSequenceFinal;
    friend bool operator==(const Input&, const Input&) = default;
};

/// Carries one resource, or nothing: a deletion.
struct Output {
    std::string value{};  ///< the document as submitted; empty for null
    Bytes locking{};      ///< empty: only ancestors may change the resource
    friend bool operator==(const Output&, const Output&) = default;
};

/// A signed change. Plain data: whoever decodes it has checked its form, nothing more.
struct Tx {
    std::uint32_t version = kTxVersion;
    std::vector<Input> inputs{};
    std::vector<Output> outputs{};
    std::uint32_t lock_time = 0;
    std::uint32_t expiry = 0;  ///< Unix seconds; 0: never (only when an input is consumed)
    friend bool operator==(const Tx&, const Tx&) = default;
};

TxId id_of(const Tx& tx);
WireId wire_id_of(const Tx& tx);

/// The one block's one transaction that names no input: a single null outpoint.
[[nodiscard]] bool is_genesis(const Tx& tx);

}  // namespace rhizome::ledger
