// SPDX-License-Identifier: Apache-2.0
// `rhizome join`: this machine becomes a member of a cluster that exists.
#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/founding.h"
#include "cli/commands/node/settings.h"
#include "cli/commands/node/shared.h"
#include "cli/commands/node/up.h"
#include "cli/commands/tx/shared.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "node/identity.h"
#include "node/joining.h"
#include "node/status.h"
#include "runtime/files.h"
#include "runtime/interrupt.h"
#include "runtime/log_stream.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kFirstAnswerMax{15'000};
constexpr milliseconds kLook{100};

struct Joining {
    node::JoinTicket ticket;
    stream::Address address;
    fs::path data;
    std::string name;
};

Result<Joining> read_wish(Invocation& call) {
    TRY(auto ticket, node::JoinTicket::parse(call.text("token")));
    const std::string given = call.argument("ADDRESS");
    auto address = stream::Address::parse(given);
    if (!address) address = stream::Address::parse(given + ":7700");
    if (!address || address->is_local)
        return fail(ErrorKind::Usage,
                    fmt::format("ADDRESS {} is no address: host:port, as in 10.0.0.7:7700", printable(given)));
    TRY(fs::path data, data_folder_of(call));
    if (has_chain(data))
        return fail(ErrorKind::Conflict, fmt::format("there is a chain in {0} already; it was not touched\n"
                                                     "'{1} up{2}' starts its node; --data names another directory",
                                                     printable(data.native()), call.program, data_words(call)));
    TRY(std::string name, node_name_of_host(call));
    return Joining{std::move(ticket), *std::move(address), std::move(data), std::move(name)};
}

/// The chain's first block from the other machine, in a directory of ours. What comes after it the node fetches.
Result<void> begin_chain(const Joining& join) {
    TRY(runtime::make_folder(join.data, 0700));
    auto identity = node::load_identity(join.data);
    const bool is_new = !identity && identity.error().kind == ErrorKind::NotFound;
    if (is_new) identity = node::make_identity(join.data);
    if (!identity) return Fail{std::move(identity).error()};
    stream::IoContext io{{.threads = 1}};
    auto block = node::fetch_genesis(io, join.address, identity->keys, join.ticket.chain, kFirstAnswerMax);
    if (!block)
        return fail(block.error().kind, fmt::format("{} cannot be asked for the chain: {}\nis a node up there, and is "
                                                    "its port open? 'rhizome status' there says where it listens",
                                                    join.address.text(), block.error().message));
    OfflineChain with;
    auto part = with.judge.judge_genesis(*block);
    if (!part) return Fail{tx::error_of(part.error())};
    auto commit = ledger::apply_genesis(*block, *part);
    if (!commit) return Fail{tx::error_of(commit.error())};
    // With keys made a moment ago nothing can have been signed before.
    TRY(auto chain,
        store::Chain::create(join.data, {*std::move(block), *std::move(commit)}, with.block_rules(), with.pool, {},
                             is_new ? store::ChainOrigin::MadeHere : store::ChainOrigin::FromElsewhere));
    return chain->close();
}

/// Waits until the chain is here up to the block that the token names; Denied when it is another chain from there on.
Result<void> wait_for_chain(Invocation& call, const Joining& join, node::Daemon& daemon,
                            const runtime::Interrupt& interrupt) {
    Progress progress{call.console, "Fetching the chain", join.ticket.height.number() + 1};
    std::uint64_t shown = 0;
    for (;;) {
        const auto view = daemon.host().view();
        const std::uint64_t height = view->tip.height.number();
        if (height > shown) progress.advance(std::min(height, join.ticket.height.number()) - std::min(shown, height));
        shown = height;
        if (height >= join.ticket.height.number()) {
            TRY(const auto at, daemon.host().store().info_at(join.ticket.height));
            if (at.hash == join.ticket.block) return ok();
            return fail(ErrorKind::Denied,
                        fmt::format("{} has another block at height {} than the token names: it is not to be trusted\n"
                                    "ask the owner of the cluster for a new token",
                                    join.address.text(), join.ticket.height));
        }
        if (interrupt.asked()) return fail(ErrorKind::Unavailable, "interrupted; 'up' goes on with fetching the chain");
        if (daemon.wait_for_end(kLook))
            return daemon.failure() ? Fail{*daemon.failure()} : fail(ErrorKind::Unavailable, "stopped");
    }
}

/// Writes this machine's Node with the token, and waits until the chain has it.
Result<void> become_member(const Joining& join, node::Daemon& daemon, const crypto::NodeKeys& keys,
                           const node::NodeTraits& traits, const runtime::Interrupt& interrupt) {
    if (!node::node_name_of(daemon.host().key(), *daemon.host().view()).empty()) return ok();
    std::optional<ledger::SharedTx> tx;
    // The token may be a block away.
    for (int tries = 0; !tx; ++tries) {
        auto made = node::make_join_tx(join.ticket, join.name, keys, traits, daemon.host().view()->state);
        if (made) {
            tx = *std::move(made);
        } else if (made.error().kind != ErrorKind::NotFound || tries == 100 || interrupt.asked()) {
            return Fail{std::move(made).error()};
        } else {
            (void)daemon.wait_for_end(kLook);
        }
    }
    struct Told {
        std::mutex mutex{};
        std::condition_variable changed{};
        std::optional<core::Answer> newest{};
    };
    const auto told = std::make_shared<Told>();
    (void)daemon.host().submit(*tx, [told](const core::Answer& answer) {
        const std::lock_guard hold{told->mutex};
        told->newest = answer;
        told->changed.notify_all();
    });
    std::unique_lock hold{told->mutex};
    while (!interrupt.asked()) {
        told->changed.wait_for(hold, kLook);
        if (!told->newest) continue;
        if (told->newest->refused)
            return fail(ErrorKind::Denied, fmt::format("the cluster refuses this machine: {}\n--node gives it another "
                                                       "name; 'token new' on a member makes another token",
                                                       to_text(*told->newest->refused)));
        if (told->newest->stage == core::Stage::Final || told->newest->stage == core::Stage::Included) return ok();
    }
    return fail(ErrorKind::Unavailable, "interrupted before the cluster answered; 'up' shows whether it did");
}

Result<void> run_join(Invocation& call) {
    TRY(const Joining join, read_wish(call));
    TRY(const auto config, config_of(call, join.data));
    auto options = daemon_options(config, join.data);
    options.peers.seeds.push_back(join.address);
    TRY(begin_chain(join));
    TRY(const auto identity, node::load_identity(join.data));
    {
        const runtime::Interrupt interrupt;
        runtime::StreamSink sink{call.console.err, runtime::LogForm::Text};
        node::DaemonOptions quiet = options;
        quiet.report.reset();  // it says what it is once it runs
        quiet.log = Log{sink, {.level = LogLevel::Warn, .debug_areas = {}}};
        TRY(const auto daemon, node::Daemon::start(quiet));
        TRY(wait_for_chain(call, join, *daemon, interrupt));
        TRY(become_member(join, *daemon, identity.keys, options.report->traits, interrupt));
        TRY(daemon->stop());
    }
    call.console.err << fmt::format("{} is a member now\n\n", join.name);
    if (!call.flag("detach")) return run_node(call, config, std::move(options));
    return detach_node(call, join.data, detached_words(call, config, join.data, {join.address.text()}));
}

}  // namespace

Command join_command() {
    std::vector<Option> options{
        data_option(),
        {.name = "token",
         .letter = 't',
         .value_name = "TOKEN",
         .help = "what 'token new' printed on a member",
         .variable = "RHIZOME_TOKEN",
         .required = true},
        {.name = "node", .value_name = "NAME", .help = "this machine's name; default: its host name"}};
    for (Option& option : running_options()) options.push_back(std::move(option));
    return {
        .name = "join",
        .summary = "Make this machine a member of a cluster, and start its node",
        .details =
            "Asks the node at ADDRESS for the chain, checks every block of it and that it leads through the block that "
            "the token names, and registers this machine with the token. From then on it seals, votes and knows the "
            "other members by itself: ADDRESS is needed once.\n"
            "\n"
            "A token is used up by joining, expires, and can be revoked. When something fails half way, 'up' goes on "
            "with what is there.",
        .examples = {{"as 'token new' printed it", "rhizome join 10.0.0.7:7700 --token rz1-..."}},
        .arguments = {{.name = "ADDRESS", .help = "of a node of the cluster: host:port"}},
        .options = std::move(options),
        .variables = setting_variables(),
        .run = run_join,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
