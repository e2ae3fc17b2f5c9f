// SPDX-License-Identifier: Apache-2.0
// `rhizome light`: a node without the chain, which believes nobody.
#include "node/light_node.h"

#include <fmt/core.h>

#include "cli/build_info.h"
#include "cli/commands/commands.h"
#include "cli/commands/founding.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/shared.h"
#include "cli/commands/node/vouched.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/text.h"
#include "runtime/interrupt.h"
#include "runtime/log_stream.h"

namespace rhizome::cli {
namespace {

constexpr milliseconds kLightLook{250};

Result<void> run_light(Invocation& call) {
    TRY(const auto data, data_folder_of(call));
    if (has_chain(data))
        return fail(ErrorKind::Conflict,
                    fmt::format("there is a chain in {}: a light node has none\n--data names another directory",
                                printable(data.native())));
    if (if_running_node(call)) return fail(ErrorKind::Conflict, "a light node runs on this directory already");
    node::LightOptions options{.data = data, .follow = call.texts("follow")};
    if (const auto text = call.if_text("trust")) {
        TRY(options.vouched, read_vouched(*text));
    }
    TRY(const auto remote, remote_node(call));
    const auto shared = std::make_shared<node::RemoteNode>(node::RemoteNode{
        .address = remote.address, .node_key = remote.node_key, .secret = remote.secret.clone(), .key = remote.key});
    options.connect = [shared] {
        return node::RpcClient::connect({.address = shared->address,
                                         .node_key = shared->node_key,
                                         .secret = shared->secret.clone(),
                                         .key = shared->key});
    };
    options.version = std::string{build_info().version};
    runtime::StreamSink sink{call.console.err,
                             call.console.err_is_terminal ? runtime::LogForm::Text : runtime::LogForm::Json};
    options.log = Log{sink, {.level = LogLevel::Info, .debug_areas = {}}}.area("light");
    const runtime::Interrupt interrupt;
    const std::string follows = join(options.follow, ", ");
    const Log log = options.log;
    TRY(const auto light, node::LightNode::start(std::move(options)));
    log.info("the light node runs", {{"asks", remote.address}, {"follows", follows}});
    while (!interrupt.asked() && !light->wait_for_end(kLightLook)) {
    }
    log.info("the light node stops");
    return ok();
}

}  // namespace

Command light_command() {
    return {
        .name = "light",
        .summary = "Follow parts of a cluster's state without its chain, believing nobody",
        .details =
            "Asks a full node for proofs and checks them all: who sealed, that a quorum of the voters made the block "
            "final, and that the documents stand in its state. What does not prove is refused by name and logged. It "
            "keeps the newest final header and the documents below each --follow; 'state get', 'state list' and "
            "'status' with the same --data read them, and 'down' stops it.\n"
            "\n"
            "--trust names a final block of the chain that you know from elsewhere, as HEIGHT:HASH or as a file of "
            "'chain anchor'. Without it the node that is asked first is believed to be on the right chain, and "
            "'status' says so. The block may be some 1,000 blocks old at most.",
        .examples =
            {{"one namespace, from a block that you know",
              "rhizome light --data /tmp/light --node 10.0.0.7:7701 --follow /namespaces/web --trust 812:9f3c.."},
             {"read from it", "rhizome state get --data /tmp/light deployment.apps/shop -n web"}},
        .options = with_node_options({data_option(),
                                      {.name = "node",
                                       .value_name = "ADDRESS",
                                       .help = "the full node that is asked (its --rpc-listen)",
                                       .variable = std::string{kNodeVariable},
                                       .required = true},
                                      {.name = "follow",
                                       .value_name = "PATH",
                                       .help = "what to follow, with all below it: /namespaces/web, /nodes, / for all",
                                       .repeatable = true,
                                       .required = true},
                                      {.name = "trust",
                                       .value_name = "BLOCK",
                                       .help = "a final block to begin from: HEIGHT:HASH, or a file of 'chain anchor'",
                                       .completion = Completion::files()}}),
        .variables = {key::passphrase_variable()},
        .run = run_light,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
