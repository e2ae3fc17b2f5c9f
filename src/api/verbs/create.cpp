// SPDX-License-Identifier: Apache-2.0
// POST: a new object.
#include <algorithm>

#include <fmt/core.h>

#include "api/admission.h"
#include "api/call.h"
#include "api/tracking.h"
#include "cluster/object.h"

namespace rhizome::api {

Planned create_verb(const Call& call, const Present& present, const std::string& name) {
    TRY(json::Value object, read_object(call));
    return draft_creation(call, present, std::move(object), name, std::nullopt, {});
}

Planned draft_creation(const Call& call, const Present& present, json::Value object, const std::string& name,
                       std::optional<json::Array> entries, std::vector<std::string> warnings) {
    TRY(const FieldManager manager, manager_of(call));
    TRY(const auto more, admit_new(call, object, name));
    for (const std::string& warning : more)
        if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(warning);
    if (entries)
        set_entries(object, *std::move(entries));
    else
        track_creation(call, manager, object);
    if (!present.namespace_is_there) {
        Status missing =
            from_error({ErrorKind::NotFound, "namespaces " + json::quote(call.path.name_space) + " not found"});
        missing.name = call.path.name_space;
        missing.kind = "namespaces";
        return Fail{std::move(missing)};
    }
    if (present.namespace_ends) {
        Status ends = forbidden(*call.kind, name,
                                fmt::format("unable to create new content in namespace {} because it is being "
                                            "terminated",
                                            call.path.name_space));
        ends.causes.push_back({.reason = "NamespaceTerminating",
                               .message = fmt::format("namespace {} is being terminated", call.path.name_space),
                               .field = "metadata.namespace"});
        return Fail{std::move(ends)};
    }
    if (present.object) return Fail{already_exists(*call.kind, name)};
    Draft draft{.object = std::move(object), .code = 201, .warnings = std::move(warnings)};
    draft.lock = cluster::annotation(*draft.object, kLockAnnotation).value_or("");
    return std::variant<Reply, Draft>{std::move(draft)};
}

}  // namespace rhizome::api
