// SPDX-License-Identifier: Apache-2.0
// PATCH: a change computed on whatever version there is.
#include "api/patch.h"

#include <fmt/core.h>

#include "api/admission.h"
#include "api/call.h"
#include "api/shown.h"
#include "api/tracking.h"

namespace rhizome::api {
namespace {

/// How Go calls what stands in a document.
std::string_view go_kind(const json::Value& value) {
    if (value.is_string()) return "string";
    if (value.is_array()) return "slice";
    if (value.is_object()) return "map";
    return value.if_boolean() ? "bool" : "int64";
}

/// Why a patched document can be none of this schema, in the words of Kubernetes; empty when its maps, lists and
/// objects are where they belong. Scalars are looked at by whoever decodes it.
std::string misfit(const json::Value& value, const cluster::Schema& schema) {
    if (value.is_null()) return {};
    if (schema.shape == cluster::Shape::Map) {
        const json::Object* object = value.if_object();
        if (object == nullptr) return fmt::format("cannot restore map from {}", go_kind(value));
        for (const auto& [key, inner] : *object)
            if (std::string why = misfit(inner, *schema.element); !why.empty()) return why;
    } else if (schema.shape == cluster::Shape::List) {
        const json::Array* array = value.if_array();
        if (array == nullptr) return fmt::format("cannot restore slice from {}", go_kind(value));
        for (const json::Value& inner : *array)
            if (std::string why = misfit(inner, *schema.element); !why.empty()) return why;
    } else if (schema.shape == cluster::Shape::Message) {
        const json::Object* object = value.if_object();
        if (object == nullptr) return fmt::format("cannot restore struct from: {}", go_kind(value));
        for (const auto& [key, inner] : *object)
            if (const cluster::Field* field = schema.find(key))
                if (std::string why = misfit(inner, *field->schema); !why.empty()) return why;
    }
    return {};
}

/// What a strategic merge patch leaves must be a document of the kind; the patch is blamed when it is none.
Result<json::Value, Status> strategically_patched(const Call& call, const json::Value& before,
                                                  const json::Value& patch) {
    TRY(json::Value object, apply_strategic_merge_patch(before, patch, *call.kind->schema));
    const std::string why = misfit(object, *call.kind->schema);
    if (why.empty()) return object;
    cluster::FieldErrors errors;
    errors.push_back(cluster::invalid(cluster::Where("patch"), json::print(patch), why));
    return Fail{invalid(*call.kind, call.path.name, errors)};
}

}  // namespace

Result<json::Value, Status> patched_value(const Call& call, const json::Value& before) {
    const auto type = patch_type(call.media);
    if (!type) return Fail{unsupported_media_type(patch_types_accepted(call.kind->custom))};
    auto patch = json::parse(call.body, {.bytes = 3u << 20, .depth = 64});
    if (!patch)
        return Fail{bad_request(fmt::format("the patch could not be read: {}", to_error(patch.error()).message))};
    switch (*type) {
        case PatchType::Json: return apply_json_patch(before, *patch);
        case PatchType::Merge: return apply_merge_patch(before, *patch);
        case PatchType::StrategicMerge:
            if (call.kind->custom || call.kind->schema == nullptr)
                return Fail{unsupported_media_type(patch_types_accepted(true))};
            return strategically_patched(call, before, *patch);
        case PatchType::Apply: break;
    }
    return Fail{bad_request("an apply is no patch of a document")};
}

Planned patch_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (patch_type(call.media) == PatchType::Apply) return apply_verb(call, present, heard_of);
    if (!patch_type(call.media)) return Fail{unsupported_media_type(patch_types_accepted(call.kind->custom))};
    TRY(const FieldManager manager, manager_of(call));
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    TRY(const json::Value before, standing_value(call, present, heard_of));
    TRY(json::Value object, patched_value(call, before));
    if (!object.is_object()) return Fail{bad_request("the patch leaves no object")};
    TRY(check_name(call, object));
    TRY(auto warnings, admit_change(call, object, before, call.path.subresource == "status"));
    track_change(call, manager, present.object, before, object);
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
