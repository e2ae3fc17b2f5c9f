// SPDX-License-Identifier: Apache-2.0
#include "api/apply_scale.h"

#include <algorithm>

#include "api/apply.h"
#include "api/detail/manager_entries.h"
#include "cluster/decode.h"

namespace rhizome::api {
namespace {

using detail::ManagerEntries;
using detail::ManagerEntry;

constexpr std::string_view kScaleVersion = "autoscaling/v1";

FieldSet field_at(const std::vector<std::string>& members) {
    FieldSet set{.member = true};
    for (auto member = members.rbegin(); member != members.rend(); ++member)
        set = FieldSet{.children = {{"f:" + *member, std::move(set)}}};
    return set;
}
/// Where the number stands in a Scale.
FieldSet scale_field() { return field_at({"spec", "replicas"}); }

/// The managers of the object who own its number, as managers of its Scale.
ManagerEntries scale_entries(const ManagerEntries& parent, const FieldSet& replicas) {
    ManagerEntries out;
    for (const ManagerEntry& entry : parent) {
        if (entry.fields.intersect(replicas).empty()) continue;
        out.push_back(entry);
        out.back().api_version = kScaleVersion;
        out.back().fields = scale_field();
    }
    return out;
}

/// The other way: who does not own the number any more loses it in the object, who does now gains it.
ManagerEntries parent_entries(ManagerEntries parent, const ManagerEntries& scale, const FieldSet& replicas,
                              const std::string& api_version) {
    const auto find = [](const auto& entries, const ManagerEntry& wanted) {
        return std::find_if(entries.begin(), entries.end(), [&](const ManagerEntry& entry) {
            return entry.manager == wanted.manager && entry.operation == wanted.operation &&
                   entry.subresource == wanted.subresource;
        });
    };
    for (ManagerEntry& entry : parent) {
        const auto at = find(scale, entry);
        if (at == scale.end())
            entry.fields.subtract(replicas);
        else
            entry.time = at->time;
    }
    for (const ManagerEntry& entry : scale) {
        if (find(parent, entry) != parent.end()) continue;
        parent.push_back(entry);
        parent.back().api_version = api_version;
        parent.back().fields = replicas;
    }
    return parent;
}

}  // namespace

Result<WantedScale, Status> apply_scale(const Call& call, FieldManager manager, const json::Value& before,
                                        const json::Value& known, const std::vector<std::string>& replicas) {
    const cluster::Schema& schema = *cluster::find_schema("autoscaling", "v1", "Scale");
    TRY(const json::Value written, read_applied(call, kScaleVersion, "Scale"));
    auto fields = named_fields(written, &schema, false);
    if (!fields) return Fail{bad_request("failed to create typed patch object: " + fields.error().message)};
    fields->named = fields->named.intersect(scale_field());  // the status is not the client's
    auto decoded = cluster::decode(written, schema, "v1", "Scale", cluster::FieldValidation::Strict);
    if (!decoded) return Fail{bad_request(decoded.error().message)};
    decoded->object.make_object().erase("status");

    const FieldSet number = field_at(replicas);
    ManagerEntries parent;
    if (auto read = detail::read_entries(detail::entries_of(before))) parent = *std::move(read);
    const std::string api_version = std::exchange(manager.api_version, std::string(kScaleVersion));
    auto applied =
        apply_configuration(known, {std::move(decoded->object), *std::move(fields)}, &schema,
                            detail::print_entries(scale_entries(parent, number)), manager, call.query.flag("force"));
    if (!applied) return Fail{apply_conflict(applied.error())};
    ManagerEntries scale;
    if (auto read = detail::read_entries(applied->entries)) scale = *std::move(read);
    return WantedScale{std::move(applied->object),
                       detail::print_entries(parent_entries(std::move(parent), scale, number, api_version))};
}

}  // namespace rhizome::api
