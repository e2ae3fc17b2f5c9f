// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/codec.h"
#include "base/ids.h"
#include "base/result.h"

namespace rhizome::p2p {

/// Addresses that one person is likely to hold together. Whoever owns a network owns all of its addresses for the price
/// of one, so limits count groups, not addresses.
using AddressGroup = Id<struct AddressGroupTag, 19>;

/// How far an address means the same machine. In rising order.
enum class Scope : std::uint8_t { Host, Lan, World };

/// Where a node listens. IPv4 is written as IPv6 (::ffff:a.b.c.d), so that each place has one form.
struct Address {
    static constexpr std::size_t kBytes = 18;

    std::array<std::uint8_t, 16> ip{};
    std::uint16_t port = 0;

    /// `10.0.0.7:7700` or `[fe80::1]:7700`. Numbers only: names are the resolver's business. Without a zone.
    static Result<Address> parse(std::string_view text);
    static Address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port);

    [[nodiscard]] bool is_v4() const;
    [[nodiscard]] bool is_loopback() const;
    /// Something can listen there: a port, and neither the unspecified address nor multicast nor broadcast.
    [[nodiscard]] bool is_routable() const;
    /// Host: loopback. Lan: private, link-local and unique local addresses. World: all others.
    [[nodiscard]] Scope scope() const;

    /// World: the /16 of IPv4, the /32 of IPv6, about what a provider gives to a customer. Lan: the address without its
    /// port, since in a small cluster all share one network. Host: with the port, since there all share the address.
    [[nodiscard]] AddressGroup group() const;

    friend auto operator<=>(const Address&, const Address&) = default;
    friend bool operator==(const Address&, const Address&) = default;
};

/// What `Address::parse` reads back to the same address.
std::string to_text(const Address& address);

/// Address (16 bytes), port (2).
void put(Writer& out, const Address& address);
Result<Address, DecodeFault> get_address(Reader& in);

}  // namespace rhizome::p2p
