// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace rhizome::ledger {

/// Names a vote record that began empty: drawn at random when a node notices that it does not know what it signed, and
/// on its disk before anybody hears of it. A copy that is made of the directory later notices that too, and draws
/// another one. So a recovery that names it speaks of this directory, from that moment on, and of no other.
/// All zero: there is none, the record is the old one.
using VoteRecordId = std::array<std::uint8_t, 16>;

}  // namespace rhizome::ledger
