// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "ledger/block.h"
#include "state/delta.h"
#include "state/path.h"
#include "store/store.h"

/// What a subscriber wants to hear of, and how it is told (docs/spec/rpc.md). Everything that decides, without sockets.
namespace rhizome::node::rpc {

/// The one message that a subscriber sends:
///
///     {"type":"subscribe","events":["blocks","final","changes","conditions"],"prefix":"/namespaces/web",
///      "after":{"height":12,"hash":…}}
///
/// All but the type may be left out. `after` is the newest block that the subscriber knows: by its hash, so that a
/// branch that was left since is told as undone, or by its height alone.
struct Subscription {
    bool blocks = true;
    bool final_blocks = true;
    bool changes = true;
    bool conditions = true;
    state::Prefix prefix = state::Prefix::documents();  ///< whose changes are told
    std::optional<ledger::BlockHash> after_hash{};
    std::optional<ledger::Height> after_height{};
};
inline constexpr std::size_t kSubscribeBytesMax = 4'096;
Result<Subscription> parse_subscription(std::string_view text);

/// From one block to another: what is undone (newest first), what is applied (oldest first). Exhausted when that is
/// more than `most`, NotFound when one is not here.
struct Way {
    std::vector<store::BlockInfo> undone{};
    std::vector<store::BlockInfo> applied{};
};
Result<Way> way_between(const store::Store& store, const ledger::BlockHash& from, const ledger::BlockHash& to,
                        std::size_t most);

/// A block that came or went, with the changes under the prefix (turned round when it went). Nothing where only changes
/// are wanted and there are none. `change` is null when it is not kept any more: `"changesUnknown":true`.
std::optional<json::Object> block_event(const Subscription& wanted, const store::BlockInfo& block, bool undone,
                                        const state::Delta* change);

}  // namespace rhizome::node::rpc
