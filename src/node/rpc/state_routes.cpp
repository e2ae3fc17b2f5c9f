// SPDX-License-Identifier: Apache-2.0
// Documents and the chain's records, now and as far back as changes are kept.
#include "ledger/state_export.h"
#include "node/resources.h"
#include "node/rpc/state_answers.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;

struct Asked {
    NodeView view;
    PastState past;
};
Result<Asked> state_asked(const Context& context, const Call& call) {
    Asked asked{.view = *context.host.view(), .past = {}};
    TRY(asked.past, state_at(context.sight(asked.view), call.word("at").value_or("latest")));
    return asked;
}

json::Object place_json(const PastState& past) {
    return {{"height", past.block.height().number()},
            {"block", past.block.hash.hex()},
            {"stateRoot", past.view.root().hex()}};
}

Response get(const Context& context, const Call& call) {
    const auto asked = state_asked(context, call);
    return asked ? answer_entry(call, asked->past.view, place_json(asked->past)) : refusal(asked.error());
}

Response list(const Context& context, const Call& call) {
    const auto asked = state_asked(context, call);
    return asked ? answer_list(call, asked->past.view, place_json(asked->past)) : refusal(asked.error());
}

Response proof(const Context& context, const Call& call) {
    const auto path = parse_path(call.word("path").value_or(""), "path");
    if (!path) return refusal(path.error());
    const auto asked = state_asked(context, call);
    if (!asked) return refusal(asked.error());
    const auto made = prove_state(asked->view.chain, asked->past.block.header, asked->past.view, *path);
    return made ? json_response(ledger::to_json(*made)) : refusal(made.error());
}

Response exported(const Context& context, const Call&) {
    const auto view = context.host.view();
    if (view->state.size() > ledger::kStateEntriesMax)
        return refusal({ErrorKind::Exhausted, "the state is too large for one answer; GET state/list gives pages"});
    Response response{.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}};
    response.body = ledger::export_state({.chain = view->chain,
                                          .height = view->tip.height,
                                          .time = view->tip.time,
                                          .tip = view->tip_hash,
                                          .view = view->state});
    return response;
}

constexpr std::string_view kAt = "the state after the block of this height; a node goes back about a thousand blocks";

}  // namespace

std::vector<Route> state_routes() {
    return {
        {.name = "getEntry",
         .path = "/rhizome/v1/state",
         .summary = "One document with where it comes from and who decides about it, or a record of the chain's own",
         .parameters = {{.name = "path", .summary = "as in /namespaces/web/core/Pod/db"},
                        {.name = "resource", .summary = "KIND/NAME, in place of a path"},
                        {.name = "namespace", .summary = "where KIND/NAME looks; default: default"},
                        {.name = "at", .summary = kAt}},
         .answer = "Entry",
         .handler = AtOnce{get}},
        {.name = "listEntries",
         .path = "/rhizome/v1/state/list",
         .summary = "What stands below a path, in order, in pages",
         .parameters = {{.name = "prefix", .summary = "as in /namespaces/web; / is all documents, /chain the records"},
                        {.name = "after", .summary = "the path that the page before ended with (next)"},
                        {.name = "limit", .summary = "entries a page, up to 10,000; default: 500", .type = "integer"},
                        {.name = "documents", .summary = "with the documents themselves", .type = "boolean"},
                        {.name = "at", .summary = kAt}},
         .answer = "EntryList",
         .handler = AtOnce{list}},
        {.name = "getStateProof",
         .path = "/rhizome/v1/state/proof",
         .summary = "What stands at a path, or that nothing does, for somebody without the chain",
         .parameters = {{.name = "path", .summary = "as in /namespaces/web"}, {.name = "at", .summary = kAt}},
         .answer = "StateProof",
         .handler = AtOnce{proof}},
        {.name = "exportState",
         .path = "/rhizome/v1/state/export",
         .summary = "The whole state for tools that work without a node, as 'state export' writes it",
         .answer = "StateExport",
         .handler = AtOnce{exported}}};
}

}  // namespace rhizome::node::rpc
