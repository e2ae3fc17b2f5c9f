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

Result<ledger::Block> read_block(const store::BlockInfo& info, const OfflineChain& at) {
    auto block = at.store().block(info.hash);
    if (!block && block.error().kind == ErrorKind::NotFound)
        return fail(
            ErrorKind::Unavailable,
            fmt::format("the body of the block of height {} was pruned; its header is still here", info.height()));
    return block;
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
