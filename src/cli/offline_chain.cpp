// SPDX-License-Identifier: Apache-2.0
#include "cli/offline_chain.h"

#include <charconv>

#include <fmt/core.h>

#include "cli/data_option.h"
#include "cli/text.h"
#include "ledger/special_kinds.h"

namespace rhizome::cli {
namespace {

Error with_hints(const Invocation& call, const std::filesystem::path& folder, Error error) {
    switch (error.kind) {
        case ErrorKind::NotFound:
            error.message = fmt::format("there is no chain in {}\n'{} init' makes one; --data names another directory",
                                        printable(folder.native()), call.program);
            break;
        case ErrorKind::Corrupt:
            error.message += fmt::format(
                "\nnothing was changed; keep a copy of {} before you try anything"
                "\nother machines of the cluster have the same blocks: '{} chain export' there, 'chain import' here",
                printable(folder.native()), call.program);
            break;
        default: break;
    }
    return error;
}

}  // namespace

OfflineChain::~OfflineChain() {
    if (chain) (void)close();
}

Result<void> OfflineChain::close() {
    auto closed = chain->close();
    chain.reset();
    return closed;
}

store::ProgressSink StoreProgress::sink() {
    return [this](std::uint64_t done, std::uint64_t total) {
        if (!progress_) progress_.emplace(console_, label_, total);
        if (done <= done_) return;
        progress_->advance(done - done_);
        done_ = done;
    };
}

Result<std::unique_ptr<OfflineChain>> open_chain(Invocation& call) {
    TRY(auto folder, data_folder_of(call));
    auto at = std::make_unique<OfflineChain>();
    at->folder = std::move(folder);
    StoreProgress progress{call.console, "Opening the chain"};
    auto opened = store::Chain::open(at->folder, at->block_rules(), at->pool, {}, progress.sink());
    if (!opened) return Fail{with_hints(call, at->folder, std::move(opened).error())};
    at->chain = *std::move(opened);
    for (const store::Finding& finding : at->store().findings())
        print_warning(call.console,
                      fmt::format("{} ({}, byte {})", finding.what, printable(finding.file.native()), finding.offset));
    return at;
}

Option at_option(std::string help) {
    return {.name = "at", .value_name = "HEIGHT", .help = std::move(help), .fallback = "latest"};
}

Result<ledger::Height> parse_height(std::string_view word, std::string_view what, const OfflineChain& at) {
    if (word == "latest") return at.height();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size())
        return fail(ErrorKind::Usage, fmt::format("{} {} is no height: a number, or latest", what, printable(word)));
    if (number > at.height().number())
        return fail(ErrorKind::NotFound, fmt::format("{} {}: the chain ends at height {}", what, number, at.height()));
    return ledger::Height{number};
}

Result<ledger::Height> height_of(const Invocation& call, std::string_view option, const OfflineChain& at) {
    return parse_height(call.text(option), fmt::format("--{}", option), at);
}

Result<ledger::ExportedState> state_of(Invocation& call, OfflineChain& at, ledger::Height height) {
    TRY(const auto block, at.store().info_at(height));
    ledger::ExportedState state{
        .chain = at.id(), .height = height, .time = block.header.time, .tip = block.hash, .view = {}};
    if (height == at.height()) {
        state.view = at.chain->state().view();
        return state;
    }
    StoreProgress progress{call.console, fmt::format("Going to height {}", height)};
    auto view = at.chain->state_at(height, progress.sink());
    if (!view) {
        Error error = std::move(view).error();
        if (error.kind == ErrorKind::Unavailable)
            error.message +=
                fmt::format("\nthe oldest state that can be had here is of height {}", at.store().base().height());
        return Fail{std::move(error)};
    }
    state.view = *std::move(view);
    return state;
}

std::string cluster_name(const state::StateView& view) {
    const state::Entry* entry = view.get(state::Path::cluster());
    if (entry == nullptr) return "";
    return std::string{ledger::parse_checked(entry->document()).text_at({"metadata", "name"})};
}

}  // namespace rhizome::cli
