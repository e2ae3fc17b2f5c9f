// SPDX-License-Identifier: Apache-2.0
#include "net/dbus_message.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::net {
namespace {

constexpr std::uint8_t kLittleEndian = 'l';
constexpr std::uint8_t kDbusVersion = 1;
constexpr std::uint8_t kNoAutoStart = 2;

enum class Field : std::uint8_t {
    Path = 1,
    Interface,
    Member,
    ErrorName,
    ReplySerial,
    Destination,
    Sender,
    Signature,
    Descriptors,
};

Fail<Error> bad(std::string_view what) {
    return Fail{Error{ErrorKind::Invalid, fmt::format("no message of D-Bus: {}", what)}};
}

std::size_t padded(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }

void put_text(DbusWriter& out, Field field, std::string_view type, std::string_view value) {
    if (value.empty()) return;
    out.align(8).byte(static_cast<std::uint8_t>(field)).signature(type);
    if (type == "g") {
        out.signature(value);
    } else {
        out.text(value);
    }
}

/// What a header field says: a text or a number, by its type.
struct Value {
    std::string text{};
    std::uint32_t number = 0;
};
Result<Value> get_value(DbusReader& in, std::string_view type) {
    Value value;
    if (type == "s" || type == "o") {
        TRY(value.text, in.text());
    } else if (type == "g") {
        TRY(value.text, in.signature());
    } else if (type == "u") {
        TRY(value.number, in.u32());
    } else {
        return bad("a header field of a type that none has");
    }
    return value;
}

}  // namespace

// ---- values --------------------------------------------------------------------------------------------------------

void DbusWriter::number(std::uint64_t value, std::size_t size) {
    align(size);
    for (std::size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
DbusWriter& DbusWriter::align(std::size_t to) {
    bytes_.resize(padded(bytes_.size(), to));
    return *this;
}
DbusWriter& DbusWriter::byte(std::uint8_t value) {
    bytes_.push_back(value);
    return *this;
}
DbusWriter& DbusWriter::u16(std::uint16_t value) {
    number(value, 2);
    return *this;
}
DbusWriter& DbusWriter::u32(std::uint32_t value) {
    number(value, 4);
    return *this;
}
DbusWriter& DbusWriter::text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return byte(0);
}
DbusWriter& DbusWriter::signature(std::string_view value) {
    byte(static_cast<std::uint8_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return byte(0);
}
DbusWriter& DbusWriter::byte_arrays(const std::vector<std::string>& values) {
    u32(0);
    const std::size_t start = bytes_.size();
    for (const std::string& value : values) {
        u32(static_cast<std::uint32_t>(value.size()));
        bytes_.insert(bytes_.end(), value.begin(), value.end());
    }
    const std::size_t size = bytes_.size() - start;
    for (std::size_t i = 0; i < 4; ++i) bytes_[start - 4 + i] = static_cast<std::uint8_t>(size >> (8 * i));
    return *this;
}

Result<ByteView> DbusReader::take(std::size_t size) {
    if (size > bytes_.size() - at_) return bad("it ends too early");
    const ByteView taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
}
Result<void> DbusReader::align(std::size_t to) {
    TRY(const ByteView padding, take(padded(at_, to) - at_));
    if (std::any_of(padding.begin(), padding.end(), [](std::uint8_t one) { return one != 0; }))
        return bad("what fills up is not zero");
    return ok();
}
Result<std::uint64_t> DbusReader::number(std::size_t size) {
    TRY(align(size));
    TRY(const ByteView bytes, take(size));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    return value;
}
Result<std::uint8_t> DbusReader::byte() {
    TRY(const ByteView one, take(1));
    return one[0];
}
Result<std::uint16_t> DbusReader::u16() {
    TRY(const auto value, number(2));
    return static_cast<std::uint16_t>(value);
}
Result<std::uint32_t> DbusReader::u32() {
    TRY(const auto value, number(4));
    return static_cast<std::uint32_t>(value);
}
Result<std::int32_t> DbusReader::i32() {
    TRY(const auto value, u32());
    return static_cast<std::int32_t>(value);
}
Result<std::string> DbusReader::ended(std::size_t size) {
    TRY(const ByteView bytes, take(size));
    TRY(const auto end, byte());
    const std::string text{as_text(bytes)};
    if (end != 0 || text.find('\0') != std::string::npos) return bad("a text does not end where it says");
    return text;
}
Result<std::string> DbusReader::text() {
    TRY(const auto size, u32());
    return ended(size);
}
Result<std::string> DbusReader::signature() {
    TRY(const auto size, byte());
    return ended(size);
}
Result<std::vector<std::string>> DbusReader::byte_arrays(std::size_t most) {
    TRY(const auto size, u32());
    if (size > bytes_.size() - at_) return bad("it ends too early");
    const std::size_t end = at_ + size;
    std::vector<std::string> values;
    while (at_ < end) {
        TRY(const auto length, u32());
        TRY(const ByteView bytes, take(length));
        if (at_ > end || values.size() == most) return bad("a list is longer than it says, or may be");
        values.emplace_back(as_text(bytes));
    }
    return values;
}

// ---- messages ------------------------------------------------------------------------------------------------------

Bytes encode(const DbusMessage& message) {
    ensure(message.serial != 0, "a message has a serial number");
    DbusWriter fields;
    put_text(fields, Field::Path, "o", message.path);
    put_text(fields, Field::Interface, "s", message.interface);
    put_text(fields, Field::Member, "s", message.member);
    put_text(fields, Field::ErrorName, "s", message.error);
    if (message.reply_to != 0)
        fields.align(8).byte(static_cast<std::uint8_t>(Field::ReplySerial)).signature("u").u32(message.reply_to);
    put_text(fields, Field::Destination, "s", message.destination);
    put_text(fields, Field::Sender, "s", message.sender);
    put_text(fields, Field::Signature, "g", message.signature);
    DbusWriter out;
    out.byte(kLittleEndian).byte(static_cast<std::uint8_t>(message.kind));
    out.byte(message.kind == DbusKind::Call ? kNoAutoStart : 0).byte(kDbusVersion);
    out.u32(static_cast<std::uint32_t>(message.body.size())).u32(message.serial);
    out.u32(static_cast<std::uint32_t>(fields.bytes().size()));
    // Sixteen bytes stand in front of the fields: what is aligned there is aligned in the message.
    for (const std::uint8_t byte : fields.bytes()) out.byte(byte);
    out.align(8);
    for (const std::uint8_t byte : message.body) out.byte(byte);
    return out.bytes();
}

Result<std::size_t> dbus_size(ByteView head) {
    if (head.size() < kDbusHeadBytes) return bad("it ends too early");
    DbusReader in{head.first(kDbusHeadBytes)};
    TRY(const auto order, in.byte());
    TRY(const auto kind, in.byte());
    TRY(in.byte());
    TRY(const auto version, in.byte());
    TRY(const auto body, in.u32());
    TRY(in.u32());
    TRY(const auto fields, in.u32());
    if (order != kLittleEndian || version != kDbusVersion || kind < 1 || kind > 4)
        return bad("another version or order");
    if (body > kDbusBytesMax || fields > kDbusBytesMax) return bad("it is too long");
    const std::size_t size = padded(kDbusHeadBytes + fields, 8) + body;
    if (size > kDbusBytesMax) return bad("it is too long");
    return size;
}

Result<DbusMessage> decode_dbus(ByteView bytes) {
    TRY(const auto size, dbus_size(bytes));
    if (bytes.size() != size) return bad("it has another length than it says");
    DbusMessage message;
    DbusReader in{bytes};
    TRY(in.byte());
    TRY(const auto kind, in.byte());
    message.kind = static_cast<DbusKind>(kind);
    TRY(in.byte());
    TRY(in.byte());
    TRY(const auto body, in.u32());
    TRY(message.serial, in.u32());
    TRY(const auto fields, in.u32());
    if (message.serial == 0) return bad("it has no serial number");
    const std::size_t end = kDbusHeadBytes + fields;
    while (in.position() < end) {
        TRY(in.align(8));
        TRY(const auto code, in.byte());
        TRY(const auto type, in.signature());
        TRY(auto value, get_value(in, type));
        switch (static_cast<Field>(code)) {
            case Field::Path: message.path = std::move(value.text); break;
            case Field::Interface: message.interface = std::move(value.text); break;
            case Field::Member: message.member = std::move(value.text); break;
            case Field::ErrorName: message.error = std::move(value.text); break;
            case Field::ReplySerial: message.reply_to = value.number; break;
            case Field::Destination: message.destination = std::move(value.text); break;
            case Field::Sender: message.sender = std::move(value.text); break;
            case Field::Signature: message.signature = std::move(value.text); break;
            default: break;  // fields that are not known are passed over, as the specification wants it
        }
    }
    if (in.position() != end) return bad("its fields have another length than they say");
    TRY(in.align(8));
    message.body = to_bytes(bytes.last(body));
    return message;
}

}  // namespace rhizome::net
