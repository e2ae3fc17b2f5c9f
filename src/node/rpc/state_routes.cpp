// SPDX-License-Identifier: Apache-2.0
// Documents and the chain's records, now and as far back as changes are kept.
#include "ledger/state_export.h"
#include "node/resources.h"
#include "node/rpc/route.h"

namespace rhizome::node::rpc {
namespace {

using http::Response;

constexpr std::uint64_t kPageDefault = 500;
constexpr std::uint64_t kPageMax = 10'000;
/// A page ends early when its documents come to this: an answer is made in memory.
constexpr std::size_t kPageBytesMax = 8u << 20;

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
    const auto path = call.word("path");
    const auto resource = call.word("resource");
    if (path.has_value() == resource.has_value())
        return refusal({ErrorKind::Invalid,
                        "?path= or ?resource= names what is wanted, as in path=/nodes/n1 or "
                        "resource=pod/db&namespace=web"});
    const auto asked = state_asked(context, call);
    if (!asked) return refusal(asked.error());
    const auto& view = asked->past.view;
    const auto entry = path ? find_resource(view, *path, "", "path")
                            : find_resource(view, *resource, call.word("namespace").value_or("default"), "resource");
    if (!entry) return refusal(entry.error());
    json::Object body = entry_json(**entry, view, true);
    for (const auto& [key, value] : place_json(asked->past)) body.set(key, value);
    return json_response(std::move(body));
}

Response list(const Context& context, const Call& call) {
    const auto prefix = parse_prefix(call.word("prefix").value_or("/"), "prefix");
    if (!prefix) return refusal(prefix.error());
    const auto limit = call.number("limit", kPageDefault, kPageMax);
    if (!limit) return refusal(limit.error());
    if (*limit == 0) return refusal({ErrorKind::Invalid, "limit is at least 1"});
    const auto documents = call.flag("documents");
    if (!documents) return refusal(documents.error());
    std::optional<state::Path> after;
    if (const auto word = call.word("after")) {
        auto path = parse_path(*word, "after");
        if (!path) return refusal(path.error());
        after = *std::move(path);
    }
    const auto asked = state_asked(context, call);
    if (!asked) return refusal(asked.error());
    const auto& view = asked->past.view;
    json::Object body = place_json(asked->past);
    json::Array items;
    std::optional<state::Path> next;
    std::size_t bytes = 0;
    state::Cursor cursor = view.walk(*prefix, after);
    while (const state::Entry* entry = cursor.next()) {
        bytes += *documents ? entry->weight() : 0;
        if (items.size() >= *limit || (bytes > kPageBytesMax && !items.empty())) {
            body.set("next", next->text());
            break;
        }
        items.push_back(entry_json(*entry, view, *documents));
        next = entry->path();
    }
    body.set("items", std::move(items));
    return json_response(std::move(body));
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
