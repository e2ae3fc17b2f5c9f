// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/first_chain.h"

#include <fmt/core.h>

#include "cli/commands/founding.h"
#include "cli/commands/tx/shared.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "consensus/own_votes.h"
#include "node/identity.h"
#include "node/state_fetching.h"
#include "runtime/files.h"
#include "runtime/log_stream.h"
#include "store/data_folder.h"
#include "store/unfinished.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kFirstAnswerMax{15'000};
/// Fewer blocks are executed in a second, and then all of the chain is here.
constexpr ledger::Height kLong{1'000};

/// There from before the first thing is made until there is a chain. Holds what was asked, for whoever wonders.
fs::path begun_file(const fs::path& data) { return data / "node" / "joining"; }

Result<void> make_from_genesis(const FirstChain& wish, const crypto::NodeKeys& keys, store::ChainOrigin origin,
                               OfflineChain& with) {
    stream::IoContext io{{.threads = 1}};
    auto block = node::fetch_genesis(io, wish.address, keys, wish.ticket.chain, kFirstAnswerMax);
    if (!block)
        return fail(block.error().kind,
                    fmt::format("{} cannot be asked for the chain: {}\n{}", wish.address.text(), block.error().message,
                                block.error().kind == ErrorKind::NotFound
                                    ? "name another node, or take the state instead: --sync snapshot"
                                    : "is a node up there, and is its port open? 'rhizome status' there says where it "
                                      "listens"));
    auto part = with.judge.judge_genesis(*block);
    if (!part) return Fail{tx::error_of(part.error())};
    auto commit = ledger::apply_genesis(*block, *part);
    if (!commit) return Fail{tx::error_of(commit.error())};
    TRY(auto chain, store::Chain::create(wish.data, {*std::move(block), *std::move(commit)}, with.block_rules(),
                                         with.pool, {}, origin));
    return chain->close();
}

Result<core::StateFetch::Fetched> fetch(Invocation& call, const FirstChain& wish, const crypto::NodeKeys& keys,
                                        Parallel& parallel, const runtime::Interrupt& interrupt) {
    stream::IoContext io{{.threads = 2}};
    runtime::StreamSink sink{call.console.err, runtime::LogForm::Text};
    std::optional<Progress> progress;
    std::size_t shown = 0;
    const node::StateWish state{
        .trusted = {wish.ticket.chain, wish.ticket.block},
        .address = wish.address,
        .progress =
            [&](const core::StateFetch::Progress& now) {
                if (now.parts == 0) return;
                if (!progress) progress.emplace(call.console, "Fetching the state", now.parts);
                progress->note(fmt::format("{} MiB from {} nodes", now.bytes >> 20, now.peers - now.lacking));
                progress->advance(now.here - shown);
                shown = now.here;
            },
        .is_cancelled = [&] { return interrupt.asked(); },
        .log = Log{sink, {.level = LogLevel::Warn, .debug_areas = {}}}};
    return node::fetch_state(io, state, keys, parallel);
}

Result<void> make_from_state(Invocation& call, const FirstChain& wish, const crypto::NodeKeys& keys,
                             store::ChainOrigin origin, OfflineChain& with, const runtime::Interrupt& interrupt) {
    TRY(const auto fetched, fetch(call, wish, keys, with.pool, interrupt));
    const ledger::SnapshotManifest& manifest = fetched.manifest;
    if (manifest.header.height != wish.ticket.height)
        return fail(ErrorKind::Denied,
                    "the block that the token names has another height\nask the owner of the "
                    "cluster for a new token");
    const ledger::Block base{
        .header = manifest.header, .signature = manifest.signature, .txs = {}, .seal = manifest.seal};
    TRY(auto chain,
        store::Chain::create_from_state(wish.data, manifest.chain, base, fetched.view, with.block_rules(), with.pool));
    // With keys made a moment ago nothing can have been signed before.
    if (origin == store::ChainOrigin::MadeHere) TRY(chain->store().complete_votes(consensus::OwnVotes{}.encode()));
    return chain->close();
}

}  // namespace

Option sync_option() {
    return {.name = "sync",
            .value_name = "HOW",
            .help = "how the chain comes here",
            .fallback = "auto",
            .choices = {{"auto", "the state where the chain is long and somebody has it, else all blocks"},
                        {"full", "all blocks, each of them checked"},
                        {"snapshot", "the state after the block that the token names, and the blocks after it"}}};
}

Result<void> begin_chain(Invocation& call, const FirstChain& wish, const runtime::Interrupt& interrupt) {
    TRY(runtime::make_folder(wish.data, 0700));
    const fs::path begun = begun_file(wish.data);
    std::error_code ignored;
    if (fs::exists(begun, ignored)) TRY(store::discard_unfinished(wish.data));
    auto identity = node::load_identity(wish.data);
    const bool is_new = !identity && identity.error().kind == ErrorKind::NotFound;
    if (is_new) identity = node::make_identity(wish.data);
    if (!identity) return Fail{std::move(identity).error()};
    TRY(runtime::replace_file(begun, fmt::format("{}\n", wish.address.text()), 0600));

    const auto origin = is_new ? store::ChainOrigin::MadeHere : store::ChainOrigin::FromElsewhere;
    OfflineChain with;
    const std::string how = call.text("sync");
    bool is_made = false;
    if (how == "snapshot" || (how == "auto" && wish.ticket.height >= kLong)) {
        auto made = make_from_state(call, wish, identity->keys, origin, with, interrupt);
        is_made = made.has_value();
        if (!made && (how == "snapshot" || interrupt.asked() || made.error().kind == ErrorKind::Denied)) {
            if (made.error().kind == ErrorKind::NotFound)
                return fail(ErrorKind::NotFound, made.error().message +
                                                     "\na new token names a newer block: 'rhizome token new' on a "
                                                     "member; or fetch all blocks: --sync full");
            return Fail{std::move(made).error()};
        }
        if (!made)
            print_warning(call.console, fmt::format("the state cannot be had: {}\nall blocks are fetched instead",
                                                    made.error().message));
    }
    if (!is_made) TRY(make_from_genesis(wish, identity->keys, origin, with));
    return runtime::remove_file(begun);
}

Result<bool> is_given_up(const fs::path& data) {
    std::error_code ignored;
    if (!has_chain(data) || !fs::exists(begun_file(data), ignored)) return false;
    const auto identity = node::load_identity(data);
    return !identity && identity.error().kind == ErrorKind::NotFound;
}

Result<void> give_up_chain(const fs::path& data) {
    // The order is that of the promise: from the moment that the chain is no longer this machine's, its keys are gone,
    // and a new chain never meets the old keys, wherever this is killed.
    TRY(runtime::replace_file(begun_file(data), "again\n", 0600));
    if (const auto gone = runtime::remove_file(node::seed_file(data));
        !gone && gone.error().kind != ErrorKind::NotFound)
        return gone;
    {
        TRY(const auto folder, store::DataFolder::open(data));  // nobody else uses it
        TRY(runtime::remove_file(folder.format()));
    }
    return store::discard_unfinished(data);
}

Result<void> check_no_join_begun(const Invocation& call, const fs::path& data) {
    std::error_code ignored;
    if (!fs::exists(begun_file(data), ignored)) return ok();
    return fail(ErrorKind::Conflict,
                fmt::format("a join was begun in {} and did not come to an end\n'{} join' with the same token goes on; "
                            "--data names another directory; or remove {} to found a cluster here",
                            printable(data.native()), call.program, printable(begun_file(data).native())));
}

}  // namespace rhizome::cli
