// SPDX-License-Identifier: Apache-2.0
// `rhizome playground status`, `watch`, `logs`, `kubeconfig`: looking at it.
#include <poll.h>

#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/playground/verbs.h"
#include "cli/print.h"
#include "cli/program.h"
#include "cli/text.h"
#include "runtime/interrupt.h"

namespace rhizome::cli::playground {
namespace {

/// How often `watch` looks, unless it is told: as often as people can follow.
constexpr std::string_view kLookEvery = "500ms";
/// One that does not answer by then is paused, or too busy to be called running.
constexpr milliseconds kStatusMax{1'000};

const json::Array& list_at(const json::Value& value, std::string_view name) {
    static const json::Array none;
    const json::Value* found = value.find(name);
    return found == nullptr || !found->is_array() ? none : *found->if_array();
}
std::string joined(const json::Array& texts, std::string_view between) {
    std::string all;
    for (const json::Value& one : texts) {
        if (!all.empty()) all += between;
        if (const std::string* text = one.if_string()) all += *text;
    }
    return all;
}

void add_answer(json::Object& row, const json::Value& status) {
    json::Array links;
    for (const json::Value& peer : list_at(status, "peers")) links.emplace_back(peer.text_at({"node"}));
    std::sort(links.begin(), links.end(),
              [](const json::Value& left, const json::Value& right) { return *left.if_string() < *right.if_string(); });
    for (const char* name : {"height", "tip", "final", "pending", "voters", "quorum", "conditions"})
        if (const json::Value* value = status.find(name)) row.set(name, *value);
    row.set("links", std::move(links));
}

Cell state_cell(std::string_view state) {
    const Tone tone = state == "running" ? Tone::Good : state == "died" ? Tone::Bad : Tone::Warning;
    return {std::string{state}, tone};
}

}  // namespace

json::Value Playground::look() const {
    json::Array rows;
    for (unsigned node = 1; node <= record_.count(); ++node) {
        const NodeRecord& record = record_.nodes[node - 1];
        json::Object row{{"node", fmt::format("n{}", node)}, {"address", record.address}, {"api", record.api}};
        std::string state = record.wanted == Wanted::Killed ? "killed" : "died";
        if (is_up(node)) {
            row.set("pid", record.process.pid);
            const auto asked = node::RpcClient::connect(data_of(node));
            const auto reply = asked ? (*asked)->ask("GET", "/rhizome/v1/status", {}, kStatusMax)
                                     : Result<node::RpcClient::Reply>{Fail{asked.error()}};
            state = reply && reply->is_good() ? "running" : "silent";
            if (reply && reply->is_good()) add_answer(row, reply->body);
        }
        row.set("state", state);
        rows.push_back(std::move(row));
    }
    json::Array cuts;
    for (const Cut& cut : record_.cuts) cuts.emplace_back(cut.text);
    // Who can talk with whom, by what was cut and who runs.
    json::Array sides;
    const auto broken = broken_ways(record_.cuts);
    std::set<unsigned> left = nodes_up();
    const std::set<unsigned> up = left;
    while (!left.empty()) {
        const auto side = side_of(*left.begin(), up, broken);
        json::Array names;
        for (const unsigned node : side) {
            names.emplace_back(fmt::format("n{}", node));
            left.erase(node);
        }
        sides.emplace_back(std::move(names));
    }
    return json::Object{{"folder", folder_.native()},
                        {"apart", record_.apart == Apart::Networks ? "networks" : "ports"},
                        {"nodes", std::move(rows)},
                        {"cuts", std::move(cuts)},
                        {"sides", std::move(sides)}};
}

std::string look_text(const Style& style, const json::Value& look) {
    Table table{{"NODE", "STATE", "HEIGHT", "TIP", "FINAL", "PENDING", "LINKS"}};
    std::int64_t quorum = 0;
    for (const json::Value& row : list_at(look, "nodes")) {
        const std::string_view state = row.text_at({"state"});
        const bool answers = state == "running";
        quorum = std::max(quorum, row.number_at({"quorum"}));
        const auto shown = [&](std::string text) { return answers ? std::move(text) : std::string{"-"}; };
        table.add({std::string{row.text_at({"node"})}, state_cell(state),
                   shown(fmt::format("{}", row.number_at({"height"}))),
                   shown(std::string{row.text_at({"tip"}).substr(0, 8)}),
                   shown(fmt::format("{}", row.number_at({"final", "height"}))),
                   shown(fmt::format("{}", row.number_at({"pending"}))), shown(joined(list_at(row, "links"), " "))});
    }
    std::string text = table.render(style);
    if (const json::Array& cuts = list_at(look, "cuts"); !cuts.empty()) {
        text += fmt::format("\n{}: {}\n", style.paint(Tone::Warning, cuts.size() == 1 ? "cut" : "cuts"),
                            joined(cuts, "  "));
    } else {
        text += "\nno cuts\n";
    }
    for (const json::Value& side : list_at(look, "sides")) {
        const json::Array& names = *side.if_array();
        const bool final = static_cast<std::int64_t>(names.size()) >= quorum;
        text += fmt::format("  {}: takes orders, {}\n", joined(names, " "),
                            final ? style.paint(Tone::Good, "makes them final")
                                  : style.paint(Tone::Warning, "none become final until it is healed"));
    }
    return text;
}

namespace {

Result<void> run_status(Invocation& call) {
    TRY(const auto on, opened(call));
    const json::Value look = on.look();
    print_data(call, look, [&] { return look_text(call.console.out_style, look); });
    return ok();
}

Result<void> run_watch(Invocation& call) {
    const auto every = parse_duration(call.text("every"));
    if (!every || *every < milliseconds{50} || *every > hours{1})
        return fail(ErrorKind::Usage,
                    fmt::format("--every {} is no duration between 50ms and 1h", printable(call.text("every"))));
    const runtime::Interrupt interrupt;
    const bool redraws = call.console.out_is_terminal;
    while (!interrupt.asked()) {
        TRY(const auto on, opened(call));  // anew: others cut and kill meanwhile
        const std::string text = look_text(call.console.out_style, on.look());
        const std::string time = to_rfc3339(call.console.now(), Precision::Millis).substr(11, 12);
        // Drawn over what was there, each line to its end, then the rest of the screen: nothing flickers.
        std::string screen = redraws ? "\x1b[H" : "";
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            screen += text.substr(at, end - at) + (redraws ? "\x1b[K\n" : "\n");
            at = end == std::string::npos ? text.size() : end + 1;
        }
        screen += redraws ? fmt::format("\x1b[K\n{}   Ctrl-C ends this, not the nodes\x1b[K\x1b[J", time)
                          : fmt::format("{}\n\n", time);
        call.console.out << screen << std::flush;
        if (!call.console.out.good()) return ok();
        (void)::poll(nullptr, 0, static_cast<int>(every->count() / 1'000));
    }
    if (redraws) call.console.out << '\n';
    return ok();
}

Result<void> run_logs(Invocation& call) {
    TRY(const auto on, opened(call));
    TRY(const unsigned node, node_of(call, on));
    // The same as `rhizome logs`, of that node.
    std::vector<std::string> words{"logs",   "--data",         on.data_of(node).native(), "--level", call.text("level"),
                                   "--tail", call.text("tail")};
    if (call.flag("follow")) words.emplace_back("--follow");
    if (run_program(call.root(), call.program, words, call.console) == 0) return ok();
    return fail(ErrorKind::Failed, fmt::format("the log of n{} cannot be shown", node));
}

Result<void> run_kubeconfig(Invocation& call) {
    TRY(const auto on, opened(call));
    TRY(const unsigned node, node_of(call, on));
    if (!on.is_up(node))
        return fail(ErrorKind::Unavailable,
                    fmt::format("n{0} does not run\n'rhizome playground start {0}' starts it again", node));
    // The same as `rhizome kubeconfig`, of that node.
    std::vector<std::string> words{
        "kubeconfig", "--data",         on.data_of(node).native(), "--context", fmt::format("playground-n{}", node),
        "--user",     call.text("user")};
    words.insert(words.end(), {"--out", call.if_text("out").value_or("-")});
    if (run_program(call.root(), call.program, words, call.console) == 0) return ok();
    return fail(ErrorKind::Failed, fmt::format("kubectl cannot be let ask n{}", node));
}

}  // namespace

Command status_command() {
    return {
        .name = "status",
        .summary = "Show how all nodes are, once",
        .details =
            "A row for each node: whether it runs, how far its chain is, which block it follows, how far that is "
            "final, what waits, and to whom it is linked. Below it the cuts that stand, and who can talk with "
            "whom.\n"
            "\n"
            "running: it answers. silent: it runs and does not answer (paused, or very busy). killed: by 'kill'. "
            "died: it ended by itself, which should not happen.",
        .examples = {{"how it is", "rhizome playground status"}, {"for programs", "rhizome playground status -o json"}},
        .options = {folder_option(), output_option()},
        .run = run_status};
}

Command watch_command() {
    return {.name = "watch",
            .summary = "Show how all nodes are, as it changes",
            .details = "What 'status' shows, drawn anew in the terminal until Ctrl-C; otherwise one after the other.",
            .examples = {{"in a terminal beside the one you type in", "rhizome playground watch"}},
            .options =
                {folder_option(),
                 {.name = "every", .value_name = "DURATION", .help = "how often", .fallback = std::string{kLookEvery}}},
            .run = run_watch};
}

Command logs_command() {
    return {
        .name = "logs",
        .summary = "Show what a node logged",
        .examples = {{"as it happens", "rhizome playground logs 2 -f"}},
        .arguments = {node_argument("whose log: 1 or n1")},
        .options = {folder_option(),
                    {.name = "follow", .letter = 'f', .help = "go on with new lines as they come"},
                    {.name = "level",
                     .value_name = "LEVEL",
                     .help = "not what is less urgent",
                     .fallback = "debug",
                     .choices = {{"error"}, {"warn"}, {"info"}, {"debug"}}},
                    {.name = "tail", .value_name = "N", .help = "only the last N lines; 0 for all", .fallback = "0"}},
        .run = run_logs};
}

Command kubeconfig_command() {
    return {
        .name = "kubeconfig",
        .summary = "Print what kubectl needs to talk to a node",
        .details =
            "Each node serves the Kubernetes API on a port of this machine's loopback, also where it has a network of "
            "its own: what it answers while it is cut off can be seen. The file is good for that node alone and holds "
            "a client certificate of the group system:masters, whose writes are signed with the playground's keys.",
        .examples = {{"ask the second one",
                      "rhizome playground kubeconfig 2 > n2.yaml && kubectl --kubeconfig n2.yaml get nodes"}},
        .arguments = {node_argument("which node: 1 or n1")},
        .options = {folder_option(),
                    {.name = "user", .value_name = "NAME", .help = "whom the certificate is for", .fallback = "admin"},
                    {.name = "out",
                     .value_name = "FILE",
                     .help = "a file instead of stdout",
                     .completion = Completion::files()}},
        .run = run_kubeconfig};
}

}  // namespace rhizome::cli::playground
