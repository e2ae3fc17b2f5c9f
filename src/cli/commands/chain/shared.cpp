// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/chain/shared.h"

#include <fmt/core.h>

#include "cli/data_option.h"
#include "cli/text.h"
#include "consensus/judge.h"
#include "ledger/chain_records.h"
#include "ledger/resource.h"
#include "runtime/files.h"

namespace rhizome::cli::chain {

Result<store::BlockInfo> find_block(std::string_view word, const OfflineChain& at) {
    if (const auto hash = ledger::BlockHash::from_hex(word)) {
        auto info = at.store().info(*hash);
        if (!info && info.error().kind == ErrorKind::NotFound)
            return fail(ErrorKind::NotFound, fmt::format("there is no block {} here", *hash));
        return info;
    }
    TRY(const auto height, parse_height(word, "BLOCK", at));
    return at.store().info_at(height);
}

Result<ledger::Block> read_block(const store::BlockInfo& info, const OfflineChain& at) {
    auto block = at.store().block(info.hash);
    if (!block && block.error().kind == ErrorKind::NotFound)
        return fail(
            ErrorKind::Unavailable,
            fmt::format("the body of the block of height {} was pruned; its header is still here", info.height()));
    return block;
}

Result<ledger::TxId> parse_txid(std::string_view word) {
    const auto id = ledger::TxId::from_hex(word);
    if (!id)
        return fail(ErrorKind::Usage, fmt::format("{} is no transaction id: 64 hexadecimal digits", printable(word)));
    return *id;
}

Result<store::TxPlace> find_tx(const Invocation& call, std::string_view word, const OfflineChain& at) {
    TRY(const auto id, parse_txid(word));
    auto place = at.store().find_tx(id);
    if (place || place.error().kind != ErrorKind::NotFound) return place;
    return fail(ErrorKind::NotFound,
                fmt::format("there is no transaction {} on this chain, which ends at height {}\n"
                            "ids do not cover signatures: '{} tx decode FILE' prints both ids of a transaction",
                            id, at.height(), call.program));
}

std::string sealed_by(const store::BlockInfo& info, const OfflineChain& at) {
    const auto seal = at.store().seal(info.hash);
    if (!seal) return "-";
    const auto proposer = consensus::proposer_in(*seal);
    if (!proposer) return "-";
    const consensus::MemberKey& key = *proposer;
    if (const state::Entry* record = at.chain->state().view().get(ledger::records::member(key))) {
        if (const auto member = ledger::decode_member(record->bytes())) return member->node;
    }
    return to_hex(key).substr(0, 16) + "..";
}

std::string wish_text(const ledger::Output& output) {
    const auto named = ledger::name_output(output.value);
    if (!named) return "malformed";
    switch (named->wish) {
        case ledger::Wish::Nothing: return "delete what an input names";
        case ledger::Wish::Delete: return "delete " + named->resource.label();
        case ledger::Wish::Store: return "write " + named->resource.label();
    }
    unreachable("a Wish is one of three");
}

Result<crypto::Hash256> history_root(Invocation& call, OfflineChain& at, ledger::Height height) {
    ledger::records::History history;
    if (at.store().base().height() != ledger::Height{0}) {
        // Old headers are gone; the state knows.
        TRY(const auto state, state_of(call, at, height));
        const state::Entry* record = state.view.get(ledger::records::history());
        if (record == nullptr) return fail(ErrorKind::Corrupt, "the state has no record of the chain's history");
        TRY(history, ledger::records::decode_history(record->bytes()));
        return history.root();
    }
    Progress progress{call.console, "Reading headers", height.number()};
    for (ledger::Height h{0}; h < height; ++h) {
        TRY(const auto info, at.store().info_at(h));
        history.append(info.hash);
        progress.advance();
    }
    return history.root();
}

Option out_option(std::string help) {
    return {.name = "out", .value_name = "FILE", .help = std::move(help), .completion = Completion::files()};
}

Result<void> put_out(Invocation& call, std::string_view text) {
    if (const auto file = call.if_text("out")) return runtime::replace_file(*file, text, 0644);
    call.console.out << text;
    return ok();
}

}  // namespace rhizome::cli::chain
