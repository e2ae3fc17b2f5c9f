// SPDX-License-Identifier: Apache-2.0
#include "api/detail/cells.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "api/table.h"
#include "cluster/selector.h"

namespace rhizome::api::detail {

std::string Printed::text_or(Path path, std::string_view otherwise) const {
    const std::string_view found = text(path);
    return std::string(found.empty() ? otherwise : found);
}

std::int64_t Printed::number(Path path, std::int64_t otherwise) const {
    const json::Value* value = object.find_path(path);
    return value == nullptr ? otherwise : value->if_int64().value_or(otherwise);
}

bool Printed::flag(Path path) const {
    const json::Value* value = object.find_path(path);
    return value != nullptr && value->if_boolean() == true;
}

const json::Array& Printed::list(Path path) const {
    static const json::Array kNone;
    const json::Value* value = object.find_path(path);
    return value == nullptr || !value->is_array() ? kNone : *value->if_array();
}

std::size_t Printed::count(Path path) const {
    const json::Value* value = object.find_path(path);
    if (value == nullptr) return 0;
    if (const json::Object* members = value->if_object()) return members->size();
    return value->is_array() ? value->if_array()->size() : 0;
}

std::string Printed::since(Path path) const {
    const auto time = from_rfc3339(text(path));
    return time ? human_duration(now - *time) : "<unknown>";
}

std::string labels_text(const json::Value* labels) {
    const json::Object* object = labels == nullptr ? nullptr : labels->if_object();
    if (object == nullptr || object->empty()) return "<none>";
    std::vector<std::string> each;
    for (const auto& member : *object) each.push_back(member.key + "=" + scalar_text(&member.value, ""));
    std::sort(each.begin(), each.end());
    return joined(each);
}

std::string selector_text(const json::Value* selector) {
    const auto read = cluster::LabelSelector::from_document(selector, cluster::Where{});
    const std::string text = read ? read->text() : std::string{};
    return text.empty() ? "<none>" : text;
}

std::string scalar_text(const json::Value* value, std::string_view otherwise) {
    if (value == nullptr || value->is_null()) return std::string(otherwise);
    if (const std::string* text = value->if_string()) return *text;
    return json::print(*value);
}

json::Array created_cells(const Printed& row) { return {row.name(), row.created_at()}; }

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i != 0) out += between;
        out += texts[i];
    }
    return out;
}

std::string joined_fields(const json::Array& list, std::string_view field) {
    std::vector<std::string> texts;
    for (const json::Value& each : list) texts.push_back(scalar_text(each.find(field), ""));
    return joined(texts);
}

namespace {

/// One step of a path: a member, an index, all elements, or those with a field of a value.
struct Step {
    enum class Kind : std::uint8_t { Member, Index, All, Filter } kind = Kind::Member;
    std::string_view name{};  ///< Member; the field of a filter
    std::string_view value{};
    std::size_t index = 0;
};

std::string_view unquoted(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        return text.substr(1, text.size() - 2);
    return text;
}

std::optional<Step> bracket_step(std::string_view inside) {
    if (inside == "*") return Step{.kind = Step::Kind::All};
    if (inside.starts_with("?(@.") && inside.ends_with(')')) {
        inside = inside.substr(4, inside.size() - 5);
        const std::size_t equal = inside.find("==");
        if (equal == std::string_view::npos) return std::nullopt;
        const auto trimmed = [](std::string_view text) {
            while (text.starts_with(' ')) text.remove_prefix(1);
            while (text.ends_with(' ')) text.remove_suffix(1);
            return text;
        };
        return Step{.kind = Step::Kind::Filter,
                    .name = trimmed(inside.substr(0, equal)),
                    .value = unquoted(trimmed(inside.substr(equal + 2)))};
    }
    if (inside.starts_with('\'') || inside.starts_with('"')) return Step{.name = unquoted(inside)};
    std::size_t index = 0;
    if (inside.empty() || inside.size() > 6) return std::nullopt;
    for (const char c : inside) {
        if (c < '0' || c > '9') return std::nullopt;
        index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    return Step{.kind = Step::Kind::Index, .index = index};
}

/// Takes the first step off; nothing at the end and for what is no path.
std::optional<Step> next_step(std::string_view& path) {
    if (path.starts_with('[')) {
        // A filter's text may hold brackets only inside quotes; the values of conditions have none.
        const std::size_t end = path.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        const auto step = bracket_step(path.substr(1, end - 1));
        path.remove_prefix(end + 1);
        return step;
    }
    if (path.starts_with('.')) path.remove_prefix(1);
    std::size_t size = 0;
    while (size < path.size() && path[size] != '.' && path[size] != '[') size += path[size] == '\\' ? 2 : 1;
    size = std::min(size, path.size());
    const Step step{.name = path.substr(0, size)};
    path.remove_prefix(size);
    return step.name.empty() ? std::nullopt : std::optional(step);
}

void take_step(const json::Value& value, const Step& step, std::vector<const json::Value*>& out) {
    if (step.kind == Step::Kind::Member) {
        std::string plain;  // `a\.b` is one member
        for (std::size_t i = 0; i < step.name.size(); ++i)
            if (step.name[i] != '\\') plain.push_back(step.name[i]);
        if (const json::Value* member = value.find(plain)) out.push_back(member);
        return;
    }
    const json::Array* array = value.if_array();
    if (array == nullptr) return;
    if (step.kind == Step::Kind::Index) {
        if (step.index < array->size()) out.push_back(&(*array)[step.index]);
        return;
    }
    for (const json::Value& each : *array)
        if (step.kind == Step::Kind::All || scalar_text(each.find(step.name), "") == step.value) out.push_back(&each);
}

}  // namespace

std::vector<const json::Value*> json_path(const json::Value& object, std::string_view path) {
    if (path.starts_with('{') && path.ends_with('}')) path = path.substr(1, path.size() - 2);
    if (path.starts_with('$')) path.remove_prefix(1);
    std::vector<const json::Value*> found{&object};
    while (!path.empty()) {
        const auto step = next_step(path);
        if (!step) return {};
        std::vector<const json::Value*> next;
        for (const json::Value* each : found) take_step(*each, *step, next);
        found = std::move(next);
    }
    return found;
}

}  // namespace rhizome::api::detail
