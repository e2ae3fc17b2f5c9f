// SPDX-License-Identifier: Apache-2.0
// `rhizome join`: this machine becomes a member of a cluster that exists.
#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/founding.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/node/first_chain.h"
#include "cli/commands/node/settings.h"
#include "cli/commands/node/shared.h"
#include "cli/commands/node/up.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "ledger/chain_records.h"
#include "node/identity.h"
#include "node/joining.h"
#include "node/status.h"
#include "runtime/interrupt.h"
#include "runtime/log_stream.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kLook{100};
/// Ten seconds for the token to come here; or so many others that use the same one at the same time.
constexpr int kTriesMax = 100;

struct Joining {
    node::JoinTicket ticket;
    stream::Address address;
    fs::path data;
    std::string name;
};

/// A directory with a chain is joined from again when its machine is no member: it was refused, removed, or a heal has
/// undone its join.
Result<void> begin_again(Invocation& call, const node::JoinTicket& ticket, const fs::path& data) {
    TRY(const bool is_begun, is_given_up(data));
    if (is_begun) return give_up_chain(data);
    const auto conflict = [&](std::string why) {
        return fail(ErrorKind::Conflict, fmt::format("there is a chain in {} already; it was not touched\n{}",
                                                     printable(data.native()), why));
    };
    if (const auto running = if_running_node(call))
        return conflict(
            fmt::format("its node runs: '{0} status{1}' says whether it is a member, '{0} down{1}' stops it",
                        call.program, data_words(call)));
    {
        TRY(const auto identity, node::load_identity(data));
        TRY(const auto at, open_chain(call));
        if (at->id() != ticket.chain)
            return conflict("it is of another cluster than the token: --data names another directory");
        const auto path = ledger::records::member(identity.keys.chain.public_key().bytes());
        if (at->chain->state().view().get(path) != nullptr)
            return conflict(
                fmt::format("its machine is a member there: '{0} up{1}' starts its node, and then '{0} status{1}' says "
                            "whether it still is one; --data names another directory",
                            call.program, data_words(call)));
        if (!call.flag("again"))
            return conflict(
                fmt::format("its machine is no member of the cluster: the same words and --again join "
                            "again, with new keys: the chain is fetched anew, and the old keys are "
                            "deleted\n'{} up{}' only follows; --data names another directory",
                            call.program, data_words(call)));
    }
    return give_up_chain(data);
}

Result<Joining> read_wish(Invocation& call) {
    TRY(auto ticket, node::JoinTicket::parse(call.text("token")));
    const std::string given = call.argument("ADDRESS");
    auto address = stream::Address::parse(given);
    if (!address) address = stream::Address::parse(given + ":7700");
    if (!address || address->is_local)
        return fail(ErrorKind::Usage,
                    fmt::format("ADDRESS {} is no address: host:port, as in 10.0.0.7:7700", printable(given)));
    TRY(fs::path data, data_folder_of(call));
    if (has_chain(data)) TRY(begin_again(call, ticket, data));
    TRY(std::string name, node_name_of_host(call));
    return Joining{std::move(ticket), *std::move(address), std::move(data), std::move(name)};
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
        // Without a link what is written now would wait for the next time that it is told to others.
        if (height >= join.ticket.height.number() && !daemon.peers().list().empty()) {
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

/// Whether the token that the transaction uses is the one that the chain has now.
bool is_current(const Joining& join, const ledger::SharedTx& tx, const node::NodeView& view) {
    const auto path = state::Path::join_token(join.ticket.name);
    const state::Entry* token = path ? view.state.get(*path) : nullptr;
    return token != nullptr && token->origin().latest.output == tx->tx.inputs.front().previous;
}

/// What became of it in the end, or as far as it need come; nothing when somebody interrupted, or when the token is
/// another by now and waiting for the refusal to be final would be waiting for nothing.
std::optional<core::Answer> submit_and_wait(const Joining& join, node::Daemon& daemon, const ledger::SharedTx& tx,
                                            const runtime::Interrupt& interrupt) {
    struct Told {
        std::mutex mutex{};
        std::condition_variable changed{};
        std::optional<core::Answer> newest{};
    };
    const auto told = std::make_shared<Told>();
    const auto client = daemon.host().submit(tx, [told](const core::Answer& answer) {
        const std::lock_guard hold{told->mutex};
        told->newest = answer;
        told->changed.notify_all();
    });
    std::unique_lock hold{told->mutex};
    while (!interrupt.asked()) {
        told->changed.wait_for(hold, kLook);
        if (told->newest && told->newest->stage != core::Stage::Accepted) return told->newest;
        if (!is_current(join, tx, *daemon.host().view())) break;
    }
    daemon.host().forget(client);
    return std::nullopt;
}

/// Whether the token was there in another form: this machine is still behind, or another one has used the same token.
bool is_outdated(const ledger::Reject& refused) {
    return refused.code == ledger::RejectCode::MissingInput || refused.code == ledger::RejectCode::StaleInput;
}

/// Writes this machine's Node with the token, and waits until the chain has it.
Result<void> become_member(const Joining& join, node::Daemon& daemon, const crypto::NodeKeys& keys,
                           const node::NodeTraits& traits, const runtime::Interrupt& interrupt) {
    for (int tries = 0; tries < kTriesMax && !interrupt.asked(); ++tries) {
        if (!node::node_name_of(daemon.host().key(), *daemon.host().view()).empty()) return ok();
        if (tries > 0) (void)daemon.wait_for_end(kLook);
        const bool is_last = tries + 1 == kTriesMax;
        auto tx = node::make_join_tx(join.ticket, join.name, keys, traits, daemon.host().view()->state);
        if (!tx) {
            // The token may be a block away.
            if (tx.error().kind == ErrorKind::NotFound && !is_last) continue;
            return Fail{std::move(tx).error()};
        }
        const auto answer = submit_and_wait(join, daemon, *tx, interrupt);
        if (!answer) continue;  // is it a member now, with this very transaction?
        if (!answer->refused) return ok();
        if (is_outdated(*answer->refused) && !is_last) continue;
        return fail(ErrorKind::Denied, fmt::format("the cluster refuses this machine: {}\n--node gives it another "
                                                   "name; 'token new' on a member makes another token",
                                                   to_text(*answer->refused)));
    }
    return fail(ErrorKind::Unavailable, "interrupted before the cluster answered; 'up' shows whether it did");
}

Result<void> run_join(Invocation& call) {
    TRY(const Joining join, read_wish(call));
    TRY(const auto config, config_of(call, join.data));
    auto options = daemon_options(config, join.data);
    options.peers.seeds.push_back(join.address);
    {
        const runtime::Interrupt interrupt;
        TRY(begin_chain(call, {join.ticket, join.address, join.data}, interrupt));
        TRY(const auto identity, node::load_identity(join.data));
        runtime::StreamSink sink{call.console.err, runtime::LogForm::Text};
        node::DaemonOptions quiet = options;
        quiet.report.reset();  // it says what it is once it runs
        quiet.log = Log{sink, {.level = LogLevel::Warn, .debug_areas = {}}};
        TRY(const auto daemon, node::Daemon::start(quiet));
        TRY(wait_for_chain(call, join, *daemon, interrupt));
        if (options.role == node::NodeRole::Member)
            TRY(become_member(join, *daemon, identity.keys, options.report->traits, interrupt));
        TRY(daemon->stop());
    }
    if (options.role == node::NodeRole::Member) {
        call.console.err << fmt::format("{} is a member now\n\n", join.name);
    } else {
        call.console.err << fmt::format("this machine follows the cluster as {}; the token was not used up\n\n",
                                        name(options.role));
    }
    if (!call.flag("detach")) return run_node(call, config, std::move(options));
    return detach_node(call, join.data, detached_words(call, config, join.data, {join.address.text()}));
}

}  // namespace

Command join_command() {
    std::vector<Option> options{
        data_option(),
        key::keys_option(),
        {.name = "token",
         .letter = 't',
         .value_name = "TOKEN",
         .help = "what 'token new' printed on a member",
         .variable = "RHIZOME_TOKEN",
         .required = true},
        {.name = "node", .value_name = "NAME", .help = "this machine's name; default: its host name"},
        {.name = "again", .help = "from a directory whose machine was refused or removed: with new keys"},
        sync_option()};
    for (Option& option : running_options()) options.push_back(std::move(option));
    return {
        .name = "join",
        .summary = "Make this machine a member of a cluster, and start its node",
        .details =
            "Asks the node at ADDRESS, and those it names, for the chain, and registers this machine with the token. "
            "From then on it seals, votes and knows the other members by itself: ADDRESS is needed once.\n"
            "\n"
            "A short chain comes whole: every block is checked, and that they lead through the block that the token "
            "names. Of one with 1,000 blocks or more the state after that block is fetched instead, in parts that are "
            "each checked against it, and the blocks that came later; history from before is then not kept here. "
            "--sync says which. Where nobody has that state any more, all blocks are fetched.\n"
            "\n"
            "With --role observer or watchtower it becomes no member: the token only says which chain to follow, and "
            "is not used up.\n"
            "\n"
            "A token is used up by joining, expires, and can be revoked. When it is killed before the chain is here, "
            "'join' begins again; when something fails after that, 'up' goes on with what is there.\n"
            "\n"
            "A machine that was refused or removed, or whose join was undone because it joined on the smaller side of "
            "a cut, joins again with --again: its old keys are deleted and never sign again, the chain is fetched "
            "anew, and settings and people's keys stay.",
        .examples = {{"as 'token new' printed it", "rhizome join 10.0.0.7:7700 --token rz1-..."},
                     {"a full copy that takes no part", "rhizome join 10.0.0.7:7700 --token rz1-... --role observer"}},
        .arguments = {{.name = "ADDRESS", .help = "of a node of the cluster: host:port"}},
        .options = std::move(options),
        .variables = setting_variables(),
        .run = run_join,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
