// SPDX-License-Identifier: Apache-2.0
#include "base/codec.h"

#include <bit>
#include <limits>

namespace rhizome {

static_assert(std::endian::native == std::endian::little, "Reader and Writer copy integers as they lie in memory");

std::string_view name(DecodeFault fault) {
    switch (fault) {
        case DecodeFault::Truncated: return "Truncated";
        case DecodeFault::TooLong: return "TooLong";
        case DecodeFault::NotCanonical: return "NotCanonical";
        case DecodeFault::Trailing: return "Trailing";
        case DecodeFault::BadValue: return "BadValue";
    }
    unreachable("a DecodeFault has a name");
}

Error to_error(DecodeFault fault) {
    switch (fault) {
        case DecodeFault::Truncated: return {ErrorKind::Invalid, "the data ends in the middle of a value"};
        case DecodeFault::TooLong: return {ErrorKind::Invalid, "a length in the data is larger than allowed"};
        case DecodeFault::NotCanonical:
            return {ErrorKind::Invalid, "a value in the data is not in its one allowed encoding"};
        case DecodeFault::Trailing: return {ErrorKind::Invalid, "there are bytes after the end of the data"};
        case DecodeFault::BadValue: return {ErrorKind::Invalid, "a value in the data is not valid for its type"};
    }
    unreachable("a DecodeFault has a sentence");
}

Result<bool, DecodeFault> Reader::boolean() {
    TRY(const auto value, u8());
    if (value > 1) return Fail{DecodeFault::NotCanonical};
    return value == 1;
}

Result<std::uint64_t, DecodeFault> Reader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        TRY(const auto byte, u8());
        const std::uint64_t part = byte & 0x7f;
        if (shift == 63 && byte > 1) return Fail{DecodeFault::TooLong};  // the tenth byte holds the 64th bit only
        value |= part << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift > 0) return Fail{DecodeFault::NotCanonical};  // a zero at the end says nothing
            return value;
        }
    }
}

Result<ByteView, DecodeFault> Reader::raw(std::size_t size) {
    if (rest_.size() < size) return Fail{DecodeFault::Truncated};
    const ByteView view = rest_.first(size);
    rest_ = rest_.subspan(size);
    return view;
}

Result<ByteView, DecodeFault> Reader::blob(std::size_t max) {
    TRY(const auto size, u32());
    if (size > max) return Fail{DecodeFault::TooLong};
    return raw(size);
}

Result<ByteView, DecodeFault> Reader::short_blob(std::size_t max) {
    TRY(const auto size, varint());
    if (size > max) return Fail{DecodeFault::TooLong};
    return raw(static_cast<std::size_t>(size));
}

Result<std::size_t, DecodeFault> Reader::bounded_count(std::uint64_t count, std::size_t max,
                                                       std::size_t least_bytes_each) {
    ensure(least_bytes_each > 0, "a counted thing takes at least one byte");
    if (count > max) return Fail{DecodeFault::TooLong};
    if (count > rest_.size() / least_bytes_each) return Fail{DecodeFault::Truncated};
    return static_cast<std::size_t>(count);
}

Result<void, DecodeFault> Reader::finish() const {
    if (!rest_.empty()) return Fail{DecodeFault::Trailing};
    return {};
}

Writer& Writer::varint(std::uint64_t value) {
    while (value >= 0x80) {
        u8(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    return u8(static_cast<std::uint8_t>(value));
}

Writer& Writer::raw(ByteView bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
}

Writer& Writer::blob(ByteView bytes) {
    ensure(bytes.size() <= std::numeric_limits<std::uint32_t>::max(), "a blob fits its four-byte length");
    return u32(static_cast<std::uint32_t>(bytes.size())).raw(bytes);
}

Writer& Writer::short_blob(ByteView bytes) { return varint(bytes.size()).raw(bytes); }

}  // namespace rhizome
