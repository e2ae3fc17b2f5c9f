// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/request_auth.h"

#include <charconv>

#include <fmt/core.h>

namespace rhizome::node {
namespace {

constexpr std::string_view kScheme = "Rhizome ";
/// Years 1970 to 9999.
constexpr std::uint64_t kTimeMax = 253'402'300'799'999;

Fail<Error> bad(std::string_view word) {
    return fail(ErrorKind::Invalid,
                fmt::format("the Authorization field is malformed at {}: Rhizome key=…, time=…, nonce=…, body=…, "
                            "signature=…",
                            word));
}

/// Takes `name=VALUE` from the front, and `, ` behind it unless it is the last.
std::optional<std::string_view> take(std::string_view& rest, std::string_view name, bool last) {
    if (!rest.starts_with(name)) return std::nullopt;
    rest.remove_prefix(name.size());
    if (!rest.starts_with('=')) return std::nullopt;
    rest.remove_prefix(1);
    const std::size_t comma = rest.find(',');
    if (last != (comma == std::string_view::npos)) return std::nullopt;
    const std::string_view value = rest.substr(0, comma);
    rest.remove_prefix(last ? rest.size() : comma + 1);
    if (last) return value;
    if (!rest.starts_with(' ')) return std::nullopt;
    rest.remove_prefix(1);
    return value;
}

/// Exactly as many bytes as `into` has, in lower-case digits.
template <class Array>
bool read_hex(std::string_view digits, Array& into) {
    const auto bytes = from_hex(digits);
    if (!bytes || bytes->size() != into.size() || to_hex(*bytes) != digits) return false;
    std::copy(bytes->begin(), bytes->end(), into.begin());
    return true;
}

}  // namespace

std::string to_text(const RequestAuth& auth) {
    return fmt::format("{}key={}, time={}, nonce={}, body={}, signature={}", kScheme, to_hex(auth.key), auth.time,
                       to_hex(auth.nonce), auth.body.hex(), to_hex(auth.signature));
}

Result<RequestAuth> parse_request_auth(std::string_view field) {
    if (!field.starts_with(kScheme)) return bad("its first word");
    std::string_view rest = field.substr(kScheme.size());
    RequestAuth auth;
    const auto key = take(rest, "key", false);
    if (!key || !read_hex(*key, auth.key)) return bad("key");
    const auto time = take(rest, "time", false);
    if (!time) return bad("time");
    const auto [end, error] = std::from_chars(time->data(), time->data() + time->size(), auth.time);
    if (error != std::errc{} || end != time->data() + time->size() || auth.time > kTimeMax ||
        std::to_string(auth.time) != *time)
        return bad("time");
    const auto nonce = take(rest, "nonce", false);
    if (!nonce || !read_hex(*nonce, auth.nonce)) return bad("nonce");
    const auto body = take(rest, "body", false);
    std::array<std::uint8_t, 32> hash{};
    if (!body || !read_hex(*body, hash)) return bad("body");
    auth.body = crypto::Hash256{hash};
    const auto signature = take(rest, "signature", true);
    if (!signature || !read_hex(*signature, auth.signature)) return bad("signature");
    return auth;
}

crypto::Digest request_digest(const RequestAuth& auth, const ledger::MemberKey& node, std::string_view method,
                              std::string_view target) {
    const std::string lines =
        fmt::format("rhizome-request-1\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", to_hex(node), to_hex(auth.key), method, target,
                    auth.time, to_hex(auth.nonce), auth.body.hex());
    return crypto::Digest{crypto::tagged_hash(crypto::HashTag::Request, as_bytes(lines)).view()};
}

std::string sign_request(const crypto::SecretKey& secret, const crypto::PublicKey& key, const ledger::MemberKey& node,
                         std::string_view method, std::string_view target, std::string_view body, Time now,
                         const std::array<std::uint8_t, 16>& nonce) {
    RequestAuth auth{.key = key.bytes(),
                     .time = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.unix_millis())),
                     .nonce = nonce,
                     .body = crypto::sha256(as_bytes(body))};
    auth.signature = crypto::sign(secret, request_digest(auth, node, method, target)).to_compact();
    return to_text(auth);
}

bool is_signed(const RequestAuth& auth, const ledger::MemberKey& node, std::string_view method,
               std::string_view target) {
    const auto key = crypto::PublicKey::parse(auth.key);
    const auto signature = crypto::Signature::from_compact(auth.signature);
    return key && signature && crypto::verify(*key, request_digest(auth, node, method, target), *signature);
}

}  // namespace rhizome::node
