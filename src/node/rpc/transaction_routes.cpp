// SPDX-License-Identifier: Apache-2.0
// Orders: drafting, what signing needs, trying and submitting.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/core.h>

#include "ledger/draft.h"
#include "ledger/json_form.h"
#include "ledger/limits.h"
#include "ledger/state_export.h"
#include "node/judging.h"
#include "node/refusal_journal.h"
#include "node/resources.h"
#include "node/rpc/draft_wish.h"
#include "node/rpc/mailbox.h"
#include "node/rpc/route.h"
#include "node/status.h"
#include "runtime/clock.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;
using stream::Task;

std::string_view name(core::Stage stage) {
    switch (stage) {
        case core::Stage::Accepted: return "accepted";
        case core::Stage::Included: return "included";
        case core::Stage::Final: return "final";
        case core::Stage::Refused: return "refused";
    }
    unreachable("a Stage is one of four");
}

/// How a client wants to wait for its transaction, or that it only tries.
struct Wish {
    core::Stage stage = core::Stage::Included;
    microseconds time = kWaitDefault;
    bool dry = false;
    bool trace = false;
    std::optional<Time> block_time{};
};

Result<Wish> wish_of(const Call& call) {
    Wish wish;
    if (const auto word = call.word("wait")) {
        const auto known = {core::Stage::Accepted, core::Stage::Included, core::Stage::Final};
        const auto* stage =
            std::find_if(known.begin(), known.end(), [&](core::Stage one) { return name(one) == *word; });
        if (stage == known.end()) return fail(ErrorKind::Invalid, "wait is accepted, included or final");
        wish.stage = *stage;
    }
    if (const auto word = call.word("timeout")) {
        const auto given = parse_duration(*word);
        if (!given) return fail(ErrorKind::Invalid, "timeout is a duration like 10s or 500ms");
        wish.time = std::min<microseconds>(*given, kWaitMax);
    }
    TRY(wish.dry, call.flag("dryRun"));
    TRY(wish.trace, call.flag("trace"));
    if (const auto word = call.word("time")) {
        const auto time = from_rfc3339(*word);
        if (!time) return fail(ErrorKind::Invalid, "time is a time like 2027-01-01T12:00:00Z");
        wish.block_time = Time::from_unix_millis(time->unix_millis());
    }
    if (!wish.dry && (wish.trace || wish.block_time))
        return fail(ErrorKind::Invalid, "trace and time are for dryRun=true: what is submitted is judged as it comes");
    return wish;
}

json::Object answer_json(const core::Answer& answer, const Host& host) {
    json::Object row{{"txid", answer.tx.hex()}, {"stage", name(answer.stage)}};
    if (!answer.block.is_zero()) {
        row.set("block", answer.block.hex());
        if (const auto info = host.store().info(answer.block)) row.set("height", info->height().number());
    }
    if (answer.refused) row.set("refused", to_json(*answer.refused));
    return row;
}

Response refused_response(const ledger::Reject& reject) {
    return json_response(json::Object{{"stage", "refused"}, {"refused", to_json(reject)}},
                         http::status_of(to_error(reject).kind));
}

Response submitted_response(const core::Answer& newest, bool any, bool in_time, const Host& host) {
    json::Object body = any ? answer_json(newest, host) : json::Object{{"txid", newest.tx.hex()}};
    unsigned status = 200;
    if (!in_time) {
        body.set("timedOut", true);
        status = 202;  // it may still come in
    }
    if (newest.refused) status = http::status_of(to_error(*newest.refused).kind);
    return json_response(std::move(body), status);
}

/// What the node's state says to a question about a transaction. (On the strand, where the index over outputs is.)
using Question = std::function<json::Value(const core::Node& node)>;
Task<Response> ask_state(const Context& context, Call& call, Question question) {
    const auto told = std::make_shared<Mailbox<json::Value>>(call.exchange.strand());
    context.host.inspect([told, question = std::move(question)](const core::Node* node) {
        put(told, node == nullptr ? json::Value{} : question(*node), 1);
    });
    co_await told->came.wait();
    const json::Value& found = told->waiting.front();
    if (found.is_null()) co_return refusal(Error{ErrorKind::Unavailable, "the node is stopping"});
    co_return json_response(found);
}

json::Value tried(const ledger::Tx& tx, const core::Node& node, const Wish& wish) {
    const ledger::Header& tip = node.tip();
    const Time now = std::max(Time::from_unix_millis(runtime::now().unix_millis()), tip.time + milliseconds{1});
    const ledger::NextBlock next{.parent = node.tip_hash(),
                                 .height = tip.height + 1,
                                 .time = std::max(wish.block_time.value_or(now), tip.time + milliseconds{1}),
                                 .parent_time = tip.time};
    return judge_tx(tx, node.state(), next, wish.trace);
}

json::Value context_json(const ledger::CheckedTx& tx, const core::Node& node, const ledger::ChainId& chain) {
    const ledger::Header& tip = node.tip();
    return json::Raw{std::make_shared<const std::string>(ledger::export_state({.chain = chain,
                                                                               .height = tip.height,
                                                                               .time = tip.time,
                                                                               .tip = node.tip_hash(),
                                                                               .view = context_of(tx, node.state())}))};
}

Task<void> submit(const Context& context, Call& call) {
    const auto wish = wish_of(call);
    auto tx = wish ? ledger::tx_from_json(call.body) : Result<ledger::Tx>{Fail{wish.error()}};
    if (!tx) {
        (void)co_await call.exchange.respond(refusal(tx.error()));
        co_return;
    }
    if (wish->dry) {
        Question question = [tx = *std::move(tx), wish = *wish](const core::Node& node) {
            return tried(tx, node, wish);
        };
        auto response = co_await ask_state(context, call, std::move(question));
        (void)co_await call.exchange.respond(std::move(response));
        co_return;
    }
    auto checked = ledger::check_tx(*std::move(tx));
    if (!checked) {
        (void)co_await call.exchange.respond(refused_response(checked.error()));
        co_return;
    }
    struct Heard {
        core::Answer answer{};
        std::string caution{};
    };
    const auto told = std::make_shared<Mailbox<Heard>>(call.exchange.strand());
    const auto client = context.host.submit(*checked, [told, &host = context.host](const core::Answer& one) {
        put(told, Heard{one, one.stage == core::Stage::Included ? caution_of(host.reach()) : ""}, SIZE_MAX);
    });
    const auto deadline = stream::after(wish->time);
    core::Answer newest;
    newest.tx = (*checked)->id;
    std::string caution;
    bool any = false;
    bool in_time = true;
    while (in_time) {
        if (told->waiting.empty()) {
            told->came.reset();
            in_time = co_await told->came.wait_until(deadline);
            continue;
        }
        newest = std::move(told->waiting.front().answer);
        caution = std::move(told->waiting.front().caution);
        told->waiting.pop_front();
        any = true;
        if (newest.stage == core::Stage::Refused || newest.stage >= wish->stage) break;
    }
    context.host.forget(client);
    if (newest.refused && context.sources.refusals != nullptr)
        context.sources.refusals->note(**checked, *newest.refused, runtime::now());
    Response response = submitted_response(newest, any, in_time, context.host);
    if (!caution.empty()) response.headers.add("Warning", fmt::format("299 - \"{}\"", caution));
    (void)co_await call.exchange.respond(std::move(response));
}

/// The part of the state that signing needs.
Task<void> tx_context(const Context& context, Call& call) {
    auto tx = ledger::tx_from_json(call.body);
    auto checked = tx ? ledger::check_tx(*std::move(tx))
                      : Result<ledger::SharedTx, ledger::Reject>{
                            ledger::reject(ledger::RejectCode::BadEncoding, tx.error().message)};
    if (!checked) {
        (void)co_await call.exchange.respond(refusal(to_error(checked.error())));
        co_return;
    }
    Question question = [tx = *checked, chain = context.host.view()->chain](const core::Node& node) {
        return context_json(*tx, node, chain);
    };
    auto response = co_await ask_state(context, call, std::move(question));
    (void)co_await call.exchange.respond(std::move(response));
}

Task<void> draft(const Context& context, Call& call) {
    const auto view = context.host.view();
    auto wish = draft_wish_from_json(call.body, view->state);
    if (!wish) {
        (void)co_await call.exchange.respond(refusal(wish.error()));
        co_return;
    }
    wish->now = std::max(view->tip.time, Time::from_unix_millis(runtime::now().unix_millis()));
    auto made = ledger::make_draft(*wish, view->state);
    auto checked = made ? ledger::check_tx(*made) : Result<ledger::SharedTx, ledger::Reject>{Fail{made.error()}};
    if (!checked) {
        (void)co_await call.exchange.respond(refused_response(checked.error()));
        co_return;
    }
    Question question = [tx = *checked, chain = view->chain](const core::Node& node) -> json::Value {
        return json::Object{{"transaction", ledger::to_json(tx->tx)}, {"context", context_json(*tx, node, chain)}};
    };
    auto response = co_await ask_state(context, call, std::move(question));
    (void)co_await call.exchange.respond(std::move(response));
}

bool is_about(const ledger::CheckedTx& tx, const state::Path& path) {
    return std::any_of(tx.outputs.begin(), tx.outputs.end(), [&](const ledger::NamedOutput& output) {
        return output.wish != ledger::Wish::Nothing && output.resource.path == path;
    });
}

/// What was refused about a resource, and what was accepted and lost.
Response refusals(const Context& context, const Call& call) {
    constexpr std::size_t kShown = 100;
    const auto path = parse_path(call.word("path").value_or(""), "path");
    if (!path) return refusal(path.error());
    std::multimap<Time, json::Object, std::greater<>> rows;
    std::set<ledger::TxId> lost;
    for (const store::LostTx& one : context.host.lost()) {
        if (!is_about(*one.tx, *path)) continue;
        lost.insert(one.tx->id);
        json::Object row{{"time", to_rfc3339(one.lost, Precision::Millis)},
                         {"txid", one.tx->id.hex()},
                         {"code", ledger::name(one.why.code)},
                         {"why", one.why.why},
                         {"accepted", to_rfc3339(one.accepted, Precision::Millis)}};
        if (one.made_again) row.set("madeAgain", one.made_again->hex());
        rows.emplace(one.lost, std::move(row));
    }
    if (context.sources.refusals != nullptr)
        for (const RefusalJournal::Row& one : context.sources.refusals->about(*path, kShown))
            if (!lost.contains(one.tx))
                rows.emplace(one.time, json::Object{{"time", to_rfc3339(one.time, Precision::Millis)},
                                                    {"txid", one.tx.hex()},
                                                    {"code", ledger::name(one.why.code)},
                                                    {"why", one.why.why}});
    json::Array shown;
    for (auto& [time, row] : rows)
        if (shown.size() < kShown) shown.emplace_back(std::move(row));
    return json_response(json::Object{{"refusals", std::move(shown)}});
}

Response lost(const Context& context, const Call&) {
    json::Array rows;
    for (const store::LostTx& one : context.host.lost()) {
        json::Array changes;
        for (const ledger::NamedOutput& output : one.tx->outputs)
            if (output.wish != ledger::Wish::Nothing)
                changes.emplace_back(json::Object{{"verb", output.wish == ledger::Wish::Delete ? "delete" : "write"},
                                                  {"path", output.resource.path.text()}});
        json::Object row{{"txid", one.tx->id.hex()},      {"accepted", to_rfc3339(one.accepted, Precision::Millis)},
                         {"included", one.was_included},  {"lost", to_rfc3339(one.lost, Precision::Millis)},
                         {"changes", std::move(changes)}, {"refused", to_json(one.why)}};
        if (one.made_again) row.set("madeAgain", one.made_again->hex());
        rows.emplace_back(std::move(row));
    }
    return json_response(json::Object{{"lost", std::move(rows)}});
}

}  // namespace

std::vector<Route> transaction_routes() {
    return {{.name = "submitTransaction",
             .method = "POST",
             .path = "/rhizome/v1/txs",
             .summary = "Put a signed transaction before the node and wait for a stage; or only try it",
             .parameters = {{.name = "wait",
                             .summary = "answer at this stage; default: included",
                             .choices = {"accepted", "included", "final"}},
                            {.name = "timeout",
                             .summary = "how long to wait, as in 10s; default: 30s, at most 10m. What is not done "
                                        "then is answered with 202 and may still come in"},
                            {.name = "dryRun", .summary = "say what it would do, change nothing", .type = "boolean"},
                            {.name = "trace",
                             .summary = "dryRun: the script that refuses, step by step",
                             .type = "boolean"},
                            {.name = "time", .summary = "dryRun: the time of the block it would be in; default: now"}},
             .body = "Transaction",
             .body_bytes_max = ledger::kTxJsonBytesMax,
             .answer = "SubmitAnswer",
             .handler = InTime{submit}},
            {.name = "getSigningContext",
             .method = "POST",
             .path = "/rhizome/v1/txs/context",
             .summary = "The part of the state that signing a transaction needs",
             .body = "Transaction",
             .body_bytes_max = ledger::kTxJsonBytesMax,
             .answer = "StateExport",
             .handler = InTime{tx_context}},
            {.name = "listRefusals",
             .path = "/rhizome/v1/refusals",
             .summary = "What this node was asked for about a resource and refused since it started, or accepted and "
                        "lost, newest first",
             .parameters = {{.name = "path", .summary = "as in /namespaces/web/core/Pod/db"}},
             .answer = "Refusals",
             .handler = AtOnce{refusals}},
            {.name = "listLost",
             .path = "/rhizome/v1/lost",
             .summary = "What this node had accepted and a heal took back, newest first, over restarts",
             .answer = "LostTransactions",
             .handler = AtOnce{lost}},
            {.name = "draftTransaction",
             .method = "POST",
             .path = "/rhizome/v1/drafts",
             .summary = "An unsigned transaction for wanted changes, with what signing it needs",
             .body = "DraftWish",
             .body_bytes_max = kDraftWishBytesMax,
             .answer = "Draft",
             .handler = InTime{draft}}};
}

}  // namespace rhizome::node::rpc
