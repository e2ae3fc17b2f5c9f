// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/log.h"
#include "core/state_fetch.h"
#include "crypto/derive.h"
#include "stream/tcp.h"

namespace rhizome::node {

struct StateWish {
    core::TrustedBlock trusted{};
    stream::Address address{};  ///< of a node of the cluster; it names others, who are asked too
    core::Config core{};
    milliseconds silence_max{60'000};  ///< without anything new it is given up
    /// Called now and then on the caller's thread.
    std::function<void(const core::StateFetch::Progress&)> progress{};
    std::function<bool()> is_cancelled{};
    Log log{};
};

/// Fetches the state after a trusted block (`core::StateFetch`) from the node at the address and up to seven others,
/// over real links. Blocks; touches no disk. NotFound when nobody has that state, Denied when the node is of another
/// chain, Unavailable when nobody answers.
Result<core::StateFetch::Fetched> fetch_state(stream::IoContext& io, const StateWish& wish,
                                              const crypto::NodeKeys& keys, Parallel& parallel);

}  // namespace rhizome::node
