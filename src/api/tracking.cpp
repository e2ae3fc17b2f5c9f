// SPDX-License-Identifier: Apache-2.0
#include "api/tracking.h"

#include "api/admission.h"
#include "api/patch.h"
#include "api/shown.h"

namespace rhizome::api {

Result<FieldManager, Status> manager_of(const Call& call) {
    const bool patches = call.verb == Verb::Patch;
    const bool applies = patches && patch_type(call.media) == PatchType::Apply;
    const std::string_view name = call.query.text("fieldManager");
    cluster::FieldErrors errors;
    if (applies && name.empty())
        errors.push_back(cluster::required(cluster::Where("fieldManager"), "is required for apply patch"));
    if (patches && !applies && call.query.has("force"))
        errors.push_back(cluster::forbidden(cluster::Where("force"), "may not be specified for non-apply patch"));
    errors.append(check_manager(name));
    if (!errors.empty()) return Fail{invalid_options(call, errors)};
    return FieldManager{.name = name.empty() ? manager_from_user_agent(call.agent) : std::string(name),
                        .api_version = call.kind->api_version(),
                        .subresource = call.path.subresource,
                        .time = call.now};
}

bool keeps_status_apart(const Kind& kind) { return kind.find_subresource("status") != nullptr; }

void track_creation(const Call& call, const FieldManager& manager, json::Value& object) {
    // A status that a new object begins with is the server's.
    std::optional<json::Value> status;
    if (json::Value* first = object.find("status"); first != nullptr && keeps_status_apart(*call.kind)) {
        status = std::move(*first);
        object.make_object().erase("status");
    }
    track_write(nullptr, object, call.kind->schema, manager);
    if (status) object["status"] = *std::move(status);
}

void track_change(const Call& call, const FieldManager& manager, const json::Value& before, json::Value& object) {
    json::Value known = before;
    strip_shown_notes(known);
    strip_shown_notes(object);
    track_write(&known, object, call.kind->schema, manager);
}

void track_change(const Call& call, const FieldManager& manager, const Standing& standing, const json::Value& before,
                  json::Value& object) {
    // What is only shown is nobody's: that it is not written back is no change.
    json::Value known = before;
    strip_shown_notes(known);
    strip_shown_notes(object);  // a write of the status takes the rest from what was shown
    // The Node of a machine and what a cluster begins with were made by no request, so nobody is named as their maker.
    // Their first change says who that was. Whatever was changed since has no entries because somebody wanted none.
    const state::Origin& origin = standing.document->origin();
    if (origin.born == origin.latest && known.find_path({"metadata", "managedFields"}) == nullptr &&
        !same_but_times(known, object)) {
        const FieldManager maker{
            .name = "rhizome", .api_version = manager.api_version, .subresource = {}, .time = origin.born.time};
        track_creation(call, maker, known);
    }
    track_write(&known, object, call.kind->schema, manager);
}

void set_entries(json::Value& object, json::Array entries) {
    json::Object& metadata = object["metadata"].make_object();
    if (entries.empty())
        metadata.erase("managedFields");
    else
        metadata.set("managedFields", std::move(entries));
}

}  // namespace rhizome::api
