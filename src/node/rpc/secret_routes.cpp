// SPDX-License-Identifier: Apache-2.0
// Secrets: in clear for whoever could change them, the key that new ones are sealed to, and who knew what
// (docs/spec/secrets.md).
#include <fmt/core.h>

#include "node/rpc/mailbox.h"
#include "node/rpc/request_auth.h"
#include "node/rpc/route.h"
#include "node/secrets/vault.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;
using stream::Task;

constexpr std::size_t kPathsMax = 256;
constexpr std::size_t kWishBytesMax = 256u << 10;
/// An answer is no larger than so many bytes of Secrets, and one more.
constexpr std::size_t kAnswerBytesMax = 4u << 20;
/// For a new generation to come into the chain.
constexpr seconds kKeyTime{60};

Response no_keeper() { return refusal({ErrorKind::Unsupported, "this node keeps no cluster keys"}); }

/// Whoever asks on the machine's own socket could read its seed; others show one key, which signed the request.
Result<SecretOpener> opener_for(const Context& context, const Call& call) {
    KeyKeeper& keeper = *context.sources.secrets;
    if (call.exchange.peer().is_local) return SecretOpener::for_machine(keeper);
    const auto field = call.exchange.request().headers.find("Authorization");
    TRY(const RequestAuth auth, parse_request_auth(field.value_or("")));
    return SecretOpener{keeper, {auth.key}, fmt::format("the key {}", to_hex(auth.key))};
}

std::string_view name(api::Withheld::Why why) {
    switch (why) {
        case api::Withheld::Why::Denied: return "denied";
        case api::Withheld::Why::Unavailable: return "unavailable";
        case api::Withheld::Why::Damaged: return "damaged";
    }
    unreachable("a Withheld is one of three");
}

json::Object opened_row(SecretOpener& opener, const state::StateView& state, const std::string& text) {
    const auto path = state::Path::parse(text);
    const state::Entry* entry = path && path->kind() == "Secret" && path->group().empty() ? state.get(*path) : nullptr;
    if (entry == nullptr) return {{"path", text}, {"why", "missing"}, {"message", "there is no such Secret"}};
    auto opened = opener.open(*entry);
    if (!opened) return {{"path", text}, {"why", name(opened.error().why)}, {"message", opened.error().message}};
    return {{"path", text},
            {"txid", entry->origin().latest.output.change.hex()},
            {"output", entry->origin().latest.output.index},
            {"document", *std::move(opened)}};
}

Response open(const Context& context, const Call& call) {
    if (context.sources.secrets == nullptr) return no_keeper();
    const auto wish = json::parse(call.body, {.bytes = kWishBytesMax});
    const json::Value* paths = wish ? wish->find("paths") : nullptr;
    if (paths == nullptr || !paths->is_array() || paths->if_array()->size() > kPathsMax)
        return refusal({ErrorKind::Invalid, fmt::format("the body is {{\"paths\":[…]}} with at most {}", kPathsMax)});
    auto opener = opener_for(context, call);
    if (!opener) return refusal(opener.error());
    const auto view = context.host.view();
    json::Array rows;
    std::size_t bytes = 0;
    for (const json::Value& one : *paths->if_array()) {
        const std::string* text = one.if_string();
        if (text == nullptr) return refusal({ErrorKind::Invalid, "a path is a string"});
        if (bytes > kAnswerBytesMax) break;  // whoever asked sees how far it went, and asks for the rest
        rows.emplace_back(opened_row(*opener, view->state, *text));
        bytes += json::print(rows.back()).size();
    }
    return json_response(json::Object{{"secrets", std::move(rows)}});
}

Task<void> key(const Context& context, Call& call) {
    if (context.sources.secrets == nullptr) {
        (void)co_await call.exchange.respond(no_keeper());
        co_return;
    }
    KeyKeeper& keeper = *context.sources.secrets;
    const auto told = std::make_shared<Mailbox<Result<crypto::X25519Public>>>(call.exchange.strand());
    keeper.key_for_writing([told](Result<crypto::X25519Public> chosen) { put(told, std::move(chosen), 1); });
    const bool in_time = co_await told->came.wait_until(stream::after(kKeyTime));
    Result<crypto::X25519Public> chosen =
        in_time
            ? told->waiting.front()
            : Result<crypto::X25519Public>{fail(ErrorKind::Unavailable, "no cluster key came into the chain in time")};
    if (!chosen) {
        (void)co_await call.exchange.respond(refusal(chosen.error()));
        co_return;
    }
    const auto keys = keeper.keys_of(context.host.view()->state);
    const auto at = keys->keys.find(*chosen);
    auto response = json_response(
        json::Object{{"key", chosen->hex()}, {"generation", at == keys->keys.end() ? 0 : at->second.generation}});
    (void)co_await call.exchange.respond(std::move(response));
}

Response secrets_status(const Context& context, const Call&) {
    if (context.sources.secrets == nullptr) return no_keeper();
    const auto view = context.host.view();
    const auto keys = context.sources.secrets->keys_of(view->state);
    const auto current = keys->for_writing();
    std::map<crypto::X25519Public, json::Array> under;
    for (const SealedAt& one : sealed_secrets_of(view->state)) under[one.key].emplace_back(one.path.text());
    json::Array rows;
    for (const auto& [id, known] : keys->keys) {
        json::Array holders;
        for (const auto& [holder, node] : known.holders) holders.emplace_back(node);
        json::Array strangers;
        for (const auto& [holder, node] : keys->strangers(known)) strangers.emplace_back(node);
        rows.emplace_back(json::Object{{"key", id.hex()},
                                       {"generation", known.generation},
                                       {"current", current == id},
                                       {"readable", context.sources.secrets->secret_of(id).has_value()},
                                       {"holders", std::move(holders)},
                                       {"strangers", std::move(strangers)},
                                       {"secrets", std::move(under[id])}});
        under.erase(id);
    }
    json::Array lost;
    for (auto& [id, paths] : under)
        for (json::Value& path : paths) lost.push_back(std::move(path));
    return json_response(json::Object{{"keys", std::move(rows)}, {"withoutKey", std::move(lost)}});
}

}  // namespace

std::vector<Route> secret_routes() {
    return {{.name = "openSecrets",
             .method = "POST",
             .path = "/rhizome/v1/secrets/open",
             .summary = "Secrets in clear, for whoever could open their lock, their namespace's or the Cluster's",
             .body = "SecretPaths",
             .body_bytes_max = kWishBytesMax,
             .answer = "OpenedSecrets",
             .handler = AtOnce{open}},
            {.name = "getSealingKey",
             .method = "POST",
             .path = "/rhizome/v1/secrets/key",
             .summary = "The cluster key that Secrets are sealed to; starts a new generation where one is due",
             .answer = "SealingKey",
             .handler = InTime{key}},
            {.name = "getSecretStatus",
             .path = "/rhizome/v1/secrets/status",
             .summary = "Cluster keys, who holds them, and which Secrets are sealed to which",
             .answer = "SecretStatus",
             .handler = AtOnce{secrets_status}}};
}

}  // namespace rhizome::node::rpc
