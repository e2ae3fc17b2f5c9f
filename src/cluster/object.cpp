// SPDX-License-Identifier: Apache-2.0
#include "cluster/object.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "cluster/names.h"

namespace rhizome::cluster {
namespace {

std::optional<std::string_view> entry(const json::Value* map, std::string_view key) {
    const json::Value* value = map == nullptr ? nullptr : map->find(key);
    const std::string* text = value == nullptr ? nullptr : value->if_string();
    return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
}

const json::Array* list_at(const json::Value& object, std::initializer_list<std::string_view> keys) {
    const json::Value* value = object.find_path(keys);
    return value == nullptr ? nullptr : value->if_array();
}

/// Which rule the names of a kind follow.
Complaints check_name(const Kind& kind, std::string_view name) {
    if (kind.group.empty() && kind.kind == "Namespace") return check_dns_label(name);
    if (kind.group.empty() && kind.kind == "Service") return check_dns_1035_label(name);
    if (kind.group == "rbac.authorization.k8s.io") return check_path_segment(name);
    return check_dns_subdomain(name);
}

constexpr std::array<std::string_view, 3> kPlainFinalizers{"foregroundDeletion", "kubernetes", "orphan"};

void check_owners(const json::Array& owners, const Where& where, FieldErrors& errors) {
    int controllers = 0;
    std::string_view first;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const Where at = where / i;
        for (const std::string_view field : {"apiVersion", "kind", "name", "uid"})
            if (owners[i].text_at({field}).empty()) {
                const char* detail = field == "apiVersion" ? "version must not be empty" : "must not be empty";
                errors.push_back(invalid(at / field, "", detail));
            }
        const json::Value* controls = owners[i].find("controller");
        if (controls == nullptr || controls->if_boolean() != true) continue;
        if (++controllers == 1)
            first = owners[i].text_at({"name"});
        else
            errors.push_back(invalid(where, owners[i],
                                     fmt::format("Only one reference can have Controller set to true. Found \"true\" "
                                                 "in references for {} and {}",
                                                 first, owners[i].text_at({"name"}))));
    }
}

void check_finalizers(const json::Array& finalizers, const Where& where, FieldErrors& errors) {
    for (std::size_t i = 0; i < finalizers.size(); ++i) {
        const std::string* text = finalizers[i].if_string();
        if (text == nullptr) continue;  // decoding says so
        for (const std::string& complaint : check_qualified_name(*text))
            errors.push_back(invalid(where / i, *text, complaint));
        if (text->find('/') == std::string::npos &&
            std::find(kPlainFinalizers.begin(), kPlainFinalizers.end(), *text) == kPlainFinalizers.end())
            errors.push_back(invalid(where / i, *text,
                                     "name is neither a standard finalizer name nor is it fully "
                                     "qualified"));
    }
}

}  // namespace

std::string_view name_of(const json::Value& object) { return object.text_at({"metadata", "name"}); }
std::string_view namespace_of(const json::Value& object) { return object.text_at({"metadata", "namespace"}); }
std::string_view uid_of(const json::Value& object) { return object.text_at({"metadata", "uid"}); }
std::string_view resource_version_of(const json::Value& object) {
    return object.text_at({"metadata", "resourceVersion"});
}

std::optional<std::string_view> label(const json::Value& object, std::string_view key) {
    return entry(object.find_path({"metadata", "labels"}), key);
}
std::optional<std::string_view> annotation(const json::Value& object, std::string_view key) {
    return entry(object.find_path({"metadata", "annotations"}), key);
}
std::optional<Time> creation_time(const json::Value& object) {
    return from_rfc3339(object.text_at({"metadata", "creationTimestamp"}));
}
bool is_terminating(const json::Value& object) { return !object.text_at({"metadata", "deletionTimestamp"}).empty(); }

const json::Value* controller_of(const json::Value& object) {
    if (const json::Array* owners = list_at(object, {"metadata", "ownerReferences"}))
        for (const json::Value& owner : *owners) {
            const json::Value* controls = owner.find("controller");
            if (controls != nullptr && controls->if_boolean() == true) return &owner;
        }
    return nullptr;
}

bool has_finalizer(const json::Value& object, std::string_view finalizer) {
    const json::Array* all = list_at(object, {"metadata", "finalizers"});
    return all != nullptr && std::any_of(all->begin(), all->end(), [&](const json::Value& each) {
               return each.if_string() != nullptr && *each.if_string() == finalizer;
           });
}

std::string_view condition(const json::Value& object, std::string_view type) {
    if (const json::Array* all = list_at(object, {"status", "conditions"}))
        for (const json::Value& each : *all)
            if (each.text_at({"type"}) == type) return each.text_at({"status"});
    return {};
}

json::Value& object_in(json::Value& parent, std::string_view key) {
    json::Value& member = parent[key];
    if (!member.is_object()) member = json::Object{};
    return member;
}

json::Array& array_in(json::Value& parent, std::string_view key) {
    json::Value& member = parent[key];
    if (!member.is_array()) member = json::Array{};
    return *member.if_array();
}

FieldErrors check_labels(const json::Value& labels, const Where& where) {
    FieldErrors errors;
    const json::Object* object = labels.if_object();
    if (object == nullptr) return errors;
    for (const auto& [key, value] : *object) {
        for (const std::string& complaint : check_qualified_name(key)) errors.push_back(invalid(where, key, complaint));
        if (const std::string* text = value.if_string())
            for (const std::string& complaint : check_label_value(*text))
                errors.push_back(invalid(where, *text, complaint));
    }
    return errors;
}

FieldErrors check_annotations(const json::Value& annotations, const Where& where) {
    FieldErrors errors;
    const json::Object* object = annotations.if_object();
    if (object == nullptr) return errors;
    std::size_t bytes = 0;
    for (const auto& [key, value] : *object) {
        // Annotations may be written in capitals where labels may not.
        std::string lower = key;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
        for (const std::string& complaint : check_qualified_name(lower))
            errors.push_back(invalid(where, key, complaint));
        bytes += key.size() + (value.if_string() == nullptr ? 0 : value.if_string()->size());
    }
    if (bytes > kAnnotationBytesMax) errors.push_back(too_long(where, kAnnotationBytesMax));
    return errors;
}

FieldErrors check_metadata(const json::Value& object, const Kind& kind) {
    FieldErrors errors;
    const Where where("metadata");
    const std::string_view name = name_of(object);
    const std::string_view prefix = object.text_at({"metadata", "generateName"});
    if (!prefix.empty()) {
        // The suffix that follows may end what a dash leaves open.
        std::string stem(prefix);
        if (stem.size() > 1 && stem.back() == '-') stem.back() = 'a';
        for (const std::string& complaint : check_name(kind, stem))
            errors.push_back(invalid(where / "generateName", prefix, complaint));
    }
    if (name.empty()) {
        errors.push_back(required(where / "name", "name or generateName is required"));
    } else {
        for (const std::string& complaint : check_name(kind, name))
            errors.push_back(invalid(where / "name", name, complaint));
    }
    const std::string_view name_space = namespace_of(object);
    if (!kind.namespaced && !name_space.empty()) {
        errors.push_back(forbidden(where / "namespace", "not allowed on this type"));
    } else if (kind.namespaced) {
        if (name_space.empty())
            errors.push_back(required(where / "namespace"));
        else
            for (const std::string& complaint : check_dns_label(name_space))
                errors.push_back(invalid(where / "namespace", name_space, complaint));
    }
    if (const json::Value* labels = object.find_path({"metadata", "labels"}))
        errors.append(check_labels(*labels, where / "labels"));
    if (const json::Value* notes = object.find_path({"metadata", "annotations"}))
        errors.append(check_annotations(*notes, where / "annotations"));
    if (const json::Array* owners = list_at(object, {"metadata", "ownerReferences"}))
        check_owners(*owners, where / "ownerReferences", errors);
    if (const json::Array* finalizers = list_at(object, {"metadata", "finalizers"}))
        check_finalizers(*finalizers, where / "finalizers", errors);
    return errors;
}

FieldErrors check_metadata_update(const json::Value& after, const json::Value& before) {
    FieldErrors errors;
    const Where where("metadata");
    for (const std::string_view field : {"name", "namespace", "uid", "creationTimestamp"}) {
        const std::string_view now = after.text_at({"metadata", field});
        // What a client leaves out is filled in from the stored object before this check.
        if (now != before.text_at({"metadata", field}))
            errors.push_back(invalid(where / field, now, "field is immutable"));
    }
    if (is_terminating(before)) {
        std::set<std::string_view> known;
        if (const json::Array* finalizers = list_at(before, {"metadata", "finalizers"}))
            for (const json::Value& each : *finalizers)
                if (each.if_string() != nullptr) known.insert(*each.if_string());
        std::vector<std::string_view> added;
        if (const json::Array* finalizers = list_at(after, {"metadata", "finalizers"}))
            for (const json::Value& each : *finalizers)
                if (each.if_string() != nullptr && !known.contains(*each.if_string()))
                    added.push_back(*each.if_string());
        if (!added.empty()) {
            std::string detail = "no new finalizers can be added if the object is being deleted, found new finalizers ";
            json::Array names(added.begin(), added.end());
            errors.push_back(forbidden(where / "finalizers", detail + json::print(names)));
        }
    }
    return errors;
}

}  // namespace rhizome::cluster
