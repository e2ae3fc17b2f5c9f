// SPDX-License-Identifier: Apache-2.0
// The node itself: how it is, whom it knows, what decides in its cluster.
#include "consensus/electorate.h"
#include "ledger/block_json.h"
#include "node/membership.h"
#include "node/metrics.h"
#include "node/rpc/route.h"
#include "node/status.h"
#include "runtime/clock.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;

/// 256 members with room: a key is 66 digits.
constexpr std::size_t kRefusedBytesMax = 64u << 10;

json::Array peer_rows(const Context& context) {
    return context.sources.peers ? context.sources.peers() : json::Array{};
}

/// Of a node that is to be a member.
std::optional<MembershipLost> lost_member(const Context& context) {
    return context.sources.role == "member" ? membership_lost(context.host) : std::nullopt;
}

Response status(const Context& context, const Call&) {
    json::Object body = status_json(*context.host.view(), context.host.key(), runtime::now());
    if (const auto extent = context.host.store().extent()) body.set("historyFrom", extent->bodies_from.number());
    body.set("role", context.sources.role);
    if (const auto lost = lost_member(context)) {
        body.set("membershipLost",
                 json::Object{{"node", lost->node}, {"height", lost->since.number()}, {"undone", lost->undone}});
        const Warning warning = warning_of(*lost);
        if (json::Value* warnings = body.find("warnings"); warnings != nullptr && warnings->is_array())
            warnings->if_array()->push_back(json::Object{{"what", warning.what}, {"hint", warning.hint}});
    }
    if (context.sources.watching) body.set("watching", context.sources.watching());
    body.set("version", context.sources.version);
    body.set("started", to_rfc3339(context.sources.started));
    body.set("listens", context.sources.listens);
    body.set("rpc", context.sources.rpc ? context.sources.rpc() : json::Array{});
    body.set("api", context.sources.api ? context.sources.api() : json::Array{});
    body.set("peers", peer_rows(context));
    return json_response(std::move(body));
}

Response peers(const Context& context, const Call&) {
    return json_response(json::Object{{"peers", peer_rows(context)}});
}

Response consensus_status(const Context& context, const Call&) {
    const auto view = context.host.view();
    const ledger::Parameters parameters = ledger::parameters_of(view->state);
    const auto electorate = consensus::Electorate::of(view->state, parameters);
    const auto keys = [](const std::vector<consensus::MemberKey>& list) {
        json::Array out;
        for (const auto& key : list) out.emplace_back(to_hex(key));
        return out;
    };
    json::Array conditions;
    for (const core::Condition one : view->conditions) conditions.emplace_back(node::name(one));
    return json_response(
        json::Object{{"consensus", ledger::name(parameters.consensus)},
                     {"generation", electorate.generation},
                     {"voters", keys(electorate.voters)},
                     {"votersToCome", keys(electorate.next)},
                     {"quorum", consensus::quorum_of(electorate.voters.size(), parameters.trust)},
                     {"tip", json::Object{{"height", view->tip.height.number()},
                                          {"hash", view->tip_hash.hex()},
                                          {"time", to_rfc3339(view->tip.time, Precision::Millis)}}},
                     {"justifiedEpoch", view->justified.epoch.number()},
                     {"final", json::Object{{"height", view->final_height.number()},
                                            {"hash", view->final_block.hex()},
                                            {"time", to_rfc3339(view->final_time, Precision::Millis)}}},
                     {"pending", view->pending},
                     {"branches", view->usage.tips},
                     {"conditions", std::move(conditions)}});
}

Response stop(const Context& context, const Call&) {
    if (!context.sources.stop) return refusal({ErrorKind::Denied, "this node is not stopped from here"});
    context.sources.stop();
    return json_response(json::Object{{"stopping", true}});
}

Response refuse_peers(const Context& context, const Call& call) {
    if (!context.sources.refuse_peers) return refusal({ErrorKind::Unsupported, "this node has no links to refuse"});
    const auto body = json::parse(call.body);
    const json::Value* keys = body ? body->find("keys") : nullptr;
    if (keys == nullptr || !keys->is_array())
        return refusal({ErrorKind::Invalid, "the body is {\"keys\":[…]}: the chain keys of the nodes to refuse"});
    std::set<ledger::MemberKey> refused;
    for (const json::Value& one : *keys->if_array()) {
        ledger::MemberKey key{};
        if (!one.is_string() || !from_hex_into(*one.if_string(), key))
            return refusal({ErrorKind::Invalid, "a key is 66 hexadecimal digits, as in status"});
        refused.insert(key);
    }
    context.sources.refuse_peers(refused);
    return json_response(json::Object{{"refused", refused.size()}});
}

Response openapi(const Context& context, const Call&) {
    return json_response(openapi_document(all_routes(), context.sources.version));
}

Response ready(const Context& context, const Call&) {
    // Without its vote record a node serves all the same.
    for (const core::Condition condition : context.host.view()->conditions)
        if (condition != core::Condition::VotesLost)
            return text_response(std::string{node::name(condition)} + "\n", 503);
    if (const auto lost = lost_member(context)) return text_response(lost->undone ? "JoinUndone\n" : "Removed\n", 503);
    return text_response("ok\n");
}

Response alive(const Context&, const Call&) { return text_response("ok\n"); }

Response metrics(const Context& context, const Call&) {
    Response response = metrics_response(context.host);
    if (context.sources.metrics) response.body += context.sources.metrics();
    if (context.sources.watching) response.body += watching_metrics(context.sources.watching());
    return response;
}

}  // namespace

std::vector<Route> node_routes() {
    return {{.name = "getStatus",
             .path = "/rhizome/v1/status",
             .summary = "How the node and its cluster are, with what to try where something is wrong",
             .answer = "Status",
             .handler = AtOnce{status}},
            {.name = "getPeers",
             .path = "/rhizome/v1/peers",
             .summary = "The nodes that this one is linked to",
             .answer = "Peers",
             .handler = AtOnce{peers}},
            {.name = "getConsensus",
             .path = "/rhizome/v1/consensus",
             .summary = "Who decides what is final, and how far that is",
             .answer = "Consensus",
             .handler = AtOnce{consensus_status}},
            {.name = "refusePeers",
             .method = "POST",
             .path = "/rhizome/v1/peers/refused",
             .summary = "Have no links with these nodes from now on, instead of those named before, until it stops",
             .access = Access::Local,
             .body = "RefusedPeers",
             .body_bytes_max = kRefusedBytesMax,
             .answer = "Refused",
             .handler = AtOnce{refuse_peers}},
            {.name = "stop",
             .method = "POST",
             .path = "/rhizome/v1/stop",
             .summary = "Stop the node in order",
             .access = Access::Local,
             .answer = "Stopping",
             .handler = AtOnce{stop}},
            {.name = "getOpenApi",
             .path = "/rhizome/v1/openapi.json",
             .summary = "This description",
             .access = Access::Anyone,
             .answer = "OpenApi",
             .handler = AtOnce{openapi}},
            {.name = "isAlive",
             .path = "/livez",
             .summary = "ok while the process answers",
             .access = Access::Anyone,
             .media = "text/plain",
             .handler = AtOnce{alive}},
            {.name = "isHealthy",
             .path = "/healthz",
             .summary = "The same as /livez",
             .access = Access::Anyone,
             .media = "text/plain",
             .handler = AtOnce{alive}},
            {.name = "isReady",
             .path = "/readyz",
             .summary = "ok, or with 503 the condition that keeps the node from doing its part",
             .access = Access::Anyone,
             .media = "text/plain",
             .handler = AtOnce{ready}},
            {.name = "getMetrics",
             .path = "/metrics",
             .summary = "Figures for Prometheus",
             .media = "text/plain",
             .handler = AtOnce{metrics}}};
}

}  // namespace rhizome::node::rpc
