// SPDX-License-Identifier: Apache-2.0
// Who a token says somebody is, and new ones for service accounts.
#include <algorithm>

#include <fmt/core.h>

#include "api/io/access.h"
#include "api/io/service.h"
#include "api/service_token.h"
#include "api/shown.h"
#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "crypto/ed25519.h"
#include "crypto/keys.h"

namespace rhizome::api {
namespace {

/// The uid of a document that stands on the chain; empty when there is none.
std::string uid_at(const Service& service, std::string_view kind_name, std::string_view name_space,
                   std::string_view name) {
    const SharedRegistry registry = service.registry();
    const Kind* kind = registry->kinds.preferred("", kind_name);
    if (kind == nullptr) return {};
    const auto path = path_of(*kind, kind->namespaced ? name_space : std::string_view{}, name);
    if (!path) return {};
    const Standing there =
        service.backend.live().read([&](const Revisions& now) { return now.find(Layer::Chain, *path); });
    if (!there) return {};
    return std::string{cluster::uid_of(shown_value(*kind, there, {}))};
}

Result<ReviewHelp::Known> service_account(const Service& service, std::string_view token,
                                          const std::vector<std::string>& audiences) {
    TRY(const ReadToken read, read_token(token));
    const auto published = service.backend.token_key(read.key_id);
    if (!published) return fail(ErrorKind::Denied, "the token is signed by nobody who is a member of this cluster");
    const auto key = crypto::Ed25519Public::parse(*published);
    if (!key || !crypto::verify(*key, as_bytes(read.signed_part), read.signature))
        return fail(ErrorKind::Denied, "the token's signature does not verify");
    const TokenClaims& claims = read.claims;
    TRY(auto both, check_claims(claims, service.backend.chain_text(), audiences, service.backend.now()));
    if (uid_at(service, "ServiceAccount", claims.name_space, claims.account) != claims.account_uid)
        return fail(ErrorKind::Denied, "the token's service account is gone");
    if (!claims.bound_kind.empty() &&
        uid_at(service, claims.bound_kind, claims.name_space, claims.bound_name) != claims.bound_uid)
        return fail(ErrorKind::Denied, fmt::format("the {} that the token is bound to is gone", claims.bound_kind));
    return ReviewHelp::Known{.user = user_of(claims, read.key_id), .audiences = std::move(both)};
}

/// The request's body as one of its kind, filled in.
Result<json::Value, Status> token_request(const Call& call) {
    TRY(json::Value object, read_object(call));
    const cluster::Schema* schema = cluster::find_schema("authentication.k8s.io", "v1", "TokenRequest");
    ensure(schema != nullptr, "the tables have TokenRequest");
    auto decoded = cluster::decode(
        std::move(object), *schema, "v1", "TokenRequest",
        cluster::parse_field_validation(call.query.text("fieldValidation")).value_or(cluster::FieldValidation::Warn));
    if (!decoded) return Fail{bad_request(decoded.error().message)};
    json::Value request = std::move(decoded->object);
    request["apiVersion"] = "authentication.k8s.io/v1";
    request["kind"] = "TokenRequest";
    if (request.find("spec") == nullptr || request.find("spec")->is_null()) request["spec"] = json::Object{};
    if (request.find_path({"spec", "expirationSeconds"}) == nullptr) request["spec"]["expirationSeconds"] = 3600;
    return request;
}

Result<seconds, Status> duration_of(const Call& call, const json::Value& request) {
    const json::Value* wanted = request.find_path({"spec", "expirationSeconds"});
    const auto count = wanted == nullptr ? std::nullopt : wanted->if_int64();
    const cluster::Where where{"spec.expirationSeconds"};
    cluster::FieldErrors errors;
    if (!count || *count < kTokenLeast.count())
        errors.push_back(cluster::invalid(where, wanted == nullptr ? json::Value{} : *wanted,
                                          "may not specify a duration less than 10 minutes"));
    else if (*count > (std::int64_t{1} << 32))
        errors.push_back(cluster::invalid(where, *wanted, "may not specify a duration larger than 2^32 seconds"));
    if (!errors.empty()) {
        Status status = invalid(*call.kind, call.path.name, errors);
        status.group = "authentication.k8s.io";
        status.kind = "TokenRequest";
        status.message = fmt::format("TokenRequest.authentication.k8s.io \"\" is invalid: {}", cluster::text(errors));
        return Fail{std::move(status)};
    }
    return std::min(seconds{*count}, kTokenMost);
}

}  // namespace

Result<ReviewHelp::Known> authenticate(const Service& service, std::string_view token,
                                       const std::vector<std::string>& audiences) {
    if (const User* known = find_token(service.options.tokens, token))
        return ReviewHelp::Known{.user = *known, .audiences = audiences};
    if (!looks_like_token(token)) return fail(ErrorKind::Denied, "nobody has this token");
    return service_account(service, token, audiences);
}

Planned token_verb(const Service& service, const Call& call, const Present& present) {
    if (call.verb != Verb::Create) return Fail{method_not_allowed()};
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    TRY(json::Value request, token_request(call));
    TRY(const seconds lasts, duration_of(call, request));
    TRY(require_access(service, call, "create"));
    const json::Value account = shown_value(*call.kind, present.object, {});
    TokenClaims claims{.chain = service.backend.chain_text(),
                       .name_space = call.path.name_space,
                       .account = call.path.name,
                       .account_uid = std::string{cluster::uid_of(account)},
                       .id = cluster::uid_from(call.entropy),
                       .issued = Time::from_unix_seconds(call.now.unix_seconds()),
                       .expires = Time::from_unix_seconds(call.now.unix_seconds()) + lasts};
    const json::Value spec = *request.find("spec");
    if (const json::Value* asked = spec.find("audiences"); asked != nullptr && asked->is_array())
        for (const json::Value& one : *asked->if_array())
            if (const std::string* text = one.if_string(); text != nullptr && !text->empty())
                claims.audiences.push_back(*text);
    if (claims.audiences.size() > kAudiencesMax)
        return Fail{bad_request(fmt::format("a token names at most {} audiences", kAudiencesMax))};
    if (claims.audiences.empty()) claims.audiences = {std::string{kApiAudience}};
    if (const json::Value* bound = spec.find("boundObjectRef"); bound != nullptr && bound->is_object()) {
        claims.bound_kind = bound->text_at({"kind"});
        claims.bound_name = bound->text_at({"name"});
        if (claims.bound_kind != "Pod" && claims.bound_kind != "Secret" && claims.bound_kind != "Node")
            return Fail{
                bad_request(fmt::format("cannot bind token for serviceaccount \"{}\" to object of kind \"{}\"; "
                                        "Node, Pod and Secret are known",
                                        call.path.name, claims.bound_kind))};
        claims.bound_uid = uid_at(service, claims.bound_kind, claims.name_space, claims.bound_name);
        const Kind* kind = call.registry->kinds.preferred("", claims.bound_kind);
        if (claims.bound_uid.empty()) return Fail{not_found(*kind, claims.bound_name)};
        const std::string_view known = bound->text_at({"uid"});
        if (!known.empty() && known != claims.bound_uid)
            return Fail{conflict(*kind, claims.bound_name,
                                 fmt::format("the UID in the bound object reference ({}) does not match the UID in "
                                             "record. The object might have been deleted and then recreated",
                                             known))};
    }
    json::Array audiences;
    for (const std::string& one : claims.audiences) audiences.emplace_back(one);
    request["spec"]["audiences"] = std::move(audiences);
    std::string token;
    if (!call.is_dry()) {
        const auto key_id = service.backend.token_key_id();
        if (!key_id) return Fail{unavailable(key_id.error().message)};
        const std::string text = signing_text(claims, *key_id);
        token = token_text(text, service.backend.sign_token(as_bytes(text)));
    }
    request["metadata"]["name"] = call.path.name;
    request["metadata"]["namespace"] = call.path.name_space;
    request["metadata"]["creationTimestamp"] = to_rfc3339(call.now);
    request["status"] = json::Object{{"token", token}, {"expirationTimestamp", to_rfc3339(claims.expires)}};
    Reply reply{.code = 201, .body = json::print(request) + "\n"};
    if (seconds{spec.find("expirationSeconds")->if_int64().value_or(0)} > lasts)
        reply.warnings.push_back(fmt::format("requested expiration of {} seconds shortened to {} seconds",
                                             spec.find("expirationSeconds")->if_int64().value_or(0), lasts.count()));
    return std::variant<Reply, Draft>{std::move(reply)};
}

}  // namespace rhizome::api
