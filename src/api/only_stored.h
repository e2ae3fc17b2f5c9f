// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/kinds.h"
#include "state/view.h"

/// What is stored, checked, shown and watched, and not acted on yet: nothing is silently ignored.
namespace rhizome::api {

/// Whether documents of this kind wait for something that this version of Rhizome does not have. Not those that are
/// only data: nobody needs to act on them.
bool is_only_stored(const cluster::Kind& kind);

/// The warnings of a write. `before`: null for a new object; of a change only the fields that it changes count.
std::vector<std::string> only_stored_warnings(const cluster::Kind& kind, const json::Value& object,
                                              const json::Value* before);

struct KindInUse {
    std::string resource{};  ///< `deployments.apps`
    std::uint64_t count = 0;
};
/// The kinds of which there are documents that nothing acts on, with how many, by name. Costs some lookups for each
/// namespace, whatever is in it; those behind the first `kNamespacesCounted` are not looked at.
std::vector<KindInUse> only_stored_in(const state::StateView& view, const cluster::Kinds& kinds);
inline constexpr std::size_t kNamespacesCounted = 5'000;

}  // namespace rhizome::api
