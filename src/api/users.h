// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/status.h"
#include "base/result.h"

/// Who asks. A name and groups, from a client certificate (common name and organizations) or a token; keys of the chain
/// are found for it later, when something is to be signed.
namespace rhizome::api {

inline constexpr std::string_view kMasters = "system:masters";
inline constexpr std::string_view kAuthenticated = "system:authenticated";

struct User {
    std::string name{};
    std::string uid{};
    std::vector<std::string> groups{};
    std::vector<std::pair<std::string, std::string>> extra{};
    std::string impersonated_by{};  ///< who asked in this one's name; empty: nobody
    /// Known by the word of this other machine of the cluster, which says who somebody is and nothing more: it gives
    /// the use of no key here, nor the power of `kMasters`. Empty: known here.
    std::string vouched_by{};

    [[nodiscard]] bool is_in(std::string_view group) const;
    friend bool operator==(const User&, const User&) = default;
};

/// In a user's `extra`: the machine that vouches for him.
inline constexpr std::string_view kVouchedBy = "rhizome.dev/vouched-by";
/// Why somebody whom another machine vouches for changes nothing here, and what to do about it.
std::string only_reads_here(const User& user);

/// A user as reviews and webhooks show it: `username`, `uid`, `groups`, `extra`.
json::Object user_info(const User& user);

/// A token file as kube-apiserver reads it, a line for each: `token,user,uid,"group1,group2"`; uid and groups may be
/// left out.
struct TokenUser {
    std::string token{};
    User user{};
};
/// Errors name the line, never the token.
Result<std::vector<TokenUser>> parse_token_file(std::string_view text);
/// Whose token it is; compares every byte of every token, so that the time taken says nothing.
const User* find_token(const std::vector<TokenUser>& tokens, std::string_view token);

/// The user that the headers `Impersonate-*` name (`kubectl --as`), or the one who asks when there are none. Only the
/// cluster's masters may: whoever speaks for others can do what they can.
struct Header {
    std::string_view name{};
    std::string_view value{};
};
Result<User, Status> impersonated(const User& asks, const std::vector<Header>& headers);

}  // namespace rhizome::api
