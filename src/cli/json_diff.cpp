// SPDX-License-Identifier: Apache-2.0
#include "cli/json_diff.h"

#include <algorithm>

#include <fmt/core.h>

namespace rhizome::cli {
namespace {

bool is_plain(std::string_view key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

std::string below(const std::string& field, std::string_view key) {
    if (!is_plain(key)) return fmt::format("{}[{}]", field, json::quote(key));
    return field.empty() ? std::string{key} : fmt::format("{}.{}", field, key);
}

void compare(const std::string& field, const json::Value& before, const json::Value& after,
             std::vector<FieldChange>& out) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) {
        for (const auto& [key, value] : *before.if_object()) {
            if (const json::Value* other = after.find(key)) {
                compare(below(field, key), value, *other, out);
            } else {
                out.push_back({below(field, key), value, {}});
            }
        }
        for (const auto& [key, value] : *after.if_object())
            if (before.find(key) == nullptr) out.push_back({below(field, key), {}, value});
        return;
    }
    if (before.is_array() && after.is_array()) {
        const json::Array& old = *before.if_array();
        const json::Array& now = *after.if_array();
        for (std::size_t i = 0; i < std::max(old.size(), now.size()); ++i) {
            const std::string place = fmt::format("{}[{}]", field, i);
            if (i >= now.size()) {
                out.push_back({place, old[i], {}});
            } else if (i >= old.size()) {
                out.push_back({place, {}, now[i]});
            } else {
                compare(place, old[i], now[i], out);
            }
        }
        return;
    }
    out.push_back({field, before, after});
}

}  // namespace

std::vector<FieldChange> field_changes(const json::Value& before, const json::Value& after) {
    std::vector<FieldChange> changes;
    compare("", before, after, changes);
    return changes;
}

}  // namespace rhizome::cli
