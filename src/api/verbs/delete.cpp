// SPDX-License-Identifier: Apache-2.0
// DELETE: an object goes, at once or when its last finalizer is gone.
#include <fmt/core.h>

#include "api/admission.h"
#include "api/call.h"
#include "api/shown.h"
#include "cluster/garbage.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

Result<void, Status> check_dry_run(const Call& call, std::string_view wanted) {
    if (wanted == "All") return {};
    cluster::FieldErrors errors;
    errors.push_back(cluster::not_supported(cluster::Where("dryRun"), std::string{wanted}, {"All"}));
    return Fail{invalid_options(call, errors)};
}

/// `DeleteOptions`, from the body and the query.
struct Options {
    std::string uid{};
    std::string resource_version{};
    std::string propagation{};
    std::optional<std::int64_t> grace_seconds{};
};

Result<Options, Status> options_of(const Call& call) {
    Options options{.propagation = std::string{call.query.text("propagationPolicy")}};
    TRY(const auto grace, call.query.number("gracePeriodSeconds"));
    if (grace) options.grace_seconds = static_cast<std::int64_t>(*grace);
    std::optional<bool> orphans;
    if (call.query.has("orphanDependents")) orphans = call.query.flag("orphanDependents");
    if (!call.body.empty()) {
        TRY(const json::Value body, read_object(call));
        options.uid = body.text_at({"preconditions", "uid"});
        options.resource_version = body.text_at({"preconditions", "resourceVersion"});
        if (const auto policy = body.text_at({"propagationPolicy"}); !policy.empty()) options.propagation = policy;
        if (const json::Value* seconds = body.find("gracePeriodSeconds")) options.grace_seconds = seconds->if_int64();
        if (const json::Value* said = body.find("orphanDependents"); said != nullptr && said->if_boolean())
            orphans = *said->if_boolean();
    }
    cluster::FieldErrors errors;
    const std::string& policy = options.propagation;
    if (!policy.empty() && orphans)
        errors.push_back(cluster::invalid(cluster::Where("propagationPolicy"), policy,
                                          "orphanDependents and deletionPropagation cannot be both set"));
    if (!policy.empty() && policy != "Background" && policy != "Foreground" && policy != "Orphan")
        errors.push_back(cluster::not_supported(cluster::Where("propagationPolicy"), policy,
                                                {"Foreground", "Background", "Orphan", "nil"}));
    if (!errors.empty()) return Fail{invalid_options(call, errors)};
    if (orphans) options.propagation = *orphans ? "Orphan" : "Background";
    return options;
}

/// Namespaces that everything else relies on.
Result<void, Status> check_may_go(const Call& call) {
    if (!call.kind->group.empty() || call.kind->kind != "Namespace") return {};
    for (const std::string_view kept : {"default", "kube-system", "kube-public"})
        if (call.path.name == kept)
            return Fail{forbidden(*call.kind, call.path.name, "this namespace may not be deleted")};
    return {};
}

/// Who deletes an owner may want what belongs to it to go first, or to stay: a finalizer holds the owner until it is
/// so.
void add_finalizer(const Options& options, const Present& present, json::Value& object) {
    const bool foreground = options.propagation == "Foreground";
    if (!foreground && options.propagation != "Orphan") return;
    const std::string_view finalizer = foreground ? cluster::kForeground : cluster::kOrphan;
    if (cluster::has_finalizer(object, finalizer)) return;
    if (present.has_dependents && !present.has_dependents(cluster::uid_of(object))) return;
    cluster::array_in(cluster::object_in(object, "metadata"), "finalizers").emplace_back(finalizer);
}

}  // namespace

Result<bool, Status> asks_for_dry_run(const Call& call) {
    for (const std::string_view one : call.query.all("dryRun")) TRY(check_dry_run(call, one));
    const bool evicts = call.verb == Verb::Create && call.path.subresource == "eviction";
    if ((call.verb != Verb::Delete && !evicts) || call.body.empty()) return false;
    TRY(const json::Value body, read_object(call));
    const json::Value* dry = evicts ? body.find_path({"deleteOptions", "dryRun"}) : body.find("dryRun");
    if (dry == nullptr || !dry->is_array()) return false;
    for (const json::Value& one : *dry->if_array())
        TRY(check_dry_run(call, one.if_string() == nullptr ? std::string_view{} : *one.if_string()));
    return !dry->if_array()->empty();
}

Planned delete_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    TRY(const Options options, options_of(call));
    TRY(check_may_go(call));
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    json::Value object = readable_value(call, present, heard_of);
    const std::string name{cluster::name_of(object)};
    if (!options.uid.empty() && options.uid != cluster::uid_of(object))
        return Fail{conflict(*call.kind, name,
                             fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                                         options.uid, cluster::uid_of(object)))};
    if (!options.resource_version.empty() && options.resource_version != cluster::resource_version_of(object))
        return Fail{conflict(*call.kind, name,
                             fmt::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in "
                                         "object meta: {}",
                                         options.resource_version, cluster::resource_version_of(object)))};
    add_finalizer(options, present, object);
    const bool space = call.kind->group.empty() && call.kind->kind == "Namespace";
    const json::Value* finalizers = object.find_path({"metadata", "finalizers"});
    bool waits = finalizers != nullptr && finalizers->is_array() && !finalizers->if_array()->empty();
    if (space) waits = !cluster::namespace_may_go(object) || (present.contents_wait && present.contents_wait());
    Draft draft;
    if (!waits) return std::variant<Reply, Draft>{std::move(draft)};
    if (cluster::is_terminating(object)) {
        if (space)
            return Fail{conflict(*call.kind, name,
                                 "The system is ensuring all content is removed from this namespace.  Upon "
                                 "completion, this namespace will automatically be purged by the system.")};
        Reply known = object_reply(call, 200, present.object, heard_of);
        return std::variant<Reply, Draft>{std::move(known)};
    }
    begin_to_end(object, call.now, options.grace_seconds.value_or(0));
    strip_shown(object);
    draft.object = std::move(object);
    return std::variant<Reply, Draft>{std::move(draft)};
}

Planned finalize_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (call.verb != Verb::Update) return Fail{method_not_allowed()};
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    TRY(const json::Value before, standing_value(call, present, heard_of));
    TRY(json::Value wanted, read_object(call));
    std::vector<std::string> warnings;
    TRY(decode_object(call, wanted, warnings));
    const std::string_view version = cluster::resource_version_of(wanted);
    if (!version.empty() && version != cluster::resource_version_of(before))
        return Fail{conflict(*call.kind, call.path.name)};
    json::Value object = before;
    const json::Value* finalizers = wanted.find_path({"spec", "finalizers"});
    object["spec"]["finalizers"] = finalizers == nullptr ? json::Value{json::Array{}} : *finalizers;
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
