// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "state/detail/reclaimer.h"
#include "state/view.h"

namespace rhizome::state {

/// How state's own files look into a view. Private to state.
struct TreeAccess {
    static detail::Version* version(const StateView& view) { return view.version_; }
    static detail::NodeRef root(const StateView& view) {
        return view.version_ == nullptr ? detail::NodeRef{} : view.version_->root;
    }
    static StateView adopt(detail::Version* version) { return StateView{version}; }
    /// All below one node.
    static Cursor walk(detail::NodeRef node) { return {node, Prefix::everything(), {}}; }
};

}  // namespace rhizome::state
