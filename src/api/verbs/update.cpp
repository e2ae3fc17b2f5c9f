// SPDX-License-Identifier: Apache-2.0
// PUT: another version of an object that exists.
#include "api/admission.h"
#include "api/call.h"
#include "api/shown.h"
#include "api/tracking.h"

namespace rhizome::api {

Planned change_to(const Call& call, const Present& present, const json::Value& before, json::Value object,
                  std::vector<std::string> warnings, const HeardOf& heard_of) {
    Draft draft{.warnings = std::move(warnings)};
    if (is_ready_to_go(call, present, object)) {
        draft.last = std::move(object);
        return std::variant<Reply, Draft>{std::move(draft)};
    }
    json::Value kept = before;
    strip_shown(kept);
    strip_shown(object);
    // What changes nothing is no transaction.
    if (same_but_times(object, kept)) {
        Reply same = object_reply(call, 200, present.object, heard_of);
        return std::variant<Reply, Draft>{std::move(same)};
    }
    draft.object = std::move(object);
    return std::variant<Reply, Draft>{std::move(draft)};
}

Planned update_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    const json::Value before = shown_value(*call.kind, present.object, heard_of);
    TRY(const FieldManager manager, manager_of(call));
    TRY(json::Value object, read_object(call));
    TRY(auto warnings, admit_change(call, object, before, call.path.subresource == "status"));
    track_change(call, manager, present.object, before, object);
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
