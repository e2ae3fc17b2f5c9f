// SPDX-License-Identifier: Apache-2.0
// PUT: another version of an object that exists.
#include "api/admission.h"
#include "api/call.h"
#include "api/shown.h"
#include "api/tracking.h"

namespace rhizome::api {
namespace {

/// The answer to a change that changes nothing.
Reply as_it_stands(const Call& call, const Present& present, const std::vector<std::string>& warnings,
                   const HeardOf& heard_of) {
    Reply reply = object_reply(call, 200, present.object, heard_of);
    reply.warnings.insert(reply.warnings.end(), warnings.begin(), warnings.end());
    return reply;
}

}  // namespace

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
    // What changes nothing is no transaction. Webhooks are asked nevertheless: they may refuse it, or change something.
    const bool same = same_but_times(object, kept);
    if (same && !call.judged_later)
        return std::variant<Reply, Draft>{as_it_stands(call, present, draft.warnings, heard_of)};
    draft.object = std::move(object);
    return std::variant<Reply, Draft>{std::move(draft)};
}

std::optional<Reply> reply_if_same(const Call& call, const Present& present, const Draft& draft,
                                   const HeardOf& heard_of) {
    const bool changes = call.verb == Verb::Update || call.verb == Verb::Patch;
    if (!changes || !present.object || !draft.object || !draft.beside.empty() || draft.says_success)
        return std::nullopt;
    json::Value before = shown_value(*call.kind, present.object, heard_of);
    strip_shown(before);
    if (!same_but_times(*draft.object, before)) return std::nullopt;
    return as_it_stands(call, present, draft.warnings, heard_of);
}

Planned update_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    const json::Value before = shown_value(*call.kind, present.object, heard_of);
    TRY(const FieldManager manager, manager_of(call));
    TRY(json::Value object, read_object(call));
    TRY(check_name(call, object));
    TRY(auto warnings, admit_change(call, object, before, call.path.subresource == "status"));
    track_change(call, manager, present.object, before, object);
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
