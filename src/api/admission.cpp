// SPDX-License-Identifier: Apache-2.0
#include "api/admission.h"

#include <fmt/core.h>

#include "api/certificates.h"
#include "api/only_stored.h"
#include "api/shown.h"
#include "api/webhooks.h"
#include "cluster/custom_definition.h"
#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/garbage.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "cluster/validate.h"

namespace rhizome::api {
namespace {

Result<void, Status> check_place(const Call& call, json::Value& object) {
    const Kind& kind = *call.kind;
    json::Value& metadata = object["metadata"];
    if (metadata.is_null()) metadata = json::Object{};
    if (!metadata.is_object()) return Fail{bad_request("metadata is no object")};
    if (!kind.namespaced) {
        metadata.make_object().erase("namespace");
        return {};
    }
    const std::string given{cluster::namespace_of(object)};
    if (given.empty()) {
        metadata["namespace"] = call.path.name_space;
    } else if (given != call.path.name_space) {
        return Fail{
            bad_request(fmt::format("the namespace of the provided object does not match the namespace sent on "
                                    "the request: {} is not {}",
                                    given, call.path.name_space))};
    }
    return {};
}

/// Why what is shown as `before` is no document of its kind; empty when it is one.
std::string misfit(const Kind& kind, const json::Value& before) {
    json::Value stored = before;
    strip_shown(stored);
    const auto decoded = cluster::decode(std::move(stored), kind, cluster::FieldValidation::Ignore);
    return decoded ? std::string{} : decoded.error().message;
}

Status malformed(const Call& call, std::string_view why) {
    Status refused = invalid(*call.kind, call.path.name, {});
    refused.message = fmt::format("{} {} is invalid: the stored document is malformed, replace or delete it: {}",
                                  call.kind->kind, json::quote(call.path.name), why);
    return refused;
}

/// The readable part of what is shown, where it is malformed and to be replaced; nothing where it is a good document.
Result<std::optional<json::Value>, Status> replaced_part(const Call& call, const json::Value& shown, bool status) {
    const std::string why = misfit(*call.kind, shown);
    if (why.empty()) return std::optional<json::Value>{};
    if (status) return Fail{malformed(call, why)};
    return std::optional{cluster::readable_part(shown, *call.kind)};
}

cluster::FieldErrors judged(const json::Value& object, const json::Value& before, bool was_malformed,
                            const Kind& kind) {
    if (!was_malformed) return cluster::validate_update(object, before, kind);
    // No rule let the old one in, so none says what of it has to stay.
    cluster::FieldErrors errors = cluster::validate_create(object, kind);
    errors.append(cluster::check_metadata_update(object, before));
    return errors;
}

}  // namespace

Result<json::Value, Status> standing_value(const Call& call, const Present& present, const HeardOf& heard_of) {
    json::Value shown = shown_value(*call.kind, present.object, heard_of);
    if (const std::string why = misfit(*call.kind, shown); !why.empty()) return Fail{malformed(call, why)};
    return shown;
}

json::Value readable_value(const Call& call, const Present& present, const HeardOf& heard_of) {
    json::Value shown = shown_value(*call.kind, present.object, heard_of);
    return misfit(*call.kind, shown).empty() ? shown : cluster::readable_part(std::move(shown), *call.kind);
}

Result<std::vector<std::string>, Status> admit_new(const Call& call, json::Value& object, const std::string& name) {
    const Kind& kind = *call.kind;
    std::vector<std::string> warnings = standing_warnings(kind);
    TRY(decode_object(call, object, warnings));
    for (std::string& warning : only_stored_warnings(kind, object, nullptr)) warnings.push_back(std::move(warning));
    for (std::string& one : webhook_warnings(kind, object)) warnings.push_back(std::move(one));
    TRY(check_place(call, object));
    if (!cluster::resource_version_of(object).empty())
        return Fail{bad_request("resourceVersion should not be set on objects to be created")};
    object["metadata"]["name"] = name;
    cluster::prepare_for_create(object, kind);
    if (is_signing_request(kind)) note_requester(object, call.user);
    cluster::apply_defaults(object, kind);
    strip_shown(object);
    object["metadata"]["uid"] = cluster::uid_from(call.entropy);
    cluster::fill_identity(object, kind);
    if (!call.judged_later) {
        const auto errors = cluster::validate_create(object, kind);
        if (!errors.empty()) return Fail{invalid(kind, name, errors)};
    }
    if (cluster::is_definition(kind))
        for (std::string& warning : cluster::definition_warnings(object)) warnings.push_back(std::move(warning));
    return warnings;
}

Result<std::vector<std::string>, Status> admit_change(const Call& call, json::Value& object, const json::Value& shown,
                                                      bool status) {
    const Kind& kind = *call.kind;
    TRY(const std::optional<json::Value> readable, replaced_part(call, shown, status));
    const json::Value& before = readable ? *readable : shown;
    std::vector<std::string> warnings = standing_warnings(kind);
    TRY(decode_object(call, object, warnings));
    for (std::string& warning : only_stored_warnings(kind, object, &before)) warnings.push_back(std::move(warning));
    for (std::string& one : webhook_warnings(kind, object)) warnings.push_back(std::move(one));
    TRY(check_place(call, object));
    const std::string name{cluster::name_of(before)};
    if (object.find_path({"metadata", "name"}) == nullptr) object["metadata"]["name"] = name;
    const std::string_view version = cluster::resource_version_of(object);
    // "0" is any version, as in a list.
    if (!version.empty() && version != "0" && version != cluster::resource_version_of(before))
        return Fail{conflict(kind, name)};
    if (const auto uid = cluster::uid_of(object); !uid.empty() && uid != cluster::uid_of(before))
        return Fail{conflict(kind, name,
                             fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                                         cluster::uid_of(before)))};
    // Filled in first, so that a spec that says the same is seen to be the same; a status is what it is put into.
    if (!status) cluster::apply_defaults(object, kind);
    cluster::prepare_for_update(object, before, kind, status);
    // What was asked for stays what it was, whoever approves it.
    if (is_signing_request(kind) && before.find("spec") != nullptr) object["spec"] = *before.find("spec");
    if (status) cluster::apply_defaults(object, kind);
    object["metadata"]["uid"] = cluster::uid_of(before);
    if (!call.judged_later) {
        const auto errors = judged(object, before, readable.has_value(), kind);
        if (!errors.empty()) return Fail{invalid(kind, name, errors)};
    }
    if (cluster::is_definition(kind))
        for (std::string& warning : cluster::definition_warnings(object)) warnings.push_back(std::move(warning));
    return warnings;
}

Status invalid_options(const Call& call, const cluster::FieldErrors& errors) {
    Kind options{.group = "meta.k8s.io"};
    switch (call.verb) {
        case Verb::Create: options.kind = "CreateOptions"; break;
        case Verb::Update: options.kind = "UpdateOptions"; break;
        case Verb::Patch: options.kind = "PatchOptions"; break;
        default: options.kind = "DeleteOptions";
    }
    return invalid(options, "", errors);
}

Status names_another(const Call& call, std::string_view name) {
    return bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, call.path.name));
}

Result<void, Status> check_name(const Call& call, const json::Value& object) {
    const std::string_view name = cluster::name_of(object);
    if (name == call.path.name) return {};
    if (name.empty())
        return Fail{bad_request(fmt::format(
            "the name of the object ({} based on URL) was undeterminable: name must be provided", call.path.name))};
    return Fail{names_another(call, name)};
}

Result<void, Status> readmit(const Call& call, json::Value& object, const json::Value* shown, bool status) {
    const Kind& kind = *call.kind;
    std::optional<json::Value> readable;
    if (shown != nullptr) {
        TRY(readable, replaced_part(call, *shown, status));
    }
    const json::Value* before = readable ? &*readable : shown;
    TRY(check_place(call, object));
    object["metadata"]["name"] = call.path.name;
    if (before == nullptr) {
        cluster::prepare_for_create(object, kind);
        object["metadata"]["uid"] = cluster::uid_from(call.entropy);
    } else {
        if (!status) cluster::apply_defaults(object, kind);
        // Whose the fields are was found out when the change was planned.
        const json::Value* entries = object.find_path({"metadata", "managedFields"});
        const json::Value owners = entries == nullptr ? json::Value{} : *entries;
        cluster::prepare_for_update(object, *before, kind, status);
        if (!owners.is_null()) object["metadata"]["managedFields"] = owners;
        object["metadata"]["uid"] = cluster::uid_of(*before);
    }
    if (is_signing_request(kind)) {
        if (before == nullptr)
            note_requester(object, call.user);
        else if (before->find("spec") != nullptr)
            object["spec"] = *before->find("spec");
    }
    cluster::apply_defaults(object, kind);
    const auto errors = before == nullptr ? cluster::validate_create(object, kind)
                                          : judged(object, *before, readable.has_value(), kind);
    if (!errors.empty()) return Fail{invalid(kind, call.path.name, errors)};
    strip_shown(object);
    return {};
}

bool is_ready_to_go(const Call& call, const Present& present, const json::Value& object) {
    if (!cluster::is_terminating(object)) return false;
    if (call.kind->group.empty() && call.kind->kind == "Namespace")
        return cluster::namespace_may_go(object) && !(present.contents_wait && present.contents_wait());
    const json::Value* finalizers = object.find_path({"metadata", "finalizers"});
    return finalizers == nullptr || !finalizers->is_array() || finalizers->if_array()->empty();
}

void begin_to_end(json::Value& object, Time now, std::int64_t grace_seconds) {
    json::Value& metadata = cluster::object_in(object, "metadata");
    metadata["deletionTimestamp"] = to_rfc3339(now);
    metadata["deletionGracePeriodSeconds"] = grace_seconds;
}

}  // namespace rhizome::api
