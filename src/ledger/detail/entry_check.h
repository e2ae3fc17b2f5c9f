// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/block.h"
#include "ledger/reject.h"
#include "state/document.h"
#include "state/view.h"

/// Whether entries of a state that comes from elsewhere are what the ledger itself would have written: what reads a
/// state relies on that, whatever its root. Private to ledger.
namespace rhizome::ledger::detail {

/// At a block a millisecond that is 8,900 years; adding waiting times to it cannot overflow.
inline constexpr std::uint64_t kHeightMax = std::uint64_t{1} << 48;

/// A document that stands at `path`: its identity, and of the kinds that the ledger reads, their contents.
Result<void, Reject> check_document(const state::Path& path, std::string_view document);

/// A record of the ledger's own at this path (its text). Consensus' are opaque here, and good.
[[nodiscard]] bool is_good_record(std::string_view path, ByteView bytes);

/// Whether `mark` can be in the state after the block of this height and time.
[[nodiscard]] bool is_up_to(const state::Mark& mark, Height height, Time time);

/// All of it, for an entry of the state after the block of this height and time.
Result<void, Reject> check_entry(const state::Entry& entry, Height height, Time time);

/// Whether a state after the block `tip` is one of `chain`: its record says so; after genesis, which cannot hold its
/// own hash, the block itself.
[[nodiscard]] bool is_state_of(const state::StateView& view, const BlockHash& tip, const ChainId& chain);

}  // namespace rhizome::ledger::detail
