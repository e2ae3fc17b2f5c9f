// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "ledger/block.h"
#include "state/view.h"

/// A whole state as JSON text, for tools that work without a node: writing, signing and judging transactions offline.
/// Not for large clusters, which have snapshots.
///
///     {"kind":"rhizome-state","version":1,"chainId":…,"height":…,"time":…,"tip":…,"root":…,"entries":[
///       {"path":"/namespaces/web","born":{"txid","vout","height","time"},"latest":{…},"lock":{…},"script":<assembly>,
///        "document":<its text as a string: exact bytes>},
///       {"path":"/chain/clock","bytes":<hexadecimal>}]}
///
/// Entries come in the order of their keys; times are RFC 3339 with milliseconds.
namespace rhizome::ledger {

inline constexpr std::size_t kStateTextBytesMax = 256u << 20;
inline constexpr std::size_t kStateEntriesMax = 1'000'000;

/// The state after a block, and which block that was.
struct ExportedState {
    ChainId chain{};
    Height height{};
    Time time{};
    BlockHash tip{};
    state::StateView view{};
};

/// For people: one entry a line.
std::string export_state(const ExportedState& state);

/// The state that `text` is. Its root is computed anew: Corrupt when it is not the one named. Every entry is checked as
/// the ledger would have before it wrote it, since what reads a state relies on that; Invalid with the entry's place
/// and the member's name.
Result<ExportedState> import_state(std::string_view text);

}  // namespace rhizome::ledger
