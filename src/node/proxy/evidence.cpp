// SPDX-License-Identifier: Apache-2.0
#include "node/proxy/evidence.h"

#include <algorithm>
#include <charconv>

#include "ledger/block_json.h"
#include "ledger/proof_files.h"

namespace rhizome::node {
namespace {

Fail<Error> unfit(std::string why) { return fail(ErrorKind::Corrupt, "the node shows what does not fit: " + why); }

/// A header as the RPC shows it; worth nothing before its hash is compared.
std::optional<ledger::Header> header_from(const json::Value& shown) {
    const auto previous = ledger::BlockHash::from_hex(shown.text_at({"previous"}));
    const auto merkle_root = crypto::Hash256::from_hex(shown.text_at({"merkleRoot"}));
    const auto state_root = crypto::Hash256::from_hex(shown.text_at({"stateRoot"}));
    const auto seal_root = crypto::Hash256::from_hex(shown.text_at({"sealRoot"}));
    const auto time = from_rfc3339(shown.text_at({"time"}));
    const auto consensus = ledger::consensus_from_name(shown.text_at({"consensus"}));
    const std::string_view digits = shown.text_at({"nonce"});
    std::uint64_t nonce = 0;
    const bool is_number = std::from_chars(digits.data(), digits.data() + digits.size(), nonce).ec == std::errc{};
    const json::Value* height = shown.find("height");
    const json::Value* bits = shown.find("bits");
    if (!previous || !merkle_root || !state_root || !seal_root || !time || !consensus || !is_number ||
        height == nullptr || bits == nullptr)
        return std::nullopt;
    ledger::Header header{.previous = *previous,
                          .merkle_root = *merkle_root,
                          .state_root = *state_root,
                          .time = *time,
                          .consensus = *consensus,
                          .seal_root = *seal_root,
                          .nonce = nonce};
    header.height = ledger::Height{static_cast<std::uint64_t>(height->if_int64().value_or(0))};
    header.bits = static_cast<std::uint32_t>(bits->if_int64().value_or(0));
    return header;
}

}  // namespace

std::optional<ledger::Height> written_in(const state::StateView& state, const ledger::CheckedTx& tx) {
    for (const ledger::NamedOutput& output : tx.outputs) {
        if (output.wish != ledger::Wish::Store) continue;
        const state::Entry* entry = state.get(output.resource.path);
        if (entry == nullptr || !entry->is_written()) continue;
        const state::Origin& origin = entry->origin();
        for (const state::Mark* mark : {&origin.latest, &origin.born, &origin.lock})
            if (mark->output.change == tx.id) return mark->height;
    }
    return std::nullopt;
}

bool is_gone(const state::StateView& state, const ledger::CheckedTx& tx) {
    return !tx.outputs.empty() &&
           std::all_of(tx.outputs.begin(), tx.outputs.end(), [&](const ledger::NamedOutput& output) {
               return output.wish == ledger::Wish::Delete && !state.contains(output.resource.path);
           });
}

Result<ledger::Height> place_below(RpcClient& client, const ledger::CheckedTx& tx, const ledger::Header& known) {
    TRY(const auto text,
        client.text("GET", "/rhizome/v1/txs/" + tx.id.hex() + "/proof", "", ledger::kProofFileBytesMax));
    TRY(const auto proof, ledger::tx_proof_from_json(text));
    TRY(ledger::check(proof));
    if (id_of(proof.tx) != tx.id) return unfit("the proof is about another transaction");
    const ledger::Height height = proof.header.height;
    if (height > known.height) return fail(ErrorKind::Unavailable, "its block is newer than what is known here");
    if (known.height.number() - height.number() > kHeadersMax)
        return fail(ErrorKind::Unavailable, "its block is too far back");
    ledger::Header at = known;
    while (at.height > height) {
        TRY(const auto shown, client.get("/rhizome/v1/headers/" + at.previous.hex()));
        const auto before = header_from(shown);
        if (!before || hash_of(*before) != at.previous) return unfit("a header has another hash");
        if (before->height.number() + 1 != at.height.number()) return unfit("a header has another height");
        at = *before;
    }
    if (hash_of(at) != hash_of(proof.header)) return unfit("the block is not of this chain");
    return height;
}

}  // namespace rhizome::node
