// SPDX-License-Identifier: Apache-2.0
// Whether a CustomResourceDefinition says something sensible.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "cluster/custom_definition.h"
#include "cluster/detail/rules.h"
#include "cluster/names.h"
#include "cluster/object.h"

namespace rhizome::cluster {
namespace {

using detail::Checker;

std::string joined_complaints(const std::vector<std::string>& complaints) {
    std::string out;
    for (const std::string& each : complaints) out += (out.empty() ? "" : ",") + each;
    return out;
}

std::string lower(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

void check_label(const Checker& place) {
    if (const auto wrong = check_dns_1035_label(place.text()); !place.text().empty() && !wrong.empty())
        place.add(invalid(place.where(), place.text(), joined_complaints(wrong)));
}

void check_kind_name(const Checker& place) {
    if (const auto wrong = check_dns_1035_label(lower(place.text())); !place.text().empty() && !wrong.empty())
        place.add(invalid(place.where(), place.text(),
                          "may have mixed case, but should otherwise match: " + joined_complaints(wrong)));
}

void check_names(const Checker& names) {
    for (const std::string_view name : {"plural", "singular", "kind", "listKind"}) names.at(name).require();
    check_label(names.at("plural"));
    check_label(names.at("singular"));
    check_kind_name(names.at("kind"));
    check_kind_name(names.at("listKind"));
    names.at("shortNames").each(check_label);
    names.at("categories").each(check_label);
    if (!names.at("kind").text().empty() && names.at("kind").text() == names.at("listKind").text())
        names.add(invalid(names.at("listKind").where(), names.at("listKind").text(),
                          "kind and listKind may not be the same"));
}

/// Whether a column's path is one that cells can be read from.
bool is_column_path(std::string_view path) {
    std::size_t open = 0;
    for (const char c : path) {
        open += c == '[' || c == '(' ? 1u : 0u;
        if (c == ']' || c == ')') {
            if (open == 0) return false;
            --open;
        }
    }
    return open == 0;
}

void check_column(const Checker& column) {
    column.at("name").require();
    column.at("type").require();
    column.at("type").one_of({"boolean", "date", "integer", "number", "string"});
    if (!column.at("format").text().empty())
        column.at("format").one_of({"byte", "date", "date-time", "double", "float", "int32", "int64", "password"});
    const Checker path = column.at("jsonPath");
    if (!path.require()) return;
    if (!path.text().starts_with('.'))
        path.add(invalid(path.where(), path.text(), "must be a json path that begins with a dot"));
    else if (!is_column_path(path.text()))
        path.add(invalid(path.where(), path.text(), "unterminated array"));
}

void check_replica_path(const Checker& path, std::vector<std::string_view> roots, bool needed) {
    if (needed && !path.require()) return;
    if (path.text().empty()) return;
    const auto members = member_path(path.text());
    const bool good = members && std::find(roots.begin(), roots.end(), members->front()) != roots.end();
    if (good) return;
    std::string wanted;
    for (const std::string_view root : roots) wanted += fmt::format("{}.{}", wanted.empty() ? "" : " or ", root);
    path.add(invalid(path.where(), path.text(), fmt::format("should be a json path under {}", wanted)));
}

void check_subresources(const Checker& subresources) {
    const Checker scale = subresources.at("scale");
    if (!scale.present()) return;
    check_replica_path(scale.at("specReplicasPath"), {"spec"}, true);
    check_replica_path(scale.at("statusReplicasPath"), {"status"}, true);
    check_replica_path(scale.at("labelSelectorPath"), {"spec", "status"}, false);
}

void check_selectable(const Checker& fields, const StructuralSchema* schema) {
    // Kubernetes' bound.
    constexpr std::size_t kFieldsMax = 8;
    if (fields.size() > kFieldsMax) fields.add(too_many(fields.where(), fields.size(), kFieldsMax));
    std::set<std::string> seen;
    fields.each([&](const Checker& field) {
        const Checker path = field.at("jsonPath");
        if (!path.require()) return;
        if (!seen.insert(std::string(path.text())).second) path.add(duplicate(path.where(), path.text()));
        const auto members = member_path(path.text());
        if (!members) {
            path.add(invalid(path.where(), path.text(), "is an invalid path: it must be a simple path"));
            return;
        }
        const StructuralSchema* place = schema;
        for (std::size_t i = 0; place != nullptr && i < members->size(); ++i) place = place->find((*members)[i]);
        if (members->front() == "metadata")
            path.add(invalid(path.where(), path.text(), "must not point to fields in metadata"));
        else if (place == nullptr)
            path.add(invalid(path.where(), path.text(), "is an invalid path: does not refer to a valid field"));
        else if (place->type != SchemaType::String && place->type != SchemaType::Boolean &&
                 place->type != SchemaType::Integer)
            path.add(invalid(path.where(), path.text(),
                             "must point to a field of type string, boolean or integer. Enum string fields and strings "
                             "with formats are allowed."));
    });
}

void check_version(const Checker& version, bool kept_as_is) {
    const Checker name = version.at("name");
    if (const auto wrong = check_dns_1035_label(name.text()); !wrong.empty())
        name.add(invalid(name.where(), name.text(), joined_complaints(wrong)));
    if (!version.at("deprecated").flag() && !version.at("deprecationWarning").text().empty())
        version.add(invalid(version.at("deprecationWarning").where(), version.at("deprecationWarning").text(),
                            "can only be set for deprecated versions"));
    std::shared_ptr<const StructuralSchema> read;
    const Checker schema = version.at("schema").at("openAPIV3Schema");
    if (schema.present()) {
        read = read_structural(*schema.value(), schema.where(), version.errors());
    } else if (!kept_as_is) {
        version.add(required(schema.where(), "schemas are required"));
    }
    version.at("additionalPrinterColumns").each(check_column);
    check_subresources(version.at("subresources"));
    check_selectable(version.at("selectableFields"), read.get());
}

void check_conversion(const Checker& conversion) {
    const Checker strategy = conversion.at("strategy");
    strategy.require();
    strategy.one_of({"None", "Webhook"});
    const Checker webhook = conversion.at("webhook");
    if (strategy.text() != "Webhook") {
        if (webhook.present())
            webhook.add(forbidden(webhook.where(), "should not be set when strategy is not set to Webhook"));
        return;
    }
    if (!webhook.require("required when strategy is set to Webhook")) return;
    const Checker versions = webhook.at("conversionReviewVersions");
    if (versions.require()) {
        bool known = false;
        versions.each([&](const Checker& each) { known = known || each.text() == "v1"; });
        if (!known) versions.add(invalid(versions.where(), *versions.value(), "must include at least one of v1"));
    }
    const Checker config = webhook.at("clientConfig");
    const bool url = !config.at("url").text().empty();
    const bool service = config.at("service").present();
    if (url == service) config.add(required(config.where(), "exactly one of url or service is required"));
    if (url && !config.at("url").text().starts_with("https://"))
        config.add(
            invalid(config.at("url").where(), config.at("url").text(), "'https' is the only allowed URL scheme"));
    if (service) {
        config.at("service").at("name").require("service name is required");
        config.at("service").at("namespace").require("service namespace is required");
    }
}

void check_versions(const Checker& spec, bool kept_as_is) {
    const Checker versions = spec.at("versions");
    std::set<std::string> names;
    std::size_t storage = 0;
    bool unique = true;
    versions.each([&](const Checker& version) {
        unique = names.insert(std::string(version.at("name").text())).second && unique;
        storage += version.at("storage").flag() ? 1 : 0;
        check_version(version, kept_as_is);
    });
    const json::Value shown = versions.value() == nullptr ? json::Value{json::Array{}} : *versions.value();
    if (!unique) versions.add(invalid(versions.where(), shown, "must contain unique version names"));
    if (storage != 1)
        versions.add(invalid(versions.where(), shown, "must have exactly one version marked as storage version"));
}

void check_protected_group(const json::Value& object, std::string_view group, FieldErrors& errors) {
    const auto under = [&](std::string_view domain) {
        return group == domain || (group.ends_with(domain) && group[group.size() - domain.size() - 1] == '.');
    };
    constexpr std::string_view kApproval = "api-approved.kubernetes.io";
    if (!under("k8s.io") && !under("kubernetes.io")) return;
    if (annotation(object, kApproval).value_or("").empty())
        errors.push_back(required(Where("metadata.annotations").key(kApproval),
                                  "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
                                  "https://github.com/kubernetes/enhancements/pull/1111"));
}

}  // namespace

void check_definition(const json::Value& object, FieldErrors& errors) {
    const Checker root{&object, Where{}, errors};
    const Checker spec = root.at("spec");
    const Checker group = spec.at("group");
    if (group.require()) {
        const auto wrong = check_dns_subdomain(group.text());
        if (!wrong.empty())
            group.add(invalid(group.where(), group.text(), joined_complaints(wrong)));
        else if (group.text().find('.') == std::string_view::npos)
            group.add(invalid(group.where(), group.text(), "should be a domain with at least one dot"));
    }
    const Checker scope = spec.at("scope");
    if (scope.require()) scope.one_of({"Cluster", "Namespaced"});
    check_names(spec.at("names"));
    const std::string wanted = fmt::format("{}.{}", spec.at("names").at("plural").text(), group.text());
    if (!name_of(object).empty() && name_of(object) != wanted)
        errors.push_back(
            invalid(Where("metadata.name"), name_of(object), "must be spec.names.plural+\".\"+spec.group"));
    const Checker preserves = spec.at("preserveUnknownFields");
    if (preserves.flag())
        preserves.add(invalid(preserves.where(), true,
                              "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                              "spec.versions[*].schema instead"));
    check_versions(spec, false);
    if (spec.at("conversion").present()) check_conversion(spec.at("conversion"));
    check_protected_group(object, group.text(), errors);
}

void check_definition_change(const json::Value& object, const json::Value& before, FieldErrors& errors) {
    const auto same = [&](std::initializer_list<std::string_view> path, std::string_view where) {
        if (object.text_at(path) != before.text_at(path))
            errors.push_back(invalid(Where(where), object.text_at(path), "field is immutable"));
    };
    same({"spec", "names", "kind"}, "spec.names.kind");
    same({"spec", "names", "plural"}, "spec.names.plural");
    // What documents may be stored in must stay readable.
    const Checker root{&object, Where{}, errors};
    std::set<std::string> names;
    root.at("spec").at("versions").each([&](const Checker& version) { names.emplace(version.at("name").text()); });
    root.at("status").at("storedVersions").each([&](const Checker& version) {
        if (!names.contains(std::string(version.text())))
            version.add(invalid(version.where(), version.text(), "must appear in spec.versions"));
    });
}

}  // namespace rhizome::cluster
