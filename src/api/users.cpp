// SPDX-License-Identifier: Apache-2.0
#include "api/users.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/detail/text.h"
#include "base/bytes.h"

namespace rhizome::api {
namespace {

/// Fields of a CSV line with quotes as RFC 4180 has them; nothing when a quote does not close.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted) {
            if (c != '"') {
                fields.back() += c;
            } else if (i + 1 < line.size() && line[i + 1] == '"') {
                fields.back() += '"';
                ++i;
            } else {
                quoted = false;
            }
        } else if (c == '"' && fields.back().empty()) {
            quoted = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    if (quoted) return std::nullopt;
    return fields;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

void add_group(User& user, std::string_view group) {
    if (!group.empty() && !user.is_in(group)) user.groups.emplace_back(group);
}

}  // namespace

bool User::is_in(std::string_view group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
}

json::Object user_info(const User& user) {
    json::Object info{{"username", user.name}};
    if (!user.uid.empty()) info.set("uid", user.uid);
    json::Array groups;
    for (const std::string& one : user.groups) groups.emplace_back(one);
    info.set("groups", std::move(groups));
    json::Object extra;
    for (const auto& [key, value] : user.extra) extra[key].make_array().emplace_back(value);
    if (!extra.empty()) info.set("extra", std::move(extra));
    return info;
}

Result<std::vector<TokenUser>> parse_token_file(std::string_view text) {
    std::vector<TokenUser> tokens;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('#')) continue;
        const auto bad = [&](std::string_view why) {
            return fail(ErrorKind::Invalid,
                        fmt::format("line {}: {}; a line is token,user,uid,\"group1,group2\"", number, why));
        };
        const auto fields = fields_of(line);
        if (!fields) return bad("a quote does not close");
        if (fields->size() < 2 || fields->size() > 4) return bad(fmt::format("{} fields", fields->size()));
        TokenUser one{.token = std::string{trimmed((*fields)[0])},
                      .user = {.name = std::string{trimmed((*fields)[1])}}};
        if (one.token.empty() || one.user.name.empty()) return bad("token or user is empty");
        if (find_token(tokens, one.token) != nullptr) return bad("the token stands in the file already");
        if (fields->size() > 2) one.user.uid = trimmed((*fields)[2]);
        if (fields->size() > 3) {
            std::string_view groups = (*fields)[3];
            while (!groups.empty()) {
                const std::size_t comma = std::min(groups.find(','), groups.size());
                add_group(one.user, trimmed(groups.substr(0, comma)));
                groups.remove_prefix(std::min(comma + 1, groups.size()));
            }
        }
        add_group(one.user, kAuthenticated);
        tokens.push_back(std::move(one));
    }
    return tokens;
}

const User* find_token(const std::vector<TokenUser>& tokens, std::string_view token) {
    const User* found = nullptr;
    for (const TokenUser& one : tokens)
        if (equal_in_constant_time(as_bytes(one.token), as_bytes(token))) found = &one.user;
    return found;
}

std::string only_reads_here(const User& user) {
    return fmt::format(
        "User \"{}\" is known here by a certificate of node {}, which gives the use of no key of this machine: write "
        "through {}, or by a key of your own through 'rhizome proxy'",
        user.name, user.vouched_by, user.vouched_by);
}

Result<User, Status> impersonated(const User& asks, const std::vector<Header>& headers) {
    User named;
    bool any = false;
    for (const Header& header : headers) {
        const std::string name = detail::lower(header.name);
        if (!name.starts_with("impersonate-")) continue;
        any = true;
        if (name == "impersonate-user") {
            named.name = header.value;
        } else if (name == "impersonate-group") {
            add_group(named, header.value);
        } else if (name == "impersonate-uid") {
            named.uid = header.value;
        } else if (name.starts_with("impersonate-extra-")) {
            named.extra.emplace_back(name.substr(std::string_view{"impersonate-extra-"}.size()), header.value);
        }
    }
    if (!any) return asks;
    if (named.name.empty()) return Fail{bad_request("requested groups or extra without impersonating a user")};
    if (!asks.is_in(kMasters))
        return Fail{from_error(
            {ErrorKind::Denied, fmt::format("users \"{}\" is forbidden: User \"{}\" cannot impersonate resource "
                                            "\"users\": only the group {} may",
                                            named.name, asks.name, kMasters)})};
    add_group(named, kAuthenticated);
    named.impersonated_by = asks.name;
    named.vouched_by = asks.vouched_by;
    return named;
}

}  // namespace rhizome::api
