// SPDX-License-Identifier: Apache-2.0
#include "node/look.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "consensus/judge.h"
#include "crypto/merkle.h"
#include "ledger/block_json.h"
#include "ledger/chain_records.h"
#include "ledger/json_form.h"
#include "ledger/resource.h"
#include "ledger/special_kinds.h"
#include "state/proof.h"

namespace rhizome::node {
namespace {

std::optional<std::uint64_t> number_of(std::string_view word) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return number;
}

Fail<Error> above_tip(const Sight& at, std::uint64_t height) {
    return fail(ErrorKind::NotFound,
                fmt::format("there is no height {}: the chain ends at height {}", height, at.tip.height));
}

/// The name of the Node that sealed a block, as it is called in the latest state, or its key's first digits; `-` when
/// that is not known any more.
std::string sealed_by(const Sight& at, const store::BlockInfo& info) {
    const auto seal = at.store.seal(info.hash);
    if (!seal) return "-";
    const auto proposer = consensus::proposer_in(*seal);
    if (!proposer) return "-";
    if (const state::Entry* record = at.state.get(ledger::records::member(*proposer)))
        if (const auto member = ledger::decode_member(record->bytes())) return member->node;
    return to_hex(*proposer).substr(0, 16) + "..";
}

std::string cluster_name(const state::StateView& view) {
    const state::Entry* entry = view.get(state::Path::cluster());
    return entry == nullptr ? "" : std::string{ledger::parse_checked(entry->document()).text_at({"metadata", "name"})};
}

json::Object mark_json(const state::Mark& mark) {
    return {{"txid", mark.output.change.hex()},
            {"vout", mark.output.index},
            {"height", mark.height.number()},
            {"time", to_rfc3339(mark.time, Precision::Millis)}};
}

/// Whether the transaction took this entry away: names it or something above it as to be deleted, or consumed it
/// without writing it again.
bool removes(const ledger::Tx& tx, const state::Entry& entry) {
    for (const ledger::Output& output : tx.outputs) {
        const auto named = ledger::name_output(output.value);
        if (named && named->wish == ledger::Wish::Delete && named->resource.path.subtree().covers(entry.key()))
            return true;
    }
    return std::any_of(tx.inputs.begin(), tx.inputs.end(),
                       [&](const ledger::Input& input) { return input.previous == entry.origin().latest.output; });
}

json::Array changes_json(const store::Store& store, const store::BlockInfo& block, const ledger::Tx& tx) {
    json::Array rows;
    const auto change = store.change(block.hash);
    if (!change) return rows;  // no longer kept
    const auto id = ledger::id_of(tx);
    change->visit([&](const state::Change& one) {
        const state::Entry& any = one.after ? *one.after : *one.before;
        if (!any.is_written()) return;
        const bool wrote = one.after && one.after->origin().latest.output.change == id;
        const bool removed = !one.after && removes(tx, *one.before);
        if (!wrote && !removed) return;
        const state::Path path = any.path();
        const std::string_view verb = removed ? "deleted" : one.before ? "updated" : "created";
        rows.push_back(json::Object{{"verb", verb}, {"path", path.text()}, {"kind", path.kind()}});
    });
    return rows;
}

}  // namespace

Result<store::BlockInfo> find_block(const Sight& at, std::string_view word) {
    if (word == "latest") return at.store.info(at.tip_hash);
    if (const auto hash = ledger::BlockHash::from_hex(word)) {
        auto info = at.store.info(*hash);
        if (!info && info.error().kind == ErrorKind::NotFound)
            return fail(ErrorKind::NotFound, fmt::format("there is no block {} here", *hash));
        return info;
    }
    if (word == "final") return at.store.info_at(at.final_height);
    const auto height = number_of(word);
    if (!height)
        return fail(ErrorKind::Usage, "a block is named by its height, its hash of 64 digits, latest or final");
    if (*height > at.tip.height.number()) return above_tip(at, *height);
    return at.store.info_at(ledger::Height{*height});
}

Result<ledger::Block> read_block(const Sight& at, const store::BlockInfo& info) {
    auto block = at.store.block(info.hash);
    if (!block && block.error().kind == ErrorKind::NotFound)
        return fail(
            ErrorKind::Unavailable,
            fmt::format("only the header of block {} is here: the block was pruned, or the chain began with the state "
                        "after it\nask a node that has all of the chain, with --node ADDRESS",
                        info.height()));
    return block;
}

Result<ledger::TxId> parse_txid(std::string_view word) {
    const auto id = ledger::TxId::from_hex(word);
    if (!id) return fail(ErrorKind::Usage, "a transaction id has 64 hexadecimal digits");
    return *id;
}

Result<store::TxPlace> find_tx(const Sight& at, const ledger::TxId& id) {
    auto place = at.store.find_tx(id);
    if (place || place.error().kind != ErrorKind::NotFound) return place;
    // What is not there cannot be told from what was before.
    if (const auto extent = at.store.extent(); extent && extent->bodies_from > ledger::Height{0})
        return fail(ErrorKind::NotFound,
                    fmt::format("there is no transaction {} in the blocks {} to {}; older ones are not kept here\n"
                                "ask a node that has all of the chain, with --node ADDRESS",
                                id, extent->bodies_from, at.tip.height));
    return fail(ErrorKind::NotFound,
                fmt::format("there is no transaction {} on this chain, which ends at height {}\n"
                            "ids do not cover signatures: 'rhizome tx decode FILE' prints both ids of a transaction",
                            id, at.tip.height));
}

json::Object header_json(const Sight& at, const store::BlockInfo& info) {
    const ledger::Header& header = info.header;
    const bool on_chain = at.store.on_chain(info);
    return {{"hash", info.hash.hex()},
            {"height", header.height.number()},
            {"time", to_rfc3339(header.time, Precision::Millis)},
            {"previous", header.previous.hex()},
            {"merkleRoot", header.merkle_root.hex()},
            {"stateRoot", header.state_root.hex()},
            {"consensus", ledger::name(header.consensus)},
            {"sealRoot", header.seal_root.hex()},
            {"bits", header.bits},
            {"nonce", std::to_string(header.nonce)},
            {"signature", to_hex(info.signature)},
            {"transactions", info.tx_count},
            {"bytes", info.bytes},
            {"sealedBy", sealed_by(at, info)},
            {"onChain", on_chain},
            {"final", on_chain && info.height() <= at.final_height}};
}

Result<json::Object> overview_json(const Sight& at, std::uint64_t last) {
    TRY(const auto extent, at.store.extent());
    TRY(const auto usage, at.store.usage());
    const auto documents = at.state.totals(state::Prefix::documents());
    json::Array newest;
    auto hash = at.tip_hash;  // by their parents, so that a branch that moves meanwhile does not mix two
    while (newest.size() < last) {
        TRY(const auto info, at.store.info(hash));
        newest.push_back(json::Object{{"height", info.height().number()},
                                      {"hash", info.hash.hex()},
                                      {"time", to_rfc3339(info.header.time, Precision::Millis)},
                                      {"transactions", info.tx_count},
                                      {"bytes", info.bytes},
                                      {"sealedBy", sealed_by(at, info)}});
        if (info.height() <= extent.headers_from) break;
        hash = info.header.previous;
    }
    return json::Object{{"cluster", cluster_name(at.state)},
                        {"chainId", at.store.chain().hex()},
                        {"consensus", ledger::name(at.tip.consensus)},
                        {"height", at.tip.height.number()},
                        {"tip", at.tip_hash.hex()},
                        {"time", to_rfc3339(at.tip.time, Precision::Millis)},
                        {"stateRoot", at.tip.state_root.hex()},
                        {"documents", documents.count},
                        {"documentBytes", documents.bytes},
                        {"blocks", extent.blocks},
                        {"transactions", extent.transactions},
                        {"final", at.final_height.number()},
                        {"checkpoint", usage.checkpoint.number()},
                        {"prunedBelow", extent.bodies_from.number()},
                        {"base", at.store.base().height().number()},
                        {"data", at.store.folder().native()},
                        {"disk", json::Object{{"logBytes", usage.log_bytes},
                                              {"indexBytes", usage.index_bytes},
                                              {"freeBytes", usage.free_bytes}}},
                        {"last", std::move(newest)}};
}

Result<json::Object> tx_json(const Sight& at, const store::TxPlace& place) {
    TRY(const auto block, read_block(at, place.block));
    if (place.index >= block.txs.size())
        return fail(ErrorKind::Corrupt, "the index names a transaction that its block does not have");
    const ledger::Tx& tx = block.txs[place.index];
    const bool is_final = place.block.height() <= at.final_height && at.store.on_chain(place.block);
    return json::Object{{"txid", ledger::id_of(tx).hex()},
                        {"status", is_final ? "final" : "included"},
                        {"wireId", ledger::wire_id_of(tx).hex()},
                        {"block", place.block.hash.hex()},
                        {"height", place.block.height().number()},
                        {"time", to_rfc3339(place.block.header.time, Precision::Millis)},
                        {"index", place.index},
                        {"count", block.txs.size()},
                        {"changes", changes_json(at.store, place.block, tx)},
                        {"transaction", ledger::to_json(tx)}};
}

Result<PastState> state_at(const Sight& at, ledger::Height height) {
    if (height > at.tip.height) return above_tip(at, height.number());
    PastState past{.view = at.state};
    TRY(past.block, at.store.info(at.tip_hash));
    while (past.block.height() > height) {
        const auto change = at.store.change(past.block.hash);
        if (!change)
            return fail(ErrorKind::Unavailable,
                        fmt::format("the state after height {} is not kept any more: a running node goes back to "
                                    "height {}\n'rhizome state … --at {}' on the data directory of a stopped node "
                                    "executes the blocks again",
                                    height, past.block.height(), height));
        TRY(past.view, state::undo(past.view, *change));
        TRY(past.block, at.store.info(past.block.header.previous));
    }
    return past;
}

Result<PastState> state_at(const Sight& at, std::string_view word) {
    if (word == "latest") return state_at(at, at.tip.height);
    const auto height = number_of(word);
    if (!height) return fail(ErrorKind::Usage, "a state is named by its height, or latest");
    if (*height > at.tip.height.number()) return above_tip(at, *height);
    return state_at(at, ledger::Height{*height});
}

json::Object entry_json(const state::Entry& entry, const state::StateView& view, bool with_document) {
    const state::Path path = entry.path();
    json::Object row{{"path", path.text()}};
    if (!entry.is_written()) {
        row.set("record", to_hex(entry.bytes()));
        return row;
    }
    row.set("group", path.group());
    row.set("kind", path.kind());
    row.set("namespace", path.namespace_name());
    row.set("name", path.name());
    row.set("born", mark_json(entry.origin().born));
    row.set("written", mark_json(entry.origin().latest));
    row.set("locked", mark_json(entry.origin().lock));
    row.set("script", to_hex(entry.script()));
    if (!entry.script().empty()) {
        row.set("decidedBy", path.text());
    } else {
        for (const state::Path& above : path.ancestors()) {
            const state::Entry* ancestor = view.get(above);
            if (ancestor == nullptr || ancestor->script().empty()) continue;
            row.set("decidedBy", above.text());
            break;
        }
    }
    row.set("bytes", entry.weight());
    if (with_document) row.set("document", json::Raw{std::make_shared<const std::string>(entry.document())});
    return row;
}

Result<ledger::TxProof> prove_tx(const Sight& at, const store::TxPlace& place) {
    TRY(const auto block, read_block(at, place.block));
    std::vector<ledger::WireId> wire_ids;
    for (const ledger::Tx& tx : block.txs) wire_ids.push_back(ledger::wire_id_of(tx));
    TRY(auto path, crypto::merkle_proof(wire_ids, place.index));
    ledger::TxProof proof{
        .chain = at.store.chain(), .header = block.header, .tx = block.txs[place.index], .path = std::move(path)};
    TRY(ledger::check(proof));
    return proof;
}

Result<ledger::StateProof> prove_state(const ledger::ChainId& chain, const ledger::Header& header,
                                       const state::StateView& view, const state::Path& path) {
    ledger::StateProof proof{.chain = chain, .header = header, .path = path, .proof = state::prove(view, path)};
    if (const state::Entry* entry = view.get(path))
        proof.content =
            ledger::StateProof::Content{entry->is_written(), to_bytes(entry->script()), std::string{entry->document()}};
    TRY(ledger::check(proof));
    return proof;
}

}  // namespace rhizome::node
