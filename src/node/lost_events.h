// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "node/gossip.h"
#include "node/host.h"

namespace rhizome::node {

/// An event for the cluster, as it goes round off the chain.
struct LostEvent {
    state::Path path;
    state::EntryPtr entry{};
    Time until{};
};

/// The Warning Event on one object of an accepted write that was lost; nothing where the output names none. Of the same
/// loss the same event, so that telling it twice tells it once. `present` is the state that has no place for it: the
/// object that stands there now, if any, is the one it is about. `node`: who tells.
std::optional<LostEvent> lost_event(const store::LostTx& lost, const ledger::NamedOutput& output, std::size_t index,
                                    const state::StateView& present, std::string_view node);

/// Tells the cluster of each accepted write that this node has lost, also of those it lost within the last hour before
/// it was started: they may not have been told. `host` and `gossip` outlive it.
class LostEvents {
public:
    LostEvents(Host& host, Gossip& gossip);

private:
    std::shared_ptr<void> watching_;
};

}  // namespace rhizome::node
