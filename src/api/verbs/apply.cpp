// SPDX-License-Identifier: Apache-2.0
// PATCH with `application/apply-patch+yaml`: what somebody cares about, made so. Creates what is not there.
#include "api/apply.h"

#include <fmt/core.h>

#include "api/admission.h"
#include "api/call.h"
#include "api/detail/manager_entries.h"
#include "api/last_applied.h"
#include "api/shown.h"
#include "api/tracking.h"
#include "cluster/decode.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

/// Owner of what stood in an object before anybody kept entries for it.
constexpr std::string_view kBeforeFirstApply = "before-first-apply";
constexpr std::string_view kStatus = "status";

/// Takes out what this request may not write: `status` when it is for the object, all else when it is for `status`.
void keep_writable(const Call& call, json::Value& object) {
    json::Object& members = *object.if_object();
    if (call.path.subresource != kStatus) {
        if (keeps_status_apart(*call.kind)) members.erase(kStatus);
        return;
    }
    members.erase_if([](const auto& member) {
        return member.key != "apiVersion" && member.key != "kind" && member.key != "metadata" && member.key != kStatus;
    });
    if (json::Value* metadata = members.find("metadata"); metadata != nullptr && metadata->is_object())
        metadata->if_object()->erase_if([](const auto& member) {
            return member.key != "name" && member.key != "namespace" && member.key != "uid" &&
                   member.key != "resourceVersion";
        });
}

/// `apps/v1, Kind=Deployment`
std::string kind_text(std::string_view api_version, std::string_view kind) {
    const bool core = api_version.find('/') == std::string_view::npos;
    return fmt::format("{}{}, Kind={}", core ? "/" : "", api_version, kind);
}

struct Wanted {
    Configuration configuration{};
    std::vector<std::string> warnings{};
};

Result<Wanted, Status> read_wanted(const Call& call) {
    Wanted wanted;
    TRY(json::Value written, read_applied(call, call.kind->api_version(), call.kind->kind));
    strip_shown_notes(written);
    auto fields = named_fields(written, call.kind->schema, call.kind->custom);
    if (!fields)
        return Fail{bad_request(fmt::format(
            "failed to create typed patch object ({}/{}; {}): {}", cluster::namespace_of(written),
            cluster::name_of(written), kind_text(call.kind->api_version(), call.kind->kind), fields.error().message))};
    wanted.configuration.fields = *std::move(fields);
    for (FieldSet* set : {&wanted.configuration.fields.named, &wanted.configuration.fields.unset}) {
        if (call.path.subresource == kStatus)
            std::erase_if(set->children, [](const auto& child) { return child.first != "f:status"; });
        else if (keeps_status_apart(*call.kind))
            set->children.erase("f:status");
    }
    wanted.configuration.object = std::move(written);
    TRY(decode_object(call, wanted.configuration.object, wanted.warnings));
    keep_writable(call, wanted.configuration.object);
    return wanted;
}

/// The entries of an object for which none were kept: all that stands there is somebody's.
json::Array first_entries(const Call& call, const json::Value& before, FieldManager manager) {
    manager.name = kBeforeFirstApply;
    json::Value visible = before;
    strip_shown_notes(visible);
    keep_writable(call, visible);
    return track_update(nullptr, visible, call.kind->schema, {}, manager);
}

/// As asked for; kubectl may also take what it applied as a client before.
Result<Applied, FieldConflicts> applied_to(const Call& call, const json::Value& before, const Wanted& wanted,
                                           const json::Array& entries, const FieldManager& manager) {
    const auto apply = [&](bool force, const FieldSet& free) {
        return apply_configuration(before, wanted.configuration, call.kind->schema, entries, manager, force, free);
    };
    auto applied = apply(call.query.flag("force"), {});
    if (applied || manager.name != kKubectlManager) return applied;
    return apply(false, last_applied_fields(before, *call.kind));
}

Planned create_by_apply(const Call& call, const Present& present, Wanted wanted, const FieldManager& manager) {
    const json::Value& object = wanted.configuration.object;
    if (!call.path.subresource.empty()) return Fail{not_found(*call.kind, call.path.name)};
    if (const auto uid = cluster::uid_of(object); !uid.empty())
        return Fail{conflict(
            *call.kind, call.path.name,
            fmt::format("uid mismatch: the provided object specified uid {}, and no existing object was found", uid))};
    if (!cluster::resource_version_of(object).empty()) return Fail{conflict(*call.kind, call.path.name)};
    if (cluster::name_of(object).empty())
        return Fail{bad_request(fmt::format(
            "the name of the object ({} based on URL) was undeterminable: name must be provided", call.path.name))};
    TRY(const std::string name, name_of_creation(call, object));
    // Nobody else has anything: there are no conflicts.
    auto applied =
        apply_configuration(json::Value{json::Object{}}, wanted.configuration, call.kind->schema, {}, manager, true);
    return draft_creation(call, present, std::move(applied->object), name, std::move(applied->entries),
                          std::move(wanted.warnings));
}

}  // namespace

Result<json::Value, Status> read_applied(const Call& call, std::string_view api_version, std::string_view kind) {
    const bool is_json = call.body.find_first_not_of(" \t\r\n") == call.body.find('{');
    auto parsed = is_json ? cluster::parse_json(call.body) : cluster::parse_yaml(call.body);
    // What begins like JSON may still be YAML in its flow style.
    if (!parsed && is_json) parsed = cluster::parse_yaml(call.body);
    if (!parsed) return Fail{bad_request("error decoding YAML: " + parsed.error().message)};
    if (!parsed->is_object()) return Fail{bad_request("error decoding YAML: what is applied is no object")};
    if (parsed->text_at({"apiVersion"}) != api_version || parsed->text_at({"kind"}) != kind)
        return Fail{bad_request(fmt::format("invalid object type: {}",
                                            kind_text(parsed->text_at({"apiVersion"}), parsed->text_at({"kind"}))))};
    if (const json::Value* entries = parsed->find_path({"metadata", "managedFields"});
        entries != nullptr && !entries->is_null())
        return Fail{bad_request("metadata.managedFields must be nil")};
    return *std::move(parsed);
}

Planned apply_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    TRY(const FieldManager manager, manager_of(call));
    TRY(Wanted wanted, read_wanted(call));
    if (!present.object) return create_by_apply(call, present, std::move(wanted), manager);
    TRY(const json::Value before, standing_value(call, present, heard_of));
    if (const auto name = cluster::name_of(wanted.configuration.object);
        !name.empty() && name != cluster::name_of(before))
        return Fail{names_another(call, name)};
    const json::Array& known = detail::entries_of(before);
    const json::Array first = known.empty() ? first_entries(call, before, manager) : json::Array{};
    auto applied = applied_to(call, before, wanted, known.empty() ? first : known, manager);
    if (!applied) return Fail{apply_conflict(applied.error())};
    json::Value object = std::move(applied->object);
    if (manager.name == kKubectlManager && manager.subresource.empty() &&
        cluster::annotation(object, kLastAppliedAnnotation)) {
        TRY(json::Value written, read_applied(call, call.kind->api_version(), call.kind->kind));
        follow_last_applied(object, std::move(written));
    }
    TRY(auto warnings, admit_change(call, object, before, call.path.subresource == kStatus));
    warnings.insert(warnings.end(), wanted.warnings.begin(), wanted.warnings.end());
    set_entries(object, std::move(applied->entries));
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
