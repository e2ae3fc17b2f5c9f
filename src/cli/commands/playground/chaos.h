// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

/// What goes wrong, and when: drawn from a seed, so that the same seed gives the same disasters again. What they lead
/// to depends on the machine; the order of the disasters does not.
namespace rhizome::cli::playground::testing {

struct Disaster {
    enum class Kind : std::uint8_t { Cut, Heal, Kill, Start, Pause, Wake };
    milliseconds at{0};  ///< from the beginning
    Kind kind = Kind::Heal;
    unsigned node = 0;  ///< of Kill, Start, Pause, Wake
    std::string cut{};  ///< of Cut: `1,2` or `1>3`
    [[nodiscard]] std::string text() const;
};

/// Cuts of both kinds, heals, kills and pauses over `lasts`; at most two of five are dead and one is paused at a time.
std::vector<Disaster> draw_disasters(std::uint64_t seed, unsigned nodes, milliseconds lasts);

}  // namespace rhizome::cli::playground::testing
