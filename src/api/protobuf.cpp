// SPDX-License-Identifier: Apache-2.0
#include "api/protobuf.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/time.h"
#include "cluster/base64.h"
#include "cluster/kinds.h"
#include "cluster/quantity.h"

namespace rhizome::api {
namespace {

using cluster::Field;
using cluster::Schema;
using cluster::Shape;

/// Messages inside each other; those of Kubernetes stay below 20.
constexpr unsigned kProtobufDepthMax = 48;

Fail<Error> malformed(std::string_view why) {
    return Fail{
        Error{ErrorKind::Invalid, fmt::format("the protobuf body cannot be read: {}; kubectl sends such bodies by "
                                              "itself, other clients may send JSON instead",
                                              why)}};
}

enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// One field as it stands on the wire.
struct Record {
    std::uint32_t number = 0;
    Wire wire = Wire::Varint;
    std::uint64_t integer = 0;
    ByteView bytes{};
};

/// Reads the fields of a message one after the other.
class WireReader {
public:
    explicit WireReader(ByteView bytes) : rest_(bytes) {}
    [[nodiscard]] bool empty() const { return rest_.empty(); }

    Result<Record> next() {
        TRY(const std::uint64_t tag, varint());
        Record record;
        record.number = static_cast<std::uint32_t>(tag >> 3);
        if (record.number == 0 || tag >> 3 > (1u << 29) - 1) return malformed("a field has a number out of range");
        switch (tag & 7u) {
            case 0: {
                TRY(record.integer, varint());
                return record;
            }
            case 1: record.wire = Wire::Fixed64; return fixed(record, 8);
            case 5: record.wire = Wire::Fixed32; return fixed(record, 4);
            case 2: {
                record.wire = Wire::Bytes;
                TRY(const std::uint64_t size, varint());
                if (size > rest_.size()) return malformed("a field is longer than its message");
                return fixed(record, static_cast<std::size_t>(size));
            }
            default: return malformed("a field has an unknown wire type");
        }
    }

    Result<std::uint64_t> varint() {
        std::uint64_t number = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) return malformed("it ends inside a number");
            const std::uint8_t byte = rest_.front();
            rest_ = rest_.subspan(1);
            if (shift == 63 && byte > 1) return malformed("a number has more than 64 bits");
            number |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
            if ((byte & 0x80u) == 0) return number;
        }
        return malformed("a number has more than 64 bits");
    }

private:
    Result<Record> fixed(Record record, std::size_t size) {
        if (size > rest_.size()) return malformed("it ends inside a field");
        record.bytes = rest_.first(size);
        rest_ = rest_.subspan(size);
        return record;
    }
    ByteView rest_;
};

Result<std::string> text_of(ByteView bytes) {
    std::string text(as_text(bytes));
    const bool plain = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte < 0x80; });
    // Printing makes U+FFFD of what is no UTF-8, so only good text survives the way there and back.
    if (!plain) {
        const auto again = json::parse(json::quote(text));
        if (!again || again->if_string() == nullptr || *again->if_string() != text)
            return malformed("a text is not UTF-8");
    }
    return text;
}

/// Go's structs hold these without a pointer, so protobuf always carries them and a zero means "not set"; in JSON they
/// are left out then. Whatever else is a number or a boolean is a pointer in Go, and its zero was set on purpose
/// (`replicas: 0`).
constexpr std::array<std::string_view, 24> kPlainFields{"count",
                                                        "failureThreshold",
                                                        "generation",
                                                        "globalDefault",
                                                        "healthCheckNodePort",
                                                        "hostIPC",
                                                        "hostNetwork",
                                                        "hostPID",
                                                        "hostPort",
                                                        "initialDelaySeconds",
                                                        "minReadySeconds",
                                                        "nodePort",
                                                        "number",
                                                        "observedGeneration",
                                                        "paused",
                                                        "periodSeconds",
                                                        "publishNotReadyAddresses",
                                                        "readOnly",
                                                        "stdin",
                                                        "stdinOnce",
                                                        "successThreshold",
                                                        "timeoutSeconds",
                                                        "tty",
                                                        "unschedulable"};

bool is_plain(const Schema& owner, const Field& field) {
    return cluster::short_name(owner).ends_with("Status") ||
           std::find(kPlainFields.begin(), kPlainFields.end(), field.name) != kPlainFields.end();
}

/// Strings that Go holds by pointer: empty and absent are different things.
bool is_optional_text(const Field& field) {
    return field.name == "storageClassName" || field.name == "ingressClassName" || field.name == "service";
}

class Transcoder {
public:
    Result<void> message(ByteView bytes, const Schema& schema, json::Object& out, std::array<std::uint8_t, 2> inside,
                         unsigned depth) {
        if (depth > kProtobufDepthMax) return malformed("its messages are too deep");
        WireReader reader{bytes};
        while (!reader.empty()) {
            TRY(const Record record, reader.next());
            if (const Field* field = find(schema, inside, record.number)) {
                TRY(set(*field, schema, record, out, depth));
            } else if (const auto deeper = nested(schema, inside, record.number)) {
                if (record.wire != Wire::Bytes) return wrong_wire(*schema.fields.begin());
                TRY(message(record.bytes, schema, out, *deeper, depth + 1));
            }
        }
        return {};
    }

private:
    using Inside = std::array<std::uint8_t, 2>;

    static const Field* find(const Schema& schema, Inside inside, std::uint32_t number) {
        for (const Field& field : schema.fields)
            if (field.number == number && field.inside == inside) return &field;
        return nullptr;
    }

    /// The place of the fields that sit in a nested message of this number.
    static std::optional<Inside> nested(const Schema& schema, Inside inside, std::uint32_t number) {
        const std::size_t level = inside[0] == 0 ? 0 : inside[1] == 0 ? 1 : 2;
        if (level == 2 || number > 255) return std::nullopt;
        Inside deeper = inside;
        deeper[level] = static_cast<std::uint8_t>(number);
        for (const Field& field : schema.fields)
            if (field.inside[0] == deeper[0] && (level == 0 || field.inside[1] == deeper[1])) return deeper;
        return std::nullopt;
    }

    static Fail<Error> wrong_wire(const Field& field) {
        return malformed(fmt::format("the field {} has another wire type than its schema says", field.name));
    }

    Result<void> set(const Field& field, const Schema& owner, const Record& record, json::Object& out, unsigned depth) {
        const Schema& schema = *field.schema;
        if (schema.shape == Shape::List) {
            json::Array& list = out[field.name].make_array();
            if (record.wire == Wire::Bytes && is_integer(*schema.element)) {  // packed
                WireReader packed{record.bytes};
                while (!packed.empty()) {
                    TRY(const std::uint64_t number, packed.varint());
                    list.emplace_back(static_cast<std::int64_t>(number));
                }
                return {};
            }
            TRY(auto element, value(field, *schema.element, record, depth));
            list.push_back(std::move(element));
            return {};
        }
        if (schema.shape == Shape::Map) return entry(field, schema, record, out[field.name].make_object(), depth);
        if (schema.shape == Shape::Message) {
            if (record.wire != Wire::Bytes) return wrong_wire(field);
            json::Value& inner = out[field.name];  // a message that comes twice is merged
            return message(record.bytes, schema, inner.make_object(), {}, depth + 1);
        }
        TRY(auto scalar, value(field, schema, record, depth));
        if (!scalar.is_null() && !leaves_out(field, owner, scalar)) out.set(field.name, std::move(scalar));
        return {};
    }

    static bool leaves_out(const Field& field, const Schema& owner, const json::Value& value) {
        if (field.required) return false;
        if (const std::string* text = value.if_string()) return text->empty() && !is_optional_text(field);
        const bool zero = value.if_boolean() == false || value.if_int64() == 0;
        return zero && field.schema->shape != Shape::IntOrString && is_plain(owner, field);
    }

    static bool is_integer(const Schema& schema) {
        return schema.shape == Shape::Integer32 || schema.shape == Shape::Integer64;
    }

    /// `map<string, V>` is a row of messages of key and value.
    Result<void> entry(const Field& field, const Schema& map, const Record& record, json::Object& out, unsigned depth) {
        if (record.wire != Wire::Bytes) return wrong_wire(field);
        std::string key;
        Record held{.wire = Wire::Bytes};
        WireReader reader{record.bytes};
        while (!reader.empty()) {
            TRY(const Record part, reader.next());
            if (part.number == 1 && part.wire == Wire::Bytes) {
                TRY(key, text_of(part.bytes));
            } else if (part.number == 2) {
                held = part;
            }
        }
        if (map.element->shape == Shape::List) {  // ExtraValue: a message with the list as its field 1
            json::Array items;
            WireReader list{held.bytes};
            while (!list.empty()) {
                TRY(const Record item, list.next());
                if (item.number != 1) continue;
                TRY(auto one, value(field, *map.element->element, item, depth + 1));
                items.push_back(std::move(one));
            }
            out.set(key, std::move(items));
            return {};
        }
        TRY(auto one, value(field, *map.element, held, depth + 1));
        out.set(key, std::move(one));
        return {};
    }

    Result<json::Value> value(const Field& field, const Schema& schema, const Record& record, unsigned depth) {
        const bool is_number = schema.shape == Shape::Boolean || is_integer(schema);
        if (record.wire != (is_number ? Wire::Varint : Wire::Bytes)) return wrong_wire(field);
        switch (schema.shape) {
            case Shape::Boolean: return json::Value(record.integer != 0);
            case Shape::Integer32: return json::Value(static_cast<std::int32_t>(record.integer));
            case Shape::Integer64: return json::Value(static_cast<std::int64_t>(record.integer));
            case Shape::String: {
                TRY(auto text, text_of(record.bytes));
                return json::Value(std::move(text));
            }
            case Shape::Bytes: return json::Value(cluster::base64(record.bytes));
            case Shape::Time:
            case Shape::MicroTime: return time(record.bytes, schema.shape == Shape::MicroTime);
            case Shape::Quantity: return quantity(record.bytes);
            case Shape::IntOrString: return int_or_string(record.bytes);
            case Shape::Any: return raw(record.bytes, field);
            case Shape::Message: {
                json::Object inner;
                TRY(message(record.bytes, schema, inner, {}, depth + 1));
                return json::Value(std::move(inner));
            }
            default: return malformed(fmt::format("the field {} cannot be sent as protobuf", field.name));
        }
    }

    /// `{seconds = 1, nanos = 2}`; empty for no time at all.
    static Result<json::Value> time(ByteView bytes, bool micro) {
        if (bytes.empty()) return json::Value{};
        std::int64_t whole = 0;
        std::int64_t nanos = 0;
        WireReader reader{bytes};
        while (!reader.empty()) {
            TRY(const Record part, reader.next());
            if (part.number == 1) whole = static_cast<std::int64_t>(part.integer);
            if (part.number == 2) nanos = static_cast<std::int32_t>(part.integer);
        }
        // Go's zero time lies in the year 1; the format ends with the year 9999.
        constexpr std::int64_t kFirst = -62'135'596'800;
        constexpr std::int64_t kLast = 253'402'300'799;
        if (whole == kFirst && nanos == 0) return json::Value{};
        if (whole < kFirst || whole > kLast || nanos < 0 || nanos > 999'999'999)
            return malformed("a time is out of range");
        return json::Value(to_rfc3339(Time::from_unix_seconds(whole) + microseconds{nanos / 1000},
                                      micro ? Precision::Micros : Precision::Seconds));
    }

    static Result<json::Value> quantity(ByteView bytes) {
        std::string text;
        WireReader reader{bytes};
        while (!reader.empty()) {
            TRY(const Record part, reader.next());
            if (part.number == 1) {
                TRY(text, text_of(part.bytes));
            }
        }
        TRY(const auto amount, cluster::Quantity::parse(text.empty() ? std::string_view("0") : std::string_view(text)));
        return json::Value(amount.text());
    }

    /// `{type = 1, intVal = 2, strVal = 3}`, type 1 for strings.
    static Result<json::Value> int_or_string(ByteView bytes) {
        std::uint64_t type = 0;
        std::int32_t number = 0;
        std::string text;
        WireReader reader{bytes};
        while (!reader.empty()) {
            TRY(const Record part, reader.next());
            if (part.number == 1) type = part.integer;
            if (part.number == 2) number = static_cast<std::int32_t>(part.integer);
            if (part.number == 3) {
                TRY(text, text_of(part.bytes));
            }
        }
        return type == 1 ? json::Value(std::move(text)) : json::Value(number);
    }

    /// JSON text in the field 1: RawExtension, FieldsV1, JSON.
    static Result<json::Value> raw(ByteView bytes, const Field& field) {
        ByteView text;
        WireReader reader{bytes};
        while (!reader.empty()) {
            TRY(const Record part, reader.next());
            if (part.number == 1 && part.wire == Wire::Bytes) text = part.bytes;
        }
        if (text.empty()) return json::Value{};
        auto value = json::parse(as_text(text));
        if (!value) return malformed(fmt::format("the field {} holds no JSON", field.name));
        return *std::move(value);
    }
};

}  // namespace

Result<json::Value> transcode(ByteView message, const Schema& schema) {
    json::Object out;
    TRY(Transcoder{}.message(message, schema, out, {}, 0));
    return json::Value(std::move(out));
}

Result<json::Value> decode_protobuf(ByteView body) {
    static constexpr std::array<std::uint8_t, 4> kMagic{0x6b, 0x38, 0x73, 0x00};
    if (body.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), body.begin()))
        return malformed("it does not begin with the magic bytes of Kubernetes");
    ByteView raw;
    std::string api_version;
    std::string kind;
    std::string encoding;
    WireReader envelope{body.subspan(kMagic.size())};
    while (!envelope.empty()) {
        TRY(const Record part, envelope.next());
        if (part.wire != Wire::Bytes) continue;
        if (part.number == 1) {
            WireReader type{part.bytes};
            while (!type.empty()) {
                TRY(const Record word, type.next());
                if (word.number != 1 && word.number != 2) continue;
                TRY((word.number == 1 ? api_version : kind), text_of(word.bytes));
            }
        }
        if (part.number == 2) raw = part.bytes;
        if (part.number == 3) {
            TRY(encoding, text_of(part.bytes));
        }
    }
    if (!encoding.empty()) return malformed(fmt::format("its content encoding {} is unknown", json::quote(encoding)));
    const auto version = cluster::parse_api_version(api_version);
    const Schema* schema = version ? cluster::find_schema(version->group, version->version, kind) : nullptr;
    if (schema == nullptr && kind == "DeleteOptions")
        schema = cluster::find_schema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
    if (schema == nullptr)
        return Fail{Error{ErrorKind::Invalid, fmt::format("no kind {} is registered for version {}", json::quote(kind),
                                                          json::quote(api_version))}};
    json::Object out{{"kind", kind}, {"apiVersion", api_version}};
    TRY(Transcoder{}.message(raw, *schema, out, {}, 0));
    return json::Value(std::move(out));
}

}  // namespace rhizome::api
