// SPDX-License-Identifier: Apache-2.0
// What happens, over a WebSocket. Nothing is queued for a subscriber: it is known which block it was told last, and the
// way from there to the tip is read from the store when it can take more. So one that reads slowly costs nothing, falls
// behind, and is dropped with a reason once it is too far; and a reorganisation is told exactly, whatever lay between.
#include <atomic>

#include <fmt/core.h>

#include "http/websocket.h"
#include "node/rpc/route.h"
#include "node/rpc/subscription.h"
#include "node/status.h"

namespace rhizome::node::rpc {
namespace {

using http::WebSocket;
using stream::Task;

// Close codes of our own (RFC 6455 leaves 4000 to 4999 to applications).
constexpr std::uint16_t kBadSubscription = 4'400;
constexpr std::uint16_t kUnknownBlock = 4'404;
constexpr std::uint16_t kTooSlow = 4'408;
constexpr std::uint16_t kGoingAway = 1'001;

struct Session {
    explicit Session(const stream::Strand& strand) : wake(strand), reader_ended(strand) {}
    std::unique_ptr<WebSocket> socket{};
    stream::Event wake;          ///< something to look at; on the strand
    stream::Event reader_ended;  ///< on the strand
    std::atomic<bool> signalled = false;
    std::optional<Result<Subscription>> asked{};
    bool over = false;  ///< the client went, or broke the rules
    bool draining = false;

    // What was told last.
    ledger::BlockHash block{};
    ledger::Height final_height{};
    std::set<core::Condition> conditions{};
};
using Shared = std::shared_ptr<Session>;

/// The subscription, then nothing but the end.
Task<void> read_all(Shared session) {
    for (;;) {
        auto message = co_await session->socket->read();
        if (!message || !*message) break;
        if (session->asked) {
            session->asked = Result<Subscription>{fail(ErrorKind::Invalid, "a connection has one subscription")};
        } else {
            session->asked = parse_subscription(as_text((*message)->payload));
        }
        session->wake.set();
    }
    session->over = true;
    session->wake.set();
    session->reader_ended.set();
}

Task<bool> tell(Shared session, json::Object event) {
    const std::string text = json::print(event);
    const auto sent = co_await session->socket->write(WebSocket::Kind::Text, as_bytes(text));
    co_return sent.has_value();
}

json::Object start_event(const NodeView& view, const store::BlockInfo& from) {
    return {{"type", "start"},
            {"height", from.height().number()},
            {"hash", from.hash.hex()},
            {"tip", view.tip.height.number()},
            {"final", view.final_height.number()}};
}

json::Object final_event(const NodeView& view) {
    return {{"type", "final"}, {"height", view.final_height.number()}, {"hash", view.final_block.hex()}};
}

json::Object condition_event(core::Condition condition, bool holds) {
    return {{"type", "condition"}, {"condition", node::name(condition)}, {"holds", holds}};
}

/// Where the subscriber begins.
Result<store::BlockInfo> begin_of(const Subscription& wanted, const Sight& at) {
    if (wanted.after_hash) return at.store.info(*wanted.after_hash);
    if (!wanted.after_height) return at.store.info(at.tip_hash);
    if (*wanted.after_height > at.tip.height)
        return fail(ErrorKind::NotFound, fmt::format("the chain ends at height {}", at.tip.height));
    return at.store.info_at(*wanted.after_height);
}

/// One message of a way; false when the client is gone.
Task<bool> tell_block(const Context& context, Shared session, store::BlockInfo block, bool undone) {
    const auto change = context.host.store().change(block.hash);
    auto event = block_event(**session->asked, block, undone, change ? &*change : nullptr);
    session->block = undone ? block.header.previous : block.hash;
    if (!event) co_return true;
    co_return co_await tell(session, *std::move(event));
}

/// What has come up since; how it must end, when it must.
struct Ended {
    std::uint16_t code = 0;
    std::string why{};
};
Task<std::optional<Ended>> tell_news(const Context& context, Shared session, std::size_t behind_max, bool* any) {
    const Subscription& wanted = **session->asked;
    const auto view = context.host.view();
    const auto gone = std::optional{Ended{}};
    const auto way = way_between(context.host.store(), session->block, view->tip_hash, behind_max);
    if (!way) {
        const bool slow = way.error().kind == ErrorKind::Exhausted;
        co_return Ended{slow ? kTooSlow : kUnknownBlock, way.error().message};
    }
    *any = !way->undone.empty() || !way->applied.empty();
    for (const store::BlockInfo& block : way->undone) {
        const bool told = co_await tell_block(context, session, block, true);
        if (!told || session->over) co_return gone;
    }
    for (const store::BlockInfo& block : way->applied) {
        const bool told = co_await tell_block(context, session, block, false);
        if (!told || session->over) co_return gone;
    }
    if (wanted.final_blocks && session->final_height != view->final_height) {
        session->final_height = view->final_height;
        *any = true;
        const bool told = co_await tell(session, final_event(*view));
        if (!told) co_return gone;
    }
    if (!wanted.conditions) co_return std::nullopt;
    for (const core::Condition condition :
         {core::Condition::ClockOff, core::Condition::VotesLost, core::Condition::ConflictingFinals,
          core::Condition::DiskFull, core::Condition::Accused, core::Condition::OutOfReach}) {
        const bool holds = view->conditions.contains(condition);
        if (holds == session->conditions.contains(condition)) continue;
        holds ? (void)session->conditions.insert(condition) : (void)session->conditions.erase(condition);
        *any = true;
        const bool told = co_await tell(session, condition_event(condition, holds));
        if (!told) co_return gone;
    }
    co_return std::nullopt;
}

Task<Ended> serve(const Context& context, Shared session) {
    while (!session->asked && !session->over && !session->draining) {
        session->wake.reset();
        co_await session->wake.wait();
    }
    if (session->over) co_return Ended{};
    if (session->draining) co_return Ended{kGoingAway, "the node stops"};
    if (!*session->asked) co_return Ended{kBadSubscription, session->asked->error().message};
    const auto view = context.host.view();
    const auto begin = begin_of(**session->asked, context.sight(*view));
    if (!begin) co_return Ended{kUnknownBlock, "there is no such block here: " + begin.error().message};
    session->block = begin->hash;
    session->final_height = view->final_height;
    const bool started = co_await tell(session, start_event(*view, *begin));
    if (!started) co_return Ended{};
    // A subscriber that begins far back may be far behind at first.
    std::size_t behind_max = context.limits.subscriber_resume_max;
    while (!session->over) {
        if (session->draining) co_return Ended{kGoingAway, "the node stops"};
        if (!*session->asked) co_return Ended{kBadSubscription, session->asked->error().message};
        session->wake.reset();
        session->signalled = false;
        bool any = false;
        auto ended = co_await tell_news(context, session, behind_max, &any);
        if (ended) co_return *std::move(ended);
        behind_max = context.limits.subscriber_behind_max;
        if (!any) co_await session->wake.wait();
    }
    co_return Ended{};
}

http::WebSocketLimits socket_limits(const RpcLimits& limits) {
    http::WebSocketLimits out;
    out.message_bytes_max = kSubscribeBytesMax;
    out.write_gap = limits.subscriber_write_time;
    return out;
}
std::vector<std::string> protocols() { return {"rhizome.v1"}; }

Task<void> subscribe(const Context& context, Call& call) {
    if (!call.exchange.request().headers.has_word("Upgrade", "websocket")) {
        (void)co_await call.exchange.respond(
            refusal(400, "Usage", "this path speaks WebSocket only (docs/spec/rpc.md, What happens)"));
        co_return;
    }
    auto accepted = co_await http::accept_websocket(call.exchange, protocols(), socket_limits(context.limits));
    if (!accepted) co_return;
    const stream::Strand strand = call.exchange.strand();
    const Shared session = std::make_shared<Session>(strand);
    session->socket = *std::move(accepted);
    call.exchange.when_ending([session](http::Ending why) {
        session->draining = why == http::Ending::Draining;
        session->over = session->over || why == http::Ending::ClientLeft;
        session->wake.set();
    });
    const auto handle = context.host.watch([session, strand](const core::Notice&, const NodeView&) {
        if (session->signalled.exchange(true)) return;
        strand.post([session] { session->wake.set(); });
    });
    stream::spawn(strand, read_all(session));
    auto ended = co_await serve(context, session);
    // The reader holds the socket: the client answers the goodbye, or is cut when its silence is too long.
    if (!session->over && ended.code != 0) {
        ended.why.resize(std::min<std::size_t>(ended.why.size(), 120));  // what fits a close frame
        (void)co_await session->socket->send_close(ended.code, std::move(ended.why));
        const bool answered = co_await session->reader_ended.wait_until(stream::after(seconds{2}));
        if (answered) co_return;
    }
    session->socket->abort();
    co_await session->reader_ended.wait();
}

}  // namespace

std::vector<Route> subscribe_routes() {
    return {{.name = "subscribe",
             .path = "/rhizome/v1/subscribe",
             .summary = "A WebSocket (subprotocol rhizome.v1) that tells blocks, changes of documents, finality and "
                        "conditions as they come; the first message says which",
             .answer = "Event",
             .handler = InTime{subscribe}}};
}

}  // namespace rhizome::node::rpc
