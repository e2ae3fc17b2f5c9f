// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/vote.h"
#include "state/view.h"

namespace rhizome::consensus {

/// Where the proof that a member contradicted itself stands, once somebody submitted it: one is enough for ever.
state::Path evidence_path(const MemberKey& accused);
/// A member under evidence neither seals nor votes. Its Node keeps its pods; a new key begins anew.
[[nodiscard]] bool is_accused(const MemberKey& key, const state::StateView& view);

}  // namespace rhizome::consensus
