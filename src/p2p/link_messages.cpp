// SPDX-License-Identifier: Apache-2.0
#include "p2p/link_messages.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::p2p {
namespace {

using ledger::Reject;
using ledger::RejectCode;

constexpr std::size_t kHelloBytes = 2 + 2 + ledger::ChainId::kSize + 1 + 2 + 8 + 8;
constexpr std::size_t kPingBytes = 8 + 8;

bool is_printable(char letter) { return letter >= ' ' && letter <= '~'; }

void put(Writer& out, Time clock) {
    // Clocks before 1970 are wrong clocks; they are told as the nearest that can be written.
    out.u64(static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock.since_epoch().count())));
}
void put(Writer& out, const Hello& message) {
    out.u16(message.lowest).u16(message.highest).id(message.chain).u8(static_cast<std::uint8_t>(message.purpose));
    out.u16(message.port).u64(message.nonce);
    put(out, message.clock);
}
void put(Writer& out, const Ping& message) { put(out.u64(message.nonce), message.clock); }
void put(Writer& out, const Pong& message) { put(out.u64(message.nonce), message.clock); }
void put(Writer&, const GetPeers&) {}
void put(Writer& out, const Peers& message) {
    std::vector<Address> sorted = message.addresses;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    if (sorted.size() > kPeersMax) sorted.resize(kPeersMax);
    out.u8(static_cast<std::uint8_t>(sorted.size()));
    for (const Address& address : sorted) p2p::put(out, address);
}
void put(Writer& out, const Bye& message) {
    std::string text = message.text.substr(0, kByeTextMax);
    std::replace_if(
        text.begin(), text.end(), [](char letter) { return !is_printable(letter); }, '?');
    out.u8(static_cast<std::uint8_t>(message.reason)).u8(static_cast<std::uint8_t>(text.size())).raw(as_bytes(text));
}

Result<Time, DecodeFault> get_time(Reader& in) {
    TRY(const auto clock, in.u64());
    if (clock > INT64_MAX) return Fail{DecodeFault::BadValue};
    return Time{microseconds{static_cast<std::int64_t>(clock)}};
}

Result<LinkMessage, DecodeFault> get_hello(Reader& in) {
    Hello message;
    TRY(message.lowest, in.u16());
    TRY(message.highest, in.u16());
    if (message.lowest > message.highest) return Fail{DecodeFault::BadValue};
    TRY(message.chain, in.id<ledger::ChainId>());
    TRY(const auto purpose, in.u8());
    if (purpose > static_cast<std::uint8_t>(Purpose::Test)) return Fail{DecodeFault::BadValue};
    message.purpose = static_cast<Purpose>(purpose);
    TRY(message.port, in.u16());
    TRY(message.nonce, in.u64());
    TRY(message.clock, get_time(in));
    return message;
}

template <class Message>
Result<LinkMessage, DecodeFault> get_ping(Reader& in) {
    Message message;
    TRY(message.nonce, in.u64());
    TRY(message.clock, get_time(in));
    return message;
}

Result<LinkMessage, DecodeFault> get_peers(Reader& in) {
    Peers message;
    TRY(const auto written, in.u8());
    TRY(const auto count, in.bounded_count(written, kPeersMax, Address::kBytes));
    message.addresses.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto address, get_address(in));
        if (!message.addresses.empty() && address <= message.addresses.back()) return Fail{DecodeFault::NotCanonical};
        message.addresses.push_back(address);
    }
    return message;
}

Result<LinkMessage, DecodeFault> get_bye(Reader& in) {
    Bye message;
    TRY(const auto reason, in.u8());
    message.reason = static_cast<ByeReason>(reason);
    TRY(const auto size, in.u8());
    if (size > kByeTextMax) return Fail{DecodeFault::TooLong};
    TRY(const auto text, in.raw(size));
    message.text = as_text(text);
    if (!std::all_of(message.text.begin(), message.text.end(), is_printable)) return Fail{DecodeFault::BadValue};
    return message;
}

Result<LinkMessage, DecodeFault> get(LinkType type, Reader& in) {
    switch (type) {
        case LinkType::Hello: return get_hello(in);
        case LinkType::Ping: return get_ping<Ping>(in);
        case LinkType::Pong: return get_ping<Pong>(in);
        case LinkType::GetPeers: return LinkMessage{GetPeers{}};
        case LinkType::Peers: return get_peers(in);
        case LinkType::Bye: return get_bye(in);
    }
    unreachable("a type with a size is one of these");
}

}  // namespace

std::string_view name(LinkType type) {
    switch (type) {
        case LinkType::Hello: return "hello";
        case LinkType::Ping: return "ping";
        case LinkType::Pong: return "pong";
        case LinkType::GetPeers: return "get-peers";
        case LinkType::Peers: return "peers";
        case LinkType::Bye: return "bye";
    }
    return "unknown";
}

std::string_view name(ByeReason reason) {
    switch (reason) {
        case ByeReason::Leaving: return "leaving";
        case ByeReason::WrongChain: return "wrong-chain";
        case ByeReason::WrongVersion: return "wrong-version";
        case ByeReason::Self: return "self";
        case ByeReason::Duplicate: return "duplicate";
        case ByeReason::Full: return "full";
        case ByeReason::Banned: return "banned";
        case ByeReason::Silent: return "silent";
        case ByeReason::Misbehaved: return "misbehaved";
        case ByeReason::Tested: return "tested";
        case ByeReason::WrongOwner: return "wrong-owner";
    }
    return "unknown";
}

std::size_t link_bytes_max(std::uint8_t type) {
    switch (static_cast<LinkType>(type)) {
        case LinkType::Hello: return 1 + kHelloBytes;
        case LinkType::Ping:
        case LinkType::Pong: return 1 + kPingBytes;
        case LinkType::GetPeers: return 1;
        case LinkType::Peers: return 1 + 1 + kPeersMax * Address::kBytes;
        case LinkType::Bye: return 1 + 1 + 1 + kByeTextMax;
    }
    return 0;
}

Bytes encode(const LinkMessage& message) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(kFirstLinkType + message.index()));
    std::visit([&](const auto& one) { put(out, one); }, message);
    return std::move(out).take();
}

Result<LinkMessage, Reject> decode_link_message(ByteView bytes) {
    if (bytes.empty()) return ledger::reject(RejectCode::BadEncoding, "a message without a type");
    const std::size_t most = link_bytes_max(bytes[0]);
    if (most == 0)
        return ledger::reject(RejectCode::BadEncoding, fmt::format("there is no message of type {}", bytes[0]));
    const auto type = static_cast<LinkType>(bytes[0]);
    if (bytes.size() > most)
        return ledger::reject(RejectCode::TooLarge,
                              fmt::format("a message of {} has at most {} bytes", name(type), most));
    const auto malformed = [&](DecodeFault fault) {
        return ledger::reject(RejectCode::BadEncoding,
                              fmt::format("a message of {}: {}", name(type), to_error(fault).message));
    };
    Reader in{bytes.subspan(1)};
    auto message = get(type, in);
    if (!message) return malformed(message.error());
    if (!in.empty()) return malformed(DecodeFault::Trailing);
    return *std::move(message);
}

}  // namespace rhizome::p2p
