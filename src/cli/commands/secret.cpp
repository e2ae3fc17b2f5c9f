// SPDX-License-Identifier: Apache-2.0
// `rhizome secret`: who knew what, sealing anew, and single Secrets (docs/spec/secrets.md).
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/node/change.h"
#include "cli/data_option.h"
#include "cli/input.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "cluster/object.h"
#include "ledger/limits.h"
#include "ledger/sealed_secret.h"
#include "runtime/entropy.h"

namespace rhizome::cli {
namespace {

using node::RpcClient;

json::Array array_at(const json::Value& value, std::string_view key) {
    const json::Value* found = value.find(key);
    return found != nullptr && found->is_array() ? *found->if_array() : json::Array{};
}

std::string joined(const json::Array& texts) {
    std::string out;
    for (const json::Value& one : texts)
        if (const std::string* text = one.if_string()) out += (out.empty() ? "" : ",") + *text;
    return out;
}

/// `/namespaces/web/core/Secret/db` as people write it.
std::string short_name(const std::string& path) {
    const auto parsed = state::Path::parse(path);
    return parsed ? fmt::format("{}/{}", parsed->namespace_name(), parsed->name()) : path;
}

Result<state::Path> path_of(const std::string& given) {
    const std::size_t slash = given.find('/');
    const std::string space = slash == std::string::npos ? "default" : given.substr(0, slash);
    const std::string name = slash == std::string::npos ? given : given.substr(slash + 1);
    auto path = state::Path::namespaced(space, "", "Secret", name);
    if (!path)
        return fail(ErrorKind::Usage,
                    fmt::format("{} is no name of a Secret: NAME or NAMESPACE/NAME", printable(given)));
    return *std::move(path);
}

// ---- status ---------------------------------------------------------------------------------------------------------

Result<void> run_status(Invocation& call) {
    TRY(const auto client, asked_node(call));
    TRY(const auto status, client->get("/rhizome/v1/secrets/status"));
    Table table{{"GENERATION", "KEY", "HELD BY", "SECRETS", "STATE"}};
    std::string exposed;
    for (const json::Value& one : array_at(status, "keys")) {
        const auto strangers = array_at(one, "strangers");
        const auto secrets = array_at(one, "secrets");
        const json::Value* current = one.find("current");
        const json::Value* readable = one.find("readable");
        const bool is_current = current != nullptr && current->if_boolean().value_or(false);
        const bool is_readable = readable != nullptr && readable->if_boolean().value_or(false);
        const json::Value* generation = one.find("generation");
        Cell state{is_current ? "for new writes" : "older"};
        if (!strangers.empty()) state = Cell{"known to " + joined(strangers), Tone::Warning};
        if (!is_readable) state = Cell{"not on this machine yet", Tone::Warning};
        table.add({fmt::format("{}", generation == nullptr ? 0 : generation->if_int64().value_or(0)),
                   std::string{one.text_at({"key"})}.substr(0, 16), joined(array_at(one, "holders")),
                   fmt::format("{}", secrets.size()), state});
        if (strangers.empty()) continue;
        for (const json::Value& secret : secrets)
            if (const std::string* path = secret.if_string())
                exposed += fmt::format("{}   known to {}\n", short_name(*path), joined(strangers));
    }
    std::string lost;
    for (const json::Value& one : array_at(status, "withoutKey"))
        if (const std::string* path = one.if_string()) lost += short_name(*path) + "   its key stands in no KeyRing\n";
    print_data(call, status, [&] {
        if (table.empty() && lost.empty()) return std::string{"no cluster keys: no Secret was written yet\n"};
        std::string out = table.render(call.console.out_style);
        if (!exposed.empty())
            out += "\nReplace these where they are used, then seal them anew ('" + std::string{call.program} +
                   " secret rotate'):\n" + exposed;
        if (!lost.empty()) out += "\n" + lost;
        return out;
    });
    return ok();
}

// ---- rotate ---------------------------------------------------------------------------------------------------------

/// Signs by whichever lock this key opens: the Secret's own, then its namespace's, then the cluster's.
Result<void> write_by_any_lock(Invocation& call, RpcClient& client, const state::Path& path,
                               const std::string& document, const ledger::Signer& signer) {
    std::vector<std::optional<state::Path>> ways{std::nullopt};
    for (const state::Path& above : path.ancestors()) ways.emplace_back(above);
    std::optional<Error> first;
    for (const auto& by : ways) {
        node::WishForm form{.by = by};
        form.changes.push_back({.document = document});
        auto drafted = tx::draft_at(client, form, call.console.now());
        if (!drafted) {
            if (!first) first = drafted.error();
            continue;
        }
        const auto signed_tx = sign_draft(*std::move(drafted), signer, call.program);
        if (!signed_tx) {
            if (!first) first = signed_tx.error();
            continue;
        }
        TRY(submit_tx(client, *signed_tx, "included"));
        return ok();
    }
    return Fail{*std::move(first)};
}

Result<json::Value> sealed_now(RpcClient& client, json::Value secret) {
    TRY(const auto key, client.post("/rhizome/v1/secrets/key", ""));
    TRY(const auto status, client.get("/rhizome/v1/status"));
    const auto to = crypto::X25519Public::from_hex(key.text_at({"key"}));
    const auto chain = ledger::ChainId::from_hex(status.text_at({"chainId"}));
    if (!to || !chain) return fail(ErrorKind::Failed, "the node's answer cannot be read");
    std::array<std::uint8_t, crypto::kSealEntropyBytes> entropy{};
    runtime::fill_with_entropy(entropy);
    auto sealed = ledger::seal_secret(std::move(secret), *to, *chain, entropy);
    if (!sealed) return Fail{ledger::to_error(sealed.error())};
    return *std::move(sealed);
}

/// The Secret in clear; the refusal where it is not shown.
Result<json::Value> opened_at(RpcClient& client, const std::string& path) {
    const json::Object wish{{"paths", json::Array{path}}};
    TRY(const auto answer, client.post("/rhizome/v1/secrets/open", json::print(wish)));
    const json::Array rows = array_at(answer, "secrets");
    if (rows.empty()) return fail(ErrorKind::Failed, "the node's answer cannot be read");
    if (const json::Value* document = rows.front().find("document")) return *document;
    const std::string_view why = rows.front().text_at({"why"});
    const ErrorKind kind = why == "missing"       ? ErrorKind::NotFound
                           : why == "denied"      ? ErrorKind::Denied
                           : why == "unavailable" ? ErrorKind::Unavailable
                                                  : ErrorKind::Corrupt;
    return Fail{Error{kind, std::string{rows.front().text_at({"message"})}}};
}

Result<void> run_rotate(Invocation& call) {
    TRY(const auto client, asked_node(call));
    TRY(const auto store, key::keystore_of(call));
    TRY(const auto info, key::find_key(call, store, call.text("key")));
    // A new generation where one is due, before it is said which Secrets are behind.
    TRY(client->post("/rhizome/v1/secrets/key", ""));
    TRY(const auto status, client->get("/rhizome/v1/secrets/status"));
    std::vector<std::string> behind;
    for (const json::Value& one : array_at(status, "keys")) {
        const json::Value* current = one.find("current");
        if (current != nullptr && current->if_boolean().value_or(false)) continue;
        for (const json::Value& secret : array_at(one, "secrets"))
            if (const std::string* path = secret.if_string()) behind.push_back(*path);
    }
    for (const json::Value& one : array_at(status, "withoutKey"))
        if (const std::string* path = one.if_string()) behind.push_back(*path);
    json::Array done;
    json::Array left;
    std::string text;
    if (!behind.empty()) {
        TRY(const auto secret, key::open_key(call, store, info));
        const ledger::Signer signer{secret, info.public_key};
        for (const std::string& path : behind) {
            const auto rotated = [&]() -> Result<void> {
                TRY(auto clear, opened_at(*client, path));
                TRY(const auto sealed, sealed_now(*client, std::move(clear)));
                TRY(const auto where, path_of(short_name(path)));
                return write_by_any_lock(call, *client, where, json::print(sealed), signer);
            }();
            if (rotated) {
                done.emplace_back(short_name(path));
                continue;
            }
            const std::string why = rotated.error().message.substr(0, rotated.error().message.find('\n'));
            left.emplace_back(json::Object{{"secret", short_name(path)}, {"why", why}});
            text += fmt::format("{}   not sealed anew: {}\n", short_name(path), why);
        }
    }
    const std::size_t count = done.size();
    const std::size_t missed = left.size();
    print_data(call, json::Object{{"rotated", std::move(done)}, {"left", std::move(left)}},
               [&] { return fmt::format("{} sealed anew\n{}", count, text); });
    if (missed > 0)
        return fail(ErrorKind::Denied,
                    fmt::format("{} of {} Secrets were not sealed anew\n--key names another key; the owner of the "
                                "cluster decides about everything",
                                missed, missed + count));
    return ok();
}

// ---- one Secret -----------------------------------------------------------------------------------------------------

Result<void> run_show(Invocation& call) {
    TRY(const auto path, path_of(call.argument("SECRET")));
    TRY(const auto client, asked_node(call));
    TRY(const auto document, opened_at(*client, path.text()));
    print_data(call, document, [&] { return json::print_pretty(document); });
    return ok();
}

Result<void> run_seal(Invocation& call) {
    TRY(const auto client, asked_node(call));
    TRY(const auto text, read_input(call.console, call.argument("FILE"), ledger::kDocumentBytesMax));
    auto secret = json::parse(text, {.bytes = ledger::kDocumentBytesMax});
    if (!secret || !secret->is_object() || secret->text_at({"kind"}) != "Secret")
        return fail(ErrorKind::Usage, fmt::format("{} is no Secret in JSON", printable(call.argument("FILE"))));
    if (secret->find("stringData") != nullptr)
        return fail(ErrorKind::Usage, "stringData is kubectl's way to write: put its values under data, in base64");
    if (secret->text_at({"metadata", "namespace"}).empty())
        cluster::object_in(*secret, "metadata")["namespace"] = "default";
    if (secret->text_at({"type"}).empty()) (*secret)["type"] = "Opaque";
    TRY(const auto sealed, sealed_now(*client, *std::move(secret)));
    call.console.out << json::print(sealed) << '\n';
    return ok();
}

}  // namespace

Command secret_command() {
    const auto asking = [](bool prints) {
        std::vector<Option> options{data_option()};
        if (prints) options.push_back(output_option());
        return with_node_options(std::move(options));
    };
    std::vector<Option> rotating{data_option()};
    for (Option& option : signing_options()) rotating.push_back(std::move(option));
    rotating.push_back(output_option());
    Command status{.name = "status",
                   .summary = "Show the cluster keys, who holds them, and what those who left knew",
                   .examples = {{"what has to be replaced after a machine was removed", "rhizome secret status"}},
                   .options = asking(true),
                   .run = run_status};
    Command rotate{
        .name = "rotate",
        .summary = "Seal Secrets anew that are sealed to an older cluster key",
        .details =
            "Whoever held the older key and kept the chain can still read what was sealed to it: replace the "
            "values themselves first, where they are used. What this key cannot open is named.",
        .examples = {{"after a machine was removed", "rhizome secret rotate"}},
        .options = with_node_options(std::move(rotating)),
        .variables = {key::passphrase_variable()},
        .run = run_rotate};
    Command show{.name = "show",
                 .summary = "Print a Secret in clear",
                 .examples = {{"as kubectl would print it", "rhizome secret show web/db -o yaml"}},
                 .arguments = {{.name = "SECRET", .help = "NAME or NAMESPACE/NAME"}},
                 .options = asking(true),
                 .run = run_show};
    Command seal{
        .name = "seal",
        .summary = "Seal a Secret in a file, for 'tx new'",
        .details =
            "Prints the document as it may stand on the chain: its data are sealed to the cluster's "
            "newest key, for this namespace, name, uid and type.",
        .examples = {{"a Secret that two people have to sign",
                      "rhizome secret seal db.json > sealed.json && rhizome tx new sealed.json"}},
        .arguments = {{.name = "FILE", .help = "a Secret in JSON, - for stdin", .completion = Completion::files()}},
        .options = asking(false),
        .run = run_seal};
    return {.name = "secret",
            .summary = "Look after Secrets and the keys they are sealed to",
            .examples = {{"who knew what", "rhizome secret status"}, {"seal anew", "rhizome secret rotate"}},
            .subcommands = {std::move(status), std::move(rotate), std::move(show), std::move(seal)},
            .group = std::string{kGroupHost}};
}

}  // namespace rhizome::cli
