// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node/rpc/route.h"

/// Answers about a state, whoever holds it: a full node as far back as it goes, or a light one its sub-trees.
namespace rhizome::node::rpc {

/// `GET state`: the entry that `path` or `resource` names. `place` says which block's state it is.
http::Response answer_entry(const Call& call, const state::StateView& view, const json::Object& place);
/// `GET state/list`: a page of what stands below `prefix`.
http::Response answer_list(const Call& call, const state::StateView& view, json::Object place);

}  // namespace rhizome::node::rpc
