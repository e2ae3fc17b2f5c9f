// SPDX-License-Identifier: Apache-2.0
#include "node/judging.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "consensus/consensus_rules.h"
#include "ledger/chain_records.h"
#include "ledger/limits.h"
#include "ledger/tx_host.h"
#include "ledger/validator.h"
#include "script/policy.h"
#include "script/trace_json.h"
#include "state/tree.h"

namespace rhizome::node {
namespace {

using ledger::Effects;
using ledger::InputRole;
using ledger::InputUse;
using ledger::Reject;

/// Roles as the decision had them: it, not the guess before signing, says what was consumed.
InputRole role_of(const ledger::Outpoint& outpoint, const InputUse& use, const Effects& effects) {
    const auto in = [&](const std::vector<ledger::Outpoint>& list) {
        return std::find(list.begin(), list.end(), outpoint) != list.end();
    };
    if (in(effects.consumed)) return use.role == InputRole::VersionOnly ? InputRole::VersionOnly : InputRole::Consumed;
    return in(effects.locks_used) ? InputRole::Authority : use.role;
}

json::Object block_json(const ledger::NextBlock& next) {
    return {{"height", next.height.number()}, {"time", to_rfc3339(next.time, Precision::Millis)}};
}

json::Object accepted(const Effects& effects, const std::vector<InputUse>& uses, const ledger::NextBlock& next) {
    json::Array creates, updates, deletes, inputs;
    for (const std::size_t output : effects.stores) {
        const state::Path& path = effects.tx->outputs[output].resource.path;
        const bool created = std::find(effects.creates.begin(), effects.creates.end(), path) != effects.creates.end();
        (created ? creates : updates).emplace_back(path.text());
    }
    for (const state::Path& path : effects.removes) deletes.emplace_back(path.text());
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto& outpoint = effects.tx->tx.inputs[i].previous;
        json::Object row{{"input", i}, {"role", name(role_of(outpoint, uses[i], effects))}};
        if (uses[i].of != nullptr) row.set("path", uses[i].of->path().text());
        row.set("txid", outpoint.change.hex());
        row.set("vout", outpoint.index);
        inputs.push_back(std::move(row));
    }
    return {{"ok", true},
            {"txid", effects.tx->id.hex()},
            {"block", block_json(next)},
            {"creates", std::move(creates)},
            {"updates", std::move(updates)},
            {"deletes", std::move(deletes)},
            {"inputs", std::move(inputs)},
            {"signatureChecks", effects.checks},
            {"dependsOnBlock", effects.depends_on_block}};
}

json::Object refused(const Reject& reject, const ledger::NextBlock& next) {
    json::Object data{{"ok", false}, {"code", name(reject.code)}, {"why", reject.why}};
    if (reject.input) data.set("input", *reject.input);
    if (!reject.script_error.empty()) data.set("scriptError", reject.script_error);
    if (reject.position) data.set("position", *reject.position);
    data.set("block", block_json(next));
    return data;
}

bool asks_for_member(const script::Policy& policy) {
    return policy.kind == script::PolicyKind::Member ||
           std::any_of(policy.inner.begin(), policy.inner.end(), asks_for_member);
}

}  // namespace

json::Object judge_tx(const ledger::Tx& tx, const ledger::LedgerState& state, const ledger::NextBlock& next,
                      bool trace) {
    const auto checked = ledger::check_tx(tx);
    if (!checked) return refused(checked.error(), next);
    const auto uses = ledger::uses_of_inputs(**checked, state);
    const ledger::WorkingState working{state.view(), state.index()};
    const ledger::Place place = ledger::place_of(state, next);
    const ledger::Rules kinds;
    const consensus::CurveSignatures signatures;
    const consensus::ConsensusRules rules{signatures, kinds};
    ledger::SignatureCache cache;
    const auto effects = ledger::decide(*checked, working, place, rules, cache, ledger::kBlockChecksMax);
    if (effects) return accepted(*effects, uses, next);
    const Reject& reject = effects.error();
    json::Object data = refused(reject, next);
    if (!trace || !reject.input || reject.script_error.empty()) return data;
    const std::size_t index = *reject.input;
    std::vector<ledger::SignatureCache::Key> found;
    const ledger::TxHost host{**checked, index, uses[index].spent, place, state.view(), cache, found};
    const Bytes& unlocking = (*checked)->tx.inputs[index].unlocking;
    const auto limit = static_cast<std::uint32_t>(ledger::checks_allowed((*checked)->bytes));
    data.set("trace", to_json(script::trace(unlocking, uses[index].lock, host, script::kChainRules,
                                            {.signature_checks = limit})));
    data.set("unlocking", to_hex(unlocking));
    data.set("locking", to_hex(uses[index].lock));
    return data;
}

std::optional<Reject> refusal_in(const json::Value& judged) {
    const json::Value* is_ok = judged.find("ok");
    if (is_ok != nullptr && is_ok->if_boolean().value_or(false)) return std::nullopt;
    Reject reject{
        .code = ledger::reject_code_from_name(judged.text_at({"code"})).value_or(ledger::RejectCode::BadEncoding),
        .why = std::string{judged.text_at({"why"})}};
    const auto number = [&](std::string_view key) {
        const json::Value* found = judged.find(key);
        return found == nullptr ? std::nullopt : found->if_int64();
    };
    if (const auto input = number("input"); input && *input >= 0 && *input <= std::numeric_limits<std::uint16_t>::max())
        reject.input = static_cast<std::uint16_t>(*input);
    if (const auto position = number("position"); position && *position >= 0)
        reject.position = static_cast<std::size_t>(*position);
    reject.script_error = std::string{judged.text_at({"scriptError"})};
    return reject;
}

namespace {

/// What `find` gives for an input: the entry whose output it names; may be null.
using FindInput = std::function<const state::Entry*(const ledger::Outpoint&)>;

std::vector<state::EntryPtr> needed(const ledger::CheckedTx& tx, const state::StateView& whole, const FindInput& find) {
    std::vector<state::EntryPtr> entries;
    const auto take = [&](const state::Path& path) {
        if (const state::Entry* entry = whole.get(path)) entries.emplace_back(entry);
    };
    const auto take_way = [&](const state::Path& path) {
        take(path);
        for (const state::Path& above : path.ancestors()) take(above);
        // Who a Node is decides about it as well.
        if (!path.name().empty()) take(ledger::records::node(path.name()));
    };
    for (const ledger::Input& input : tx.tx.inputs)
        if (const state::Entry* entry = find(input.previous)) take_way(entry->path());
    for (const auto& output : tx.outputs)
        if (output.wish != ledger::Wish::Nothing) take_way(output.resource.path);
    take(ledger::records::chain_id());
    take(ledger::records::parameters());
    const bool members = std::any_of(entries.begin(), entries.end(), [](const state::EntryPtr& entry) {
        const auto policy = script::recognise(entry->script());
        return policy && asks_for_member(*policy);
    });
    if (members) {
        state::Cursor cursor = whole.walk(ledger::records::all_members());
        while (const state::Entry* entry = cursor.next()) entries.emplace_back(entry);
    }
    return entries;
}

}  // namespace

state::StateView context_of(const ledger::CheckedTx& tx, const ledger::LedgerState& state) {
    return view_of(
        needed(tx, state.view(), [&](const ledger::Outpoint& output) { return state.index().find(output); }));
}

state::StateView context_of_draft(const ledger::CheckedTx& tx, const state::StateView& whole) {
    return view_of(entries_for_draft(tx, whole));
}

std::vector<state::EntryPtr> entries_for_draft(const ledger::CheckedTx& tx, const state::StateView& whole) {
    return needed(tx, whole, [](const ledger::Outpoint&) -> const state::Entry* { return nullptr; });
}

state::StateView view_of(std::span<const state::EntryPtr> entries) {
    state::Batch batch{state::StateView{}};
    for (const state::EntryPtr& entry : entries) batch.put(entry);
    return std::move(batch).finish().view;
}

}  // namespace rhizome::node
