// SPDX-License-Identifier: Apache-2.0
#include "api/webhooks.h"

#include <algorithm>

#include <fmt/core.h>

#include "cluster/base64.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

constexpr std::size_t kWarningsMax = 32;
constexpr std::size_t kWarningBytesMax = 256;
constexpr std::size_t kAuditMax = 32;

std::vector<std::string> texts_at(const json::Value& object, std::string_view key) {
    std::vector<std::string> out;
    const json::Value* list = object.find(key);
    if (list != nullptr && list->is_array())
        for (const json::Value& one : *list->if_array())
            if (const std::string* text = one.if_string()) out.push_back(*text);
    return out;
}

bool has(const std::vector<std::string>& all, std::string_view one) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& each) { return each == "*" || each == one; });
}

bool names(const std::string& rule, std::string_view resource, std::string_view subresource) {
    const std::size_t slash = rule.find('/');
    const std::string_view main = std::string_view{rule}.substr(0, slash);
    const std::string_view part =
        slash == std::string::npos ? std::string_view{} : std::string_view{rule}.substr(slash + 1);
    return (main == "*" || main == resource) && (part == "*" || part == subresource);
}

bool covers(const Webhook::Rule& rule, const Kind& kind, std::string_view subresource, Operation operation,
            bool namespaced) {
    if (!has(rule.operations, name(operation)) || !has(rule.groups, kind.group) || !has(rule.versions, kind.version))
        return false;
    if (rule.scope == "Cluster" && namespaced) return false;
    if (rule.scope == "Namespaced" && !namespaced) return false;
    return std::any_of(rule.resources.begin(), rule.resources.end(),
                       [&](const std::string& one) { return names(one, kind.plural, subresource); });
}

bool any_rule(const Webhook& hook, const Kind& kind, std::string_view subresource, Operation operation) {
    return std::any_of(hook.rules.begin(), hook.rules.end(), [&](const Webhook::Rule& rule) {
        return covers(rule, kind, subresource, operation, kind.namespaced);
    });
}

json::Object kind_object(const Kind& kind) {
    return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}
json::Object resource_object(const Kind& kind) {
    return {{"group", kind.group}, {"version", kind.version}, {"resource", kind.plural}};
}

json::Object options_of(const Call& call, Operation operation) {
    json::Object options{{"kind", operation == Operation::Create   ? "CreateOptions"
                                  : operation == Operation::Update ? "UpdateOptions"
                                                                   : "DeleteOptions"},
                         {"apiVersion", "meta.k8s.io/v1"}};
    if (call.is_dry()) options.set("dryRun", json::Array{"All"});
    for (const std::string_view key : {"fieldManager", "fieldValidation"})
        if (const auto text = call.query.text(key); !text.empty() && operation != Operation::Delete)
            options.set(key, text);
    return options;
}

/// For a header and a log: one line of printable letters.
std::string plain(std::string_view text, std::size_t most) {
    std::string out;
    for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    return out;
}

Status denial_of(const json::Value* status, std::string_view hook) {
    Status denied{.code = 400};
    std::string message;
    if (status != nullptr && status->is_object()) {
        const json::Value* code = status->find("code");
        const auto number = code == nullptr ? std::nullopt : code->if_int64();
        if (number && *number >= 400 && *number < 600) denied.code = static_cast<unsigned>(*number);
        denied.reason = status->text_at({"reason"});
        message = status->text_at({"message"});
        if (message.empty()) message = denied.reason;
        denied.name = status->text_at({"details", "name"});
        denied.group = status->text_at({"details", "group"});
        denied.kind = status->text_at({"details", "kind"});
        const json::Value* causes = status->find_path({"details", "causes"});
        if (causes != nullptr && causes->is_array())
            for (const json::Value& one : *causes->if_array())
                denied.causes.push_back({.reason = std::string{one.text_at({"reason"})},
                                         .message = std::string{one.text_at({"message"})},
                                         .field = std::string{one.text_at({"field"})}});
    }
    denied.message = message.empty()
                         ? fmt::format("admission webhook \"{}\" denied the request without explanation", hook)
                         : fmt::format("admission webhook \"{}\" denied the request: {}", hook, message);
    return denied;
}

}  // namespace

std::string_view name(Operation operation) {
    switch (operation) {
        case Operation::Create: return "CREATE";
        case Operation::Update: return "UPDATE";
        case Operation::Delete: return "DELETE";
        case Operation::Connect: return "CONNECT";
    }
    unreachable("an Operation is one of four");
}

std::vector<Webhook> webhooks_of(const json::Value& configuration, bool mutates) {
    std::vector<Webhook> out;
    const json::Value* list = configuration.find("webhooks");
    if (list == nullptr || !list->is_array()) return out;
    for (const json::Value& one : *list->if_array()) {
        Webhook hook{.name = std::string{one.text_at({"name"})}, .mutates = mutates};
        hook.ignores_failure = one.text_at({"failurePolicy"}) == "Ignore";
        hook.again_if_needed = mutates && one.text_at({"reinvocationPolicy"}) == "IfNeeded";
        hook.equivalent = one.text_at({"matchPolicy"}) != "Exact";
        const std::string_view effects = one.text_at({"sideEffects"});
        hook.good_for_dry_runs = effects == "None" || effects == "NoneOnDryRun";
        const auto versions = texts_at(one, "admissionReviewVersions");
        hook.speaks_v1 = std::find(versions.begin(), versions.end(), "v1") != versions.end();
        if (const json::Value* wait = one.find("timeoutSeconds"))
            hook.timeout = seconds{std::clamp<std::int64_t>(wait->if_int64().value_or(10), 1, 30)};
        const auto everything = json::Value{json::Object{}};
        const auto selector = [&](std::string_view key) {
            const json::Value* given = one.find(key);
            return cluster::LabelSelector::from_document(given == nullptr ? &everything : given, cluster::Where{key});
        };
        const auto spaces = selector("namespaceSelector");
        const auto objects = selector("objectSelector");
        if (!spaces || !objects) continue;
        hook.spaces = *spaces;
        hook.objects = *objects;
        if (const json::Value* rules = one.find("rules"); rules != nullptr && rules->is_array())
            for (const json::Value& rule : *rules->if_array())
                hook.rules.push_back({.operations = texts_at(rule, "operations"),
                                      .groups = texts_at(rule, "apiGroups"),
                                      .versions = texts_at(rule, "apiVersions"),
                                      .resources = texts_at(rule, "resources"),
                                      .scope = std::string{rule.text_at({"scope"})}});
        if (const json::Value* client = one.find("clientConfig")) hook.client = *client;
        out.push_back(std::move(hook));
    }
    return out;
}

std::vector<std::string> webhook_warnings(const Kind& kind, const json::Value& configuration) {
    std::vector<std::string> warnings;
    if (kind.group != "admissionregistration.k8s.io" || !kind.kind.ends_with("WebhookConfiguration")) return warnings;
    const json::Value* list = configuration.find("webhooks");
    if (list == nullptr || !list->is_array()) return warnings;
    for (const json::Value& one : *list->if_array()) {
        const json::Value* conditions = one.find("matchConditions");
        if (conditions != nullptr && conditions->is_array() && !conditions->if_array()->empty())
            warnings.push_back(
                fmt::format("webhook {}: matchConditions are stored and not evaluated yet; it is called "
                            "whatever they say",
                            plain(one.text_at({"name"}), kWarningBytesMax)));
    }
    return warnings;
}

bool is_asked_about(const Kind& kind) {
    return kind.group != "admissionregistration.k8s.io" && kind.keeping != cluster::Keeping::Nowhere;
}

std::optional<AdmissionTarget> wants(const Webhook& hook, const Call& call, Operation operation,
                                     const cluster::Kinds& kinds, const Labels& labels) {
    const std::string_view part = call.path.subresource;
    std::optional<AdmissionTarget> target;
    if (any_rule(hook, *call.kind, part, operation)) target = AdmissionTarget{call.kind, part};
    // The same resource in another version; only where both are one document with another label on it.
    if (!target && hook.equivalent && call.kind->custom)
        for (const auto& other : kinds.all())
            if (other.get() != call.kind && other->group == call.kind->group && other->plural == call.kind->plural &&
                any_rule(hook, *other, part, operation)) {
                target = AdmissionTarget{other.get(), part};
                break;
            }
    if (!target) return std::nullopt;
    if (labels.space != nullptr && !hook.spaces.matches(labels.space)) return std::nullopt;
    const bool either = (labels.object != nullptr && hook.objects.matches_object(*labels.object)) ||
                        (labels.before != nullptr && hook.objects.matches_object(*labels.before));
    if (!either && !hook.objects.is_everything()) return std::nullopt;
    return target;
}

namespace {

/// What a part with a form of its own is; nothing for those that are the object itself.
std::optional<json::Object> kind_of_part(std::string_view subresource) {
    if (subresource == "scale") return json::Object{{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}};
    if (subresource == "eviction") return json::Object{{"group", "policy"}, {"version", "v1"}, {"kind", "Eviction"}};
    if (subresource == "binding") return json::Object{{"group", ""}, {"version", "v1"}, {"kind", "Binding"}};
    return std::nullopt;
}

}  // namespace

json::Value admission_review(const Call& call, const AdmissionQuestion& question) {
    const Kind& kind = *question.target.kind;
    const auto part = kind_of_part(call.path.subresource);
    const auto in_version = [&](const json::Value* object) {
        if (object == nullptr) return json::Value{};
        json::Value copy = *object;
        if (&kind != call.kind && !part && copy.is_object()) copy["apiVersion"] = kind.api_version();
        return copy;
    };
    json::Object request{
        {"uid", question.uid}, {"kind", part.value_or(kind_object(kind))}, {"resource", resource_object(kind)}};
    if (!question.target.subresource.empty()) request.set("subResource", question.target.subresource);
    request.set("requestKind", part.value_or(kind_object(*call.kind)));
    request.set("requestResource", resource_object(*call.kind));
    if (!call.path.subresource.empty()) request.set("requestSubResource", call.path.subresource);
    if (!call.path.name.empty()) request.set("name", call.path.name);
    if (!call.path.name_space.empty()) request.set("namespace", call.path.name_space);
    request.set("operation", name(question.operation));
    request.set("userInfo", user_info(call.user));
    request.set("object", in_version(question.object));
    request.set("oldObject", in_version(question.before));
    request.set("dryRun", call.is_dry());
    request.set("options", options_of(call, question.operation));
    return json::Object{
        {"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"request", std::move(request)}};
}

Result<AdmissionAnswer> read_admission(const json::Value& said, std::string_view uid, const Webhook& hook) {
    if (said.text_at({"kind"}) != "AdmissionReview" || said.text_at({"apiVersion"}) != "admission.k8s.io/v1")
        return fail(ErrorKind::Invalid,
                    fmt::format("expected webhook response of admission.k8s.io/v1, "
                                "Kind=AdmissionReview, got {}, Kind={}",
                                plain(said.text_at({"apiVersion"}), 64), plain(said.text_at({"kind"}), 64)));
    const json::Value* response = said.find("response");
    if (response == nullptr || !response->is_object()) return fail(ErrorKind::Invalid, "webhook response was absent");
    if (response->text_at({"uid"}) != uid)
        return fail(ErrorKind::Invalid, fmt::format("expected response.uid=\"{}\", got \"{}\"", uid,
                                                    plain(response->text_at({"uid"}), 64)));
    AdmissionAnswer answer;
    const json::Value* allowed = response->find("allowed");
    if (allowed == nullptr || !allowed->if_boolean())
        return fail(ErrorKind::Invalid, "response.allowed is neither true nor false");
    answer.allowed = *allowed->if_boolean();
    if (!answer.allowed) answer.denial = denial_of(response->find("status"), hook.name);
    const std::string_view patch = response->text_at({"patch"});
    const std::string_view type = response->text_at({"patchType"});
    if (patch.empty() != type.empty())
        return fail(ErrorKind::Invalid, patch.empty() ? "webhook returned response.patchType but not response.patch"
                                                      : "webhook returned response.patch but not response.patchType");
    if (!patch.empty()) {
        if (!hook.mutates) return fail(ErrorKind::Invalid, "a validating webhook returned response.patch");
        if (type != "JSONPatch")
            return fail(
                ErrorKind::Invalid,
                fmt::format("invalid value of response.patchType \"{}\", expected \"JSONPatch\"", plain(type, 64)));
        const auto bytes = cluster::from_base64(patch);
        if (!bytes) return fail(ErrorKind::Invalid, "response.patch is no base64");
        auto list = json::parse(as_text(*bytes), {.bytes = kAnswerBytesMax, .depth = 64});
        if (!list || !list->is_array()) return fail(ErrorKind::Invalid, "response.patch is no list of operations");
        if (!list->if_array()->empty()) answer.patch = *std::move(list);
    }
    for (const std::string& one : texts_at(*response, "warnings"))
        if (answer.warnings.size() < kWarningsMax) answer.warnings.push_back(plain(one, kWarningBytesMax));
    const json::Value* audit = response->find("auditAnnotations");
    if (audit != nullptr && audit->is_object())
        for (const auto& member : *audit->if_object())
            if (const std::string* text = member.value.if_string(); text != nullptr && answer.audit.size() < kAuditMax)
                answer.audit.emplace_back(plain(member.key, kWarningBytesMax), plain(*text, kWarningBytesMax));
    return answer;
}

Status webhook_failed(const Webhook& hook, std::string_view why) {
    Status status = internal(fmt::format("failed calling webhook \"{}\": failed to call webhook: {}", hook.name, why));
    return status;
}

}  // namespace rhizome::api
