// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/tx/shared.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/shared.h"
#include "cli/input.h"
#include "cli/node_option.h"
#include "cli/offline_chain.h"
#include "cli/text.h"
#include "ledger/codec.h"
#include "ledger/json_form.h"
#include "ledger/limits.h"
#include "ledger/resource.h"
#include "runtime/files.h"

namespace rhizome::cli::tx {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF \t\r\n") == std::string_view::npos;
}

Result<ledger::Tx> from_hex_text(std::string text) {
    std::erase_if(text, [](char letter) { return kBlanks.find(letter) != std::string_view::npos; });
    const auto bytes = from_hex(text);
    if (!bytes) return fail(ErrorKind::Invalid, fmt::format("{} hexadecimal digits; two make a byte", text.size()));
    TRY(auto tx, ledger::decode_tx(*bytes));
    return tx;
}

Result<ledger::Tx> from_content(const std::string& content) {
    const std::size_t first = content.find_first_not_of(kBlanks);
    if (first == std::string::npos) return fail(ErrorKind::Invalid, "there is no transaction in it");
    if (content[first] == '{') return ledger::tx_from_json(content);
    if (is_hex(content)) return from_hex_text(content);
    TRY(auto tx, ledger::decode_tx(as_bytes(content)));
    return tx;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

}  // namespace

Option state_option() {
    return {.name = "state",
            .letter = 's',
            .value_name = "FILE",
            .help = "a state exported by 'state export'; default: the latest of the data directory",
            .completion = Completion::files()};
}

Result<World> world_of(Invocation& call) {
    if (const auto file = call.if_text("state")) {
        TRY(const std::string text, read_input(call.console, *file, ledger::kStateTextBytesMax));
        auto at = ledger::import_state(text);
        if (!at) return Fail{with_context(printable(*file), std::move(at).error())};
        ledger::LedgerState state{at->view};
        const Time now = at->time;
        return World{*std::move(at), std::move(state), now, true};
    }
    auto chain = open_chain(call);
    if (!chain) {
        Error error = std::move(chain).error();
        error.message += "\n--state takes an exported state in place of a data directory";
        return Fail{std::move(error)};
    }
    TRY(auto at, state_of(call, **chain, (*chain)->height()));
    ledger::LedgerState state{at.view};
    const Time now = std::max(at.time, Time::from_unix_millis(call.console.now().unix_millis()));
    return World{std::move(at), std::move(state), now, false};
}

Result<std::unique_ptr<node::RpcClient>> node_to_ask(Invocation& call) {
    if (call.if_text("state")) return std::unique_ptr<node::RpcClient>{};
    return if_asked_node(call);
}

namespace {

/// Whether a draft says what was asked for and nothing else: whoever answered, only that is put before somebody to
/// sign.
Result<void> check_is_asked(const ledger::Tx& tx, const node::WishForm& form) {
    bool same = tx.outputs.size() == form.changes.size();
    for (std::size_t i = 0; same && i < tx.outputs.size(); ++i) {
        const ledger::Output& output = tx.outputs[i];
        const node::WishedChange& change = form.changes[i];
        if (change.deletes.empty()) {
            same = output.value == change.document && (!change.lock || output.locking == *change.lock);
            continue;
        }
        const auto named = ledger::name_output(output.value);
        const std::string_view asked{change.deletes};
        same = named && named->wish == ledger::Wish::Delete &&
               (asked.starts_with('/') ? named->resource.path.text() == asked
                                       : named->resource.path.name() == asked.substr(asked.find('/') + 1));
    }
    if (same) return ok();
    return fail(ErrorKind::Denied,
                "the node drafted something else than was asked for: nothing was signed\n"
                "ask another node, and look after this one");
}

World world_from(ledger::ExportedState at, Time now) {
    ledger::LedgerState state{at.view};
    const Time later = std::max(at.time, Time::from_unix_millis(now.unix_millis()));
    return World{std::move(at), std::move(state), later, false};
}

}  // namespace

Result<World> world_for(Invocation& call, const ledger::Tx& tx) {
    TRY(const auto client, node_to_ask(call));
    if (!client) return world_of(call);
    TRY(const std::string text,
        client->text("POST", "/rhizome/v1/txs/context", json::print(ledger::to_json(tx)), ledger::kStateTextBytesMax));
    TRY(auto at, ledger::import_state(text));
    return world_from(std::move(at), call.console.now());
}

Result<Drafted> draft_at(node::RpcClient& client, const node::WishForm& form, Time now) {
    const std::string wish = json::print(to_json(form));
    TRY(const auto reply, client.text("POST", "/rhizome/v1/drafts", wish, ledger::kStateTextBytesMax));
    // By its bytes: documents are signed as they stand.
    auto slices = json::slices(reply, {.bytes = reply.size()});
    if (!slices) return Fail{to_error(slices.error())};
    std::string_view tx_text, context;
    for (const json::Slice& slice : *slices) {
        if (slice.key == "transaction") tx_text = slice.text;
        if (slice.key == "context") context = slice.text;
    }
    TRY(auto tx, ledger::tx_from_json(tx_text));
    TRY(check_is_asked(tx, form));
    TRY(auto at, ledger::import_state(context));
    return Drafted{std::move(tx), world_from(std::move(at), now)};
}

Argument tx_argument() {
    return {.name = "FILE", .help = "the transaction: a file, or - for stdin", .completion = Completion::files()};
}

Result<ledger::Tx> read_tx(Console& console, const std::string& given) {
    // No file name is that long, and no transaction shorter.
    constexpr std::size_t kDigitsLeast = 2 * 58;
    if (given.size() >= kDigitsLeast && is_hex(given)) return from_hex_text(given);
    TRY(const std::string content, read_input(console, given, ledger::kTxJsonBytesMax));
    auto tx = from_content(content);
    if (!tx) return Fail{with_context(given == "-" ? "stdin" : printable(given), std::move(tx).error())};
    return tx;
}

Option out_option() {
    return {.name = "out",
            .value_name = "FILE",
            .help = "write the transaction to this file instead of stdout, in place of what it had",
            .completion = Completion::files()};
}

Result<void> write_tx(Invocation& call, const ledger::Tx& tx) {
    const std::string text = json::print_pretty(ledger::to_json(tx));
    if (const auto file = call.if_text("out")) return runtime::replace_file(*file, text, 0644);
    call.console.out << text;
    return ok();
}

KnownKeys keys_of(const Invocation& call) {
    KnownKeys known;
    const auto store = key::keystore_of(call);
    const auto entries = store ? store->list() : Result<std::vector<node::Keystore::Entry>>{Fail{store.error()}};
    if (!entries) return known;
    for (const auto& entry : *entries) {
        if (entry.info) known.add(entry.name, entry.info->public_key);
    }
    return known;
}

std::string with_names(std::string text, const KnownKeys& keys) {
    for (const std::string& name : keys.names()) {
        const auto key = keys.find(name);
        replace_all(text, "the key with address " + key->address().hex(), name);
        replace_all(text, key->hex(), name);
        replace_all(text, key->address().hex(), name);
    }
    return text;
}

std::string progress_line(std::size_t index, const ledger::InputUse& use, const ledger::InputProgress& progress,
                          const KnownKeys& keys) {
    std::string line = fmt::format("input {}", index);
    if (use.of != nullptr) {
        const std::string_view what = use.role == ledger::InputRole::Authority ? "authority of" : "version of";
        line += fmt::format(" ({} {})", what, printable(use.of->path().text()));
    }
    if (use.role == ledger::InputRole::VersionOnly) return line + ": nothing to sign";
    if (progress.complete) return line + ": complete";
    return line + ": needs " + with_names(progress.missing, keys);
}

Error error_of(const ledger::Reject& reject) {
    Error error = to_error(reject);
    if (error.kind != ErrorKind::Denied && error.kind != ErrorKind::Conflict && error.kind != ErrorKind::NotFound)
        error.kind = ErrorKind::Invalid;
    return error;
}

std::string outpoint_text(const ledger::Outpoint& outpoint) {
    return fmt::format("{}..:{}", outpoint.change.hex().substr(0, 16), outpoint.index);
}

}  // namespace rhizome::cli::tx
