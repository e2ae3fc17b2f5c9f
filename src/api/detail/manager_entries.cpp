// SPDX-License-Identifier: Apache-2.0
#include "api/detail/manager_entries.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

namespace rhizome::api::detail {
namespace {

Result<ManagerEntry> read_entry(const json::Value& value) {
    const auto wrong = [](std::string_view why) {
        return Fail{Error{ErrorKind::Invalid, fmt::format("metadata.managedFields: {}", why)}};
    };
    ManagerEntry entry;
    entry.manager = value.text_at({"manager"});
    entry.operation = value.text_at({"operation"});
    entry.api_version = value.text_at({"apiVersion"});
    entry.subresource = value.text_at({"subresource"});
    entry.time = value.text_at({"time"});
    if (entry.operation != kApply && entry.operation != kUpdate) return wrong("operation must be `Apply` or `Update`");
    if (entry.api_version.empty()) return wrong("apiVersion must not be empty");
    if (value.text_at({"fieldsType"}) != "FieldsV1") return wrong("fieldsType must be FieldsV1");
    if (const json::Value* fields = value.find("fieldsV1")) {
        TRY(entry.fields, FieldSet::from_json(*fields));
        entry.fields.member = false;  // the document itself is nobody's
    }
    return entry;
}

json::Value print_entry(const ManagerEntry& entry) {
    json::Object out{{"manager", entry.manager}, {"operation", entry.operation}, {"apiVersion", entry.api_version}};
    if (!entry.time.empty()) out.set("time", entry.time);
    out.set("fieldsType", "FieldsV1");
    out.set("fieldsV1", entry.fields.to_json());
    if (!entry.subresource.empty()) out.set("subresource", entry.subresource);
    return out;
}

}  // namespace

Result<ManagerEntries> read_entries(const json::Array& entries) {
    if (entries.size() > kEntriesMax)
        return Fail{
            Error{ErrorKind::Invalid, fmt::format("metadata.managedFields: must have at most {} items", kEntriesMax)}};
    ManagerEntries all;
    all.reserve(entries.size());
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places;
    for (const json::Value& value : entries) {
        TRY(ManagerEntry entry, read_entry(value));
        // Who stands there twice is one manager, and the later entry counts.
        const auto [same, is_new] = places.emplace(entry.identity(), all.size());
        if (is_new)
            all.push_back(std::move(entry));
        else
            all[same->second] = std::move(entry);
    }
    return all;
}

json::Array print_entries(ManagerEntries entries) {
    std::erase_if(entries, [](const ManagerEntry& entry) { return entry.fields.empty(); });
    std::sort(entries.begin(), entries.end(),
              [](const ManagerEntry& left, const ManagerEntry& right) { return left.order() < right.order(); });
    json::Array out;
    out.reserve(entries.size());
    for (const ManagerEntry& entry : entries) out.push_back(print_entry(entry));
    return out;
}

const json::Array& entries_of(const json::Value& object) {
    static const json::Array kNone;
    const json::Value* entries = object.find_path({"metadata", "managedFields"});
    return entries == nullptr || !entries->is_array() ? kNone : *entries->if_array();
}

}  // namespace rhizome::api::detail
