// SPDX-License-Identifier: Apache-2.0
#include "cli/chain_source.h"

#include <fmt/core.h>

#include "cli/block_walk.h"
#include "cli/node_option.h"
#include "http/message.h"
#include "ledger/block_json.h"
#include "ledger/chain_records.h"
#include "node/resources.h"

namespace rhizome::cli {
namespace {

constexpr std::string_view kBase = "/rhizome/v1/";

/// Data as it would come from a node: documents can be looked into.
Result<json::Value> as_read(const json::Value& made) {
    const std::string text = json::print(made);
    auto read = json::parse(text, {.bytes = text.size()});
    if (!read) return Fail{to_error(read.error())};
    return *std::move(read);
}

/// The text of a member of an object, with its bytes.
Result<std::string_view> member_text(std::string_view text, std::string_view key) {
    auto slices = json::slices(text, {.bytes = text.size()});
    if (!slices) return Fail{to_error(slices.error())};
    for (const json::Slice& slice : *slices)
        if (slice.key == key) return slice.text;
    return fail(ErrorKind::NotFound, fmt::format("the node's answer has no {}", key));
}

/// What the transaction did, by executing its block again; nothing when the state before it is gone.
json::Array changes_by(Invocation& call, OfflineChain& at, const store::TxPlace& place, const ledger::TxId& id) {
    json::Array rows;
    auto walk = BlockWalk::from(call, at, place.block.height());
    if (!walk) return rows;
    auto step = walk->next();
    if (!step) return rows;
    for (const DocumentChange& change : changes_of(step->applied))
        if (change.tx == id)
            rows.push_back(
                json::Object{{"verb", name(change.verb)}, {"path", change.path.text()}, {"kind", change.path.kind()}});
    return rows;
}

}  // namespace

Result<ChainSource> ChainSource::open(Invocation& call) {
    ChainSource source{call};
    TRY(source.client_, if_asked_node(call));
    if (!source.client_) {
        TRY(source.offline_, open_chain(call));
    }
    return source;
}

node::Sight ChainSource::sight() const {
    const OfflineChain& at = *offline_;
    return {.store = at.store(),
            .tip = at.chain->tip(),
            .tip_hash = hash_of(at.chain->tip()),
            .state = at.chain->state().view(),
            .final_height = at.store().final_block().height()};
}

Result<ledger::ExportedState> ChainSource::state_at(const std::string& word) {
    TRY(const auto height, parse_height(word, "--at", *offline_));
    return state_of(*call_, *offline_, height);
}

Result<json::Value> ChainSource::overview(std::uint64_t last) {
    if (client_) return client_->get(fmt::format("{}chain?last={}", kBase, last));
    TRY(auto made, node::overview_json(sight(), last));
    return json::Value{std::move(made)};
}

Result<json::Value> ChainSource::header(const std::string& word) {
    if (client_) return client_->get(fmt::format("{}headers/{}", kBase, http::percent_encode(word)));
    TRY(const auto info, node::find_block(sight(), word));
    return json::Value{node::header_json(sight(), info)};
}

Result<ledger::Block> ChainSource::block(const std::string& hash) {
    if (client_) {
        TRY(const auto text, client_->text("GET", fmt::format("{}blocks/{}", kBase, http::percent_encode(hash)), {},
                                           ledger::kBlockJsonBytesMax));
        return ledger::block_from_json(text);
    }
    TRY(const auto info, node::find_block(sight(), hash));
    return node::read_block(sight(), info);
}

Result<ChainSource::FoundTx> ChainSource::tx(const std::string& word) {
    TRY(const auto id, node::parse_txid(word));
    FoundTx found;
    if (client_) {
        TRY(const auto text, client_->text("GET", fmt::format("{}txs/{}", kBase, id), {}, ledger::kTxJsonBytesMax));
        auto about = json::parse(text, {.bytes = text.size()});
        if (!about) return Fail{to_error(about.error())};
        found.about = *std::move(about);
        if (found.about.find("transaction") != nullptr) {
            TRY(const auto form, member_text(text, "transaction"));
            TRY(found.tx, ledger::tx_from_json(form));
        }
        return found;
    }
    TRY(const auto place, node::find_tx(sight(), id));
    TRY(auto made, node::tx_json(sight(), place));
    TRY(const auto block, node::read_block(sight(), place.block));
    found.tx = block.txs[place.index];
    made.set("changes", changes_by(*call_, *offline_, place, id));
    found.about = std::move(made);
    return found;
}

Result<ledger::TxProof> ChainSource::tx_proof(const std::string& word) {
    TRY(const auto id, node::parse_txid(word));
    if (client_) {
        TRY(const auto text,
            client_->text("GET", fmt::format("{}txs/{}/proof", kBase, id), {}, ledger::kProofFileBytesMax));
        return ledger::tx_proof_from_json(text);
    }
    TRY(const auto place, node::find_tx(sight(), id));
    return node::prove_tx(sight(), place);
}

Result<json::Value> ChainSource::entry(const std::string& resource, const std::string& name_space,
                                       const std::string& at) {
    if (client_) {
        const bool is_path = resource.starts_with('/');
        std::string target = fmt::format("{}state?{}={}&at={}", kBase, is_path ? "path" : "resource",
                                         http::percent_encode(resource), http::percent_encode(at));
        if (!is_path) target += "&namespace=" + http::percent_encode(name_space);
        return client_->get(target);
    }
    TRY(const auto state, state_at(at));
    TRY(const state::Entry* found, node::find_resource(state.view, resource, name_space, "RESOURCE"));
    json::Object made = node::entry_json(*found, state.view, true);
    made.set("height", state.height.number());
    return as_read(made);
}

Result<json::Value> ChainSource::list(const std::string& prefix, const std::string& at) {
    json::Array items;
    if (client_) {
        // All pages of one state: that of the first.
        std::string height = at;
        for (std::string after;;) {
            std::string target = fmt::format("{}state/list?prefix={}&limit=10000&at={}", kBase,
                                             http::percent_encode(prefix), http::percent_encode(height));
            if (!after.empty()) target += "&after=" + http::percent_encode(after);
            TRY(auto page, client_->get(target));
            const json::Value* number = page.find("height");
            height = fmt::format("{}", number == nullptr ? 0 : number->if_int64().value_or(0));
            if (json::Value* rows = page.find("items"); rows != nullptr && rows->is_array())
                for (json::Value& row : *rows->if_array()) items.push_back(std::move(row));
            after = std::string{page.text_at({"next"})};
            if (after.empty()) {
                page["items"] = std::move(items);
                return page;
            }
        }
    }
    TRY(const auto below, node::parse_prefix(prefix, "PREFIX"));
    TRY(const auto state, state_at(at));
    state::Cursor cursor = state.view.walk(below);
    while (const state::Entry* each = cursor.next()) items.push_back(node::entry_json(*each, state.view, false));
    return json::Value{json::Object{{"height", state.height.number()}, {"items", std::move(items)}}};
}

Result<ledger::StateProof> ChainSource::state_proof(const state::Path& path, const std::string& at) {
    if (client_) {
        TRY(const auto text, client_->text("GET",
                                           fmt::format("{}state/proof?path={}&at={}", kBase,
                                                       http::percent_encode(path.text()), http::percent_encode(at)),
                                           {}, ledger::kProofFileBytesMax));
        return ledger::state_proof_from_json(text);
    }
    TRY(const auto state, state_at(at));
    TRY(const auto info, offline_->store().info_at(state.height));
    return node::prove_state(offline_->id(), info.header, state.view, path);
}

Result<std::vector<std::pair<std::string, crypto::PublicKey>>> ChainSource::members() {
    std::vector<std::pair<std::string, crypto::PublicKey>> out;
    const auto add = [&](std::string_view name, ByteView key) {
        if (const auto point = crypto::PublicKey::parse(key)) out.emplace_back(name, *point);
    };
    if (client_) {
        TRY(const auto status, client_->get(fmt::format("{}status", kBase)));
        const json::Value* members = status.find("members");
        if (members == nullptr || !members->is_array()) return out;
        for (const json::Value& member : *members->if_array())
            if (const auto key = from_hex(member.text_at({"key"}))) add(member.text_at({"node"}), *key);
        return out;
    }
    state::Cursor cursor = offline_->chain->state().view().walk(ledger::records::all_members());
    while (const state::Entry* record = cursor.next())
        if (const auto member = ledger::decode_member(record->bytes())) add(member->node, member->chain);
    return out;
}

}  // namespace rhizome::cli
