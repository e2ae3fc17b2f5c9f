// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/detail/inside.h"
#include "ledger/codec.h"

namespace rhizome::core {
namespace {

using ledger::RejectCode;

constexpr std::size_t kShortIdBytes = 6;

}  // namespace

Node::Inside::CompactNames Node::Inside::compact_names(const ledger::Block& block,
                                                       const ledger::BlockHash& hash) const {
    CompactNames names;
    if (block.txs.size() < config.compact_txs_min) return names;
    names.ids.reserve(block.txs.size());
    if (const auto* checked = blocks.checked(hash)) {
        for (const ledger::SharedTx& tx : *checked) names.ids.push_back(tx->wire_id);
    } else {
        for (const ledger::Tx& tx : block.txs) names.ids.push_back(wire_id_of(tx));
    }
    names.short_ids.reserve(names.ids.size());
    for (const ledger::WireId& id : names.ids) names.short_ids.push_back(detail::short_id(hash, id));
    return names;
}

SharedMessage Node::Inside::compact_for(PeerState& peer, const SharedBlock& block, const CompactNames& names) {
    if (names.ids.empty()) return nullptr;
    CompactBlock compact{.sealed = {block->header, block->signature, block->seal}, .short_ids = names.short_ids};
    std::size_t spared = 0;
    for (std::uint32_t place = 0; place < block->txs.size(); ++place) {
        const ledger::Tx& tx = block->txs[place];
        const ledger::WireId& id = names.ids[place];
        if (peer.known_txs.get(id) != nullptr) {
            spared += ledger::encoded_size(tx);
            continue;
        }
        peer.known_txs.put(id, 0);
        compact.given.push_back({place, tx});
    }
    const std::size_t cost = kShortIdBytes * block->txs.size() + 4 * compact.given.size();
    if (spared <= cost) return nullptr;
    ++traffic.compact_sent;
    traffic.compact_saved += spared - cost;
    return std::make_shared<const Message>(std::move(compact));
}

void Node::Inside::heard(PeerId from, const CompactBlock& message) {
    const auto hash = hash_of(message.sealed.header);
    if (const auto peer = peers.find(from); peer != peers.end()) peer->second.known_blocks.put(hash, 0);
    if (tree.find(hash) != nullptr || invalid.contains(hash) || open_compacts.contains(hash) || !has_room()) return;
    ++traffic.compact_heard;
    const ledger::Block bare{
        .header = message.sealed.header, .signature = message.sealed.signature, .txs = {}, .seal = message.sealed.seal};
    if (const auto proposer = consensus::check_proposer(bare, signatures); !proposer)
        return blame(from, proposer.error());
    auto open = detail::open_compact(from, message, hash, recent_txs);
    if (open.missing.empty()) return close_compact(std::move(open), hash);
    std::erase_if(open_compacts, [&](const auto& one) { return now >= one.second.asked + config.answer_timeout; });
    if (open_compacts.size() >= config.compact_open_max) return want_blocks(from, hash);
    ++traffic.compact_fill_ins;
    open.asked = now;
    send(from, WantBlockTxs{hash, open.missing});
    open_compacts.emplace(hash, std::move(open));
}

void Node::Inside::heard(PeerId from, const WantBlockTxs& message) {
    BlockTxs answer{.block = message.block};
    if (const auto block = blocks.shared(message.block); block && !is_held(message.block))
        for (const std::uint32_t place : message.places) {
            if (place >= (*block)->txs.size())
                return blame(from, {.code = RejectCode::BadEncoding, .why = "a place that the block does not have"});
            answer.txs.push_back((*block)->txs[place]);
        }
    send(from, std::move(answer));
}

void Node::Inside::heard(PeerId from, const BlockTxs& message) {
    const auto found = open_compacts.find(message.block);
    if (found == open_compacts.end() || found->second.from != from) return;  // late
    detail::OpenCompact open = std::move(found->second);
    open_compacts.erase(found);
    if (message.txs.size() == open.missing.size())
        for (std::size_t i = 0; i < open.missing.size(); ++i) open.block.txs[open.missing[i]] = message.txs[i];
    close_compact(std::move(open), message.block);
}

void Node::Inside::close_compact(detail::OpenCompact open, const ledger::BlockHash& hash) {
    const auto block = std::make_shared<const ledger::Block>(std::move(open.block));
    bool checked = true;
    for (std::size_t place = 0; checked && place < block->txs.size(); ++place) {
        if (open.checked[place]) continue;
        auto came = ledger::check_tx(block->txs[place]);
        checked = came.has_value();
        if (came) open.checked[place] = *std::move(came);
    }
    if (!(checked ? ledger::is_whole(*block, open.checked) : ledger::is_whole(*block))) {
        // Two transactions with one short id, or somebody who sent others: the whole block shows which.
        ++traffic.compact_fallbacks;
        return want_blocks(open.from, hash);
    }
    if (checked) {
        take_checked(open.from, block, std::move(open.checked));
    } else {
        take_block(open.from, block);  // to be refused, for what is wrong with its transactions
    }
    follow_best();
}

}  // namespace rhizome::core
