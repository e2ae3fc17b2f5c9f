// SPDX-License-Identifier: Apache-2.0
#include "api/service_token.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/detail/text.h"
#include "base/json.h"
#include "cluster/base64.h"

namespace rhizome::api {
namespace {

constexpr json::Limits kPart{.bytes = kTokenBytesMax, .depth = 8};
constexpr std::string_view kOurs = "rhizome.dev";
constexpr std::string_view kTheirs = "kubernetes.io";

std::string part(const json::Object& object) { return cluster::base64url(as_bytes(json::print(object))); }

Result<json::Value> read_part(std::string_view text, std::string_view what) {
    const auto bytes = cluster::from_base64url(text);
    if (!bytes) return fail(ErrorKind::Invalid, fmt::format("the token's {} is no base64url", what));
    auto value = json::parse(as_text(*bytes), kPart);
    if (!value || !value->is_object())
        return fail(ErrorKind::Invalid, fmt::format("the token's {} is no object", what));
    return *std::move(value);
}

Result<std::string> text_claim(const json::Value& claims, std::initializer_list<std::string_view> keys) {
    const std::string_view text = claims.text_at(keys);
    if (text.empty())
        return fail(ErrorKind::Invalid, fmt::format("the token has no claim {}", *(keys.begin() + keys.size() - 1)));
    return std::string{text};
}

Result<Time> time_claim(const json::Value& claims, std::string_view key) {
    const json::Value* value = claims.find(key);
    const auto seconds = value == nullptr ? std::nullopt : value->if_int64();
    // Up to the year 9999: what RFC 3339 can say.
    if (!seconds || *seconds < 0 || *seconds > 253'402'300'799)
        return fail(ErrorKind::Invalid, fmt::format("the token's claim {} is no time", key));
    return Time::from_unix_seconds(*seconds);
}

Result<std::vector<std::string>> audience_claim(const json::Value& claims) {
    const json::Value* value = claims.find("aud");
    std::vector<std::string> out;
    if (value != nullptr && value->is_string()) out.push_back(*value->if_string());
    if (value != nullptr && value->is_array())
        for (const json::Value& one : *value->if_array()) {
            if (!one.is_string()) return fail(ErrorKind::Invalid, "the token's claim aud is no list of texts");
            out.push_back(*one.if_string());
        }
    if (out.empty() || out.size() > kAudiencesMax) return fail(ErrorKind::Invalid, "the token names no audience");
    return out;
}

}  // namespace

std::string signing_text(const TokenClaims& claims, std::string_view key_id) {
    json::Array audiences;
    for (const std::string& one : claims.audiences) audiences.emplace_back(one);
    json::Object theirs{
        {"namespace", claims.name_space},
        {"serviceaccount", json::Object{{"name", claims.account}, {"uid", claims.account_uid}}},
    };
    if (!claims.bound_kind.empty())
        theirs.set(detail::lower(claims.bound_kind),
                   json::Object{{"name", claims.bound_name}, {"uid", claims.bound_uid}});
    const json::Object header{{"alg", "EdDSA"}, {"kid", key_id}, {"typ", "JWT"}};
    const json::Object body{
        {"aud", std::move(audiences)},
        {"exp", claims.expires.unix_seconds()},
        {"iat", claims.issued.unix_seconds()},
        {"iss", kIssuer},
        {"jti", claims.id},
        {kTheirs, std::move(theirs)},
        {"nbf", claims.issued.unix_seconds()},
        {kOurs, json::Object{{"chain", claims.chain}}},
        {"sub", fmt::format("system:serviceaccount:{}:{}", claims.name_space, claims.account)},
    };
    return part(header) + "." + part(body);
}

std::string token_text(std::string_view signing_text, ByteView signature) {
    return std::string{signing_text} + "." + cluster::base64url(signature);
}

bool looks_like_token(std::string_view text) { return std::count(text.begin(), text.end(), '.') == 2; }

Result<ReadToken> read_token(std::string_view text) {
    if (text.size() > kTokenBytesMax) return fail(ErrorKind::Invalid, "the token is too long");
    if (!looks_like_token(text)) return fail(ErrorKind::Invalid, "a token has three parts");
    const std::size_t first = text.find('.');
    const std::size_t second = text.rfind('.');
    TRY(const json::Value header, read_part(text.substr(0, first), "header"));
    TRY(const json::Value body, read_part(text.substr(first + 1, second - first - 1), "claims"));
    if (header.text_at({"alg"}) != "EdDSA") return fail(ErrorKind::Invalid, "the token is not signed with EdDSA");
    if (header.find("crit") != nullptr)
        return fail(ErrorKind::Invalid, "the token needs something of its reader that is not known here");
    ReadToken read{.signed_part = std::string{text.substr(0, second)}};
    TRY(read.key_id, text_claim(header, {"kid"}));
    TokenClaims& claims = read.claims;
    if (body.text_at({"iss"}) != kIssuer) return fail(ErrorKind::Invalid, "the token is another issuer's");
    TRY(claims.chain, text_claim(body, {kOurs, "chain"}));
    TRY(claims.name_space, text_claim(body, {kTheirs, "namespace"}));
    TRY(claims.account, text_claim(body, {kTheirs, "serviceaccount", "name"}));
    TRY(claims.account_uid, text_claim(body, {kTheirs, "serviceaccount", "uid"}));
    TRY(claims.audiences, audience_claim(body));
    TRY(claims.id, text_claim(body, {"jti"}));
    TRY(claims.issued, time_claim(body, "iat"));
    TRY(claims.expires, time_claim(body, "exp"));
    for (const std::string_view kind : {"Pod", "Node", "Secret"}) {
        const json::Value* bound = body.find_path({kTheirs, detail::lower(kind)});
        if (bound == nullptr) continue;
        claims.bound_kind = kind;
        TRY(claims.bound_name, text_claim(*bound, {"name"}));
        TRY(claims.bound_uid, text_claim(*bound, {"uid"}));
    }
    const auto signature = cluster::from_base64url(text.substr(second + 1));
    if (!signature || signature->size() != 64) return fail(ErrorKind::Invalid, "the token's signature is none");
    read.signature = *signature;
    return read;
}

Result<std::vector<std::string>> check_claims(const TokenClaims& claims, std::string_view chain,
                                              const std::vector<std::string>& audiences, Time now) {
    if (claims.chain != chain) return fail(ErrorKind::Denied, "the token is of another cluster");
    if (now >= claims.expires)
        return fail(ErrorKind::Denied, fmt::format("the token expired at {}", to_rfc3339(claims.expires)));
    // Clocks of members differ a little.
    if (now + seconds{300} < claims.issued) return fail(ErrorKind::Denied, "the token is from the future");
    if (claims.expires - claims.issued > kTokenMost + seconds{1})
        return fail(ErrorKind::Denied, "the token is good for longer than tokens of this cluster are");
    std::vector<std::string> both;
    for (const std::string& one : claims.audiences)
        if (std::find(audiences.begin(), audiences.end(), one) != audiences.end()) both.push_back(one);
    if (both.empty()) return fail(ErrorKind::Denied, "the token is for another audience");
    return both;
}

User user_of(const TokenClaims& claims, std::string_view key_id) {
    User user{.name = fmt::format("system:serviceaccount:{}:{}", claims.name_space, claims.account),
              .uid = claims.account_uid};
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + claims.name_space,
                   std::string{kAuthenticated}};
    user.extra.emplace_back("authentication.kubernetes.io/credential-id", "JTI=" + claims.id);
    if (!claims.bound_kind.empty()) {
        const std::string key = "authentication.kubernetes.io/" + detail::lower(claims.bound_kind);
        user.extra.emplace_back(key + "-name", claims.bound_name);
        user.extra.emplace_back(key + "-uid", claims.bound_uid);
    }
    user.extra.emplace_back("rhizome.dev/issued-by", std::string{key_id});
    return user;
}

std::optional<AccountName> account_of(std::string_view user_name) {
    constexpr std::string_view kPrefix = "system:serviceaccount:";
    if (!user_name.starts_with(kPrefix)) return std::nullopt;
    user_name.remove_prefix(kPrefix.size());
    const std::size_t colon = user_name.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == user_name.size()) return std::nullopt;
    return AccountName{user_name.substr(0, colon), user_name.substr(colon + 1)};
}

}  // namespace rhizome::api
