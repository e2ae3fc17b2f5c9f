// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/orders.h"

#include <poll.h>

#include <fmt/core.h>

#include "cli/commands/node/change.h"
#include "node/keystore.h"
#include "runtime/clock.h"

namespace rhizome::cli::playground {
namespace {

/// How often an order on its way is looked at.
constexpr int kOrderLookMillis = 2;

json::Object namespace_document(const std::string& name, std::size_t padding) {
    json::Object metadata{{"name", name}};
    if (padding > 0) metadata.set("annotations", json::Object{{"rhizome.dev/padding", std::string(padding, 'x')}});
    return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", std::move(metadata)}};
}

}  // namespace

Result<Orders> Orders::open(const std::filesystem::path& keys) {
    TRY(auto loaded, node::Keystore{keys}.load("admin", std::nullopt));
    return Orders{std::move(loaded.secret), loaded.info.public_key};
}

Result<Order> Orders::make(node::RpcClient& client, const std::string& name, std::size_t padding) const {
    node::WishForm form;
    form.changes.push_back({.document = json::print(namespace_document(name, padding))});
    TRY(auto drafted, tx::draft_at(client, form, runtime::now()));
    TRY(const auto signed_tx, sign_draft(std::move(drafted), {secret_, key_}, "rhizome"));
    return Order{.name = name, .id = ledger::id_of(signed_tx).hex(), .text = json::print(ledger::to_json(signed_tx))};
}

Result<OrderEnd> send_order(node::RpcClient& client, const Order& order, std::string_view wanted, microseconds most) {
    const auto start = runtime::instant_now();
    const auto since = [&] { return std::chrono::duration_cast<microseconds>(runtime::instant_now() - start); };
    OrderEnd end;
    TRY(auto reply, client.ask("POST", "/rhizome/v1/txs?wait=accepted", order.text, most));
    const auto take = [&](const json::Value& body) {
        if (const json::Value* height = body.find("height")) end.height = height->if_int64().value_or(-1);
        end.stage = std::string{body.text_at({body.find("stage") != nullptr ? "stage" : "status"})};
        if (end.stage == "pending") end.stage = "accepted";
        if (end.stage == "refused") end.why = std::string{body.text_at({"refused", "why"})};
        const bool in = end.stage == "included" || end.stage == "final";
        if (in && !end.included) end.included = since();
        if (end.stage == "final" && !end.final) end.final = since();
    };
    if (!reply.is_good() && reply.body.find("refused") == nullptr) return Fail{reply.error()};
    end.accepted = since();
    take(reply.body);
    const auto done = [&] {
        return end.stage == "refused" || wanted == "accepted" || (wanted == "included" && end.included) || end.final;
    };
    while (!done() && since() < most) {
        (void)::poll(nullptr, 0, kOrderLookMillis);
        TRY(const auto body, client.get("/rhizome/v1/txs/" + order.id));
        take(body);
    }
    return end;
}

}  // namespace rhizome::cli::playground
