// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "base/yaml.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/input.h"
#include "cli/node_option.h"
#include "cli/script_view.h"
#include "cli/text.h"
#include "cli/values.h"
#include "ledger/check.h"
#include "ledger/draft.h"
#include "ledger/limits.h"
#include "node/resources.h"
#include "script/assembler.h"

/// `tx new`.
namespace rhizome::cli::tx {
namespace {

/// JSON is read as JSON, which is stricter; all else as YAML.
Result<std::vector<json::Value>> documents_in(std::string_view text, const std::string& name) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') {
        auto value = json::parse(text);
        if (value) return std::vector<json::Value>{*std::move(value)};
        if (value.error().fault == json::Fault::DuplicateKey) return Fail{with_context(name, value.error())};
    }
    auto values = yaml::parse_all(text);
    if (!values) return Fail{with_context(name, values.error())};
    if (values->empty()) return fail(ErrorKind::Invalid, fmt::format("{}: there is no document in it", name));
    return *std::move(values);
}

/// A date, a time, or how long after the state's time; `never` is 0.
Result<std::optional<std::uint32_t>> expiry_of(const Invocation& call, Time now) {
    const auto text = call.if_text("expires");
    if (!text) return std::optional<std::uint32_t>{};
    if (*text == "never") return std::optional<std::uint32_t>{0};
    std::optional<std::int64_t> at = script::parse_moment(*text);
    if (const auto wait = parse_duration(*text); !at && wait) at = (now + *wait).unix_seconds();
    if (!at || *at <= 0 || *at > std::numeric_limits<std::uint32_t>::max())
        return fail(ErrorKind::Usage,
                    fmt::format("--expires {} is no date, time or duration such as 2d", printable(*text)));
    return std::optional<std::uint32_t>{static_cast<std::uint32_t>(*at)};
}

Result<std::optional<Bytes>> lock_of(Invocation& call, const KnownKeys& keys) {
    const auto text = call.if_text("lock");
    if (!text) return std::optional<Bytes>{};
    if (*text == "none") return std::optional{Bytes{}};
    TRY(auto lock, compile_script(call.console, "--lock", *text, keys));
    return std::optional{std::move(lock)};
}

Result<Drafted> drafted_by_node(const Invocation& call, node::RpcClient& client, node::WishForm& form) {
    TRY(form.expiry, expiry_of(call, call.console.now()));
    return draft_at(client, form, call.console.now());
}

/// Against an exported state or the data directory's.
Result<Drafted> drafted_here(Invocation& call, node::WishForm& form) {
    TRY(World world, world_of(call));
    TRY(form.expiry, expiry_of(call, world.now));
    TRY(auto wish, node::draft_wish_from_json(json::print(to_json(form)), world.at.view));
    wish.now = world.now;
    TRY(ledger::Tx tx, ledger::make_draft(wish, world.at.view));
    return Drafted{std::move(tx), std::move(world)};
}

Result<void> run_new(Invocation& call) {
    const auto& files = call.arguments("FILE");
    const auto& deletions = call.texts("delete");
    if (files.empty() && deletions.empty())
        return fail(ErrorKind::Usage, "there is nothing to change\nname a file with documents, or give --delete");
    const KnownKeys keys = keys_of(call);
    node::WishForm form;
    TRY(const auto lock, lock_of(call, keys));
    TRY(form.lock_time, lock_number(call, "lock-time"));
    TRY(form.sequence, lock_number(call, "sequence"));
    if (const auto by = call.if_text("by")) {
        TRY(form.by, node::parse_path(*by, "--by"));
    }
    for (const std::string& file : files) {
        TRY(const std::string text, read_input(call.console, file, ledger::kTxBytesMax));
        TRY(const auto documents, documents_in(text, file == "-" ? "stdin" : printable(file)));
        for (const json::Value& document : documents)
            form.changes.push_back({.document = json::print(document), .lock = lock});
    }
    for (const std::string& deletion : deletions)
        form.changes.push_back({.deletes = deletion, .name_space = call.text("namespace")});
    TRY(const auto client, node_to_ask(call));
    TRY(const Drafted draft, client ? drafted_by_node(call, *client, form) : drafted_here(call, form));
    TRY(const auto checked, ledger::check_tx(draft.tx));
    const World& world = draft.world;
    const auto uses = ledger::uses_of_inputs(*checked, world.state);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto progress = ledger::advance(*checked, i, uses[i], world.at.chain, world.state, nullptr);
        call.console.err << progress_line(i, uses[i], progress, keys) << '\n';
    }
    return write_tx(call, draft.tx);
}

}  // namespace

Command new_command() {
    return {
        .name = "new",
        .summary = "Make an unsigned transaction from documents",
        .details =
            "Every document becomes one output: created when the state has no such resource, else updated. The inputs "
            "are "
            "found in the state. A creation needs the lock of the nearest ancestor that has one (its namespace, else "
            "the "
            "cluster), an update or deletion the lock of the resource itself; --by names another ancestor to decide.\n"
            "\n"
            "Documents are JSON or YAML, several in a file when --- stands between them, and are stored as compact "
            "JSON. The "
            "transaction is printed as JSON; on stderr stands who has to sign it. Do not reformat it afterwards: a "
            "document's "
            "bytes are part of what is signed.\n"
            "\n"
            "A lock is a script or a template as 'rhizome script' reads it, with the names of your keys. Without "
            "--lock an "
            "update keeps the lock there is, and what is created has none, so that only its ancestors can change it.\n"
            "\n"
            "A transaction that consumes nothing (a creation, a deletion by an ancestor) has to expire: after 7 days, "
            "when "
            "--expires does not say otherwise.",
        .examples = {{"create or change what is in a file", "rhizome tx new pod.yaml --state state.json --out tx.json"},
                     {"a namespace of three owners, two of whom must agree",
                      "rhizome tx new team.yaml --state state.json --lock 'multisig 2 alice bob carol'"},
                     {"delete a pod with the authority of its namespace",
                      "rhizome tx new --state state.json --delete pod/db -n web --by /namespaces/web"}},
        .arguments = {{.name = "FILE",
                       .help = "documents to write; - for stdin",
                       .required = false,
                       .repeatable = true,
                       .completion = Completion::files()}},
        .options = with_node_options(
            {state_option(),
             data_option(),
             {.name = "delete",
              .letter = 'd',
              .value_name = "RESOURCE",
              .help = "delete this, and all below it: KIND/NAME, or a path such as /namespaces/web",
              .repeatable = true},
             {.name = "namespace",
              .letter = 'n',
              .value_name = "NAME",
              .help = "where --delete KIND/NAME looks",
              .fallback = "default"},
             {.name = "by", .value_name = "PATH", .help = "the resource whose lock is to decide"},
             {.name = "lock", .value_name = "SCRIPT", .help = "the lock of what is written; none: no lock"},
             {.name = "expires",
              .value_name = "WHEN",
              .help = "a date, a time, how long after the state's time (2d), or never"},
             {.name = "lock-time", .value_name = "WHEN", .help = "not before this height or date", .fallback = "0"},
             {.name = "sequence",
              .value_name = "WAIT",
              .help = "how long after the lock was set, for locks that ask for it: a time such as 5d, or a number",
              .fallback = "4294967295"},
             out_option(),
             key::keys_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_new,
    };
}

}  // namespace rhizome::cli::tx
