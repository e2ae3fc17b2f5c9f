// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/call.h"
#include "api/managed_fields.h"

namespace rhizome::api {

/// What an apply to `scale` wants.
struct WantedScale {
    json::Value scale{};
    json::Array entries{};  ///< of the managers of the object that is scaled
};
/// A Scale owns one field: the number that stands at `replicas` in the object (`spec`, `replicas`). Who owns it there
/// owns it in the Scale, and whoever applies a Scale owns it in the object, under `subresource: scale`. `before` is the
/// object, `known` its Scale.
Result<WantedScale, Status> apply_scale(const Call& call, FieldManager manager, const json::Value& before,
                                        const json::Value& known, const std::vector<std::string>& replicas);

}  // namespace rhizome::api
