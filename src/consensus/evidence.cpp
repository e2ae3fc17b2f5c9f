// SPDX-License-Identifier: Apache-2.0
#include "consensus/evidence.h"

#include "base/ensure.h"

namespace rhizome::consensus {

state::Path evidence_path(const MemberKey& accused) {
    auto path = state::Path::cluster_scoped("rhizome.dev", "Evidence", to_hex(accused));
    ensure(path.has_value(), "a key in hexadecimal is a name");
    return *std::move(path);
}

bool is_accused(const MemberKey& key, const state::StateView& view) { return view.get(evidence_path(key)) != nullptr; }

}  // namespace rhizome::consensus
