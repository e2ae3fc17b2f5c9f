// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/kinds.h"

/// What tests of documents share.
namespace rhizome::cluster::testing {

inline const Kinds& kinds() {
    static const Kinds kKinds;
    return kKinds;
}
/// A kind that is served as v1, which must be there.
inline const Kind& kind(std::string_view group, std::string_view plural) { return *kinds().find(group, "v1", plural); }

}  // namespace rhizome::cluster::testing
