// SPDX-License-Identifier: Apache-2.0
// `rhizome up` and `rhizome down`: a node on this machine.
#include "cli/commands/node/up.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>

#include <fmt/core.h>

#include "cli/build_info.h"
#include "cli/commands/commands.h"
#include "cli/commands/founding.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/shared.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/text.h"
#include "node/status.h"
#include "runtime/interrupt.h"
#include "runtime/log_stream.h"
#include "runtime/os_error.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

/// How often the line of status is drawn anew, and Ctrl-C looked for.
constexpr milliseconds kLook{250};
constexpr seconds kStartMax{60};
constexpr seconds kStopMax{30};

constexpr std::string_view kListen = "[::]:7700";
/// This machine only: whoever wants to be asked from elsewhere says so.
constexpr std::string_view kRpcListen = "127.0.0.1:7701";

Result<stream::Address> address_of(std::string_view option, const std::string& text, std::uint16_t port) {
    auto address = stream::Address::parse(text);
    if (!address) address = stream::Address::parse(fmt::format("{}:{}", text, port));
    if (address && !address->is_local) return address;
    return fail(ErrorKind::Usage, fmt::format("--{} {} is no address: host:port, as in 10.0.0.7:7700 or [fe80::1]:7700",
                                              option, printable(text)));
}

/// What a terminal shows while the node runs.
std::string status_line(const Console& console, node::Daemon& daemon) {
    const auto view = daemon.host().view();
    const Time now = console.now();
    const auto warnings = node::warnings_of(*view, now);
    const std::string line =
        fmt::format("height {} ({} ago)   final {} ({} ago)   peers {}   pending {}", view->tip.height.number(),
                    age_text(now - view->tip.time), view->final_height.number(), age_text(now - view->final_time),
                    view->usage.peers, view->pending);
    return line + (warnings.empty() ? "" : fmt::format("   {} warnings: rhizome status", warnings.size()));
}

void say_started(Invocation& call, node::Daemon& daemon) {
    const auto view = daemon.host().view();
    Fields fields;
    fields.add("cluster", fmt::format("{} ({}..)", node::cluster_name_of(*view), view->chain.hex().substr(0, 16)));
    const std::string name = node::node_name_of(daemon.host().key(), *view);
    fields.add("node", name.empty() ? Cell{"not a member yet", Tone::Warning} : Cell{name});
    std::string where;
    for (const stream::Address& address : daemon.peers().addresses())
        where += (where.empty() ? "" : ", ") + address.text();
    fields.add("listens", where.empty() ? "nowhere: it dials only" : where);
    std::string asked;
    for (const stream::Address& address : daemon.rpc_addresses()) asked += (asked.empty() ? "" : ", ") + address.text();
    fields.add("RPC", asked.empty() ? "on its local socket only" : asked + " and its local socket");
    call.console.err << fields.render(call.console.err_style);
    if (!call.console.err_is_terminal) return;
    const std::string data = data_words(call);
    call.console.err << fmt::format(
        "\nIt runs. In another terminal:\n"
        "  {0} status{1}            how it is\n"
        "  {0} token new{1}         a second machine: 'join' there with what this prints\n"
        "  {0} watch{1}             what happens, as it happens\n"
        "Ctrl-C stops it; nothing is lost.\n\n",
        call.program, data);
}

std::string log_file(const fs::path& data) { return (data / "node" / "log").native(); }

}  // namespace

std::vector<Option> running_options() {
    return {{.name = "listen",
             .value_name = "ADDRESS",
             .help = fmt::format("where other nodes reach this one; none for nowhere; default: {}", kListen),
             .repeatable = true},
            {.name = "rpc-listen",
             .value_name = "ADDRESS",
             .help = fmt::format("where commands with --node ask this one, over TLS; none for nowhere; default: {}, or "
                                 "nowhere when that is taken",
                                 kRpcListen),
             .repeatable = true},
            {.name = "peer",
             .value_name = "ADDRESS",
             .help = "a node to link to, besides those the chain and others know",
             .repeatable = true},
            {.name = "mine", .value_name = "PERCENT", .help = "of one core, on a chain of work", .fallback = "20"},
            {.name = "log",
             .value_name = "LEVEL",
             .help = "how much is logged to stderr",
             .fallback = "info",
             .choices = {{"error", ""}, {"warn", ""}, {"info", ""}, {"debug", ""}}},
            {.name = "detach", .letter = 'd', .help = "run in the background; 'down' stops it"}};
}

Result<node::DaemonOptions> daemon_options(Invocation& call, const fs::path& data) {
    node::DaemonOptions options;
    options.data = data;
    options.version = std::string{build_info().version};
    std::vector<std::string> listen = call.texts("listen");
    if (listen.empty()) listen.emplace_back(kListen);
    for (const std::string& text : listen) {
        if (text == "none") continue;
        TRY(const auto address, address_of("listen", text, 7700));
        options.peers.listen.push_back(address);
    }
    for (const std::string& text : call.texts("rpc-listen")) {
        if (text == "none") continue;
        TRY(const auto address, address_of("rpc-listen", text, 7701));
        options.rpc_listen.push_back(address);
    }
    if (call.texts("rpc-listen").empty()) options.rpc_listen_if_free = *stream::Address::parse(kRpcListen);
    for (const std::string& text : call.texts("peer")) {
        TRY(const auto address, address_of("peer", text, 7700));
        options.peers.seeds.push_back(address);
    }
    const std::string share = call.text("mine");
    const auto [end, error] = std::from_chars(share.data(), share.data() + share.size(), options.mining_percent);
    if (error != std::errc{} || end != share.data() + share.size() || options.mining_percent > 100)
        return fail(ErrorKind::Usage, fmt::format("--mine {} is no percentage: 0 to 100", printable(share)));
    return options;
}

Result<void> run_node(Invocation& call, node::DaemonOptions options) {
    runtime::StreamSink sink{call.console.err,
                             call.console.err_is_terminal ? runtime::LogForm::Text : runtime::LogForm::Json};
    const LogLevel level = log_level_from(call.text("log")).value_or(LogLevel::Info);
    // A person sees the line of status; a log beside it would only be in its way unless something is wrong.
    const bool quiet = call.console.err_is_terminal && level == LogLevel::Info;
    const Log log{sink, {.level = quiet ? LogLevel::Warn : level, .debug_areas = {}}};
    options.log = log;
    options.peers.log = log.area("peers");
    StoreProgress progress{call.console, "Opening the chain"};
    options.opening = progress.sink();

    const runtime::Interrupt interrupt;
    TRY(const auto daemon, node::Daemon::start(std::move(options)));
    log.info("the node runs", {{"chain", daemon->host().view()->chain}, {"height", daemon->host().view()->tip.height}});
    say_started(call, *daemon);
    bool drawn = false;
    while (!interrupt.asked() && !daemon->wait_for_end(kLook)) {
        if (!call.console.err_is_terminal) continue;
        call.console.err << "\r\x1b[K" << status_line(call.console, *daemon) << std::flush;
        drawn = true;
    }
    if (drawn) call.console.err << "\r\x1b[K" << std::flush;
    const auto failure = daemon->failure();
    auto stopped = daemon->stop();
    if (failure) return Fail{*failure};
    log.info("the node has stopped");
    return stopped;
}

Result<void> detach_node(Invocation& call, const fs::path& data, const std::vector<std::string>& words) {
    const std::string log = log_file(data);
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_t attributes{};
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::vector<char*> argv;
    std::string program = "/proc/self/exe";
    std::string shown = "rhizome";
    argv.push_back(shown.data());
    std::vector<std::string> kept = words;
    for (std::string& word : kept) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return Fail{runtime::os_error("start the node", failed)};

    const auto give_up = runtime::instant_now() + kStartMax;
    for (;;) {
        if (const auto client = if_running_node(call)) {
            TRY(const auto status, client->get("/rhizome/v1/status"));
            call.console.out << status_text(call.console, status);
            call.console.err << fmt::format(
                "\nIt runs in the background (process {}); its log is {}\n'{} down{}' stops "
                "it.\n",
                pid, printable(log), call.program, data_words(call));
            return ok();
        }
        int state = 0;
        if (::waitpid(pid, &state, WNOHANG) == pid)
            return fail(ErrorKind::Failed, fmt::format("the node did not start\nits log says why: {}", printable(log)));
        if (runtime::instant_now() > give_up)
            return fail(ErrorKind::Unavailable,
                        fmt::format("the node does not answer yet (process {})\nlook at its log: {}", pid, log));
        ::usleep(50'000);
    }
}

std::vector<std::string> detached_words(const Invocation& call, const fs::path& data,
                                        const std::vector<std::string>& peers) {
    std::vector<std::string> words{"up", "--data", data.native()};
    const auto add = [&](std::string_view option, const std::string& text) {
        words.push_back(fmt::format("--{}", option));
        words.push_back(text);
    };
    for (const std::string& text : call.texts("listen")) add("listen", text);
    for (const std::string& text : call.texts("rpc-listen")) add("rpc-listen", text);
    for (const std::string& text : call.texts("peer")) add("peer", text);
    for (const std::string& text : peers) add("peer", text);
    add("mine", call.text("mine"));
    add("log", call.text("log"));
    return words;
}

namespace {

Result<void> run_up(Invocation& call) {
    TRY(const fs::path data, data_folder_of(call));
    if (const auto running = if_running_node(call)) {
        TRY(const auto status, running->get("/rhizome/v1/status"));
        call.console.err << "It runs already.\n\n";
        call.console.out << status_text(call.console, status);
        return ok();
    }
    if (!has_chain(data)) {
        TRY(found_cluster(call));
        call.console.out.flush();
        call.console.err << '\n';
    } else if (!call.argument("NAME").empty()) {
        return fail(ErrorKind::Conflict,
                    fmt::format("there is a cluster in {} already: it keeps its name\nleave {} out, or name another "
                                "directory with --data",
                                printable(data.native()), printable(call.argument("NAME"))));
    }
    TRY(auto options, daemon_options(call, data));
    if (!call.flag("detach")) return run_node(call, std::move(options));
    return detach_node(call, data, detached_words(call, data));
}

Result<void> run_down(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto reply, client->ask("POST", "/rhizome/v1/stop"));
    if (!reply.is_good()) return fail(ErrorKind::Failed, "the node refuses to stop");
    // It is gone when its directory is free again.
    const auto give_up = runtime::instant_now() + kStopMax;
    TRY(const fs::path data, data_folder_of(call));
    while (runtime::instant_now() < give_up) {
        const auto folder = store::DataFolder::open(data);
        if (folder || folder.error().kind != ErrorKind::Conflict) {
            call.console.out << "stopped\n";
            return ok();
        }
        ::usleep(20'000);
    }
    return fail(ErrorKind::Unavailable, "the node was told to stop and has not done so yet");
}

}  // namespace

Command up_command() {
    std::vector<Option> options{data_option()};
    for (const auto& more : {running_options(), founding_options()})
        options.insert(options.end(), more.begin(), more.end());
    return {
        .name = "up",
        .summary = "Start a node on this machine",
        .details =
            "Starts the node of the data directory in the foreground. Where there is no cluster yet it makes one, with "
            "this machine as its only member and you as its owner, as 'init' does; NAME and the options of 'init' say "
            "what kind. A node alone takes orders at once.\n"
            "\n"
            "On a terminal it shows how it is; otherwise it logs a line of JSON for each event. Ctrl-C and 'down' stop "
            "it in order, and killing it loses nothing that was answered as final.",
        .examples = {{"a cluster of one, or the one there was", "rhizome up"},
                     {"in the background", "rhizome up --detach"},
                     {"a second node on the same machine, to try things",
                      "rhizome up --data /tmp/two --listen 127.0.0.1:7710"}},
        .arguments = {{.name = "NAME", .help = "the name of a new cluster; default: rhizome", .required = false}},
        .options = std::move(options),
        .variables = {key::passphrase_variable()},
        .run = run_up,
        .group = std::string{kGroupHost},
    };
}

Command down_command() {
    return {
        .name = "down",
        .summary = "Stop the node on this machine",
        .details =
            "Tells the node of the data directory to stop and waits until it has: everything it was given is on "
            "the disk then.",
        .examples = {{"in order", "rhizome down"}},
        .options = {data_option()},
        .run = run_down,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
