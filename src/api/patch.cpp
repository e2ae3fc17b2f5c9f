// SPDX-License-Identifier: Apache-2.0
#include "api/patch.h"

#include <set>

namespace rhizome::api {

std::optional<PatchType> patch_type(std::string_view content_type) {
    content_type = content_type.substr(0, content_type.find(';'));
    while (content_type.ends_with(' ')) content_type.remove_suffix(1);
    if (content_type == "application/json-patch+json") return PatchType::Json;
    if (content_type == "application/merge-patch+json") return PatchType::Merge;
    if (content_type == "application/strategic-merge-patch+json") return PatchType::StrategicMerge;
    if (content_type == "application/apply-patch+yaml") return PatchType::Apply;
    return std::nullopt;
}

std::string_view patch_types_accepted(bool custom) {
    return custom ? "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
                  : "application/json-patch+json, application/merge-patch+json, "
                    "application/strategic-merge-patch+json, application/apply-patch+yaml";
}

json::Value apply_merge_patch(json::Value document, const json::Value& patch) {
    const json::Object* changes = patch.if_object();
    if (changes == nullptr) return patch;
    if (document.if_object() == nullptr) document = json::Object{};
    json::Object& object = *document.if_object();
    std::set<std::string_view> gone;
    for (const auto& [key, value] : *changes) {
        if (value.is_null()) {
            gone.insert(key);
        } else if (json::Value* old = object.find(key)) {
            *old = apply_merge_patch(std::move(*old), value);
        } else {
            object.set(key, apply_merge_patch({}, value));  // strips what is null inside
        }
    }
    if (!gone.empty()) object.erase_if([&](const auto& member) { return gone.contains(member.key); });
    return document;
}

}  // namespace rhizome::api
