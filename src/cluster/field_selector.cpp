// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cluster/selector.h"

namespace rhizome::cluster {
namespace {

/// The terms between the commas that no backslash hides.
std::vector<std::string_view> split_terms(std::string_view text) {
    std::vector<std::string_view> terms;
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == ',') {
            terms.push_back(text.substr(start, i - start));
            start = i + 1;
        }
    }
    terms.push_back(text.substr(start));
    return terms;
}

Result<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',' || text[i] == '=')
            return fail(ErrorKind::Invalid,
                        fmt::format("invalid field selector: unescaped character in value: {}", text[i]));
        if (text[i] == '\\') {
            if (++i == text.size())
                return fail(ErrorKind::Invalid, "invalid field selector: invalid escape sequence: \\");
            if (text[i] != '\\' && text[i] != ',' && text[i] != '=')
                return fail(ErrorKind::Invalid,
                            fmt::format("invalid field selector: invalid escape sequence: \\{}", text[i]));
        }
        out.push_back(text[i]);
    }
    return out;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == ',' || c == '=') out.push_back('\\');
        out.push_back(c);
    }
    return out;
}

Result<FieldSelector::Term> read_term(std::string_view text, std::string_view whole) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        const std::size_t size = rest.starts_with("!=") || rest.starts_with("==") ? 2 : rest.starts_with('=') ? 1 : 0;
        if (size == 0) continue;
        TRY(auto value, unescaped(rest.substr(size)));
        return FieldSelector::Term{std::string(text.substr(0, i)), std::move(value), text[i] != '!'};
    }
    return fail(ErrorKind::Invalid, fmt::format("invalid selector: '{}'; can't understand '{}'", whole, text));
}

/// Fields that are called otherwise in the document.
std::string_view place_of(const Kind& kind, std::string_view field) {
    if (kind.custom) return field;
    if (field == "spec.host") return "spec.nodeName";
    if (kind.kind == "Job" && field == "status.successful") return "status.succeeded";
    if (kind.kind == "Event" && field == "source") return "source.component";
    return field;
}

}  // namespace

std::string selectable_value(const json::Value& object, const Kind& kind, std::string_view field) {
    std::string_view rest = place_of(kind, field);
    const json::Value* value = &object;
    const Schema* schema = kind.custom ? nullptr : kind.schema;  // of custom kinds what is not there is nothing
    for (;;) {
        const std::size_t dot = rest.find('.');
        const std::string_view member = rest.substr(0, dot);
        value = value == nullptr ? nullptr : value->find(member);
        const Field* known = schema == nullptr ? nullptr : schema->find(member);
        schema = known == nullptr ? nullptr : known->schema;
        if (dot == std::string_view::npos) break;
        rest.remove_prefix(dot + 1);
    }
    if (value != nullptr && value->if_string() != nullptr) return *value->if_string();
    if (value != nullptr && value->if_number() != nullptr) return value->if_number()->text();
    if (value != nullptr && value->if_boolean()) return *value->if_boolean() ? "true" : "false";
    if (value != nullptr && value->if_array() != nullptr) {
        std::string out;  // status.podIPs: the addresses
        for (const json::Value& each : *value->if_array())
            out += (out.empty() ? "" : ",") + std::string(each.text_at({"ip"}));
        return out;
    }
    if (schema == nullptr) return {};
    if (schema->shape == Shape::Boolean) return "false";
    if (schema->shape == Shape::Integer32 || schema->shape == Shape::Integer64) return "0";
    return {};
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
    FieldSelector selector;
    for (const std::string_view term : split_terms(text)) {
        if (term.empty()) continue;
        TRY(auto read, read_term(term, text));
        selector.terms_.push_back(std::move(read));
    }
    std::stable_sort(selector.terms_.begin(), selector.terms_.end(),
                     [](const Term& left, const Term& right) { return left.field < right.field; });
    return selector;
}

Result<void> FieldSelector::check(const Kind& kind) const {
    for (const Term& term : terms_) {
        if (kind.selects(term.field)) continue;
        if (kind.field_selectors.size() <= 2)
            return fail(ErrorKind::Invalid,
                        fmt::format("{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                                    json::quote(term.field)));
        return fail(ErrorKind::Invalid, fmt::format("field label not supported: {}", term.field));
    }
    return {};
}

bool FieldSelector::matches(const json::Value& object, const Kind& kind) const {
    return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
        return (selectable_value(object, kind, term.field) == term.value) == term.equal;
    });
}

const std::string* FieldSelector::required(std::string_view field) const {
    const auto at =
        std::find_if(terms_.begin(), terms_.end(), [&](const Term& term) { return term.equal && term.field == field; });
    return at == terms_.end() ? nullptr : &at->value;
}

std::string FieldSelector::text() const {
    std::string out;
    for (const Term& term : terms_)
        out +=
            fmt::format("{}{}{}{}", out.empty() ? "" : ",", term.field, term.equal ? "=" : "!=", escaped(term.value));
    return out;
}

}  // namespace rhizome::cluster
