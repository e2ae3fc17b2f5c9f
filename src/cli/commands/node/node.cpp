// SPDX-License-Identifier: Apache-2.0
// `rhizome node list|cordon|uncordon|drain|approve|remove`: the machines of the cluster.
#include <fmt/core.h>

#include "base/similar.h"
#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/change.h"
#include "cli/commands/node/nodes.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "cluster/object.h"
#include "consensus/evidence.h"
#include "ledger/special_kinds.h"

namespace rhizome::cli {
namespace {

/// As the node controller of Kubernetes taints what is cordoned.
constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

/// What a command on the cluster's machines begins with.
struct Known {
    std::unique_ptr<node::RpcClient> client;
    json::Value status;
    std::vector<NodeRow> rows;
};

Result<Known> look(const Invocation& call) {
    TRY(auto client, running_node(call));
    TRY(auto status, client->get("/rhizome/v1/status"));
    TRY(const auto entries, entries_below(*client, "/nodes"));
    auto rows = node_rows(entries, status);
    return Known{std::move(client), std::move(status), std::move(rows)};
}

Result<const NodeRow*> find_row(const Invocation& call, const Known& known) {
    const std::string name = call.argument("NAME");
    std::vector<std::string> names;
    for (const NodeRow& row : known.rows) {
        if (row.name == name) return &row;
        names.push_back(row.name);
    }
    const auto meant = did_you_mean(nearest(name, names));
    return fail(ErrorKind::NotFound,
                fmt::format("there is no node {}\n{}'{} node list{}' shows those there are", printable(name),
                            meant.empty() ? "" : meant + "\n", call.program, data_words(call)));
}

/// The Node as it is written, without what the rows add.
Result<json::Value> stored_node(const Known& known, const NodeRow& row) {
    const auto path = state::Path::node(row.name);
    if (!path) return fail(ErrorKind::Failed, "the node's answer cannot be read");
    TRY(auto document, document_at(*known.client, *path));
    if (!document) return fail(ErrorKind::Conflict, fmt::format("node {} was removed meanwhile\ntry again", row.name));
    return *std::move(document);
}

std::string address_of(const json::Value& node, std::string_view type) {
    if (const json::Value* all = node.find_path({"status", "addresses"}); all != nullptr && all->is_array())
        for (const json::Value& one : *all->if_array())
            if (one.text_at({"type"}) == type) return std::string{one.text_at({"address"})};
    return "<none>";
}

std::string text_or_none(const json::Value& node, std::initializer_list<std::string_view> path) {
    const std::string text{node.text_at(path)};
    return text.empty() ? "<none>" : text;
}

std::string nodes_table(const Invocation& call, const std::vector<NodeRow>& rows, bool is_wide) {
    std::vector<std::string> headers{"NAME", "STATUS", "ROLES", "AGE", "VERSION"};
    if (is_wide)
        for (const char* more : {"INTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "ARCH", "CPU", "MEMORY", "PODS"})
            headers.emplace_back(more);
    Table table{std::move(headers)};
    for (const NodeRow& row : rows) {
        const Tone tone = row.is_accused ? Tone::Bad : row.status == "Ready" ? Tone::Good : Tone::Warning;
        std::vector<Cell> cells{row.name,
                                {row.status, tone},
                                row.roles,
                                age_text(call.console.now() - row.since),
                                text_or_none(row.node, {"status", "nodeInfo", "rhizomeVersion"})};
        if (is_wide)
            for (std::string& more : std::vector<std::string>{
                     address_of(row.node, "InternalIP"), text_or_none(row.node, {"status", "nodeInfo", "osImage"}),
                     text_or_none(row.node, {"status", "nodeInfo", "kernelVersion"}),
                     text_or_none(row.node, {"status", "nodeInfo", "architecture"}),
                     text_or_none(row.node, {"status", "allocatable", "cpu"}),
                     text_or_none(row.node, {"status", "allocatable", "memory"}),
                     text_or_none(row.node, {"status", "allocatable", "pods"})})
                cells.emplace_back(std::move(more));
        table.add(std::move(cells));
    }
    return table.render(call.console.out_style);
}

Result<void> run_list(Invocation& call) {
    TRY(const Known known, look(call));
    const std::string format = call.text("output");
    json::Array items;
    for (const NodeRow& row : known.rows) items.push_back(row.node);
    const json::Value list = json::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
    print_data(call, list, [&] {
        if (format != "name") return nodes_table(call, known.rows, format == "wide");
        std::string names;
        for (const NodeRow& row : known.rows) names += "node/" + row.name + "\n";
        return names;
    });
    return ok();
}

/// Marks the Node as one where nothing new is placed, or takes the mark away; whether that changes anything.
bool mark_unschedulable(json::Value& node, bool is_on) {
    const json::Value before = node;
    json::Array taints;
    if (const json::Value* known = node.find_path({"spec", "taints"}); known != nullptr && known->is_array())
        for (const json::Value& taint : *known->if_array())
            if (taint.text_at({"key"}) != kUnschedulableTaint) taints.push_back(taint);
    json::Object& spec = *cluster::object_in(node, "spec").if_object();
    if (is_on) {
        spec.set("unschedulable", true);
        taints.emplace_back(json::Object{{"key", kUnschedulableTaint}, {"effect", "NoSchedule"}});
    } else {
        spec.erase("unschedulable");
    }
    if (taints.empty()) {
        spec.erase("taints");
    } else {
        spec.set("taints", std::move(taints));
    }
    if (spec.empty()) node.make_object().erase("spec");
    return node != before;
}

Result<void> set_schedulable(Invocation& call, bool is_on, std::string_view done) {
    TRY(const Known known, look(call));
    TRY(const NodeRow* row, find_row(call, known));
    TRY(json::Value document, stored_node(known, *row));
    if (!mark_unschedulable(document, is_on)) {
        call.console.out << fmt::format("node/{} already {}\n", row->name, done);
        return ok();
    }
    // By the Cluster's lock: the machine's own is for the machine.
    TRY(const auto answer,
        write_changes(call, *known.client, {{.document = json::print(document)}}, state::Path::cluster()));
    print_data(call, answer, [&] { return fmt::format("node/{} {}\n", row->name, done); });
    return ok();
}

Result<void> run_cordon(Invocation& call) { return set_schedulable(call, true, "cordoned"); }
Result<void> run_uncordon(Invocation& call) { return set_schedulable(call, false, "uncordoned"); }

Result<void> run_drain(Invocation& call) {
    TRY(set_schedulable(call, true, "cordoned"));
    print_warning(call.console,
                  "nothing was evicted: this version hosts no pods yet, so there is nothing to move away\n"
                  "'uncordon' takes the mark away again");
    return ok();
}

Result<void> run_approve(Invocation& call) {
    TRY(const Known known, look(call));
    TRY(const NodeRow* row, find_row(call, known));
    if (!row->is_member)
        return fail(
            ErrorKind::Conflict,
            fmt::format("{} has no keys on the chain: it is no machine that could be a member\n'{} token new{}' "
                        "prints what a machine joins with",
                        row->name, call.program, data_words(call)));
    if (!row->is_accused) {
        call.console.out << fmt::format("node/{} is a member in good standing\n", row->name);
        return ok();
    }
    const auto bytes = from_hex(row->key);
    consensus::MemberKey key{};
    if (!bytes || bytes->size() != key.size()) return fail(ErrorKind::Failed, "the node's status cannot be read");
    std::copy(bytes->begin(), bytes->end(), key.begin());
    TRY(const auto evidence, document_at(*known.client, consensus::evidence_path(key)));
    if (!evidence)
        return fail(ErrorKind::Conflict,
                    fmt::format("the evidence against {} is gone meanwhile\ntry again", row->name));
    TRY(const auto answer,
        write_changes(call, *known.client, {{.document = ledger::deletion_of(json::print(*evidence))}},
                      state::Path::cluster()));
    print_data(call, answer, [&] { return fmt::format("node/{} approved: it may seal and vote again\n", row->name); });
    return ok();
}

Result<void> run_remove(Invocation& call) {
    TRY(const Known known, look(call));
    TRY(const NodeRow* row, find_row(call, known));
    const json::Value* quorum = known.status.find("quorum");
    const auto needed = static_cast<std::size_t>(quorum == nullptr ? 0 : quorum->if_int64().value_or(0));
    if (auto fine = check_removal(known.rows, *row, needed); !fine) {
        if (fine.error().kind != ErrorKind::Conflict || !call.flag("force")) return fine;
        print_warning(call.console, fine.error().message.substr(0, fine.error().message.find('\n')));
    }
    for (const std::string& warning : removal_warnings(known.rows, *row, known.status.text_at({"node"})))
        print_warning(call.console, warning);
    if (!call.flag("yes")) {
        if (!call.console.in_is_terminal)
            return fail(ErrorKind::Usage,
                        fmt::format("removing {} takes effect at once, and it comes back only by joining "
                                    "again\n--yes says that you mean it",
                                    row->name));
        TRY(const bool meant, call.console.confirm(fmt::format("Remove {} from the cluster?", row->name)));
        if (!meant) return fail(ErrorKind::Denied, "nothing was removed");
    }
    TRY(const auto document, stored_node(known, *row));
    TRY(const auto answer,
        write_changes(call, *known.client, {{.document = ledger::deletion_of(json::print(document))}},
                      state::Path::cluster()));
    const bool is_final = answer.text_at({"stage"}) == "final";
    print_data(call, answer,
               [&] { return fmt::format("node/{} removed{}\n", row->name, is_final ? "" : ", not final yet"); });
    // Whom the leases call ready may have been cut off since: up to a lease ago.
    if (!is_final)
        print_warning(call.console,
                      fmt::format("the other voters have not agreed in the time given: if this machine is cut off from "
                                  "most of them, they go on with {0}, and it is removed for all once they meet again, "
                                  "unless they changed it meanwhile\n'{1} status{2}' says who is heard of",
                                  row->name, call.program, data_words(call)));
    return ok();
}

/// Of the node that runs on the default directory, for the tab key.
std::vector<Candidate> node_names(const Console& console) {
    const auto data = default_data_folder(console);
    if (!data) return {};
    const auto client = node::RpcClient::connect(*data);
    if (!client) return {};
    const auto status = (*client)->get("/rhizome/v1/status");
    const json::Value* members = status ? status->find("members") : nullptr;
    std::vector<Candidate> names;
    if (members != nullptr && members->is_array())
        for (const json::Value& member : *members->if_array()) names.push_back({std::string{member.text_at({"node"})}});
    return names;
}

Argument name_argument() {
    return {.name = "NAME", .help = "as 'node list' shows it", .completion = Completion::of(node_names)};
}

Command changing(Command command, std::vector<Option> own = {}) {
    command.arguments = {name_argument()};
    command.options = {data_option()};
    for (Option& option : own) command.options.push_back(std::move(option));
    for (Option& option : signing_options()) command.options.push_back(std::move(option));
    command.options.push_back(output_option());
    command.variables = {key::passphrase_variable()};
    return command;
}

Option list_output_option() {
    Option option = output_option();
    option.choices = {{"table"},
                      {"wide", "with addresses, system and resources"},
                      {"json", "as Kubernetes shows Nodes"},
                      {"yaml"},
                      {"name"}};
    return option;
}

}  // namespace

Command node_command() {
    Command list{.name = "list",
                 .summary = "List the machines of the cluster",
                 .details =
                     "STATUS is Ready while a machine attests, seals or reports; Accused is one that signed two "
                     "things that contradict each other; NotMember is a Node without keys. ROLES are its "
                     "labels node-role.kubernetes.io/..., and voter for those who decide what is final.",
                 .examples = {{"who is there", "rhizome node list"},
                              {"with addresses and resources", "rhizome node list -o wide"},
                              {"for scripts", "rhizome node list -o name"}},
                 .options = {data_option(), list_output_option()},
                 .run = run_list};
    Command cordon = changing({.name = "cordon",
                               .summary = "Let nothing new be placed on a machine",
                               .details = "Sets spec.unschedulable and the taint that goes with it. This version "
                                          "places no pods yet; the mark is kept for when it does.",
                               .examples = {{"before maintenance", "rhizome node cordon n2"}},
                               .run = run_cordon});
    Command uncordon = changing({.name = "uncordon",
                                 .summary = "Let things be placed on a machine again",
                                 .examples = {{"after maintenance", "rhizome node uncordon n2"}},
                                 .run = run_uncordon});
    Command drain = changing({.name = "drain",
                              .summary = "Cordon a machine and move away what runs there",
                              .details = "This version hosts no pods yet: it only cordons, and says so.",
                              .examples = {{"before it is switched off", "rhizome node drain n2"}},
                              .run = run_drain});
    Command approve = changing(
        {.name = "approve",
         .summary = "Give a member back its right to seal and vote",
         .details = "A member that signed two things that contradict each other loses its rights, by proof that "
                    "anybody may submit. This deletes the proof, with the owner's key; the same proof is not "
                    "accepted again. Find out first why it happened: a copied data directory does it again. New "
                    "machines need no approval, their token is it.",
         .examples = {{"after its disk was cleared", "rhizome node approve n2"}},
         .run = run_approve});
    Command remove = changing(
        {.name = "remove",
         .summary = "Take a machine out of the cluster",
         .details = "Deletes its Node with the owner's key: it is no member and no voter any more, and its keys do "
                    "not count. Refused for the last member, and without --force where too few other voters are "
                    "heard of to agree on it.",
         .examples = {{"a machine that will not come back", "rhizome node remove n3"},
                      {"in a script", "rhizome node remove n3 --yes"}},
         .run = run_remove},
        {{.name = "force", .help = "also where finality may stop"},
         {.name = "yes", .letter = 'y', .help = "do not ask"}});
    return {.name = "node",
            .summary = "The machines of the cluster",
            .examples = {{"who is there", "rhizome node list"}},
            .subcommands = {std::move(list), std::move(cordon), std::move(uncordon), std::move(drain),
                            std::move(approve), std::move(remove)},
            .group = std::string{kGroupHost}};
}

}  // namespace rhizome::cli
