// SPDX-License-Identifier: Apache-2.0
#include "cluster/structural_values.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "cluster/decimal.h"

namespace rhizome::cluster {
namespace {

/// Nobody reads a list of more than this.
constexpr std::size_t kUnknownMax = 64;
/// Places of a schema compared with places of a document: a list of a million elements against a hundred thousand
/// alternatives would keep a machine busy for minutes.
constexpr std::size_t kWorkMax = 20'000'000;
/// What a pattern looks at counts too: so many bytes as one place.
constexpr std::size_t kBytesOfOne = 16;
/// What faults may say, all together: they go into one answer.
constexpr std::size_t kFaultBytesMax = 1u << 20;
/// Values that are named where one of them was wanted.
constexpr std::size_t kValuesNamed = 100;
/// Defaults that are filled in, all together. A document that needs more is larger than any that can be stored (1 MiB),
/// so it is refused; a list of a hundred thousand empty objects could ask for a terabyte.
constexpr std::size_t kFilledMax = 4u << 20;

bool is_object_meta(std::string_view member) {
    return member == "apiVersion" || member == "kind" || member == "metadata";
}

class Pruner {
public:
    explicit Pruner(std::vector<std::string>* unknown) : unknown_(unknown) {}

    /// `whole`: an object of Kubernetes, with metadata of its own.
    void walk(json::Value& value, const StructuralSchema& schema, const Where& where, bool whole) {
        if (json::Array* array = value.if_array()) {
            if (!schema.items) return;
            for (std::size_t i = 0; i < array->size(); ++i)
                walk((*array)[i], *schema.items, where / i, schema.items->embedded);
            return;
        }
        json::Object* object = value.if_object();
        if (object == nullptr) return;
        const bool keeps = schema.preserves_unknown || schema.any_member;
        bool drops = false;
        for (auto& member : *object) {
            if (whole && is_object_meta(member.key)) continue;
            if (const StructuralSchema* inside = schema.member(member.key)) {
                walk(member.value, *inside, where / member.key, inside->embedded);
            } else if (!keeps) {
                drops = true;
                if (unknown_ != nullptr && unknown_->size() < kUnknownMax)
                    unknown_->push_back((where / member.key).text());
            }
        }
        if (drops)
            object->erase_if([&](const auto& member) {
                return !(whole && is_object_meta(member.key)) && schema.member(member.key) == nullptr;
            });
    }

private:
    std::vector<std::string>* unknown_;
};

class Judge {
public:
    explicit Judge(FieldErrors& errors) : errors_(&errors) {}

    void place(const json::Value& value, const StructuralSchema& schema, const Where& where) {
        if (work_ > kWorkMax) return;
        if (++work_ > kWorkMax) {
            add(invalid(where, "", "the document and its schema are too large to be compared"));
            return;
        }
        if (value.is_null()) {
            if (!schema.nullable && (schema.type != SchemaType::None || schema.int_or_string))
                wrong_type(where, schema, "null");
            return;
        }
        if (!type(value, schema, where)) return;
        values(value, schema, where);
        if (const json::Object* object = value.if_object()) members(*object, schema, where);
        if (const json::Array* array = value.if_array()) elements(*array, schema, where);
        if (const std::string* text = value.if_string()) texts(*text, schema, where);
        if (const json::Number* number = value.if_number()) numbers(*number, schema, where);
        junctors(value, schema, where);
    }

private:
    void add(FieldError error) {
        if (errors_->size() >= kFaultsMax || said_ > kFaultBytesMax) return;
        said_ += error.field.size() + error.detail.size() +
                 (error.value.if_string() == nullptr ? 0 : error.value.if_string()->size());
        errors_->push_back(std::move(error));
    }

    /// How kube-apiserver begins the sentences about a value.
    static std::string at(const Where& where, std::string_view rest) {
        return fmt::format("{} in body {}", where.text(), rest);
    }

    void wrong_type(const Where& where, const StructuralSchema& schema, std::string_view found) {
        const std::string_view wanted = schema.int_or_string ? "integer,string" : name(schema.type);
        add({FieldError::Cause::TypeInvalid, where.text(), found,
             at(where, fmt::format("must be of type {}: {}", wanted, json::quote(found)))});
    }

    bool type(const json::Value& value, const StructuralSchema& schema, const Where& where) {
        if (schema.type == SchemaType::None && !schema.int_or_string) return true;
        SchemaType found = SchemaType::None;
        switch (value.kind()) {
            case json::Kind::Boolean: found = SchemaType::Boolean; break;
            case json::Kind::String: found = SchemaType::String; break;
            case json::Kind::Array: found = SchemaType::Array; break;
            case json::Kind::Object: found = SchemaType::Object; break;
            case json::Kind::Number:
                found = is_whole(value.if_number()->text()) ? SchemaType::Integer : SchemaType::Number;
                break;
            default: break;
        }
        const bool fits = schema.int_or_string ? found == SchemaType::Integer || found == SchemaType::String
                                               : found == schema.type || (schema.type == SchemaType::Number &&
                                                                          found == SchemaType::Integer);
        if (!fits) wrong_type(where, schema, name(found));
        return fits;
    }

    void values(const json::Value& value, const StructuralSchema& schema, const Where& where) {
        if (schema.values.empty()) return;
        work_ += schema.values.size();
        const auto same = [&](const json::Value& each) { return same_value(each, value); };
        if (std::any_of(schema.values.begin(), schema.values.end(), same)) return;
        std::vector<std::string> texts;
        for (const json::Value& each : schema.values)
            if (texts.size() < kValuesNamed)
                texts.push_back(each.if_string() != nullptr ? *each.if_string() : json::print(each));
        add(not_supported(where, value, {texts.begin(), texts.end()}));
    }

    void members(const json::Object& object, const StructuralSchema& schema, const Where& where) {
        const auto count = static_cast<std::int64_t>(object.size());
        if (schema.members_min && count < *schema.members_min)
            add(invalid(where, *schema.members_min,
                        at(where, fmt::format("should have at least {} properties", *schema.members_min))));
        if (schema.members_max && count > *schema.members_max)
            add(too_many(where, object.size(),
                         static_cast<std::size_t>(std::max<std::int64_t>(0, *schema.members_max))));
        for (const std::string& name : schema.required)
            if (!object.contains(name)) add(required(where / name));
        for (const auto& member : object)
            if (const StructuralSchema* inside = schema.member(member.key))
                place(member.value, *inside, where / member.key);
        if (!schema.embedded) return;
        for (const std::string_view name : {"apiVersion", "kind"})
            if (const json::Value* there = object.find(name);
                there == nullptr || there->if_string() == nullptr || there->if_string()->empty())
                add(required(where / name, "must not be empty"));
        if (!object.contains("metadata")) add(required(where / "metadata", "must be specified"));
    }

    void elements(const json::Array& array, const StructuralSchema& schema, const Where& where) {
        const auto count = static_cast<std::int64_t>(array.size());
        if (schema.items_min && count < *schema.items_min)
            add(invalid(where, array.size(),
                        at(where, fmt::format("should have at least {} items", *schema.items_min))));
        if (schema.items_max && count > *schema.items_max)
            add(too_many(where, array.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, *schema.items_max))));
        if (schema.items)
            for (std::size_t i = 0; i < array.size(); ++i) place(array[i], *schema.items, where / i);
        if (schema.list_type != ListType::Atomic) repeated(array, schema, where);
    }

    /// Lists that are sets, or maps with keys: nothing stands in them twice.
    void repeated(const json::Array& array, const StructuralSchema& schema, const Where& where) {
        std::set<std::string> seen;
        for (std::size_t i = 0; i < array.size(); ++i) {
            json::Value known = array[i];
            if (schema.list_type == ListType::Map) {
                json::Object keys;
                for (const std::string& key : schema.list_keys)
                    if (const json::Value* value = array[i].find(key)) keys.set(key, *value);
                known = std::move(keys);
            }
            if (!seen.insert(json::print_canonical(known)).second) add(duplicate(where / i, std::move(known)));
        }
    }

    void texts(const std::string& text, const StructuralSchema& schema, const Where& where) {
        // Kubernetes counts characters, not bytes.
        const auto length = static_cast<std::int64_t>(std::count_if(
            text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
        if (schema.length_max && length > *schema.length_max)
            add(too_long(where, static_cast<std::size_t>(std::max<std::int64_t>(0, *schema.length_max))));
        if (schema.length_min && length < *schema.length_min)
            add(invalid(where, text, at(where, fmt::format("should be at least {} chars long", *schema.length_min))));
        if (schema.pattern || !schema.format.empty()) work_ += text.size() / kBytesOfOne;
        if (schema.pattern && !schema.pattern->matches(text))
            add(invalid(where, text, at(where, fmt::format("should match '{}'", schema.pattern->text()))));
        if (!schema.format.empty() && !is_of_format(text, schema.format))
            add({FieldError::Cause::TypeInvalid, where.text(), text,
                 at(where, fmt::format("must be of type {}: {}", schema.format, json::quote(text)))});
    }

    void numbers(const json::Number& number, const StructuralSchema& schema, const Where& where) {
        if (schema.minimum) {
            const auto side = compare_numbers(number.text(), schema.minimum->text());
            if (side < 0 || (schema.above_minimum && side == 0))
                add(invalid(
                    where, number,
                    at(where, fmt::format("should be greater than {}{}", schema.above_minimum ? "" : "or equal to ",
                                          schema.minimum->text()))));
        }
        if (schema.maximum) {
            const auto side = compare_numbers(number.text(), schema.maximum->text());
            if (side > 0 || (schema.below_maximum && side == 0))
                add(invalid(
                    where, number,
                    at(where, fmt::format("should be less than {}{}", schema.below_maximum ? "" : "or equal to ",
                                          schema.maximum->text()))));
        }
        if (schema.multiple_of && !is_multiple(number.text(), schema.multiple_of->text()))
            add(invalid(where, number,
                        at(where, fmt::format("should be a multiple of {}", schema.multiple_of->text()))));
        const bool small = schema.format == "int32" && (compare_numbers(number.text(), "-2147483648") < 0 ||
                                                        compare_numbers(number.text(), "2147483647") > 0);
        const bool large = schema.format == "int64" && (compare_numbers(number.text(), "-9223372036854775808") < 0 ||
                                                        compare_numbers(number.text(), "9223372036854775807") > 0);
        if (small || large)
            add(invalid(where, number,
                        fmt::format("Checked value must be of type {} with format {} in {}", name(schema.type),
                                    schema.format, where.text())));
    }

    bool takes(const json::Value& value, const StructuralSchema& schema, const Where& where, FieldErrors* why) {
        FieldErrors found;
        FieldErrors* outer = std::exchange(errors_, &found);
        const std::size_t said = std::exchange(said_, 0);  // whether there are faults must not depend on others
        place(value, schema, where);
        errors_ = outer;
        said_ = said;
        if (why != nullptr) *why = found;
        return found.empty();
    }

    /// kube-apiserver says these of the whole document, wherever they stand.
    void whole(const Where& where, std::string_view why) {
        add({FieldError::Cause::Invalid, "<nil>", "", fmt::format("{} {}", json::quote(where.text()), why)});
    }

    void junctors(const json::Value& value, const StructuralSchema& schema, const Where& where) {
        std::size_t good = 0;
        for (const auto& each : schema.all_of) {
            FieldErrors why;
            if (takes(value, *each, where, &why)) ++good;
            for (const FieldError& error : why) add(error);
        }
        if (good < schema.all_of.size())
            whole(where, good == 0 ? "must validate all the schemas (allOf). None validated"
                                   : "must validate all the schemas (allOf)");
        const auto count = [&](const std::vector<StructuralSchema::Node>& list) {
            return std::count_if(list.begin(), list.end(),
                                 [&](const auto& each) { return takes(value, *each, where, nullptr); });
        };
        if (!schema.any_of.empty() && count(schema.any_of) == 0)
            whole(where, "must validate at least one schema (anyOf)");
        if (!schema.one_of.empty()) {
            const auto found = count(schema.one_of);
            if (found == 0) whole(where, "must validate one and only one schema (oneOf). Found none valid");
            if (found > 1)
                whole(where,
                      fmt::format("must validate one and only one schema (oneOf). Found {} valid alternatives", found));
        }
        if (schema.negated && takes(value, *schema.negated, where, nullptr))
            whole(where, "must not validate the schema (not)");
    }

    FieldErrors* errors_;
    std::size_t work_ = 0;
    std::size_t said_ = 0;  ///< bytes of faults
};

class Filler {
public:
    void walk(json::Value& value, const StructuralSchema& schema) {
        if (json::Array* array = value.if_array()) {
            if (!schema.items) return;
            for (json::Value& each : *array) {
                if (each.is_null() && !schema.items->nullable && may_take(schema.items->fallback))
                    each = *schema.items->fallback;
                walk(each, *schema.items);
            }
            return;
        }
        json::Object* object = value.if_object();
        if (object == nullptr) return;
        for (const auto& property : schema.properties) {
            json::Value* member = object->find(property.name);
            const bool missing = member == nullptr || (member->is_null() && !property.schema->nullable);
            if (missing && may_take(property.schema->fallback))
                member = &object->set(property.name, *property.schema->fallback);
            if (member != nullptr) walk(*member, *property.schema);
        }
        if (!schema.additional) return;
        for (auto& member : *object) {
            if (schema.find(member.key) != nullptr) continue;
            if (member.value.is_null() && !schema.additional->nullable && may_take(schema.additional->fallback))
                member.value = *schema.additional->fallback;
            walk(member.value, *schema.additional);
        }
    }

private:
    static std::size_t weight_of(const json::Value& value) {
        std::size_t weight = 16;
        if (const std::string* text = value.if_string()) weight += text->size();
        if (const json::Array* array = value.if_array())
            for (const json::Value& each : *array) weight += weight_of(each);
        if (const json::Object* object = value.if_object())
            for (const auto& member : *object) weight += member.key.size() + weight_of(member.value);
        return weight;
    }

    bool may_take(const std::optional<json::Value>& fallback) {
        if (!fallback) return false;
        const std::size_t weight = weight_of(*fallback);
        if (weight > left_) {
            left_ = 0;
            return false;
        }
        left_ -= weight;
        return true;
    }

    std::size_t left_ = kFilledMax;
};

}  // namespace

void prune(json::Value& value, const StructuralSchema& schema, std::vector<std::string>* unknown, bool whole) {
    Pruner{unknown}.walk(value, schema, Where{}, whole);
}

void fill_structural(json::Value& value, const StructuralSchema& schema) { Filler{}.walk(value, schema); }

FieldErrors validate_structural(const json::Value& object, const StructuralSchema& schema, const Where& where) {
    FieldErrors errors;
    Judge{errors}.place(object, schema, where);
    return errors;
}

}  // namespace rhizome::cluster
