// SPDX-License-Identifier: Apache-2.0
// `rhizome kubeconfig`: what kubectl needs to ask this machine's node.
#include <fmt/core.h>

#include "api/kubeconfig.h"
#include "api/users.h"
#include "cli/commands/commands.h"
#include "cli/commands/node/shared.h"
#include "cli/data_option.h"
#include "cli/kube_file.h"
#include "cli/text.h"
#include "node/kube/authority.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

/// Where the node's API can be asked from here.
Result<std::string> server_of(const Invocation& call, const json::Value& status) {
    if (const auto given = call.if_text("server")) return *given;
    const json::Value* listens = status.find("api");
    if (listens == nullptr || !listens->is_array() || listens->if_array()->empty())
        return fail(ErrorKind::NotFound,
                    "this node serves no Kubernetes API\nanother one may have the port: start it with "
                    "--api-listen 127.0.0.1:6444, for example");
    std::string address = *listens->if_array()->front().if_string();
    // One that listens everywhere is asked on this machine.
    for (const std::string_view everywhere : {"0.0.0.0:", "[::]:"})
        if (address.starts_with(everywhere)) address = "127.0.0.1:" + address.substr(everywhere.size());
    return "https://" + address;
}

Result<void> run_kubeconfig(Invocation& call) {
    TRY(const fs::path data, data_folder_of(call));
    TRY(const auto client, running_node(call));
    TRY(const auto status, client->get("/rhizome/v1/status"));
    const Time now = call.console.now();
    TRY(const auto authority, node::open_authority(data, now));
    node::ClientWish wish{.user = call.text("user"), .groups = call.texts("group")};
    if (wish.groups.empty() && wish.user == "admin") wish.groups = {std::string{api::kMasters}};
    TRY(const auto identity, node::client_identity(authority, wish, now));
    api::KubeContext context{.name = call.text("context"), .user = wish.user};
    if (context.name.empty()) context.name = status.text_at({"cluster"});
    TRY(context.server, server_of(call, status));
    context.authority_pem = authority.chain.front().to_pem();
    context.certificate_pem = identity.chain.front().to_pem();
    context.key_pem = as_text(identity.key.to_pem().view());

    TRY(const auto where, write_kube_context(call.console, call.if_text("out"), context));
    if (!where.empty())
        call.console.err << fmt::format("kubectl asks {} as {} now (context {} in {})\n", context.server, wish.user,
                                        context.name, printable(where.native()));
    return ok();
}

}  // namespace

Command kubeconfig_command() {
    return {
        .name = "kubeconfig",
        .summary = "Let kubectl ask this machine's node",
        .details =
            "Makes a client certificate that the node believes and puts a context with it into kubectl's file, as the "
            "current one: $KUBECONFIG, else ~/.kube/config. What else is there stays. --out writes a file of its own "
            "instead, with '-' to stdout; whoever has it can do what its user can, so it is made with mode 0600.\n"
            "\n"
            "Writes are signed on the node with the key of the same name as the user; for the group system:masters, "
            "which the user admin is in when no group is given, with every key in the keystore of the account that the "
            "node runs as, the cluster's own among them. Every node has an authority of its own: for another machine's "
            "node run this there.",
        .examples = {{"at once after 'up'", "rhizome kubeconfig && kubectl get nodes"},
                     {"for somebody else", "rhizome kubeconfig --user bob --group dev --out bob.kubeconfig"}},
        .options = {data_option(),
                    {.name = "user", .value_name = "NAME", .help = "whom the certificate is for", .fallback = "admin"},
                    {.name = "group", .value_name = "NAME", .help = "a group of the user's", .repeatable = true},
                    {.name = "context",
                     .value_name = "NAME",
                     .help = "what kubectl calls it; default: the cluster's name",
                     .fallback = ""},
                    {.name = "server",
                     .value_name = "URL",
                     .help = "where the node is asked, for machines behind another address; default: where it listens"},
                    {.name = "out",
                     .value_name = "FILE",
                     .help = "a file of its own instead of kubectl's; - for stdout",
                     .completion = Completion::files()}},
        .run = run_kubeconfig,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
