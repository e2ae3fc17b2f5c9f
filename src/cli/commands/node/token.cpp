// SPDX-License-Identifier: Apache-2.0
// `rhizome token new|list|revoke`: what lets other machines join.
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/change.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "cli/values.h"
#include "http/message.h"
#include "ledger/special_kinds.h"
#include "ledger/state_export.h"
#include "node/joining.h"
#include "runtime/entropy.h"
#include "runtime/host_addresses.h"

namespace rhizome::cli {
namespace {

/// Where a new machine would find this one: what the node listens on, with a number where that is everywhere.
std::string own_address(const json::Value& status) {
    const json::Value* listens = status.find("listens");
    if (listens == nullptr || !listens->is_array() || listens->if_array()->empty()) return "THIS-MACHINE:7700";
    const auto text = listens->if_array()->front().if_string();
    std::string address = text != nullptr ? std::string{*text} : "";
    const std::size_t colon = address.rfind(':');
    const std::string host = address.substr(0, colon);
    if (host != "[::]" && host != "0.0.0.0") return address;
    const auto known = runtime::host_addresses();
    return (known.empty() ? std::string{"127.0.0.1"} : known.front()) + address.substr(colon);
}

Result<void> run_new(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto count, whole_number(call, "count", 1'000'000));
    if (count == 0) return fail(ErrorKind::Usage, "--count 0: a token is for one machine at least");
    const auto lasts = parse_duration(call.text("expires"));
    if (!lasts || *lasts <= microseconds{0})
        return fail(ErrorKind::Usage, fmt::format("--expires {} is no duration: 1h, 30m, 7d", call.text("expires")));
    TRY(const auto status, client->get("/rhizome/v1/status"));

    node::JoinTicket ticket;
    for (;;) {
        runtime::fill_with_entropy(ticket.staging.writable());
        if (crypto::SecretKey::from_bytes(ticket.staging.view())) break;
    }
    ticket.name = fmt::format("t-{:08x}", runtime::random_number() & 0xffffffff);
    const Time expires = call.console.now() + *lasts;
    TRY(const auto answer, write_changes(call, *client,
                                         {{.document = node::join_token_document(ticket.name, count, expires),
                                           .lock = node::staging_lock(ticket.key().public_key())}}));
    // What is believed is the block that has the token, whose state members keep for those who come with it; where
    // nothing becomes final, the newest block that did.
    const bool is_final = answer.text_at({"stage"}) == "final";
    const auto chain = ledger::ChainId::from_hex(status.text_at({"chainId"}));
    const auto block =
        ledger::BlockHash::from_hex(is_final ? answer.text_at({"block"}) : status.text_at({"final", "hash"}));
    const json::Value* height = is_final ? answer.find("height") : status.find_path({"final", "height"});
    if (!chain || !block || height == nullptr) return fail(ErrorKind::Failed, "the node's status cannot be read");
    ticket.chain = *chain;
    ticket.block = *block;
    ticket.height = ledger::Height{static_cast<std::uint64_t>(height->if_int64().value_or(0))};
    const std::string command = fmt::format("{} join {} --token {}", call.program, own_address(status), ticket.text());
    const json::Value data = json::Object{{"name", ticket.name},
                                          {"token", ticket.text()},
                                          {"count", count},
                                          {"expires", to_rfc3339(expires)},
                                          {"stage", answer.text_at({"stage"})},
                                          {"command", command}};
    print_data(call, data, [&] { return command + "\n"; });
    if (call.console.err_is_terminal)
        call.console.err << fmt::format(
            "\nFor {} machine{}, until {}. Whoever has it can join: '{} token revoke {}{}' "
            "takes it back.\n",
            count, count == 1 ? "" : "s", to_rfc3339(expires), call.program, ticket.name, data_words(call));
    return ok();
}

Result<void> run_list(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto listed, client->get("/rhizome/v1/state/list?prefix=/jointokens&documents=true&limit=10000"));
    json::Array rows;
    Table table{{"NAME", "LEFT", "EXPIRES"}};
    const json::Value* items = listed.find("items");
    for (const json::Value& item : items != nullptr && items->is_array() ? *items->if_array() : json::Array{}) {
        const json::Value* document = item.find("document");
        const auto token = ledger::read_join_token(document == nullptr ? json::Value{} : *document);
        if (!token) continue;
        const std::string name{item.text_at({"name"})};
        rows.push_back(json::Object{{"name", name}, {"left", token->count}, {"expires", to_rfc3339(token->expires)}});
        const microseconds left = token->expires - call.console.now();
        table.add({name, fmt::format("{}", token->count),
                   left > microseconds{0} ? Cell{"in " + age_text(left)} : Cell{"expired", Tone::Warning}});
    }
    const bool none = rows.empty();
    print_data(call, json::Object{{"tokens", std::move(rows)}}, [&] {
        return none ? std::string{"no tokens: nobody can join\n"} : table.render(call.console.out_style);
    });
    return ok();
}

Result<void> run_revoke(Invocation& call) {
    TRY(const auto client, running_node(call));
    const std::string name = call.argument("NAME");
    const auto path = state::Path::join_token(name);
    const auto entry = path ? client->get("/rhizome/v1/state?path=" + http::percent_encode(path->text()))
                            : Result<json::Value>{fail(ErrorKind::NotFound, "")};
    if (!entry && entry.error().kind != ErrorKind::NotFound) return Fail{entry.error()};
    const json::Value* document = entry ? entry->find("document") : nullptr;
    if (document == nullptr)
        return fail(ErrorKind::NotFound, fmt::format("there is no token {}\n'{} token list{}' shows those there are",
                                                     printable(name), call.program, data_words(call)));
    TRY(const auto answer,
        write_changes(call, *client, {{.document = ledger::deletion_of(json::print(*document)), .lock = {}}},
                      state::Path::cluster()));
    print_data(call, answer, [&] { return fmt::format("revoked {}\n", name); });
    return ok();
}

std::vector<Option> options_of_token(std::vector<Option> own, bool signs) {
    own.insert(own.begin(), data_option());
    if (signs)
        for (Option& option : signing_options()) own.push_back(std::move(option));
    own.push_back(output_option());
    return own;
}

}  // namespace

Command token_command() {
    Command create{
        .name = "new",
        .summary = "Make a token that lets another machine join",
        .details =
            "Writes a JoinToken to the chain, signed by the owner of the cluster, and prints what to type on the "
            "new machine. The token names the chain and the block that has it, so that the new machine cannot "
            "be led to another; members keep the state after that block until the token is used up.",
        .examples = {{"for one machine, within the hour", "rhizome token new"},
                     {"for ten machines this week", "rhizome token new --count 10 --expires 7d"}},
        .options = options_of_token(
            {{.name = "count", .value_name = "N", .help = "machines it is for", .fallback = "1"},
             {.name = "expires", .value_name = "DURATION", .help = "how long it can be used", .fallback = "1h"}},
            true),
        .variables = {key::passphrase_variable()},
        .run = run_new,
    };
    Command list{.name = "list",
                 .summary = "List the tokens that can still be used",
                 .examples = {{"who could still join", "rhizome token list"}},
                 .options = options_of_token({}, false),
                 .run = run_list};
    Command revoke{.name = "revoke",
                   .summary = "Take a token back",
                   .examples = {{"nobody can use it any more", "rhizome token revoke t-1cff1c32"}},
                   .arguments = {{.name = "NAME", .help = "as 'token list' shows it"}},
                   .options = options_of_token({}, true),
                   .variables = {key::passphrase_variable()},
                   .run = run_revoke};
    return {.name = "token",
            .summary = "Let other machines join the cluster",
            .examples = {{"for one machine, within the hour", "rhizome token new"}},
            .subcommands = {std::move(create), std::move(list), std::move(revoke)},
            .group = std::string{kGroupHost}};
}

}  // namespace rhizome::cli
