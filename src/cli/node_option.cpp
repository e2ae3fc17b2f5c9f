// SPDX-License-Identifier: Apache-2.0
#include "cli/node_option.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/node/shared.h"
#include "cli/text.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKnownBytesMax = 4u << 20;

/// `{"10.0.0.7:7701":<key in hexadecimal>}`.
Result<fs::path> known_file(const Console& console) {
    TRY(const auto folder, console.environment.config_folder());
    return folder / "known-nodes.json";
}

json::Object known_nodes(const Console& console) {
    const auto file = known_file(console);
    const auto text = file ? runtime::read_file(*file, kKnownBytesMax) : Result<std::string>{Fail{file.error()}};
    auto form = text ? json::parse(*text, {.bytes = kKnownBytesMax}) : json::parse("{}");
    return form && form->is_object() ? std::move(*form->if_object()) : json::Object{};
}

std::optional<ledger::MemberKey> key_from(std::string_view digits) {
    const auto bytes = from_hex(digits);
    ledger::MemberKey key{};
    if (!bytes || bytes->size() != key.size()) return std::nullopt;
    std::copy(bytes->begin(), bytes->end(), key.begin());
    return key;
}

void remember(Invocation& call, const std::string& address, const ledger::MemberKey& key) {
    json::Object known = known_nodes(call.console);
    const json::Value* before = known.find(address);
    if (before != nullptr && before->is_string() && *before->if_string() == to_hex(key)) return;
    known.set(address, to_hex(key));
    const auto file = known_file(call.console);
    const auto made = file ? runtime::make_folder(file->parent_path(), 0700) : Result<void>{};
    const auto written = file && made ? runtime::replace_file(*file, json::print_pretty(known), 0600) : made;
    if (!written) print_warning(call.console, "the node's key could not be kept: " + written.error().message);
}

/// `--node-key`, or what was said before.
Result<ledger::MemberKey> key_of_node(Invocation& call, const std::string& address) {
    if (const auto given = call.if_text("node-key")) {
        const auto key = key_from(*given);
        if (!key)
            return fail(ErrorKind::Usage, fmt::format("--node-key {} is no key: 66 hexadecimal digits, as 'status' "
                                                      "prints them on that machine",
                                                      printable(*given)));
        return *key;
    }
    const json::Object known = known_nodes(call.console);
    if (const json::Value* kept = known.find(address); kept != nullptr && kept->is_string())
        if (const auto key = key_from(*kept->if_string())) return *key;
    TRY(const auto shown, node::RpcClient::shown_key(address));
    return fail(ErrorKind::Denied,
                fmt::format("the node at {} is not known here, and anybody could answer there\nit says that its key is "
                            "{}\ncompare that with '{} status' on that machine, then say it once: --node-key {}",
                            printable(address), to_hex(shown), call.program, to_hex(shown)));
}

}  // namespace

std::vector<Option> with_node_options(std::vector<Option> options) {
    const auto add = [&](Option option) {
        const bool there =
            std::any_of(options.begin(), options.end(), [&](const Option& one) { return one.name == option.name; });
        if (!there) options.push_back(std::move(option));
    };
    add({.name = "node",
         .value_name = "ADDRESS",
         .help = "ask the node there (its --rpc-listen) instead of the one on this machine",
         .variable = std::string{kNodeVariable}});
    add({.name = "node-key",
         .value_name = "KEY",
         .help = "the chain key of that node, as its 'status' says it; needed once for each address"});
    add({.name = "as",
         .value_name = "NAME",
         .help = "the key that signs what is asked of --node",
         .fallback = "admin",
         .completion = Completion::of(key::key_names)});
    add(key::passphrase_file_option());
    add(key::keys_option());
    return options;
}

bool asks_elsewhere(const Invocation& call) { return call.if_text("node").has_value(); }

Result<NodePlace> node_place(Invocation& call) {
    NodePlace place{.address = call.if_text("node").value_or("")};
    TRY(place.key, key_of_node(call, place.address));
    remember(call, place.address, place.key);
    return place;
}

Result<node::RemoteNode> remote_node(Invocation& call) {
    const std::string address = call.if_text("node").value_or("");
    TRY(const auto node_key, key_of_node(call, address));
    TRY(const auto store, key::keystore_of(call));
    TRY(const auto info, key::find_key(call, store, call.text("as")));
    TRY(auto secret, key::open_key(call, store, info));
    return node::RemoteNode{
        .address = address, .node_key = node_key, .secret = std::move(secret), .key = info.public_key};
}

Result<std::unique_ptr<node::RpcClient>> if_asked_node(Invocation& call) {
    if (!asks_elsewhere(call)) return if_running_node(call);
    TRY(auto remote, remote_node(call));
    const std::string address = remote.address;
    const auto node_key = remote.node_key;
    TRY(auto client, node::RpcClient::connect(std::move(remote)));
    remember(call, address, node_key);
    return client;
}

Result<std::unique_ptr<node::RpcClient>> asked_node(Invocation& call) {
    if (!asks_elsewhere(call)) return running_node(call);
    return if_asked_node(call);
}

}  // namespace rhizome::cli
