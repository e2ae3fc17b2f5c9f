// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/field_error.h"
#include "cluster/kinds.h"
#include "cluster/structural_schema.h"

/// CustomResourceDefinitions: what they say, whether they say something sensible, and the kinds they make.
namespace rhizome::cluster {

inline constexpr std::string_view kDefinitionGroup = "apiextensions.k8s.io";
inline constexpr std::string_view kDefinitionKind = "CustomResourceDefinition";
bool is_definition(const Kind& kind);

/// Carried by a definition that was deleted while objects of its kind still wait for their finalizers.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/// Where the subresource `scale` finds its numbers: members one inside the other.
struct ScalePaths {
    std::vector<std::string> spec_replicas{};
    std::vector<std::string> status_replicas{};
    std::vector<std::string> label_selector{};  ///< empty: none
};

/// What a custom kind's definition says besides names and columns. One for each version.
struct CustomRules {
    std::string definition{};                          ///< `crontabs.stable.example.com`
    std::string storage_version{};                     ///< documents are stored in it
    bool terminating = false;                          ///< deleted; its objects are still on their way out
    std::shared_ptr<const StructuralSchema> schema{};  ///< null: anything goes
    bool has_defaults = false;
    bool has_rules = false;  ///< some of its schema's rules are expressions, which nobody enforces yet
    json::Value openapi{};   ///< `openAPIV3Schema` as it was written; null when there is none
    std::optional<ScalePaths> scale{};
    std::string deprecation{};  ///< the warning that every use of the version carries; empty: none
    /// `spec.conversion.webhook` when versions are turned into each other by somebody else's server; null: they differ
    /// in `apiVersion` only.
    json::Value conversion{};
    /// The block that wrote the definition. What was written after it was cut to its schema and filled in then.
    std::uint64_t since_height = 0;
};

/// A definition as it is served: its kinds, one for each served version.
struct Definition {
    std::string name{};
    std::string group{};
    std::string kind{};
    bool namespaced = true;
    std::vector<CustomKind> kinds{};
};
/// What a document of the chain defines. Denied with a reason for what `check_definition` would refuse: the chain takes
/// definitions that name group, kind and scope, so others may be on it.
Result<Definition> read_definition(const json::Value& document, std::uint64_t since_height);

/// What became of a definition among the others of its group, where the older one keeps its names.
struct ServedDefinition {
    std::vector<std::string> conflicts{};  ///< `plural name conflict`: reason and sentence by turns
    std::string fault{};                   ///< it cannot be served at all: why
};
struct ServedDefinitions {
    std::map<std::string, ServedDefinition, std::less<>> by_name{};
};

/// Whether a definition is one, with Kubernetes' causes.
void check_definition(const json::Value& object, FieldErrors& errors);
/// What may not change: scope, group, plural and kind.
void check_definition_change(const json::Value& object, const json::Value& before, FieldErrors& errors);
/// Warnings for whoever writes it: rules that are stored and not enforced.
std::vector<std::string> definition_warnings(const json::Value& object);

/// `status.storedVersions`: all versions that documents may be stored in. It is the one part of the status that is
/// written; the rest is shown (`show_definition`).
void keep_stored_versions(json::Value& object, const json::Value* before);
/// Puts the status in: names accepted, established, terminating.
void show_definition(json::Value& object, const ServedDefinitions* served);
/// Takes out what `show_definition` puts in.
void strip_definition(json::Value& object);

/// `.spec.replicas` as `{"spec", "replicas"}`; nothing when it is no row of plain members.
std::optional<std::vector<std::string>> member_path(std::string_view json_path);

}  // namespace rhizome::cluster
