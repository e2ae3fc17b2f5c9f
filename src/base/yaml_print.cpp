// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <fmt/core.h>

#include "base/detail/json_text.h"
#include "base/detail/yaml_scalar.h"
#include "base/ensure.h"
#include "base/yaml.h"

namespace rhizome::yaml {
namespace {

using json::Array;
using json::Kind;
using json::Object;
using json::Value;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kSimpleKeyMax = 1000;  // YAML: a key before its ':' has at most 1024 characters

unsigned code_point(std::string_view sequence) {
    const auto byte = [sequence](std::size_t i) {
        return static_cast<unsigned>(static_cast<unsigned char>(sequence[i]));
    };
    switch (sequence.size()) {
        case 1: return byte(0);
        case 2: return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
        case 3: return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
        default: return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
    }
}

/// Stands for itself in every YAML version and on every terminal: no control, no line break, no byte order mark.
bool is_printable(unsigned code) {
    if (code < 0x7f) return code >= 0x20;
    return code >= 0xa0 && code != 0x2028 && code != 0x2029 && code != 0xfeff && (code & 0xfffe) != 0xfffe;
}

/// Calls `visit(sequence, code)` for each character; what is no UTF-8 becomes U+FFFD.
template <class Visit>
void for_characters(std::string_view text, Visit visit) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const int length = json::detail::utf8_length(at, end);
        if (length > 0) {
            const std::string_view sequence{at, static_cast<std::size_t>(length)};
            visit(sequence, code_point(sequence));
            at += length;
        } else {
            visit(std::string_view("\xef\xbf\xbd"), 0xfffd);
            ++at;
        }
    }
}

/// All characters printable, newlines aside. False for what is no UTF-8, which only double quotes repair.
bool all_printable(std::string_view text, bool newlines) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const int length = json::detail::utf8_length(at, end);
        if (length <= 0) return false;
        const unsigned code = code_point({at, static_cast<std::size_t>(length)});
        if (!is_printable(code) && !(newlines && code == '\n')) return false;
        at += length;
    }
    return true;
}

bool is_plain_safe(std::string_view text) {
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
    if (text.starts_with("---") || text.starts_with("...")) return false;
    const char first = text.front();
    constexpr std::string_view kNeverFirst = ",[]{}#&*!|>'\"%@`";
    if (kNeverFirst.find(first) != std::string_view::npos) return false;
    if ((first == '-' || first == '?' || first == ':') && (text.size() == 1 || text[1] == ' ')) return false;
    return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

/// May stand as a `|` block: its first line shows the indentation, and no line ends in blanks that an editor would eat.
bool is_block_safe(std::string_view text) {
    if (text.find('\n') == std::string_view::npos || text.front() == '\n' || text.front() == ' ') return false;
    return all_printable(text, true) && text.find(" \n") == std::string_view::npos && text.back() != ' ';
}

void single_quoted_to(std::string& out, std::string_view text) {
    out += '\'';
    for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
    out += '\'';
}

/// The escapes are those that JSON has too.
void double_quoted_to(std::string& out, std::string_view text) {
    out += '"';
    for_characters(text, [&out](std::string_view sequence, unsigned code) {
        switch (code) {
            case '"': out += "\\\""; return;
            case '\\': out += "\\\\"; return;
            case '\n': out += "\\n"; return;
            case '\r': out += "\\r"; return;
            case '\t': out += "\\t"; return;
            default: break;
        }
        if (is_printable(code))
            out += sequence;
        else if (code <= 0xffff)
            out += fmt::format("\\u{:04x}", code);
        else
            out += fmt::format("\\U{:08x}", code);
    });
    out += '"';
}

/// On one line.
void text_to(std::string& out, std::string_view text) {
    if (!all_printable(text, false) || detail::is_ambiguous(text))
        double_quoted_to(out, text);
    else if (is_plain_safe(text))
        out += text;
    else
        single_quoted_to(out, text);
}

void block_to(std::string& out, std::string_view text, std::size_t indent) {
    std::string_view rest = text;
    out += '|';
    if (!text.ends_with('\n'))
        out += '-';
    else if (text.ends_with("\n\n"))
        out += '+';
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        out += '\n';
        if (end > 0) out.append(indent, ' ').append(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

class Printer {
public:
    explicit Printer(std::string& out) : out_(out) {}

    /// A value after something on the same line (or nothing); ends without a newline. `indent` is that of the lines
    /// below which belong to it.
    void scalar(const Value& value, std::size_t indent) {
        switch (value.kind()) {
            case Kind::Null: out_ += "null"; return;
            case Kind::Boolean: out_ += *value.if_boolean() ? "true" : "false"; return;
            case Kind::Number: out_ += value.if_number()->text(); return;
            case Kind::Array: out_ += "[]"; return;  // only empty ones come here
            case Kind::Object: out_ += "{}"; return;
            case Kind::String:
                if (is_block_safe(*value.if_string()))
                    block_to(out_, *value.if_string(), indent);
                else
                    text_to(out_, *value.if_string());
                return;
            case Kind::Raw: break;
        }
        unreachable("raw parts are parsed before they are printed as YAML");
    }

    /// A whole value, its first line where the caller stands, the others indented; ends with a newline.
    void node(const Value& value, std::size_t indent) {
        if (const auto* raw = value.if_raw()) return node(parsed(*raw), indent);
        if (const Array* array = value.if_array(); array != nullptr && !array->empty()) return sequence(*array, indent);
        if (const Object* object = value.if_object(); object != nullptr && !object->empty())
            return mapping(*object, indent);
        scalar(value, indent == 0 ? kIndent : indent);
        out_ += '\n';
    }

private:
    void sequence(const Array& array, std::size_t indent) {
        bool first = true;
        for (const Value& element : array) {
            if (!first) out_.append(indent, ' ');
            first = false;
            out_ += "- ";
            node(element, indent + kIndent);
        }
    }

    void mapping(const Object& object, std::size_t indent) {
        bool first = true;
        for (const auto& [key, value] : object) {
            if (!first) out_.append(indent, ' ');
            first = false;
            std::string shown;
            text_to(shown, key);
            if (shown.size() > kSimpleKeyMax) {
                out_.append("? ").append(shown).append("\n").append(indent, ' ');
                shown.clear();
            }
            out_.append(shown).append(":");
            member(value, indent);
        }
    }

    void member(const Value& value, std::size_t indent) {
        if (const auto* raw = value.if_raw()) return member(parsed(*raw), indent);
        const Array* array = value.if_array();
        const Object* object = value.if_object();
        if (array != nullptr && !array->empty()) {
            // kubectl's way: the dashes stand below the key, not indented.
            out_.append("\n").append(indent, ' ');
            sequence(*array, indent);
        } else if (object != nullptr && !object->empty()) {
            out_.append("\n").append(indent + kIndent, ' ');
            mapping(*object, indent + kIndent);
        } else {
            out_ += ' ';
            scalar(value, indent + kIndent);
            out_ += '\n';
        }
    }

    static Value parsed(const json::Raw& raw) {
        auto value =
            json::parse(*raw.text, {.bytes = std::numeric_limits<std::size_t>::max(), .depth = json::kDepthMax});
        ensure(value.has_value(), "raw JSON was checked before it became a value");
        return std::move(*value);
    }

    std::string& out_;
};

}  // namespace

std::string print(const json::Value& value) {
    std::string out;
    Printer{out}.node(value, 0);
    return out;
}

}  // namespace rhizome::yaml
