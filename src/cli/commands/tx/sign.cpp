// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/text.h"
#include "cli/values.h"
#include "ledger/check.h"
#include "ledger/limits.h"

/// `tx sign`.
namespace rhizome::cli::tx {
namespace {

using ledger::InputRole;

/// Which inputs the person named; all when none.
Result<std::vector<bool>> chosen_inputs(const Invocation& call, std::size_t count) {
    const auto& named = call.texts("input");
    std::vector<bool> chosen(count, named.empty());
    for (const std::string& text : named) {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
        if (error != std::errc{} || end != text.data() + text.size() || index >= count)
            return fail(ErrorKind::Usage,
                        fmt::format("--input {}: the transaction has inputs 0 to {}", printable(text), count - 1));
        chosen[index] = true;
    }
    return chosen;
}

Result<void> run_sign(Invocation& call) {
    TRY(const auto store, key::keystore_of(call));
    TRY(const auto info, key::find_key(call, store, call.text("key")));
    TRY(ledger::Tx tx, read_tx(call.console, call.argument("FILE")));
    TRY(const World world, world_for(call, tx));
    TRY(const auto checked, ledger::check_tx(tx));
    TRY(const auto chosen, chosen_inputs(call, tx.inputs.size()));
    auto uses = ledger::uses_of_inputs(*checked, world.state);
    const KnownKeys keys = keys_of(call);

    // Before the passphrase: a key that is of no use here costs no typing.
    std::vector<bool> helps(uses.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
        // Who names an input wants its own lock to be opened, also where an ancestor could decide.
        if (uses[i].role == InputRole::VersionOnly && chosen[i] && !call.texts("input").empty())
            uses[i].role = InputRole::Consumed;
        const bool wants = uses[i].role == InputRole::Consumed || uses[i].role == InputRole::Authority;
        helps[i] = chosen[i] && wants && ledger::can_help(info.public_key, uses[i].lock, world.state);
    }
    if (std::find(helps.begin(), helps.end(), true) == helps.end()) {
        std::string message = fmt::format("the key {} opens no input of this transaction", info.name);
        for (std::size_t i = 0; i < uses.size(); ++i) {
            const auto progress = ledger::advance(*checked, i, uses[i], world.at.chain, world.state, nullptr);
            message += "\n" + progress_line(i, uses[i], progress, keys);
        }
        return fail(ErrorKind::Denied, message);
    }
    TRY(const auto secret, key::open_key(call, store, info));
    const ledger::Signer signer{secret, info.public_key};

    for (std::size_t i = 0; i < uses.size(); ++i) {
        auto progress =
            ledger::advance(*checked, i, uses[i], world.at.chain, world.state, helps[i] ? &signer : nullptr);
        std::string line = progress_line(i, uses[i], progress, keys);
        if (progress.signed_now) {
            line += fmt::format(" (signed with {})", info.name);
        } else if (helps[i]) {
            line += progress.complete ? fmt::format(" (nothing to add for {})", info.name)
                                      : fmt::format(" ({} has signed already)", info.name);
        }
        if (progress.signed_now && progress.unfitting > 0)
            line += fmt::format("; {} signature{} that did not fit any more dropped", progress.unfitting,
                                progress.unfitting == 1 ? "" : "s");
        call.console.err << line << '\n';
        tx.inputs[i].unlocking = std::move(progress.unlocking);
    }
    return write_tx(call, tx);
}

}  // namespace

Command sign_command() {
    return {
        .name = "sign",
        .summary = "Add your signature to a transaction",
        .details =
            "Signs every input whose lock your key opens, alone or with others, and leaves the rest as it is. Several "
            "people "
            "sign one after the other, in any order: signatures are put where the lock wants them. On stderr stands "
            "what is "
            "still missing.\n"
            "\n"
            "A signature covers the whole transaction except other signatures, the chain it is for, and the lock and "
            "version "
            "that it opens. Whatever is changed afterwards makes it worthless.\n"
            "\n"
            "An input that is only named as the version of what an ancestor decides about needs no signature; name it "
            "with "
            "--input to open its own lock all the same. Exits with 4 when the key opens nothing here.",
        .examples = {{"sign and keep", "rhizome tx sign tx.json --key alice --state state.json --out signed.json"},
                     {"the second of two",
                      "rhizome tx sign signed.json --key bob --state state.json --out signed.json"}},
        .arguments = {tx_argument()},
        .options = with_node_options(
            {{.name = "key",
              .letter = 'k',
              .value_name = "NAME",
              .help = "the key to sign with",
              .required = true,
              .completion = Completion::of(key::key_names)},
             state_option(),
             data_option(),
             {.name = "input", .value_name = "NUMBER", .help = "sign this input only", .repeatable = true},
             out_option(),
             key::passphrase_file_option(),
             key::keys_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_sign,
    };
}

}  // namespace rhizome::cli::tx
