// SPDX-License-Identifier: Apache-2.0
// `rhizome up` and `rhizome down`: a node on this machine.
#include "cli/commands/node/up.h"

#include <unistd.h>

#include <fmt/core.h>

#include "cli/build_info.h"
#include "cli/commands/commands.h"
#include "cli/commands/founding.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/node/settings.h"
#include "cli/commands/node/shared.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/text.h"
#include "node/status.h"
#include "runtime/background_process.h"
#include "runtime/files.h"
#include "runtime/interrupt.h"
#include "runtime/log_file.h"
#include "runtime/log_stream.h"
#include "runtime/service_manager.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

/// How often the line of status is drawn anew, and Ctrl-C looked for.
constexpr milliseconds kLook{250};
constexpr seconds kStartMax{60};
constexpr seconds kStopMax{30};
/// How often the service manager is told how it is.
constexpr seconds kStatusTold{10};
/// A strand that takes longer than this for nothing is stuck: then the watchdog is not fed.
constexpr seconds kAnswerMax{5};

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

std::string listens_text(node::Daemon& daemon) {
    std::string where;
    for (const stream::Address& address : daemon.peers().addresses())
        where += (where.empty() ? "" : ", ") + address.text();
    return where.empty() ? "nowhere: it dials only" : where;
}

/// What a person sees first. Whoever reads a log has it from there.
void say_started(Invocation& call, node::Daemon& daemon) {
    if (!call.console.err_is_terminal) return;
    const auto view = daemon.host().view();
    Fields fields;
    fields.add("cluster", fmt::format("{} ({}..)", node::cluster_name_of(*view), view->chain.hex().substr(0, 16)));
    const std::string name = node::node_name_of(daemon.host().key(), *view);
    fields.add("node", name.empty() ? Cell{"not a member yet", Tone::Warning} : Cell{name});
    fields.add("listens", listens_text(daemon));
    std::string asked;
    for (const stream::Address& address : daemon.rpc_addresses()) asked += (asked.empty() ? "" : ", ") + address.text();
    std::string kubernetes;
    for (const stream::Address& address : daemon.api_addresses())
        kubernetes += (kubernetes.empty() ? "" : ", ") + address.text();
    fields.add("Kubernetes", kubernetes.empty() ? "not served" : kubernetes);
    fields.add("RPC", asked.empty() ? "on its local socket only" : asked + " and its local socket");
    call.console.err << fields.render(call.console.err_style);
    const std::string data = data_words(call);
    call.console.err << fmt::format(
        "\nIt runs. In another terminal:\n"
        "  {0} status{1}            how it is\n"
        "  {0} kubeconfig{1}        let kubectl ask it\n"
        "  {0} token new{1}         a second machine: 'join' there with what this prints\n"
        "  {0} watch{1}             what happens, as it happens\n"
        "Ctrl-C stops it; nothing is lost.\n\n",
        call.program, data);
}

/// What the process in the background says outside its log: why it did not start, or how it broke.
fs::path last_words_of(const fs::path& data) { return data / "node" / "stderr"; }

/// Where the log goes: a file of bounded size, or stderr.
Result<std::unique_ptr<LogSink>> open_log(Invocation& call, const node::Config& config) {
    const std::string file = config.text("log.file");
    const std::string format = config.text("log.format");
    const bool as_text = format == "text" || (format == "auto" && file.empty() && call.console.err_is_terminal);
    const auto form = as_text ? runtime::LogForm::Text : runtime::LogForm::Json;
    if (file.empty()) return std::unique_ptr<LogSink>{std::make_unique<runtime::StreamSink>(call.console.err, form)};
    TRY(auto sink, runtime::LogFile::open({.file = file,
                                           .form = form,
                                           .bytes_max = config.number("log.fileSize"),
                                           .files_max = static_cast<unsigned>(config.number("log.files"))}));
    return std::unique_ptr<LogSink>{std::move(sink)};
}

/// Until a signal, `down` or a failure ends it.
void wait_until_end(Invocation& call, node::Daemon& daemon, const runtime::ServiceManager& manager,
                    const runtime::Interrupt& interrupt) {
    auto next_status = runtime::instant_now() + kStatusTold;
    auto next_alive = runtime::instant_now();
    bool drawn = false;
    while (!interrupt.asked() && !daemon.wait_for_end(kLook)) {
        const auto now = runtime::instant_now();
        if (manager.is_there() && now >= next_status) {
            manager.status(status_line(call.console, daemon));
            next_status = now + kStatusTold;
        }
        if (manager.watchdog() && now >= next_alive && daemon.answers(kAnswerMax)) {
            manager.alive();
            next_alive = now + *manager.watchdog();
        }
        if (!call.console.err_is_terminal) continue;
        call.console.err << "\r\x1b[K" << status_line(call.console, daemon) << std::flush;
        drawn = true;
    }
    if (drawn) call.console.err << "\r\x1b[K" << std::flush;
    if (call.console.err_is_terminal && interrupt.asked())
        call.console.err << "Stopping; Ctrl-C once more ends it at once.\n" << std::flush;
}

}  // namespace

fs::path log_file_of(const fs::path& data) { return data / "node" / "log"; }

std::vector<Option> running_options() {
    std::vector<Option> options = setting_options();
    options.push_back({.name = "detach", .letter = 'd', .help = "run in the background; 'down' stops it"});
    return options;
}

node::DaemonOptions daemon_options(const node::Config& config, const fs::path& data) {
    node::DaemonOptions options;
    options.data = data;
    options.version = std::string{build_info().version};
    options.peers.listen = config.addresses("listen");
    options.peers.seeds = config.addresses("peers");
    options.peers.outbound = config.number("links.outbound");
    options.peers.inbound_max = config.number("links.inboundMax");
    options.role = node::node_role_from(config.text("role")).value_or(node::NodeRole::Member);
    options.watch.rules.bound = milliseconds{static_cast<std::int64_t>(config.number("watch.bound"))};
    if (const std::string url = config.text("watch.webhook"); !url.empty()) options.watch.webhook = url;
    options.lan_discovery = config.is_on("lanDiscovery");
    options.rpc_listen = config.addresses("rpc.listen");
    // What nobody asked for is done without where the port is taken: a second node on the machine.
    if (config.held("rpc.listen").origin == node::Origin::Default) {
        options.rpc_listen_if_free = options.rpc_listen.front();
        options.rpc_listen.clear();
    }
    options.metrics_listen = config.addresses("metrics.listen");
    options.api_listen = config.addresses("api.listen");
    if (config.held("api.listen").origin == node::Origin::Default) {
        options.api_listen_if_free = options.api_listen.front();
        options.api_listen.clear();
    }
    options.api_token_file = config.text("api.tokenFile");
    options.api_audit = {.file = config.text("api.auditLog"),
                         .bytes_max = config.number("api.auditLogSize"),
                         .files_max = static_cast<unsigned>(config.number("api.auditLogFiles"))};
    options.mining_percent = static_cast<unsigned>(config.number("mine"));
    options.report =
        node::ReporterOptions{.traits = {.arch = node::machine_architecture(), .has_agent = config.is_on("agent")},
                              .capacity = config.resources("capacity"),
                              .allocatable = config.resources("allocatable"),
                              .advertise = config.addresses("advertise")};
    return options;
}

Result<void> run_node(Invocation& call, const node::Config& config, node::DaemonOptions options) {
    if (const std::string file = config.text("cosign.rules"); !file.empty()) {
        TRY(const auto text, runtime::read_file(file, follow::kCosignRulesBytesMax));
        auto rules = follow::cosign_rules_from(text);
        if (!rules) return Fail{with_context(printable(file), rules.error())};
        options.cosign_rules = *std::move(rules);
    }
    TRY(const auto keys, key::keystore_of(call));
    options.api_keys = keys.folder();
    TRY(const auto sink, open_log(call, config));
    const LogLevel level = log_level_from(config.text("log.level")).value_or(LogLevel::Info);
    // A person sees the line of status; a log beside it would only be in its way unless something is wrong.
    const bool quiet = call.console.err_is_terminal && config.text("log.file").empty() &&
                       config.held("log.level").origin == node::Origin::Default;
    const Log log{*sink, {.level = quiet ? LogLevel::Warn : level, .debug_areas = {}}};
    options.log = log;
    options.peers.log = log.area("peers");
    StoreProgress progress{call.console, "Opening the chain"};
    options.opening = progress.sink();

    const runtime::ServiceManager manager{call.console.environment};
    const runtime::Interrupt interrupt;
    TRY(const auto daemon, node::Daemon::start(std::move(options)));
    const auto view = daemon->host().view();
    log.info("the node runs", {{"chain", view->chain},
                               {"node", node::node_name_of(daemon->host().key(), *view)},
                               {"height", view->tip.height},
                               {"listens", listens_text(*daemon)}});
    say_started(call, *daemon);
    manager.ready(status_line(call.console, *daemon));
    wait_until_end(call, *daemon, manager, interrupt);
    manager.stopping();
    log.info("the node stops", {{"signal", interrupt.asked()}});
    const auto failure = daemon->failure();
    auto stopped = daemon->stop();
    if (failure) return Fail{*failure};
    log.info("the node has stopped");
    return stopped;
}

namespace {

/// The process's own error, as it would have been printed here.
Fail<Error> did_not_start(const std::string& last_words) {
    const auto why = last_error_in(last_words);
    if (!why)
        return fail(ErrorKind::Failed,
                    fmt::format("the node did not start\nwhat it said last is in {}", printable(last_words)));
    return fail(ErrorKind::Failed, "the node did not start: " + *why);
}

}  // namespace

std::optional<std::string> last_error_in(const fs::path& last_words) {
    constexpr std::size_t kWordsMax = 16u << 10;
    const std::string text = runtime::read_file(last_words, kWordsMax).value_or("");
    const std::size_t error = text.rfind("error: ");
    if (error == std::string::npos) return std::nullopt;
    std::string why = text.substr(error + std::string_view{"error: "}.size());
    for (std::size_t at = why.find("\nhint: "); at != std::string::npos; at = why.find("\nhint: ", at))
        why.replace(at, std::string_view{"\nhint: "}.size(), "\n");
    while (why.ends_with('\n')) why.pop_back();
    return why;
}

Result<void> detach_node(Invocation& call, const fs::path& data, const std::vector<std::string>& words) {
    const std::string last_words = last_words_of(data).native();
    TRY(auto held, runtime::hold_process({.program = "/proc/self/exe", .arguments = words, .output = last_words}));
    TRY(held.begin());
    const runtime::ProcessId process = held.id();

    const auto give_up = runtime::instant_now() + kStartMax;
    for (;;) {
        if (const auto client = if_running_node(call)) {
            TRY(const auto status, client->get("/rhizome/v1/status"));
            call.console.out << status_text(call.console, status);
            call.console.err << fmt::format(
                "\nIt runs in the background (process {}).\n'{} logs{}' shows its log, '{} down{}' stops it.\n",
                process.pid, call.program, data_words(call), call.program, data_words(call));
            return ok();
        }
        if (!runtime::is_running(process)) return did_not_start(last_words);
        if (runtime::instant_now() > give_up)
            return fail(ErrorKind::Unavailable, fmt::format("the node does not answer yet (process {})\n'{} logs{}' "
                                                            "shows how far it is",
                                                            process.pid, call.program, data_words(call)));
        ::usleep(50'000);
    }
}

std::vector<std::string> detached_words(const Invocation& call, const node::Config& config, const fs::path& data,
                                        const std::vector<std::string>& peers) {
    std::vector<std::string> words{"up", "--data", data.native()};
    if (const auto keys = call.if_text("keys")) words.insert(words.end(), {"--keys", *keys});
    for (std::string& word : setting_words(call)) words.push_back(std::move(word));
    // A list that is given replaces the one from elsewhere: what holds is said whole, with these besides.
    if (!peers.empty()) {
        if (config.held("peers").origin != node::Origin::Flag)
            for (const std::string& text : config.held("peers").values) words.insert(words.end(), {"--peer", text});
        for (const std::string& text : peers) words.insert(words.end(), {"--peer", text});
    }
    if (config.text("log.file").empty()) words.insert(words.end(), {"--log-file", log_file_of(data).native()});
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
    TRY(const auto config, config_of(call, data));
    if (!has_chain(data)) {
        TRY(found_cluster(call, daemon_options(config, data).report->traits));
        call.console.out.flush();
        call.console.err << '\n';
    } else if (!call.argument("NAME").empty()) {
        return fail(ErrorKind::Conflict,
                    fmt::format("there is a cluster in {} already: it keeps its name\nleave {} out, or name another "
                                "directory with --data",
                                printable(data.native()), printable(call.argument("NAME"))));
    }
    if (!call.flag("detach")) return run_node(call, config, daemon_options(config, data));
    return detach_node(call, data, detached_words(call, config, data));
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
    std::vector<Variable> variables = setting_variables();
    variables.push_back(key::passphrase_variable());
    return {
        .name = "up",
        .summary = "Start a node on this machine",
        .details =
            "Starts the node of the data directory in the foreground. Where there is no cluster yet it makes one, with "
            "this machine as its only member and you as its owner, as 'init' does; NAME and the options of 'init' say "
            "what kind. A node alone takes orders at once.\n"
            "\n"
            "On a terminal it shows how it is; otherwise it logs a line of JSON for each event. Ctrl-C and 'down' stop "
            "it in order, and killing it loses nothing that was answered as final.\n"
            "\n"
            "Settings come from flags, the environment and a file, in this order: 'config show' says what holds and "
            "why. In the background it logs to DATA/node/log, which 'logs' shows.",
        .examples = {{"a cluster of one, or the one there was", "rhizome up"},
                     {"in the background", "rhizome up --detach"},
                     {"a second node on the same machine, to try things",
                      "rhizome up --data /tmp/two --listen 127.0.0.1:7710"}},
        .arguments = {{.name = "NAME", .help = "the name of a new cluster; default: rhizome", .required = false}},
        .options = std::move(options),
        .variables = std::move(variables),
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
