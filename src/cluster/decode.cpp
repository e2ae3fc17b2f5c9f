// SPDX-License-Identifier: Apache-2.0
#include "cluster/decode.h"

#include <limits>

#include <fmt/core.h>

#include "base/time.h"
#include "base/yaml.h"
#include "cluster/custom_definition.h"
#include "cluster/field_error.h"
#include "cluster/quantity.h"
#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

/// The way to the member whose key stands at `offset` of a text whose beginning is good JSON:
/// `spec.containers[0].name`. Only for messages.
std::string path_at(std::string_view text, std::size_t offset) {
    const std::size_t quote = text.find('"', offset);
    const std::string_view last_key =
        quote == std::string_view::npos ? "" : text.substr(quote + 1, text.find('"', quote + 1) - quote - 1);
    struct Level {
        bool array = false;
        std::size_t index = 0;
        std::string key{};
    };
    std::vector<Level> levels;
    text = text.substr(0, std::min(offset, text.size()));
    for (std::size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
            case '{': levels.push_back({}); break;
            case '[': levels.push_back({.array = true}); break;
            case '}':
            case ']':
                if (!levels.empty()) levels.pop_back();
                break;
            case ',':
                if (!levels.empty() && levels.back().array) ++levels.back().index;
                break;
            case '"': {
                const std::size_t start = ++i;
                while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
                std::size_t next = i + 1;
                while (next < text.size() && std::string_view(" \t\r\n").find(text[next]) != std::string_view::npos)
                    ++next;
                if (next < text.size() && text[next] == ':' && !levels.empty() && !levels.back().array)
                    levels.back().key = text.substr(start, i - start);
                break;
            }
            default: break;
        }
    }
    Where where;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        if (levels[i].array)
            where = where / levels[i].index;
        else
            where = where / (i + 1 == levels.size() ? last_key : std::string_view(levels[i].key));
    }
    return where.text();
}

/// How Go calls a piece of JSON that does not fit.
std::string_view go_value(const json::Value& value) {
    switch (value.kind()) {
        case json::Kind::Boolean: return "bool";
        case json::Kind::Number: return "number";
        case json::Kind::String: return "string";
        case json::Kind::Array: return "array";
        default: return "object";
    }
}

/// The first byte that is not base64; nothing when all is.
std::optional<std::size_t> bad_base64(std::string_view text) {
    std::size_t padding = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
        if (c == '=')
            ++padding;
        else if (!letter || padding != 0)
            return i;
    }
    if (padding > 2) return text.size() - padding;
    return text.size() % 4 == 0 ? std::nullopt : std::optional(text.size());
}

class Decoder {
public:
    explicit Decoder(FieldValidation validation) : validation_(validation) {}

    /// Brings `value` into the form of `schema`, in place. `where` is the place with indices, `field` without (Go
    /// names fields so), `owner` the struct that has the field.
    Result<void> walk(json::Value& value, const Schema& schema, const Where& where, const std::string& field,
                      std::string_view owner) {
        switch (schema.shape) {
            case Shape::Any: return {};
            case Shape::Message: return message(value, schema, where, field, owner);
            case Shape::Map: {
                json::Object* object = value.if_object();
                if (object == nullptr) return mismatch(go_value(value), schema, field, owner);
                for (auto& member : *object) TRY(walk(member.value, *schema.element, where / member.key, field, owner));
                return {};
            }
            case Shape::List: {
                json::Array* array = value.if_array();
                if (array == nullptr) return mismatch(go_value(value), schema, field, owner);
                for (std::size_t i = 0; i < array->size(); ++i)
                    TRY(walk((*array)[i], *schema.element, where / i, field, owner));
                return {};
            }
            default: return scalar(value, schema, field, owner);
        }
    }

    [[nodiscard]] std::vector<std::string>& unknown() { return unknown_; }

private:
    Result<void> message(json::Value& value, const Schema& schema, const Where& where, const std::string& field,
                         std::string_view owner) {
        if (value.is_null()) value = json::Object{};  // an element of a list
        json::Object* object = value.if_object();
        if (object == nullptr) return mismatch(go_value(value), schema, field, owner);
        bool drops = false;
        for (auto& member : *object) {
            const Field* known = schema.find(member.key);
            if (known == nullptr) {
                // Nobody reads a list of more than this.
                constexpr std::size_t kShownMax = 64;
                if (unknown_.size() < kShownMax && validation_ != FieldValidation::Ignore)
                    unknown_.push_back(fmt::format("unknown field {}", json::quote((where / member.key).text())));
                drops = true;
                continue;
            }
            if (member.value.is_null()) {
                drops = true;
                continue;
            }
            const std::string inner = field.empty() ? member.key : field + "." + member.key;
            TRY(walk(member.value, *known->schema, where / member.key, inner, short_name(schema)));
        }
        if (drops)
            object->erase_if([&](const auto& member) {
                const Field* known = schema.find(member.key);
                return known == nullptr || (member.value.is_null() && known->schema->shape != Shape::Any);
            });
        return {};
    }

    Result<void> scalar(json::Value& value, const Schema& schema, const std::string& field, std::string_view owner) {
        // A null inside a map or list is Go's zero value.
        if (value.is_null()) value = zero(schema);
        switch (schema.shape) {
            case Shape::Boolean:
                if (!value.if_boolean()) return mismatch(go_value(value), schema, field, owner);
                return {};
            case Shape::Integer32:
            case Shape::Integer64: return integer(value, schema, field, owner);
            case Shape::Number:
                if (value.if_number() == nullptr) return mismatch(go_value(value), schema, field, owner);
                return {};
            case Shape::IntOrString:
                if (value.is_string()) return {};
                if (value.if_number() == nullptr || !fits_32(value))
                    return fail(ErrorKind::Invalid, fmt::format("json: cannot unmarshal {} into Go value of type int32",
                                                                shown_number(value)));
                return {};
            case Shape::Quantity: {
                TRY(const auto quantity, Quantity::from_value(value));
                value = quantity.text();
                return {};
            }
            default: break;
        }
        if (!value.is_string()) return mismatch(go_value(value), schema, field, owner);
        return text(value, schema);
    }

    static Result<void> text(json::Value& value, const Schema& schema) {
        std::string& text = *value.if_string();
        if (schema.shape == Shape::Bytes) {
            if (const auto bad = bad_base64(text))
                return fail(ErrorKind::Invalid, fmt::format("illegal base64 data at input byte {}", *bad));
        } else if (schema.shape == Shape::Time || schema.shape == Shape::MicroTime) {
            const bool micro = schema.shape == Shape::MicroTime;
            const auto time = from_rfc3339(text);
            if (!time)
                return fail(ErrorKind::Invalid,
                            fmt::format("parsing time {} as \"2006-01-02T15:04:05{}Z07:00\": it is no time of RFC 3339",
                                        json::quote(text), micro ? ".000000" : ""));
            text = to_rfc3339(*time, micro ? Precision::Micros : Precision::Seconds);
        }
        return {};
    }

    static json::Value zero(const Schema& schema) {
        switch (schema.shape) {
            case Shape::Boolean: return false;
            case Shape::Integer32:
            case Shape::Integer64:
            case Shape::Number:
            case Shape::IntOrString: return 0;
            case Shape::Quantity: return "0";
            default: return "";
        }
    }

    static bool fits_32(const json::Value& value) {
        const auto number = value.if_int64();
        return number && *number >= std::numeric_limits<std::int32_t>::min() &&
               *number <= std::numeric_limits<std::int32_t>::max();
    }

    static std::string shown_number(const json::Value& value) {
        return value.if_number() == nullptr ? std::string(go_value(value)) : "number " + value.if_number()->text();
    }

    Result<void> integer(const json::Value& value, const Schema& schema, const std::string& field,
                         std::string_view owner) {
        if (value.if_number() == nullptr) return mismatch(go_value(value), schema, field, owner);
        if (schema.shape == Shape::Integer32 ? !fits_32(value) : !value.if_int64())
            return mismatch(shown_number(value), schema, field, owner);
        return {};
    }

    static Fail<Error> mismatch(std::string_view what, const Schema& schema, const std::string& field,
                                std::string_view owner) {
        if (field.empty())
            return fail(ErrorKind::Invalid,
                        fmt::format("json: cannot unmarshal {} into Go value of type {}", what, go_type(schema)));
        return fail(ErrorKind::Invalid, fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                                                    what, owner, field, go_type(schema)));
    }

    FieldValidation validation_;
    std::vector<std::string> unknown_{};
};

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
    return out;
}

/// Fills in what a document may leave to the path it is sent to, and compares what it says itself.
Result<void> check_identity(json::Object& object, const Kind& kind) {
    const auto said = [&](std::string_view field) -> std::string_view {
        const json::Value* value = object.find(field);
        return value == nullptr || value->if_string() == nullptr ? std::string_view{} : *value->if_string();
    };
    const std::string api_version = kind.api_version();
    if (const auto version = said("apiVersion"); !version.empty() && version != api_version)
        return fail(ErrorKind::Invalid,
                    fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                version, api_version));
    if (const auto other = said("kind"); !other.empty() && other != kind.kind)
        return fail(ErrorKind::Invalid,
                    fmt::format("{} in version {} cannot be handled as a {}: the kind in the data does not match the "
                                "path it was sent to",
                                other, json::quote(kind.version), kind.kind));
    object.set("apiVersion", api_version);
    object.set("kind", kind.kind);
    return {};
}

constexpr std::string_view kMetadataSchema = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Erases the members that do not fit. What the schema does not know stays: decoding takes no offence at it.
void erase_misfits(json::Value& value, const Schema* schema) {
    json::Object* object = value.if_object();
    if (object == nullptr || schema == nullptr) return;
    object->erase_if([&](const auto& member) {
        const Field* known = schema->find(member.key);
        if (known == nullptr || member.value.is_null()) return false;
        json::Value copy = member.value;
        return !Decoder{FieldValidation::Ignore}.walk(copy, *known->schema, Where{}, "", "").has_value();
    });
}

/// Of custom kinds only the metadata has types here: what else is wrong with them is a cause of 422, found later.
Result<Decoded> decode_custom(json::Value document, const Kind& kind, FieldValidation validation) {
    std::vector<std::string> unknown;
    if (json::Value* metadata = document.find("metadata"); metadata != nullptr && !metadata->is_null()) {
        const Schema& known = *find_schema(kMetadataSchema);
        // Unknown fields of the metadata are told together with the others.
        const auto gentle = validation == FieldValidation::Strict ? FieldValidation::Warn : validation;
        Decoder decoder{gentle};
        if (auto walked = decoder.walk(*metadata, known, Where{"metadata"}, "metadata", kind.kind); !walked)
            return fail(ErrorKind::Invalid, fmt::format("{} in version {} cannot be handled as a {}: {}", kind.kind,
                                                        json::quote(kind.version), kind.kind, walked.error().message));
        unknown = std::move(decoder.unknown());
    }
    if (kind.rules != nullptr && kind.rules->schema) {
        std::vector<std::string> cut;
        prune(document, *kind.rules->schema, validation == FieldValidation::Ignore ? nullptr : &cut);
        for (const std::string& field : cut) unknown.push_back(fmt::format("unknown field {}", json::quote(field)));
    }
    if (!unknown.empty() && validation == FieldValidation::Strict)
        return fail(ErrorKind::Invalid,
                    fmt::format("{} in version {} cannot be handled as a {}: strict decoding error: {}", kind.kind,
                                json::quote(kind.version), kind.kind, joined(unknown)));
    return Decoded{std::move(document), std::move(unknown)};
}

}  // namespace

std::optional<FieldValidation> parse_field_validation(std::string_view text) {
    if (text.empty() || text == "Warn") return FieldValidation::Warn;
    if (text == "Strict") return FieldValidation::Strict;
    if (text == "Ignore") return FieldValidation::Ignore;
    return std::nullopt;
}

Result<json::Value> parse_json(std::string_view text) {
    auto value = json::parse(text);
    if (value) return *std::move(value);
    if (value.error().fault == json::Fault::DuplicateKey)
        return fail(ErrorKind::Invalid, fmt::format("strict decoding error: duplicate field {}",
                                                    json::quote(path_at(text, value.error().offset))));
    return fail(ErrorKind::Invalid, "error parsing JSON: " + to_error(value.error()).message);
}

Result<json::Value> parse_yaml(std::string_view text) {
    auto value = yaml::parse(text);
    if (value) return *std::move(value);
    if (value.error().fault == json::Fault::DuplicateKey)
        return fail(ErrorKind::Invalid,
                    fmt::format("strict decoding error: yaml: {}", to_error(value.error()).message));
    return fail(ErrorKind::Invalid, "error converting YAML to JSON: yaml: " + to_error(value.error()).message);
}

Result<Decoded> decode(json::Value document, const Schema& schema, std::string_view version, std::string_view name,
                       FieldValidation validation) {
    const auto refused = [&](std::string_view why) {
        return fail(ErrorKind::Invalid, fmt::format("{} in version {} cannot be handled as a {}: {}", name,
                                                    json::quote(version), name, why));
    };
    Decoder decoder{validation};
    if (auto walked = decoder.walk(document, schema, Where{}, "", short_name(schema)); !walked)
        return refused(walked.error().message);
    if (!decoder.unknown().empty() && validation == FieldValidation::Strict)
        return refused("strict decoding error: " + joined(decoder.unknown()));
    return Decoded{std::move(document), std::move(decoder.unknown())};
}

Result<Decoded> decode(json::Value document, const Kind& kind, FieldValidation validation) {
    json::Object* object = document.if_object();
    if (object == nullptr)
        return fail(ErrorKind::Invalid,
                    fmt::format("{} in version {} cannot be handled as a {}: json: cannot unmarshal {} into Go value "
                                "of type {}",
                                kind.kind, json::quote(kind.version), kind.kind, go_value(document), kind.kind));
    TRY(check_identity(*object, kind));
    if (!kind.custom && kind.schema != nullptr)
        return decode(std::move(document), *kind.schema, kind.version, kind.kind, validation);
    return decode_custom(std::move(document), kind, validation);
}

json::Value readable_part(json::Value document, const Kind& kind) {
    // First inside the metadata, so that one bad annotation does not cost the name.
    if (json::Value* metadata = document.find("metadata")) erase_misfits(*metadata, find_schema(kMetadataSchema));
    if (!kind.custom) erase_misfits(document, kind.schema);
    return document;
}

}  // namespace rhizome::cluster
