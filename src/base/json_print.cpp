// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/detail/json_text.h"
#include "base/ensure.h"
#include "base/json.h"

namespace rhizome::json {
namespace {

void quote_to(std::string& out, std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    out += '"';
    while (at != end) {
        const char* const special = detail::skip_plain(at, end);
        out.append(at, special);
        at = special;
        if (at == end) break;
        const char c = *at;
        if (static_cast<unsigned char>(c) >= 0x80) {
            const int length = detail::utf8_length(at, end);
            if (length > 0) {
                out.append(at, static_cast<std::size_t>(length));
                at += length;
            } else {
                out += "\xef\xbf\xbd";
                ++at;
            }
            continue;
        }
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default: {
                constexpr char kDigits[] = "0123456789abcdef";
                out += "\\u00";
                out += kDigits[static_cast<unsigned char>(c) >> 4];
                out += kDigits[c & 15];
            }
        }
        ++at;
    }
    out += '"';
}

/// What the three styles share: everything but what stands between members and in which order they come.
void scalar_to(std::string& out, const Value& value) {
    switch (value.kind()) {
        case Kind::Null: out += "null"; return;
        case Kind::Boolean: out += *value.if_boolean() ? "true" : "false"; return;
        case Kind::Number: out += value.if_number()->text(); return;
        case Kind::String: quote_to(out, *value.if_string()); return;
        case Kind::Raw: out += *value.if_raw()->text; return;
        case Kind::Array:
        case Kind::Object: break;
    }
    unreachable("arrays and objects are printed by the style");
}

void canonical_to(std::string& out, const Value& value) {
    if (const Array* array = value.if_array()) {
        char before = '[';
        for (const Value& element : *array) {
            out += before;
            canonical_to(out, element);
            before = ',';
        }
        out += array->empty() ? "[]" : "]";
    } else if (const Object* object = value.if_object()) {
        std::vector<const Object::Member*> sorted;
        sorted.reserve(object->size());
        for (const auto& member : *object) sorted.push_back(&member);
        std::sort(sorted.begin(), sorted.end(),
                  [](const auto* left, const auto* right) { return left->key < right->key; });
        char before = '{';
        for (const auto* member : sorted) {
            out += before;
            quote_to(out, member->key);
            out += ':';
            canonical_to(out, member->value);
            before = ',';
        }
        out += object->empty() ? "{}" : "}";
    } else if (const Raw* raw = value.if_raw()) {
        const auto parsed = parse(*raw->text, {.bytes = std::numeric_limits<std::size_t>::max(), .depth = kDepthMax});
        ensure(parsed.has_value(), "raw JSON was checked before it became a value");
        canonical_to(out, *parsed);
    } else {
        scalar_to(out, value);
    }
}

void new_line(std::string& out, std::size_t depth) {
    out += '\n';
    out.append(2 * depth, ' ');
}

void pretty_to(std::string& out, const Value& value, std::size_t depth) {
    if (const Array* array = value.if_array(); array != nullptr && !array->empty()) {
        char before = '[';
        for (const Value& element : *array) {
            out += before;
            new_line(out, depth + 1);
            pretty_to(out, element, depth + 1);
            before = ',';
        }
        new_line(out, depth);
        out += ']';
    } else if (const Object* object = value.if_object(); object != nullptr && !object->empty()) {
        char before = '{';
        for (const auto& member : *object) {
            out += before;
            new_line(out, depth + 1);
            quote_to(out, member.key);
            out += ": ";
            pretty_to(out, member.value, depth + 1);
            before = ',';
        }
        new_line(out, depth);
        out += '}';
    } else {
        print_to(out, value);
    }
}

}  // namespace

void print_to(std::string& out, const Value& value) {
    if (const Array* array = value.if_array()) {
        char before = '[';
        for (const Value& element : *array) {
            out += before;
            print_to(out, element);
            before = ',';
        }
        out += array->empty() ? "[]" : "]";
    } else if (const Object* object = value.if_object()) {
        char before = '{';
        for (const auto& member : *object) {
            out += before;
            quote_to(out, member.key);
            out += ':';
            print_to(out, member.value);
            before = ',';
        }
        out += object->empty() ? "{}" : "}";
    } else {
        scalar_to(out, value);
    }
}

std::string print(const Value& value) {
    std::string out;
    print_to(out, value);
    return out;
}

std::string print_canonical(const Value& value) {
    std::string out;
    canonical_to(out, value);
    return out;
}

std::string print_pretty(const Value& value) {
    std::string out;
    pretty_to(out, value, 0);
    out += '\n';
    return out;
}

std::string quote(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 2);
    quote_to(out, text);
    return out;
}

}  // namespace rhizome::json
