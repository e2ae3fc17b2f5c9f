// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/users.h"
#include "base/bytes.h"
#include "base/time.h"

/// Tokens of service accounts: JSON Web Tokens (RFC 7519) that a member of the cluster signs with its transport key
/// (`EdDSA`, RFC 8037), so that every node of the cluster can check them by what the chain knows of that member. Here
/// are their form and what they claim; signatures are made and checked in `io/tokens.cpp`.
namespace rhizome::api {

/// What a token says when nobody asks for another audience, and what this API expects to be named as.
inline constexpr std::string_view kIssuer = "https://kubernetes.default.svc.cluster.local";
inline constexpr std::string_view kApiAudience = "https://kubernetes.default.svc";

/// Times that a token may be good for. Longer wishes are cut, as kube-apiserver cuts them.
inline constexpr seconds kTokenLeast{600};
inline constexpr seconds kTokenMost{7LL * 24 * 3600};
inline constexpr std::size_t kTokenBytesMax = 16u << 10;
inline constexpr std::size_t kAudiencesMax = 64;

/// What a token claims.
struct TokenClaims {
    std::string chain{};  ///< the cluster's, in hexadecimal: no other cluster believes it
    std::string name_space{};
    std::string account{};
    std::string account_uid{};
    std::vector<std::string> audiences{};
    std::string id{};  ///< a uid of its own
    Time issued{};
    Time expires{};
    // What it ends with, beside its time: `Pod`, `Node` or `Secret`; empty: nothing.
    std::string bound_kind{};
    std::string bound_name{};
    std::string bound_uid{};
    friend bool operator==(const TokenClaims&, const TokenClaims&) = default;
};

/// Header and claims as the text that is signed.
std::string signing_text(const TokenClaims& claims, std::string_view key_id);
/// With the signature behind it: the token.
std::string token_text(std::string_view signing_text, ByteView signature);

/// A token taken apart; nobody has checked its signature.
struct ReadToken {
    std::string key_id{};
    TokenClaims claims{};
    std::string signed_part{};
    Bytes signature{};
};
/// Whether a text has the form of such a token at all: three parts between dots.
bool looks_like_token(std::string_view text);
/// Invalid for every other algorithm, a missing claim, a claim of another type, or bytes behind the end.
Result<ReadToken> read_token(std::string_view text);

/// Whether it is good now, for the cluster `chain` and one of `audiences`. Gives the audiences that both know.
Result<std::vector<std::string>> check_claims(const TokenClaims& claims, std::string_view chain,
                                              const std::vector<std::string>& audiences, Time now);

/// `system:serviceaccount:NAMESPACE:NAME`, in the groups that Kubernetes gives it.
User user_of(const TokenClaims& claims, std::string_view key_id);
/// The namespace and name in a service account's user name; nothing for other names.
struct AccountName {
    std::string_view name_space{};
    std::string_view name{};
};
std::optional<AccountName> account_of(std::string_view user_name);

}  // namespace rhizome::api
