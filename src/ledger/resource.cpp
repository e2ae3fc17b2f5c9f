// SPDX-License-Identifier: Apache-2.0
#include "ledger/resource.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/json.h"
#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

struct Builtin {
    std::string_view group;
    std::string_view kind;
    Scope scope;
};
// Sorted by group, then kind: those of Rhizome, and those of Kubernetes that live on the chain (cluster/kinds.h lists
// the same ones, and a test there compares).
constexpr std::array kBuiltins{
    Builtin{"", "ConfigMap", Scope::Namespaced},
    Builtin{"", "Endpoints", Scope::Namespaced},
    Builtin{"", "LimitRange", Scope::Namespaced},
    Builtin{"", "Namespace", Scope::Namespace},
    Builtin{"", "Node", Scope::Node},
    Builtin{"", "PersistentVolume", Scope::ClusterScoped},
    Builtin{"", "PersistentVolumeClaim", Scope::Namespaced},
    Builtin{"", "Pod", Scope::Namespaced},
    Builtin{"", "PodTemplate", Scope::Namespaced},
    Builtin{"", "ReplicationController", Scope::Namespaced},
    Builtin{"", "ResourceQuota", Scope::Namespaced},
    Builtin{"", "Secret", Scope::Namespaced},
    Builtin{"", "Service", Scope::Namespaced},
    Builtin{"", "ServiceAccount", Scope::Namespaced},
    Builtin{"admissionregistration.k8s.io", "MutatingWebhookConfiguration", Scope::ClusterScoped},
    Builtin{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Scope::ClusterScoped},
    Builtin{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", Scope::ClusterScoped},
    Builtin{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", Scope::ClusterScoped},
    Builtin{"apiextensions.k8s.io", "CustomResourceDefinition", Scope::ClusterScoped},
    Builtin{"apiregistration.k8s.io", "APIService", Scope::ClusterScoped},
    Builtin{"apps", "ControllerRevision", Scope::Namespaced},
    Builtin{"apps", "DaemonSet", Scope::Namespaced},
    Builtin{"apps", "Deployment", Scope::Namespaced},
    Builtin{"apps", "ReplicaSet", Scope::Namespaced},
    Builtin{"apps", "StatefulSet", Scope::Namespaced},
    Builtin{"autoscaling", "HorizontalPodAutoscaler", Scope::Namespaced},
    Builtin{"batch", "CronJob", Scope::Namespaced},
    Builtin{"batch", "Job", Scope::Namespaced},
    Builtin{"discovery.k8s.io", "EndpointSlice", Scope::Namespaced},
    Builtin{"flowcontrol.apiserver.k8s.io", "FlowSchema", Scope::ClusterScoped},
    Builtin{"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", Scope::ClusterScoped},
    Builtin{"networking.k8s.io", "Ingress", Scope::Namespaced},
    Builtin{"networking.k8s.io", "IngressClass", Scope::ClusterScoped},
    Builtin{"networking.k8s.io", "NetworkPolicy", Scope::Namespaced},
    Builtin{"node.k8s.io", "RuntimeClass", Scope::ClusterScoped},
    Builtin{"policy", "PodDisruptionBudget", Scope::Namespaced},
    Builtin{"rbac.authorization.k8s.io", "ClusterRole", Scope::ClusterScoped},
    Builtin{"rbac.authorization.k8s.io", "ClusterRoleBinding", Scope::ClusterScoped},
    Builtin{"rbac.authorization.k8s.io", "Role", Scope::Namespaced},
    Builtin{"rbac.authorization.k8s.io", "RoleBinding", Scope::Namespaced},
    Builtin{"rhizome.dev", "Cluster", Scope::Cluster},
    Builtin{"rhizome.dev", "Evidence", Scope::ClusterScoped},
    Builtin{"rhizome.dev", "JoinToken", Scope::JoinToken},
    Builtin{"rhizome.dev", "KeyRing", Scope::ClusterScoped},
    Builtin{"rhizome.dev", "NodeReport", Scope::NodeReport},
    Builtin{"scheduling.k8s.io", "PriorityClass", Scope::ClusterScoped},
    Builtin{"storage.k8s.io", "CSIDriver", Scope::ClusterScoped},
    Builtin{"storage.k8s.io", "CSINode", Scope::ClusterScoped},
    Builtin{"storage.k8s.io", "CSIStorageCapacity", Scope::Namespaced},
    Builtin{"storage.k8s.io", "StorageClass", Scope::ClusterScoped},
    Builtin{"storage.k8s.io", "VolumeAttachment", Scope::ClusterScoped},
};
constexpr bool before(const Builtin& left, const Builtin& right) {
    return left.group != right.group ? left.group < right.group : left.kind < right.kind;
}
static_assert(std::is_sorted(kBuiltins.begin(), kBuiltins.end(), before));

Fail<Reject> malformed(std::string why) { return reject(RejectCode::BadEncoding, std::move(why)); }

const std::string_view* slice(const std::vector<json::Slice>& slices, std::string_view key) {
    const auto at = std::find_if(slices.begin(), slices.end(), [&](const auto& each) { return each.key == key; });
    return at == slices.end() ? nullptr : &at->text;
}

/// The string that the member `key` is; empty when absent.
Result<std::string, Reject> text_of(const std::vector<json::Slice>& slices, std::string_view key) {
    const std::string_view* text = slice(slices, key);
    if (text == nullptr) return std::string{};
    auto value = json::parse(*text);
    const std::string* string = value ? value->if_string() : nullptr;
    if (string == nullptr) return malformed(fmt::format("\"{}\" is no string", key));
    return *string;
}

/// Kubernetes' rule for path segments, so that every name can stand in a URL; stricter rules are the schema's.
bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= 253 && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '/' && c != '%'; });
}

bool is_kind(std::string_view kind) {
    return !kind.empty() && kind.size() <= 63 && std::all_of(kind.begin(), kind.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
}

Result<state::Path, Reject> path_of(const Resource& resource) {
    auto path = state::Path::of(resource.type.group, resource.type.kind, resource.name_space, resource.name);
    if (!path) return malformed(to_error(path.error()).message);
    return *std::move(path);
}

/// A deletion has these members and no other; a custom resource may well have a field named `deleted`.
bool is_deletion(const std::vector<json::Slice>& document, const std::vector<json::Slice>& metadata) {
    const std::string_view* deleted = slice(document, "deleted");
    if (deleted == nullptr || *deleted != "true" || document.size() != 4) return false;
    return std::all_of(metadata.begin(), metadata.end(),
                       [](const auto& each) { return each.key == "name" || each.key == "namespace"; });
}

}  // namespace

std::string_view name(Scope scope) {
    switch (scope) {
        case Scope::Cluster: return "Cluster";
        case Scope::Node: return "Node";
        case Scope::Namespace: return "Namespace";
        case Scope::JoinToken: return "JoinToken";
        case Scope::ClusterScoped: return "ClusterScoped";
        case Scope::NodeReport: return "NodeReport";
        case Scope::Namespaced: return "Namespaced";
    }
    unreachable("a Scope has a name");
}

unsigned depth_of(Scope scope) {
    switch (scope) {
        case Scope::Cluster: return 0;
        case Scope::NodeReport:
        case Scope::Namespaced: return 2;
        default: return 1;
    }
}

std::optional<Scope> builtin_scope(std::string_view group, std::string_view kind) {
    const Builtin wanted{group, kind, Scope::Cluster};
    const auto at = std::lower_bound(kBuiltins.begin(), kBuiltins.end(), wanted, before);
    if (at == kBuiltins.end() || at->group != group || at->kind != kind) return std::nullopt;
    return at->scope;
}

std::string Resource::label() const {
    if (name_space.empty()) return fmt::format("{} {}", type.kind, name);
    return fmt::format("{} {}/{}", type.kind, name_space, name);
}

Result<NamedOutput, Reject> name_output(std::string_view value) {
    if (value.empty()) return NamedOutput{};
    if (value.size() > kDocumentBytesMax) return reject(RejectCode::TooLarge, "the document is larger than 1 MiB");
    if (value.front() != '{') return malformed("the document is no JSON object");
    auto document = json::slices(value, {.bytes = kDocumentBytesMax, .depth = kDocumentDepthMax});
    if (!document) return malformed(to_error(document.error()).message);

    TRY(const auto api_version, text_of(*document, "apiVersion"));
    const std::string_view* metadata_text = slice(*document, "metadata");
    if (metadata_text == nullptr || metadata_text->front() != '{') return malformed("the document has no metadata");
    // The document is checked as a whole, so its parts are good JSON.
    auto metadata = json::slices(*metadata_text, {.bytes = kDocumentBytesMax, .depth = kDocumentDepthMax});
    if (!metadata) return malformed(to_error(metadata.error()).message);

    NamedOutput output{.wish = is_deletion(*document, *metadata) ? Wish::Delete : Wish::Store};
    Resource& resource = output.resource;
    TRY(resource.type.kind, text_of(*document, "kind"));
    TRY(resource.name, text_of(*metadata, "name"));
    TRY(resource.name_space, text_of(*metadata, "namespace"));

    const auto slash = api_version.find('/');
    const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
    if (slash != std::string::npos) resource.type.group = api_version.substr(0, slash);
    if (version.empty() || !is_name(version) || slash == 0)
        return malformed("apiVersion is not of the form group/version");
    if (!is_kind(resource.type.kind))
        return malformed("the kind is missing, too long, or has other than letters and digits");
    if (!is_name(resource.name)) return malformed("metadata.name is missing, too long, or cannot stand in a URL");
    if (!resource.name_space.empty() && !is_name(resource.name_space))
        return malformed("metadata.namespace is too long or cannot stand in a URL");

    if (const auto scope = builtin_scope(resource.type.group, resource.type.kind)) {
        resource.scope = *scope;
        resource.builtin = true;
        if ((*scope == Scope::Namespaced) == resource.name_space.empty())
            return reject(RejectCode::UnknownKind, fmt::format("a {} {}", resource.type.kind,
                                                               *scope == Scope::Namespaced ? "needs metadata.namespace"
                                                                                           : "lives in no namespace"));
    } else {
        resource.scope = resource.name_space.empty() ? Scope::ClusterScoped : Scope::Namespaced;
    }
    TRY(resource.path, path_of(resource));
    return output;
}

}  // namespace rhizome::ledger
