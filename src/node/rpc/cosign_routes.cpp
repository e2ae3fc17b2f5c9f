// SPDX-License-Identifier: Apache-2.0
// Signatures of a co-signer's.
#include "ledger/json_form.h"
#include "node/rpc/mailbox.h"
#include "node/rpc/route.h"

namespace rhizome::node::rpc {
namespace {

using stream::Task;

/// The commands of a rule have a minute at most; a transaction may need several.
constexpr seconds kAnswerTime{180};

Task<void> cosign(const Context& context, Call& call) {
    if (!context.sources.cosign) {
        const Error error{ErrorKind::Unsupported,
                          "this node co-signs nothing: an observer or watchtower with cosign.rules does"};
        (void)co_await call.exchange.respond(refusal(error));
        co_return;
    }
    auto tx = ledger::tx_from_json(call.body);
    if (!tx) {
        (void)co_await call.exchange.respond(refusal(tx.error()));
        co_return;
    }
    const auto told = std::make_shared<Mailbox<Result<json::Object>>>(call.exchange.strand());
    context.sources.cosign(*std::move(tx), [told](Result<json::Object> answer) { put(told, std::move(answer), 1); });
    const bool in_time = co_await told->came.wait_until(stream::after(kAnswerTime));
    if (!in_time) {
        const Error error{ErrorKind::Unavailable, "the co-signer's commands take too long; ask again"};
        (void)co_await call.exchange.respond(refusal(error));
        co_return;
    }
    const auto& answer = told->waiting.front();
    (void)co_await call.exchange.respond(answer ? json_response(*answer) : refusal(answer.error()));
}

}  // namespace

std::vector<Route> cosign_routes() {
    return {{.name = "cosign",
             .method = "POST",
             .path = "/rhizome/v1/cosign",
             .summary = "A co-signer's signature under a transaction that all others have signed, if its rules allow",
             .body = "Transaction",
             .body_bytes_max = ledger::kTxJsonBytesMax,
             .answer = "Cosigned",
             .handler = InTime{cosign}}};
}

}  // namespace rhizome::node::rpc
