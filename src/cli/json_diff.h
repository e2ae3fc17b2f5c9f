// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace rhizome::cli {

/// One field in which two documents differ: `spec.containers[0].image`, `metadata.labels["a.b/c"]`.
struct FieldChange {
    std::string field;
    std::optional<json::Value> before{};  ///< nothing: it was added
    std::optional<json::Value> after{};   ///< nothing: it was removed
};

/// The smallest fields that differ, in the order of the documents. Arrays are compared place by place.
std::vector<FieldChange> field_changes(const json::Value& before, const json::Value& after);

}  // namespace rhizome::cli
