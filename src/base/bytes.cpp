// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <cstring>

namespace rhizome {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::string to_hex(ByteView bytes) {
    std::string hex(bytes.size() * 2, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        hex[2 * i] = kDigits[bytes[i] >> 4];
        hex[2 * i + 1] = kDigits[bytes[i] & 15];
    }
    return hex;
}

bool from_hex_into(std::string_view hex, std::span<std::uint8_t> out) {
    if (hex.size() != out.size() * 2) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const int high = digit_value(hex[2 * i]);
        const int low = digit_value(hex[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
}

std::optional<Bytes> from_hex(std::string_view hex) {
    Bytes bytes(hex.size() / 2);
    if (!from_hex_into(hex, bytes)) return std::nullopt;
    return bytes;
}

bool equal_in_constant_time(ByteView left, ByteView right) {
    if (left.size() != right.size()) return false;
    std::uint8_t difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i) difference |= static_cast<std::uint8_t>(left[i] ^ right[i]);
    // Hides the value from the optimiser, which could otherwise stop the loop at the first difference.
    asm volatile("" : "+r"(difference));
    return difference == 0;
}

void wipe(std::span<std::uint8_t> bytes) noexcept {
    if (bytes.empty()) return;
    explicit_bzero(bytes.data(), bytes.size());
}

}  // namespace rhizome
