// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/host.h"

namespace rhizome::node {

/// The node in figures, in Prometheus's text format.
std::string metrics_text(const NodeView& view, const store::Store& store, Time now);

}  // namespace rhizome::node
