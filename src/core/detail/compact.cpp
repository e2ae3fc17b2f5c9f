// SPDX-License-Identifier: Apache-2.0
#include "core/detail/compact.h"

#include <algorithm>
#include <cstring>

#include "crypto/hash.h"
#include "ledger/codec.h"

namespace rhizome::core::detail {

std::uint64_t short_id(const ledger::BlockHash& block, const ledger::WireId& id) {
    std::array<std::uint8_t, ledger::BlockHash::kSize + ledger::WireId::kSize> both{};
    std::copy(block.view().begin(), block.view().end(), both.begin());
    std::copy(id.view().begin(), id.view().end(), both.begin() + ledger::BlockHash::kSize);
    const auto hash = crypto::sha256(both);
    std::uint64_t number = 0;
    std::memcpy(&number, hash.view().data(), 6);
    return number;
}

void RecentTxs::put(const ledger::SharedTx& tx) {
    // One is kept however large it is: somebody may ask for it.
    if (!txs_.try_emplace(tx->wire_id, tx).second) return;
    order_.push_back(tx);
    bytes_ += tx->bytes + kBeside;
    while (bytes_ > bytes_max_ && order_.size() > 1) {
        bytes_ -= order_.front()->bytes + kBeside;
        txs_.erase(order_.front()->wire_id);
        order_.pop_front();
    }
}

ledger::SharedTx RecentTxs::find(const ledger::WireId& id) const {
    const auto found = txs_.find(id);
    return found == txs_.end() ? nullptr : found->second;
}

std::vector<ledger::SharedTx> RecentTxs::match(const ledger::BlockHash& block,
                                               const std::vector<std::uint64_t>& short_ids) const {
    std::map<std::uint64_t, std::size_t> wanted;
    for (std::size_t place = 0; place < short_ids.size(); ++place) wanted.emplace(short_ids[place], place);
    std::vector<ledger::SharedTx> found(short_ids.size());
    for (auto tx = order_.rbegin(); tx != order_.rend() && !wanted.empty(); ++tx) {
        const auto place = wanted.find(short_id(block, (*tx)->wire_id));
        if (place == wanted.end()) continue;
        found[place->second] = *tx;
        wanted.erase(place);
    }
    return found;
}

OpenCompact open_compact(PeerId from, const CompactBlock& compact, const ledger::BlockHash& hash,
                         const RecentTxs& recent) {
    OpenCompact open{.from = from};
    open.block = {.header = compact.sealed.header, .signature = compact.sealed.signature, .seal = compact.sealed.seal};
    open.block.txs.resize(compact.short_ids.size());
    open.checked = recent.match(hash, compact.short_ids);
    auto given = compact.given.begin();
    for (std::uint32_t place = 0; place < compact.short_ids.size(); ++place) {
        if (given != compact.given.end() && given->place == place) {
            open.block.txs[place] = given->tx;
            open.checked[place] = nullptr;
            ++given;
        } else if (open.checked[place]) {
            open.block.txs[place] = open.checked[place]->tx;
        } else {
            open.missing.push_back(place);
        }
    }
    return open;
}

}  // namespace rhizome::core::detail
