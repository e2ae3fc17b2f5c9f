// SPDX-License-Identifier: Apache-2.0
// What nodes without the chain live on: proofs that a block is final, and of all that stands below a path.
#include <algorithm>

#include <fmt/core.h>

#include "consensus/attestations.h"
#include "consensus/electorate.h"
#include "consensus/judge.h"
#include "follow/finality_proof.h"
#include "node/resources.h"
#include "node/rpc/mailbox.h"
#include "node/rpc/route.h"

namespace rhizome::node::rpc {
namespace {

using follow::FinalityProof;
using http::Response;
using stream::Task;

/// Changes of voters that one answer leads over; whoever was away for longer asks again from where it got.
constexpr std::size_t kLinksMax = 16;

struct Link {
    FinalityProof proof{};
    consensus::Electorate electorate{};
};

Result<Link> link_at(const Sight& at, const ledger::ChainId& chain, const PastState& past,
                     const core::Node::FinalVotes& votes) {
    TRY(auto seal, at.store.seal(past.block.hash));
    return Link{follow::prove_finality(chain, past.block.header, past.block.signature, std::move(seal), past.view,
                                       votes.checkpoint.epoch, votes.votes),
                consensus::Electorate::of(past.view, ledger::parameters_of(past.view))};
}

/// The checkpoint that a block's own votes showed final: how the voters before this electorate handed over to it.
Result<Link> handing_over(const Sight& at, const ledger::ChainId& chain, ledger::Height changed) {
    TRY(const auto after, state_at(at, changed));
    const auto shown = consensus::records::shown_final_of(after.view);
    TRY(const auto past, state_at(at, shown.height));
    if (past.block.hash != shown.checkpoint.block) return fail(ErrorKind::NotFound, "no votes handed over");
    TRY(const auto seal, at.store.seal(after.block.hash));
    const auto carried = consensus::decode_votes(seal.attestations, consensus::kCarriedVotesMax);
    if (!carried) return fail(ErrorKind::Corrupt, "the votes of a block of this chain cannot be read");
    core::Node::FinalVotes votes{.checkpoint = shown.checkpoint};
    for (const consensus::Vote& vote : *carried)
        if (vote.ballot.target == shown.checkpoint || vote.ballot.source == shown.checkpoint)
            votes.votes.push_back(vote);
    return link_at(at, chain, past, votes);
}

/// From the newest final block back to the voters that the asker knows.
Result<std::vector<FinalityProof>> links_after(const Sight& at, const NodeView& view, ledger::Height known,
                                               const core::Node::FinalVotes& votes) {
    // With one voter its seals make blocks final, and votes say nothing newer.
    TRY(const auto newest, at.store.info(votes.votes.empty() ? view.final_block : votes.checkpoint.block));
    TRY(const auto past, state_at(at, newest.height()));
    if (past.block.hash != newest.hash) return fail(ErrorKind::Unavailable, "the chain has just changed; ask again");
    TRY(auto link, link_at(at, view.chain, past, votes));
    std::vector<FinalityProof> links;
    for (;;) {
        const ledger::Height height = link.proof.header.height;
        const ledger::Height since = link.electorate.voters_since;
        links.push_back(std::move(link.proof));
        if (since <= known || links.size() == kLinksMax) break;
        auto before = handing_over(at, view.chain, since);
        // What is too long ago is not kept; the asker finds out that it does not know these voters, and says so.
        if (!before || before->proof.header.height >= height) break;
        link = *std::move(before);
    }
    std::reverse(links.begin(), links.end());
    return links;
}

Response answer(const Result<std::vector<FinalityProof>>& links) {
    if (!links) return refusal(links.error());
    json::Array rows;
    for (const FinalityProof& link : *links) rows.emplace_back(to_hex(follow::encode(link)));
    return json_response(json::Object{{"links", std::move(rows)}});
}

Response basis(const Context& context, std::string_view word) {
    const auto view = context.host.view();
    const Sight at = context.sight(*view);
    const auto past = state_at(at, word == "final" ? std::to_string(view->final_height.number()) : std::string{word});
    if (!past) return refusal(past.error());
    const auto link = link_at(at, view->chain, *past, {});
    if (!link) return refusal(link.error());
    return answer(std::vector{link->proof});
}

Task<void> finality(const Context& context, Call& call) {
    if (const auto word = call.word("at")) {
        (void)co_await call.exchange.respond(basis(context, *word));
        co_return;
    }
    const auto known = call.number("after", UINT64_MAX, UINT64_MAX);
    if (!known) {
        (void)co_await call.exchange.respond(refusal(known.error()));
        co_return;
    }
    const auto votes = std::make_shared<Mailbox<core::Node::FinalVotes>>(call.exchange.strand());
    context.host.inspect([votes](const core::Node* node) {
        put(votes, node == nullptr ? core::Node::FinalVotes{} : node->final_votes(), 1);
    });
    co_await votes->came.wait();
    const auto view = context.host.view();
    const Sight at = context.sight(*view);
    (void)co_await call.exchange.respond(
        answer(links_after(at, *view, ledger::Height{*known}, votes->waiting.front())));
}

Response subtree(const Context& context, const Call& call) {
    const auto prefix = parse_prefix(call.word("prefix").value_or("/"), "prefix");
    if (!prefix) return refusal(prefix.error());
    std::optional<ledger::Height> since;
    if (call.word("since")) {
        const auto number = call.number("since", 0, UINT64_MAX);
        if (!number) return refusal(number.error());
        since = ledger::Height{*number};
    }
    const auto view = context.host.view();
    const auto past = state_at(context.sight(*view), call.word("at").value_or("latest"));
    if (!past) return refusal(past.error());
    const auto made = follow::prove_subtree(view->chain, past->block.header, past->view, *prefix, since);
    if (!made)
        return refusal(
            {ErrorKind::Exhausted, fmt::format("more than {} entries or {} MiB stand there\nask for a "
                                               "narrower path",
                                               follow::kSubtreeEntriesMax, follow::kSubtreeBytesMax / 2 / (1u << 20))});
    return json_response(json::Object{{"proof", to_hex(follow::encode(*made))}});
}

}  // namespace

std::vector<Route> light_routes() {
    return {
        {.name = "getFinality",
         .path = "/rhizome/v1/finality",
         .summary = "Proofs that lead somebody without the chain to the newest final block",
         .parameters = {{.name = "after",
                         .summary = "the height that the asker knows to be final: over every change of voters since",
                         .type = "integer"},
                        {.name = "at",
                         .summary = "a height, or final: that block without votes, for whoever was told its hash"}},
         .answer = "FinalityLinks",
         .handler = InTime{finality}},
        {.name = "getSubtree",
         .path = "/rhizome/v1/state/subtree",
         .summary = "All that stands below a path, with the proof that it is all",
         .parameters = {{.name = "prefix", .summary = "as in /namespaces/web"},
                        {.name = "at", .summary = "the state after the block of this height"},
                        {.name = "since",
                         .summary = "only what was written after this height comes along; the proof is of all",
                         .type = "integer"}},
         .answer = "Subtree",
         .handler = AtOnce{subtree}}};
}

}  // namespace rhizome::node::rpc
