// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/change.h"

#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "ledger/signing.h"

namespace rhizome::cli {

std::vector<Option> signing_options() {
    return {{.name = "key",
             .letter = 'k',
             .value_name = "NAME",
             .help = "the key that signs",
             .fallback = "admin",
             .completion = Completion::of(key::key_names)},
            key::passphrase_file_option(),
            key::keys_option()};
}

namespace {

bool wants_signature(const ledger::InputUse& use) {
    return use.role == ledger::InputRole::Consumed || use.role == ledger::InputRole::Authority;
}

}  // namespace

Result<ledger::Tx> sign_draft(tx::Drafted drafted, const ledger::Signer& signer, std::string_view program) {
    const ledger::LedgerState& state = drafted.world.state;
    TRY(const auto draft, ledger::check_tx(drafted.tx));
    const auto uses = ledger::uses_of_inputs(*draft, state);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (!wants_signature(uses[i])) continue;
        auto progress = ledger::advance(*draft, i, uses[i], drafted.world.at.chain, state, &signer);
        if (!progress.complete)
            return fail(ErrorKind::Denied,
                        fmt::format("one signature is not enough here, {} is missing\n'{} tx new', 'tx sign' and "
                                    "'tx submit' collect several",
                                    progress.missing, program));
        drafted.tx.inputs[i].unlocking = std::move(progress.unlocking);
    }
    return std::move(drafted.tx);
}

Result<json::Value> submit_tx(node::RpcClient& client, const ledger::Tx& tx, std::string_view stage) {
    TRY(auto reply, client.ask("POST", fmt::format("/rhizome/v1/txs?wait={}", stage), json::print(ledger::to_json(tx)),
                               seconds{60}));
    if (reply.body.find("refused") != nullptr) {
        const auto code = ledger::reject_code_from_name(reply.body.text_at({"refused", "code"}));
        return Fail{tx::error_of({.code = code.value_or(ledger::RejectCode::BadEncoding),
                                  .why = std::string{reply.body.text_at({"refused", "why"})}})};
    }
    if (reply.is_good()) return std::move(reply.body);
    return Fail{reply.error()};
}

Result<json::Value> write_changes(Invocation& call, node::RpcClient& client, std::vector<ledger::Change> changes,
                                  std::optional<state::Path> by) {
    TRY(const auto store, key::keystore_of(call));
    TRY(const auto info, key::find_key(call, store, call.text("key")));
    node::WishForm form{.by = std::move(by)};
    for (ledger::Change& change : changes)
        form.changes.push_back({.document = std::move(change.document), .lock = std::move(change.lock)});
    TRY(auto drafted, tx::draft_at(client, form, call.console.now()));
    TRY(const auto draft, ledger::check_tx(drafted.tx));
    // Before the passphrase: a key that is of no use here costs no typing.
    for (const ledger::InputUse& use : ledger::uses_of_inputs(*draft, drafted.world.state))
        if (wants_signature(use) && !ledger::can_help(info.public_key, use.lock, drafted.world.state))
            return fail(ErrorKind::Denied,
                        fmt::format("the key {} does not decide about this\n--key names another; the "
                                    "owner of the cluster decides about everything",
                                    info.name));
    TRY(const auto secret, key::open_key(call, store, info));
    TRY(const auto tx, sign_draft(std::move(drafted), {secret, info.public_key}, call.program));
    return submit_tx(client, tx, "final");
}

}  // namespace rhizome::cli
