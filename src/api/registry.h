// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/kinds.h"
#include "state/view.h"

/// The kinds that are served at one moment, Kubernetes' own and those that the chain's state defines, with the
/// documents that tell clients of them. Never changed: another state gives another registry, and whoever began with
/// this one
/// (`Call::registry`) keeps it.
namespace rhizome::api {

/// A document that is made once.
struct Fixed {
    std::string body{};
    std::string etag{};
};

struct Registry {
    cluster::Kinds kinds{};
    Fixed core_v2{};
    Fixed core_v2beta1{};
    Fixed groups_v2{};
    Fixed groups_v2beta1{};
    Fixed openapi_index{};

    /// A definition in the state, and what was made of it.
    struct Defined {
        state::EntryPtr entry{};
        std::string name{};
        std::string fault{};  ///< not served: why
        std::vector<std::shared_ptr<const cluster::Kind>> kinds{};
    };
    std::vector<Defined> definitions{};  ///< in the order of the state
};
using SharedRegistry = std::shared_ptr<const Registry>;

/// The registry of a state. What `before` (may be null) made of the same definitions is taken over, so that their kinds
/// keep their addresses and a state that defines nothing new gives `before` itself. `version` is Rhizome's: documents
/// may change with the program.
SharedRegistry make_registry(const state::StateView& chain, std::string_view version, const SharedRegistry& before);

}  // namespace rhizome::api
