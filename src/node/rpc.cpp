// SPDX-License-Identifier: Apache-2.0
#include "node/rpc.h"

#include <charconv>
#include <deque>

#include <fmt/core.h>

#include "ledger/block_json.h"
#include "ledger/json_form.h"
#include "ledger/state_export.h"
#include "node/metrics.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

using http::Exchange;
using http::PathParts;
using http::Response;
using stream::Task;

Response json_response(const json::Value& value, unsigned status = 200) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
            .body = json::print(value) + "\n"};
}
Response text_response(std::string text, unsigned status = 200) {
    return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(text)};
}

Response refusal(const http::Request& request, const Error& error) {
    return http::error_response(http::status_of(error.kind), error.message, &request.headers);
}

/// The value of a word in the query; nothing when it is not there.
Result<std::optional<std::string>> query_word(const http::Request& request, std::string_view name) {
    const auto pairs = http::parse_query(request.query());
    if (!pairs) return fail(ErrorKind::Invalid, "the query is malformed");
    for (const auto& [key, value] : *pairs)
        if (key == name) return std::optional{value};
    return std::optional<std::string>{};
}

/// A block by its hash, its height, or `latest` and `final`.
Result<store::BlockInfo> find_block(const Host& host, std::string_view word) {
    if (word == "latest") return host.store().info(host.view()->tip_hash);
    if (word == "final") return host.store().info(host.view()->final_block);
    if (const auto hash = ledger::BlockHash::from_hex(word)) return host.store().info(*hash);
    std::uint64_t height = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), height);
    if (error != std::errc{} || end != word.data() + word.size())
        return fail(ErrorKind::Invalid, "a block is named by its height, its hash, latest or final");
    if (height > host.view()->tip.height.number())
        return fail(ErrorKind::NotFound, fmt::format("the chain ends at height {}", host.view()->tip.height.number()));
    return host.store().info_at(ledger::Height{height});
}

json::Object header_json(const store::BlockInfo& info) {
    const ledger::Header& header = info.header;
    return {{"hash", info.hash.hex()},
            {"height", header.height.number()},
            {"time", to_rfc3339(header.time, Precision::Millis)},
            {"previous", header.previous.hex()},
            {"merkleRoot", header.merkle_root.hex()},
            {"stateRoot", header.state_root.hex()},
            {"consensus", ledger::name(header.consensus)},
            {"sealRoot", header.seal_root.hex()},
            {"bits", header.bits},
            {"nonce", std::to_string(header.nonce)},
            {"signature", to_hex(info.signature)},
            {"transactions", info.tx_count},
            {"bytes", info.bytes}};
}

json::Object entry_json(const state::Entry& entry) {
    json::Object row{{"path", entry.path().text()}};
    if (entry.path().shape() == state::Path::Shape::Chain) {
        row.set("bytes", to_hex(entry.bytes()));
    } else {
        row.set("document", json::parse(entry.document()).value_or(json::Value{}));
    }
    return row;
}

std::string_view name(core::Stage stage) {
    switch (stage) {
        case core::Stage::Accepted: return "accepted";
        case core::Stage::Included: return "included";
        case core::Stage::Final: return "final";
        case core::Stage::Refused: return "refused";
    }
    return "unknown";
}

Result<core::Stage> stage_of(std::string_view word) {
    for (const core::Stage stage : {core::Stage::Accepted, core::Stage::Included, core::Stage::Final})
        if (word == name(stage)) return stage;
    return fail(ErrorKind::Invalid, "wait is accepted, included or final");
}

/// A row of things that come from another strand, for one task that waits for them.
template <class T>
struct Mailbox {
    explicit Mailbox(const stream::Strand& strand_in) : strand(strand_in), came(strand_in) {}
    const stream::Strand strand;
    stream::Event came;
    std::deque<T> waiting{};
    bool overflowed = false;

    /// From any thread. `self` keeps it alive on the way.
    static void put(const std::shared_ptr<Mailbox>& self, T what, std::size_t most) {
        self->strand.post([self, what = std::move(what), most]() mutable {
            if (self->waiting.size() >= most) {
                self->overflowed = true;
            } else {
                self->waiting.push_back(std::move(what));
            }
            self->came.set();
        });
    }
};

json::Object answer_json(const core::Answer& answer, const Host& host) {
    json::Object row{{"txid", answer.tx.hex()}, {"stage", name(answer.stage)}};
    if (!answer.block.is_zero()) {
        row.set("block", answer.block.hex());
        if (const auto info = host.store().info(answer.block)) row.set("height", info->height().number());
    }
    if (answer.refused) row.set("refused", to_json(*answer.refused));
    return row;
}

/// What is answered at once. (Built outside of coroutines, where g++ 12 does not take initializer lists.)
class Rpc {
public:
    Rpc(Host& host, RpcSources sources) : host_(host), sources_(std::move(sources)) {}

    [[nodiscard]] Response status(const http::Request&) const {
        json::Object body = status_json(*host_.view(), host_.key(), runtime::now());
        body.set("version", sources_.version);
        body.set("started", to_rfc3339(sources_.started));
        body.set("listens", sources_.listens);
        body.set("peers", peer_rows());
        return json_response(std::move(body));
    }
    [[nodiscard]] Response peers(const http::Request&) const {
        return json_response(json::Object{{"peers", peer_rows()}});
    }

    [[nodiscard]] Response header(const http::Request& request, const PathParts& parts) const {
        const auto info = find_block(host_, parts.at("ref"));
        return info ? json_response(header_json(*info)) : refusal(request, info.error());
    }
    [[nodiscard]] Response block(const http::Request& request, const PathParts& parts) const {
        const auto info = find_block(host_, parts.at("ref"));
        if (!info) return refusal(request, info.error());
        const auto block = host_.store().block(info->hash);
        return block ? json_response(ledger::to_json(*block)) : refusal(request, block.error());
    }
    [[nodiscard]] Response tx(const http::Request& request, const PathParts& parts) const {
        const auto id = ledger::TxId::from_hex(parts.at("id"));
        if (!id) return refusal(request, {ErrorKind::Invalid, "a transaction id has 64 hexadecimal digits"});
        const auto place = host_.store().find_tx(*id);
        if (!place) return refusal(request, place.error());
        const auto block = host_.store().block(place->block.hash);
        if (!block) return refusal(request, block.error());
        const bool is_final =
            place->block.height() <= host_.view()->final_height && host_.store().on_chain(place->block);
        return json_response(json::Object{{"txid", id->hex()},
                                          {"block", place->block.hash.hex()},
                                          {"height", place->block.height().number()},
                                          {"index", place->index},
                                          {"final", is_final},
                                          {"transaction", ledger::to_json(block->txs.at(place->index))}});
    }

    /// `?path=/nodes/n1` is one entry.
    [[nodiscard]] Response state(const http::Request& request) const {
        const auto word = query_word(request, "path");
        if (!word) return refusal(request, word.error());
        if (!*word) return refusal(request, {ErrorKind::Invalid, "?path= names what is wanted, as in /nodes/n1"});
        const auto path = state::Path::parse(**word);
        if (!path) return refusal(request, {ErrorKind::Invalid, **word + " is no path"});
        const auto view = host_.view();
        const state::Entry* entry = view->state.get(*path);
        if (entry == nullptr) return refusal(request, {ErrorKind::NotFound, "there is no " + **word});
        json::Object body = entry_json(*entry);
        body.set("height", view->tip.height.number());
        body.set("stateRoot", view->state.root().hex());
        return json_response(std::move(body));
    }

    /// All of it, as 'state export' writes it: for tools that draft, sign and judge transactions.
    [[nodiscard]] Response exported(const http::Request&) const {
        const auto view = host_.view();
        return {.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
                .body = ledger::export_state({.chain = view->chain,
                                              .height = view->tip.height,
                                              .time = view->tip.time,
                                              .tip = view->tip_hash,
                                              .view = view->state})};
    }

    [[nodiscard]] Response ready(const http::Request&) const {
        // Without its vote record a node serves all the same.
        for (const core::Condition condition : host_.view()->conditions)
            if (condition != core::Condition::VotesLost)
                return text_response(std::string{node::name(condition)} + "\n", 503);
        return text_response("ok\n");
    }
    [[nodiscard]] Response alive(const http::Request&) const { return text_response("ok\n"); }
    [[nodiscard]] Response metrics(const http::Request&) const {
        Response response = text_response(metrics_text(*host_.view(), host_.store(), runtime::now()));
        response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        return response;
    }
    [[nodiscard]] Response stop(const http::Request& request) const {
        if (!sources_.stop) return refusal(request, {ErrorKind::Denied, "this node is not stopped from here"});
        sources_.stop();
        return json_response(json::Object{{"stopping", true}});
    }

    Task<void> submit(Exchange& exchange) const;
    Task<void> watch(Exchange& exchange) const;

private:
    [[nodiscard]] json::Array peer_rows() const { return sources_.peers ? sources_.peers() : json::Array{}; }

    Host& host_;
    RpcSources sources_;
};

/// How a client wants to wait for its transaction.
struct SubmitWish {
    core::Stage stage = core::Stage::Included;
    microseconds time = kWaitDefault;
};
Result<SubmitWish> submit_wish(const http::Request& request) {
    SubmitWish wish;
    TRY(const auto stage, query_word(request, "wait"));
    if (stage) {
        TRY(wish.stage, stage_of(*stage));
    }
    TRY(const auto time, query_word(request, "timeout"));
    if (time) {
        const auto given = parse_duration(*time);
        if (!given) return fail(ErrorKind::Invalid, "timeout is a duration like 10s or 500ms");
        wish.time = std::min<microseconds>(*given, kWaitMax);
    }
    return wish;
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

Task<void> Rpc::submit(Exchange& exchange) const {
    const auto wish = submit_wish(exchange.request());
    if (!wish) {
        (void)co_await exchange.respond(refusal(exchange.request(), wish.error()));
        co_return;
    }
    const auto body = co_await exchange.read_body(ledger::kTxJsonBytesMax);
    if (!body) {
        (void)co_await exchange.respond_error(body.error());
        co_return;
    }
    auto tx = ledger::tx_from_json(*body);
    if (!tx) {
        (void)co_await exchange.respond(refusal(exchange.request(), tx.error()));
        co_return;
    }
    auto checked = ledger::check_tx(*std::move(tx));
    if (!checked) {
        (void)co_await exchange.respond(refused_response(checked.error()));
        co_return;
    }
    const auto told = std::make_shared<Mailbox<core::Answer>>(exchange.strand());
    const auto client =
        host_.submit(*checked, [told](const core::Answer& one) { Mailbox<core::Answer>::put(told, one, SIZE_MAX); });
    const auto deadline = stream::after(wish->time);
    core::Answer newest;
    newest.tx = (*checked)->id;
    bool any = false;
    bool in_time = true;
    while (in_time) {
        if (told->waiting.empty()) {
            told->came.reset();
            in_time = co_await told->came.wait_until(deadline);
            continue;
        }
        newest = std::move(told->waiting.front());
        told->waiting.pop_front();
        any = true;
        if (newest.stage == core::Stage::Refused || newest.stage >= wish->stage) break;
    }
    host_.forget(client);
    (void)co_await exchange.respond(submitted_response(newest, any, in_time, host_));
}

std::string line_of(const json::Object& object) { return json::print(object) + "\n"; }

json::Object event_json(const core::Notice& notice, const NodeView& view) {
    if (const auto* moved = std::get_if<core::TipMoved>(&notice)) {
        json::Array undone, applied, changes;
        for (const auto& hash : moved->undone) undone.push_back(hash.hex());
        for (const auto& hash : moved->applied) applied.push_back(hash.hex());
        for (const state::Change& change : moved->change.changes()) {
            const auto path = state::Path::from_checked_key(change.key());
            if (path.shape() == state::Path::Shape::Chain) continue;
            const std::string_view what = !change.before ? "created" : !change.after ? "deleted" : "written";
            changes.push_back(json::Object{{"path", path.text()}, {"what", what}});
        }
        return {{"type", "tip"},
                {"hash", moved->to.hex()},
                {"height", view.tip.height.number()},
                {"time", to_rfc3339(view.tip.time, Precision::Millis)},
                {"undone", std::move(undone)},
                {"applied", std::move(applied)},
                {"changed", std::move(changes)}};
    }
    if (const auto* final_block = std::get_if<core::FinalMoved>(&notice))
        return {{"type", "final"}, {"hash", final_block->block.hex()}, {"height", final_block->height.number()}};
    const auto& changed = std::get<core::ConditionChanged>(notice);
    return {{"type", "condition"}, {"condition", node::name(changed.condition)}, {"holds", changed.holds}};
}

Response watch_head(const NodeView& view) {
    Response head{.headers = {{"Content-Type", "application/x-ndjson"}, {"Cache-Control", "no-store"}}};
    head.body = line_of({{"type", "start"},
                         {"hash", view.tip_hash.hex()},
                         {"height", view.tip.height.number()},
                         {"final", view.final_height.number()}});
    return head;
}

/// A line of JSON for every change, as it comes; the first says where the node stands.
Task<void> Rpc::watch(Exchange& exchange) const {
    const auto lines = std::make_shared<Mailbox<std::string>>(exchange.strand());
    const auto handle = host_.watch([lines](const core::Notice& notice, const NodeView& view) {
        Mailbox<std::string>::put(lines, line_of(event_json(notice, view)), kWatchBacklogMax);
    });
    bool ended = false;
    exchange.when_ending([lines, &ended](http::Ending) {
        ended = true;
        lines->came.set();
    });
    const auto started = co_await exchange.start(watch_head(*host_.view()));
    if (!started) co_return;
    while (!ended) {
        if (lines->overflowed) {
            const std::string last = R"({"type":"dropped","why":"it was read too slowly"})"
                                     "\n";
            (void)co_await exchange.write(as_bytes(last));
            break;
        }
        if (lines->waiting.empty()) {
            lines->came.reset();
            co_await lines->came.wait();
            continue;
        }
        const std::string next = std::move(lines->waiting.front());
        lines->waiting.pop_front();
        const auto written = co_await exchange.write(as_bytes(next));
        if (!written) co_return;
    }
    (void)co_await exchange.finish();
}

}  // namespace

json::Object to_json(const ledger::Reject& reject) {
    return {{"code", ledger::name(reject.code)}, {"why", reject.why}};
}

std::shared_ptr<const http::Router> make_rpc(Host& host, RpcSources sources) {
    const auto rpc = std::make_shared<const Rpc>(host, std::move(sources));
    auto router = std::make_shared<http::Router>();
    const auto at_once = [&](std::string_view method, std::string_view pattern,
                             Response (Rpc::*make)(const http::Request&) const) {
        router->route(method, pattern, [rpc, make](Exchange& exchange, const PathParts&) -> Task<void> {
            (void)co_await exchange.respond(((*rpc).*make)(exchange.request()));
        });
    };
    const auto with_parts = [&](std::string_view pattern,
                                Response (Rpc::*make)(const http::Request&, const PathParts&) const) {
        router->route("GET", pattern, [rpc, make](Exchange& exchange, const PathParts& parts) -> Task<void> {
            (void)co_await exchange.respond(((*rpc).*make)(exchange.request(), parts));
        });
    };
    at_once("GET", "/rhizome/v1/status", &Rpc::status);
    at_once("GET", "/rhizome/v1/peers", &Rpc::peers);
    at_once("GET", "/rhizome/v1/state", &Rpc::state);
    at_once("GET", "/rhizome/v1/state/export", &Rpc::exported);
    at_once("POST", "/rhizome/v1/stop", &Rpc::stop);
    with_parts("/rhizome/v1/headers/{ref}", &Rpc::header);
    with_parts("/rhizome/v1/blocks/{ref}", &Rpc::block);
    with_parts("/rhizome/v1/txs/{id}", &Rpc::tx);
    router->route("POST", "/rhizome/v1/txs",
                  [rpc](Exchange& exchange, const PathParts&) { return rpc->submit(exchange); });
    router->route("GET", "/rhizome/v1/watch",
                  [rpc](Exchange& exchange, const PathParts&) { return rpc->watch(exchange); });
    at_once("GET", "/healthz", &Rpc::alive);
    at_once("GET", "/livez", &Rpc::alive);
    at_once("GET", "/readyz", &Rpc::ready);
    at_once("GET", "/metrics", &Rpc::metrics);
    return router;
}

}  // namespace rhizome::node
