// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "state/path.h"
#include "state/view.h"

/// Finding resources in a state by what people type: a path, or KIND/NAME as kubectl users say it.
namespace rhizome::node {

/// A path such as /namespaces/web/core/Pod/db. Usage with an example for anything else; `what` names the word.
Result<state::Path> parse_path(std::string_view text, std::string_view what);

/// Everything below a row of whole components: `/` (all documents), `/namespaces/web`, `/namespaces/web/core/Pod`,
/// `/chain` (the chain's own records).
Result<state::Prefix> parse_prefix(std::string_view text, std::string_view what);

/// The entry that a word means: by its path, or KIND/NAME (`pod/db`, `deployment.apps/web`) in a namespace or among
/// what has none. NotFound, or Usage with the paths when it may be several things.
Result<const state::Entry*> find_resource(const state::StateView& view, std::string_view text,
                                          std::string_view name_space, std::string_view what);

}  // namespace rhizome::node
