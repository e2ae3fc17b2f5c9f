// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "p2p/events.h"

namespace rhizome::p2p {

/// What is known of an inbound link that could be let go.
struct Evictable {
    LinkId link{};
    AddressGroup group{};
    Time since{};
    Time active{};                       ///< when something good last came; the beginning of time if never
    std::optional<microseconds> ping{};  ///< nothing if it was never answered
};

/// Which of these to let go for a newcomer; none if all are protected.
///
/// An attacker can open any number of links but finds it hard to be first, to be near, to be useful and to be
/// everywhere. So of each of these a few stay: the two oldest, the two with the shortest ping, the two that were useful
/// last, and the oldest of the four networks that have been here longest. Of the rest the network with most links loses
/// its youngest. Independent of the order given.
std::optional<LinkId> choose_eviction(std::vector<Evictable> links);

}  // namespace rhizome::p2p
