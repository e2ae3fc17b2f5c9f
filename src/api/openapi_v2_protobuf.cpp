// SPDX-License-Identifier: Apache-2.0
// OpenAPI v2 as protobuf (`openapi.v2.Document` of the project gnostic): the form that kubectl takes. Definitions only;
// paths are read in the newer form.
#include "api/openapi.h"

namespace rhizome::api {
namespace {

/// Messages are written from the inside out: a piece is a string that its owner puts a length in front of.
class Message {
public:
    void text(unsigned number, std::string_view value) {
        key(number, 2);
        varint(value.size());
        out_.append(value);
    }
    void flag(unsigned number, bool value) {
        key(number, 0);
        varint(value ? 1 : 0);
    }
    void inside(unsigned number, const Message& value) { text(number, value.out_); }
    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    void key(unsigned number, unsigned type) { varint(number << 3 | type); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) out_ += static_cast<char>((value & 0x7f) | 0x80);
        out_ += static_cast<char>(value);
    }

    std::string out_{};
};

/// `Any` with a text of YAML, which JSON is.
Message any(const json::Value& value) {
    Message out;
    out.text(2, json::print(value) + "\n");
    return out;
}

Message schema_message(const json::Value& schema);

Message named(std::string_view name, const json::Value& schema) {
    Message out;
    out.text(1, name);
    out.inside(2, schema_message(schema));
    return out;
}

/// Fields of `Schema` that are one text.
constexpr std::pair<std::string_view, unsigned> kTexts[] = {
    {"$ref", 1}, {"format", 2}, {"title", 3}, {"description", 4}};

void write_part(Message& out, std::string_view key, const json::Value& value) {
    for (const auto& [known, number] : kTexts)
        if (key == known) {
            if (value.is_string()) out.text(number, *value.if_string());
            return;
        }
    if (key == "default") {
        out.inside(5, any(value));
    } else if (key == "required") {
        if (const json::Array* all = value.if_array())
            for (const json::Value& each : *all)
                if (each.is_string()) out.text(19, *each.if_string());
    } else if (key == "additionalProperties") {
        Message item;
        if (const auto boolean = value.if_boolean())
            item.flag(2, *boolean);
        else
            item.inside(1, schema_message(value));
        out.inside(21, item);
    } else if (key == "type") {
        Message item;
        if (value.is_string()) item.text(1, *value.if_string());
        out.inside(22, item);
    } else if (key == "items") {
        Message item;
        item.inside(1, schema_message(value));
        out.inside(23, item);
    } else if (key == "allOf") {
        if (const json::Array* all = value.if_array())
            for (const json::Value& each : *all) out.inside(24, schema_message(each));
    } else if (key == "properties") {
        Message properties;
        if (const json::Object* all = value.if_object())
            for (const auto& [name, schema] : *all) properties.inside(1, named(name, schema));
        out.inside(25, properties);
    } else if (key.starts_with("x-")) {
        Message extension;
        extension.text(1, key);
        extension.inside(2, any(value));
        out.inside(31, extension);
    }
    // Bounds and alternatives say more than clients of this form ask for.
}

Message schema_message(const json::Value& schema) {
    Message out;
    if (const json::Object* object = schema.if_object())
        for (const auto& [key, value] : *object) write_part(out, key, value);
    return out;
}

}  // namespace

std::string openapi_v2_protobuf(const json::Value& document) {
    Message info;
    info.text(1, document.text_at({"info", "title"}));
    info.text(2, document.text_at({"info", "version"}));
    Message definitions;
    if (const json::Value* all = document.find("definitions"); all != nullptr && all->is_object())
        for (const auto& [name, schema] : *all->if_object()) definitions.inside(1, named(name, schema));
    Message out;
    out.text(1, document.text_at({"swagger"}));
    out.inside(2, info);
    out.inside(8, Message{});
    out.inside(9, definitions);
    return std::move(out).take();
}

}  // namespace rhizome::api
