// SPDX-License-Identifier: Apache-2.0
#include "api/field_set.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "api/detail/schema_steps.h"

namespace rhizome::api {
namespace {

using cluster::ListType;
using cluster::Schema;
using detail::element_step;
using detail::Inner;
using detail::inner_of;
using detail::merges_by_element;
using detail::merges_by_member;

/// The document's own names and what only the server sets: nobody owns them.
constexpr std::string_view kUnownedMetadata[] = {
    "f:creationTimestamp", "f:generation",      "f:managedFields", "f:name",
    "f:namespace",         "f:resourceVersion", "f:selfLink",      "f:uid"};

/// Everything in `value`, with the places that hold it.
void add_all(const json::Value& value, const Schema* schema, FieldSet& out) {
    out.member = true;
    if (merges_by_member(value, schema)) {
        for (const auto& member : *value.if_object())
            if (!member.value.is_null())
                add_all(member.value, inner_of(schema, member.key).schema, out.children["f:" + member.key]);
    } else if (merges_by_element(value, schema)) {
        for (const json::Value& element : *value.if_array()) {
            const std::string step = element_step(element, *schema);
            if (step.empty()) continue;
            if (schema->list_type == ListType::Set)
                out.children[step].member = true;
            else
                add_all(element, schema->element, out.children[step]);
        }
    }
}

class Comparison {
public:
    static void compare(const json::Value& before, const json::Value& after, const Schema* schema, FieldSet& written,
                        FieldSet& removed) {
        if (merges_by_member(before, schema) && merges_by_member(after, schema))
            return members(before, after, schema, written, removed);
        if (merges_by_element(before, schema) && merges_by_element(after, schema))
            return elements(before, after, *schema, written, removed);
        if (before == after) return;
        add_all(after, schema, written);
        // Another sort of thing stands there now: what was inside the old one is gone.
        FieldSet old;
        if (merges_by_member(before, schema) || merges_by_element(before, schema)) add_all(before, schema, old);
        for (const auto& [step, child] : old.children) removed.children[step].member = true;
    }

private:
    static void members(const json::Value& before, const json::Value& after, const Schema* schema, FieldSet& written,
                        FieldSet& removed) {
        static const json::Value kEmptyObject{json::Object{}};
        static const json::Value kEmptyList{json::Array{}};
        for (const auto& member : *after.if_object()) {
            if (member.value.is_null()) continue;  // as good as absent
            const std::string step = "f:" + member.key;
            const Inner inner = inner_of(schema, member.key);
            const json::Value* old = before.find(member.key);
            if (old != nullptr && old->is_null()) old = nullptr;
            if (old == nullptr && inner.always) old = member.value.is_array() ? &kEmptyList : &kEmptyObject;
            FieldSet now;
            FieldSet gone;
            if (old == nullptr)
                add_all(member.value, inner.schema, now);
            else
                compare(*old, member.value, inner.schema, now, gone);
            if (!now.empty()) written.children.emplace(step, std::move(now));
            if (!gone.empty()) removed.children.emplace(step, std::move(gone));
        }
        for (const auto& member : *before.if_object())
            if (const json::Value* now = after.find(member.key); now == nullptr || now->is_null())
                removed.children["f:" + member.key].member = true;
    }

    static void elements(const json::Value& before, const json::Value& after, const Schema& list, FieldSet& written,
                         FieldSet& removed) {
        std::map<std::string, const json::Value*> old;
        for (const json::Value& element : *before.if_array()) old.emplace(element_step(element, list), &element);
        std::set<std::string> kept;
        for (const json::Value& element : *after.if_array()) {
            const std::string step = element_step(element, list);
            if (step.empty()) continue;
            kept.insert(step);
            const auto at = old.find(step);
            FieldSet now;
            FieldSet gone;
            if (at == old.end()) {
                if (list.list_type == ListType::Set)
                    now.member = true;
                else
                    add_all(element, list.element, now);
            } else if (list.list_type == ListType::Map) {
                compare(*at->second, element, list.element, now, gone);
            }
            if (!now.empty()) written.children[step].merge(now);
            if (!gone.empty()) removed.children[step].merge(gone);
        }
        for (const auto& [step, element] : old)
            if (!step.empty() && !kept.contains(step)) removed.children[step].member = true;
    }
};

/// `k:{"name":"web","port":80}` as `[name="web",port=80]`.
std::string shown_step(std::string_view step) {
    const std::string_view rest = step.substr(2);
    if (step.starts_with("f:")) return "." + std::string(rest);
    if (!step.starts_with("k:")) return fmt::format("[{}]", rest);
    const auto keys = json::parse(rest);
    std::string out;
    if (keys && keys->is_object())
        for (const auto& key : *keys->if_object())
            out += fmt::format("{}{}={}", out.empty() ? "" : ",", key.key, json::print(key.value));
    return "[" + out + "]";
}

/// `way` with one more step. Steps are a stranger's, and each path below repeats them: a key of a mebibyte with a
/// thousand fields in it would make a gibibyte of text.
std::string further(const std::string& way, std::string_view step) {
    constexpr std::size_t kPathBytesMax = 4096;
    if (way.size() >= kPathBytesMax) return way;
    std::string out = way + shown_step(step);
    if (out.size() <= kPathBytesMax) return out;
    out.resize(kPathBytesMax);
    return out + "...";
}

void list_paths(const FieldSet& set, const std::string& way, std::size_t most, std::vector<std::string>& out) {
    for (const auto& [step, child] : set.children)
        if (child.member && out.size() < most) out.push_back(further(way, step));
    for (const auto& [step, child] : set.children) {
        if (out.size() >= most) return;
        if (!child.children.empty()) list_paths(child, further(way, step), most, out);
    }
}

/// Takes a text of plain characters in quotes from the front; empty, with nothing taken, for anything else.
std::string_view take_plain_text(std::string_view& rest) {
    if (!rest.starts_with('"')) return {};
    std::size_t end = 1;
    while (end < rest.size() && rest[end] >= ' ' && rest[end] < '\x7f' && rest[end] != '"' && rest[end] != '\\') ++end;
    if (end >= rest.size() || rest[end] != '"') return {};
    const std::string_view text = rest.substr(0, end + 1);
    rest.remove_prefix(end + 1);
    return text;
}
/// The same for a whole number.
std::string_view take_number(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && rest[end] >= '0' && rest[end] <= '9') ++end;
    const std::string_view digits = rest.substr(0, end);
    if (digits.size() > 1 && digits[0] == '0') return {};
    rest.remove_prefix(end);
    return digits;
}

/// Whether a step is seen at a glance to be in its one form, as nearly all are: keys in order, plain texts and numbers.
bool is_plainly_canonical(std::string_view step) {
    std::string_view rest = step.substr(2);
    if (step[0] == 'v') return !take_plain_text(rest).empty() && rest.empty();
    if (step[0] != 'k' || !rest.starts_with('{')) return false;
    std::string_view previous;
    do {
        rest.remove_prefix(1);  // the brace, or a comma
        const std::string_view key = take_plain_text(rest);
        if (key.empty() || key <= previous || !rest.starts_with(':')) return false;
        previous = key;
        rest.remove_prefix(1);
        if (take_plain_text(rest).empty() && take_number(rest).empty()) return false;
    } while (rest.starts_with(','));
    return rest == "}";
}

/// A step as it was written by somebody, in its one form.
Result<std::string> read_step(const std::string& step) {
    if (step.size() > 2 && step[1] == ':' && is_plainly_canonical(step)) return step;
    const std::string_view rest = std::string_view(step).substr(std::min<std::size_t>(2, step.size()));
    if (step.starts_with("f:")) return step;
    const bool by_key = step.starts_with("k:");
    if (by_key || step.starts_with("v:") || step.starts_with("i:")) {
        const auto value = json::parse(rest);
        if (value && (!by_key || value->is_object()) && (step[0] != 'i' || value->if_int64()))
            return step.substr(0, 2) + json::print_canonical(*value);
    }
    return Fail{Error{ErrorKind::Invalid,
                      fmt::format("fieldsV1: {} is no step to a field: it is f:MEMBER, k:{{KEYS}}, v:VALUE or i:INDEX",
                                  json::quote(step))}};
}

}  // namespace

FieldSet ownable(FieldSet set) {
    set.member = false;
    set.children.erase("f:apiVersion");
    set.children.erase("f:kind");
    const auto metadata = set.children.find("f:metadata");
    if (metadata != set.children.end()) {
        metadata->second.member = false;
        for (const std::string_view field : kUnownedMetadata) metadata->second.children.erase(std::string(field));
        if (metadata->second.empty()) set.children.erase(metadata);
    }
    return set;
}

void FieldSet::merge(const FieldSet& other) {
    member = member || other.member;
    for (const auto& [step, child] : other.children) children[step].merge(child);
}

void FieldSet::subtract(const FieldSet& other) {
    if (other.member && other.children.empty()) {
        member = false;
        children.clear();
        return;
    }
    if (other.member) member = false;
    // Over the smaller one: many managers with a field each meet one large change.
    if (children.size() < other.children.size()) {
        for (auto at = children.begin(); at != children.end();) {
            if (const FieldSet* child = other.find(at->first)) at->second.subtract(*child);
            at = at->second.empty() ? children.erase(at) : std::next(at);
        }
        return;
    }
    for (const auto& [step, child] : other.children) {
        const auto at = children.find(step);
        if (at == children.end()) continue;
        at->second.subtract(child);
        if (at->second.empty()) children.erase(at);
    }
}

FieldSet FieldSet::intersect(const FieldSet& other) const {
    FieldSet both{.member = member && other.member};
    for (const auto& [step, child] : children) {
        const auto at = other.children.find(step);
        if (at == other.children.end()) continue;
        FieldSet inner = child.intersect(at->second);
        if (!inner.empty()) both.children.emplace(step, std::move(inner));
    }
    return both;
}

FieldSet FieldSet::without(const FieldSet& other) const {
    FieldSet rest{.member = member && !other.member};
    for (const auto& [step, child] : children) {
        const FieldSet* taken = other.find(step);
        FieldSet inner = taken == nullptr ? child : child.without(*taken);
        if (!inner.empty()) rest.children.emplace(step, std::move(inner));
    }
    return rest;
}

const FieldSet* FieldSet::find(std::string_view step) const {
    const auto at = children.find(step);
    return at == children.end() ? nullptr : &at->second;
}

std::vector<std::string> FieldSet::paths(std::size_t most) const {
    std::vector<std::string> out;
    list_paths(*this, "", most, out);
    return out;
}

std::size_t FieldSet::count() const {
    std::size_t all = 0;
    for (const auto& [step, child] : children) all += (child.member ? 1 : 0) + child.count();
    return all;
}

json::Value FieldSet::to_json() const {
    json::Object out;
    if (member && !children.empty()) out.set(".", json::Object{});
    for (const auto& [step, child] : children) out.set(step, child.to_json());
    return out;
}

Result<FieldSet> FieldSet::from_json(const json::Value& value) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return Fail{Error{ErrorKind::Invalid, "fieldsV1: a set of fields is an object"}};
    FieldSet set{.member = object->empty() || object->contains(".")};
    for (const auto& [step, inner] : *object) {
        if (step == ".") continue;
        TRY(std::string one_form, read_step(step));
        TRY(auto child, from_json(inner));
        set.children[std::move(one_form)].merge(child);
    }
    return set;
}

FieldChanges compare_fields(const json::Value& before, const json::Value& after, const Schema* schema) {
    FieldChanges changes;
    schema = detail::document_schema(schema);
    Comparison::compare(before, after, schema, changes.written, changes.removed);
    changes.written = ownable(std::move(changes.written));
    changes.removed = ownable(std::move(changes.removed));
    return changes;
}

FieldSet fields_of(const json::Value& object, const Schema* schema) {
    // Only what was written: the structs on the way belong to nobody.
    return compare_fields(json::Object{}, object, schema).written;
}

}  // namespace rhizome::api
