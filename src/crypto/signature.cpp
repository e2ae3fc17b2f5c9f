// SPDX-License-Identifier: Apache-2.0
// Faults, and the bytes of a signature. Nothing here is secret, so comparisons may end early.
#include <algorithm>
#include <cstring>

#include "crypto/keys.h"

namespace rhizome::crypto {
namespace {

using Number = std::span<const std::uint8_t, 32>;  // big-endian

/// The number of points on the curve.
constexpr std::array<std::uint8_t, 32> kOrder = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
};
/// (order − 1) / 2: the largest low s. The order is odd, so no s is its own negative.
constexpr std::array<std::uint8_t, 32> kHalfOrder = {
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
};
constexpr std::array<std::uint8_t, 32> kZero{};

bool less(Number left, Number right) { return std::memcmp(left.data(), right.data(), 32) < 0; }
bool in_range(Number number) { return less(kZero, number) && less(number, kOrder); }

Number r_of(const Signature::Compact& compact) { return Number{compact.data(), 32}; }
Number s_of(const Signature::Compact& compact) { return Number{compact.data() + 32, 32}; }

constexpr std::uint8_t kSequence = 0x30;
constexpr std::uint8_t kInteger = 0x02;

/// 30 [rest] 02 [size of r] r 02 [size of s] s: four bytes of each integer's frame and its content, at least one byte.
constexpr std::size_t kDerSizeMin = 8;

/// The content of the integer at the front of `rest`, which moves behind it; empty when BIP 66 refuses it. Content is
/// never empty, positive, and has no zero in front except where the next bit would make the number negative.
ByteView take_integer(ByteView& rest) {
    if (rest.size() < 3 || rest[0] != kInteger) return {};
    const std::size_t size = rest[1];
    if (size == 0 || size > rest.size() - 2) return {};
    const ByteView content = rest.subspan(2, size);
    if ((content[0] & 0x80) != 0) return {};
    if (size > 1 && content[0] == 0 && (content[1] & 0x80) == 0) return {};
    rest = rest.subspan(2 + size);
    return content;
}

/// The content of a DER integer as 32 bytes; false when it needs more. BIP 66 lets one integer grow while the other is
/// short, so this is a question of range, not of form.
bool to_number(ByteView content, std::span<std::uint8_t, 32> out) {
    if (content[0] == 0) content = content.subspan(1);
    if (content.size() > out.size()) return false;
    std::copy(content.begin(), content.end(), out.end() - static_cast<std::ptrdiff_t>(content.size()));
    return true;
}

void put_integer(Bytes& der, Number number) {
    const auto first = std::find_if(number.begin(), number.end() - 1, [](std::uint8_t byte) { return byte != 0; });
    const bool padded = (*first & 0x80) != 0;
    der.push_back(kInteger);
    der.push_back(static_cast<std::uint8_t>((number.end() - first) + (padded ? 1 : 0)));
    if (padded) der.push_back(0);
    der.insert(der.end(), first, number.end());
}

}  // namespace

std::string_view name(SignatureFault fault) {
    switch (fault) {
        case SignatureFault::BadSecret: return "BadSecret";
        case SignatureFault::BadKey: return "BadKey";
        case SignatureFault::BadLength: return "BadLength";
        case SignatureFault::BadDer: return "BadDer";
        case SignatureFault::OutOfRange: return "OutOfRange";
        case SignatureFault::HighS: return "HighS";
        case SignatureFault::WrongSignature: return "WrongSignature";
    }
    unreachable("a SignatureFault has a name");
}

Error to_error(SignatureFault fault) {
    switch (fault) {
        case SignatureFault::BadSecret: return {ErrorKind::Invalid, "these bytes are not a secret key"};
        case SignatureFault::BadKey: return {ErrorKind::Invalid, "these bytes are not a public key"};
        case SignatureFault::BadLength: return {ErrorKind::Invalid, "the signature has the wrong size"};
        case SignatureFault::BadDer: return {ErrorKind::Invalid, "the signature is not strict DER (BIP 66)"};
        case SignatureFault::OutOfRange: return {ErrorKind::Invalid, "a number of the signature is out of range"};
        case SignatureFault::HighS:
            return {ErrorKind::Invalid, "the signature has a high S; only the low one is valid"};
        case SignatureFault::WrongSignature:
            return {ErrorKind::Denied, "the signature was not made by this key for this content"};
    }
    unreachable("a SignatureFault has a sentence");
}

Result<Signature, SignatureFault> Signature::from_der(ByteView der) {
    if (der.size() < kDerSizeMin || der.size() > kDerSizeMax) return Fail{SignatureFault::BadDer};
    if (der[0] != kSequence || der[1] != der.size() - 2) return Fail{SignatureFault::BadDer};
    ByteView rest = der.subspan(2);
    const ByteView r = take_integer(rest);
    if (r.empty()) return Fail{SignatureFault::BadDer};
    const ByteView s = take_integer(rest);
    if (s.empty() || !rest.empty()) return Fail{SignatureFault::BadDer};

    Compact compact{};
    const std::span<std::uint8_t, kCompactSize> out{compact};
    if (!to_number(r, out.first<32>()) || !to_number(s, out.last<32>())) return Fail{SignatureFault::OutOfRange};
    return from_compact(compact);
}

Result<Signature, SignatureFault> Signature::from_compact(ByteView compact) {
    if (compact.size() != kCompactSize) return Fail{SignatureFault::BadLength};
    Signature signature;
    std::copy(compact.begin(), compact.end(), signature.numbers_.begin());
    if (!in_range(r_of(signature.numbers_)) || !in_range(s_of(signature.numbers_))) {
        return Fail{SignatureFault::OutOfRange};
    }
    return signature;
}

Bytes Signature::to_der() const {
    Bytes der;
    der.reserve(kDerSizeMax);
    der.push_back(kSequence);
    der.push_back(0);
    put_integer(der, r_of(numbers_));
    put_integer(der, s_of(numbers_));
    der[1] = static_cast<std::uint8_t>(der.size() - 2);
    return der;
}

bool Signature::is_low_s() const { return !less(kHalfOrder, s_of(numbers_)); }

Signature Signature::normalized() const {
    Signature low = *this;
    if (is_low_s()) return low;
    unsigned borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {  // s becomes order − s
        const unsigned difference = 0x100u + kOrder[i] - numbers_[32 + i] - borrow;
        low.numbers_[32 + i] = static_cast<std::uint8_t>(difference);
        borrow = difference < 0x100 ? 1 : 0;
    }
    return low;
}

}  // namespace rhizome::crypto
