// SPDX-License-Identifier: Apache-2.0
// Blocks, headers, transactions of the chain and their proofs.
#include "ledger/block_json.h"
#include "ledger/json_form.h"
#include "node/rpc/mailbox.h"
#include "node/rpc/route.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;
using stream::Task;

constexpr std::uint64_t kLastMax = 1'000;

template <class Make>
Response answer(const Result<Make>& made) {
    return made ? json_response(*made) : refusal(made.error());
}

Response tip(const Context& context, const Call&) {
    const auto view = context.host.view();
    return json_response(json::Object{
        {"height", view->tip.height.number()},
        {"hash", view->tip_hash.hex()},
        {"time", to_rfc3339(view->tip.time, Precision::Millis)},
        {"stateRoot", view->state.root().hex()},
        {"final", json::Object{{"height", view->final_height.number()}, {"hash", view->final_block.hex()}}}});
}

Response overview(const Context& context, const Call& call) {
    const auto last = call.number("last", 10, kLastMax);
    if (!last) return refusal(last.error());
    return answer(overview_json(context.sight(*context.host.view()), *last));
}

Response header(const Context& context, const Call& call) {
    const Sight at = context.sight(*context.host.view());
    const auto info = find_block(at, call.part("ref"));
    return info ? json_response(header_json(at, *info)) : refusal(info.error());
}

Response block(const Context& context, const Call& call) {
    const Sight at = context.sight(*context.host.view());
    const auto info = find_block(at, call.part("ref"));
    if (!info) return refusal(info.error());
    const auto found = read_block(at, *info);
    return found ? json_response(ledger::to_json(*found)) : refusal(found.error());
}

/// Of one that waits or was refused.
Response of_fate(const ledger::TxId& id, const Host::Fate& fate) {
    if (fate.pending)
        return json_response(json::Object{{"txid", id.hex()},
                                          {"status", "pending"},
                                          {"wireId", fate.pending->wire_id.hex()},
                                          {"transaction", ledger::to_json(fate.pending->tx)}});
    return json_response(json::Object{{"txid", id.hex()}, {"status", "refused"}, {"refused", to_json(*fate.refused)}});
}

Response of_place(const Sight& at, const Result<store::TxPlace>& place) {
    return place ? answer(tx_json(at, *place)) : refusal(place.error());
}

Task<void> transaction(const Context& context, Call& call) {
    const auto id = parse_txid(call.part("id"));
    if (!id) {
        (void)co_await call.exchange.respond(refusal(id.error()));
        co_return;
    }
    const auto view = context.host.view();
    const Sight at = context.sight(*view);
    const auto place = find_tx(at, *id);
    if (place || place.error().kind != ErrorKind::NotFound) {
        (void)co_await call.exchange.respond(of_place(at, place));
        co_return;
    }
    const auto fate = std::make_shared<Mailbox<Host::Fate>>(call.exchange.strand());
    context.host.fate_of(*id, [fate](const Host::Fate& one) { put(fate, one, 1); });
    co_await fate->came.wait();
    const Host::Fate& known = fate->waiting.front();
    if (!known.pending && !known.refused) {
        // Between the two looks it may have left the pool for a block.
        const auto newer = context.host.view();
        const Sight now = context.sight(*newer);
        (void)co_await call.exchange.respond(of_place(now, find_tx(now, *id)));
        co_return;
    }
    (void)co_await call.exchange.respond(of_fate(*id, known));
}

Response proof(const Context& context, const Call& call) {
    const Sight at = context.sight(*context.host.view());
    const auto id = parse_txid(call.part("id"));
    if (!id) return refusal(id.error());
    const auto place = find_tx(at, *id);
    if (!place) return refusal(place.error());
    const auto made = prove_tx(at, *place);
    return made ? json_response(ledger::to_json(*made)) : refusal(made.error());
}

constexpr std::string_view kRef = "a height, a hash of 64 digits, latest or final";

}  // namespace

std::vector<Route> chain_routes() {
    return {{.name = "getTip",
             .path = "/rhizome/v1/tip",
             .summary = "The newest block, and the newest final one",
             .answer = "Tip",
             .handler = AtOnce{tip}},
            {.name = "getChain",
             .path = "/rhizome/v1/chain",
             .summary = "An overview of the chain and what it takes on the disk",
             .parameters = {{.name = "last", .summary = "how many of the newest blocks to list", .type = "integer"}},
             .answer = "Overview",
             .handler = AtOnce{overview}},
            {.name = "getHeader",
             .path = "/rhizome/v1/headers/{ref}",
             .summary = "A block's header",
             .parameters = {{.name = "ref", .summary = kRef, .in_path = true}},
             .answer = "Header",
             .handler = AtOnce{header}},
            {.name = "getBlock",
             .path = "/rhizome/v1/blocks/{ref}",
             .summary = "A whole block",
             .parameters = {{.name = "ref", .summary = kRef, .in_path = true}},
             .answer = "Block",
             .handler = AtOnce{block}},
            {.name = "getTransaction",
             .path = "/rhizome/v1/txs/{id}",
             .summary = "Where a transaction stands: pending, included, final, or refused and why",
             .parameters = {{.name = "id", .summary = "64 digits", .in_path = true}},
             .answer = "TransactionStatus",
             .handler = InTime{transaction}},
            {.name = "getTransactionProof",
             .path = "/rhizome/v1/txs/{id}/proof",
             .summary = "That a block holds a transaction, for somebody without the chain",
             .parameters = {{.name = "id", .summary = "64 digits", .in_path = true}},
             .answer = "TransactionProof",
             .handler = AtOnce{proof}}};
}

}  // namespace rhizome::node::rpc
