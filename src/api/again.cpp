// SPDX-License-Identifier: Apache-2.0
#include "api/again.h"

#include <algorithm>

#include "api/patch.h"
#include "cluster/decode.h"

namespace rhizome::api {
namespace {

/// They follow from the write itself.
bool is_bookkeeping(const std::vector<std::string>& path) {
    return path.size() == 2 && path[0] == "metadata" && (path[1] == "managedFields" || path[1] == "generation");
}

const json::Value* member(const json::Value* value, std::string_view key) {
    return value == nullptr ? nullptr : value->find(key);
}

bool has_members(const json::Value* value) { return value != nullptr && value->is_object(); }

void compare(std::vector<std::string>& path, const json::Value* before, const json::Value* after,
             std::vector<TouchedField>& out) {
    if (is_bookkeeping(path)) return;
    // What was missing had no members: of an object that is new each member is a field of its own.
    const bool objects = (has_members(before) || before == nullptr) && has_members(after);
    if (!objects) {
        if (before != nullptr && after != nullptr && *before == *after) return;
        TouchedField field{.path = path};
        if (before != nullptr) field.before = *before;
        if (after != nullptr) field.after = *after;
        out.push_back(std::move(field));
        return;
    }
    const auto walk = [&](const json::Value* one, const json::Value* beside, bool only_missing) {
        if (one == nullptr) return;
        for (const auto& [key, value] : *one->if_object()) {
            const json::Value* other = member(beside, key);
            if (only_missing && other != nullptr) continue;
            path.emplace_back(key);
            only_missing ? compare(path, nullptr, &value, out) : compare(path, &value, other, out);
            path.pop_back();
        }
    };
    walk(before, after, false);
    walk(after, before, true);
}

bool is_same(const json::Value* now, const std::optional<json::Value>& then) {
    return now == nullptr ? !then.has_value() : then.has_value() && *now == *then;
}

}  // namespace

std::vector<TouchedField> touched_fields(const json::Value& before, const json::Value& after) {
    std::vector<TouchedField> out;
    std::vector<std::string> path;
    compare(path, before.is_object() ? &before : nullptr, &after, out);
    return out;
}

std::optional<std::string> contested_field(const std::vector<TouchedField>& touched, const json::Value& now) {
    for (const TouchedField& field : touched) {
        const json::Value* present = &now;
        for (const std::string& key : field.path)
            present = present != nullptr && present->is_object() ? present->find(key) : nullptr;
        if (is_same(present, field.before) || is_same(present, field.after)) continue;
        std::string name;
        for (const std::string& key : field.path) name += (name.empty() ? "" : ".") + key;
        return name;
    }
    return std::nullopt;
}

bool does_the_same(const std::vector<TouchedField>& first, const std::vector<TouchedField>& again) {
    return std::all_of(again.begin(), again.end(), [&](const TouchedField& one) {
        return std::any_of(first.begin(), first.end(), [&](const TouchedField& field) {
            return field.path == one.path && field.after == one.after;
        });
    });
}

bool may_be_made_again(const Call& call) {
    if (call.verb != Verb::Patch || call.is_dry()) return false;
    const auto type = patch_type(call.media);
    if (!type) return false;
    const auto body = *type == PatchType::Apply ? cluster::parse_yaml(call.body) : cluster::parse_json(call.body);
    if (!body) return false;
    if (body->find_path({"metadata", "resourceVersion"}) != nullptr) return false;
    if (*type != PatchType::Json) return true;
    const json::Array* steps = body->if_array();
    return steps != nullptr && std::none_of(steps->begin(), steps->end(), [](const json::Value& step) {
               const std::string_view path = step.text_at({"path"});
               return step.text_at({"op"}) == "test" || path == "/metadata/resourceVersion" || path == "/metadata" ||
                      path.empty();
           });
}

void Remembered::forget_oldest() {
    const auto at = requests_.find(order_.front());
    order_.pop_front();
    if (at == requests_.end()) return;
    bytes_ -= at->second.bytes;
    requests_.erase(at);
}

void Remembered::put(const ledger::TxId& id, Request request) {
    if (requests_.contains(id) || request.bytes > kBytesMax / 16) return;
    bytes_ += request.bytes;
    requests_.emplace(id, std::move(request));
    order_.push_back(id);
    while (order_.size() > kRequestsMax || bytes_ > kBytesMax) forget_oldest();
}

std::optional<Remembered::Request> Remembered::take(const ledger::TxId& id) {
    const auto at = requests_.find(id);
    if (at == requests_.end()) return std::nullopt;
    Request request = std::move(at->second);
    bytes_ -= request.bytes;
    requests_.erase(at);
    return request;
}

}  // namespace rhizome::api
