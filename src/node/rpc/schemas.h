// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rhizome::node::rpc {

/// The file `schemas.json` beside this one: what bodies and answers look like, as JSON Schema.
extern const std::string_view kSchemas;

}  // namespace rhizome::node::rpc
