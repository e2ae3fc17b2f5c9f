// SPDX-License-Identifier: Apache-2.0
#include "core/detail/compact.h"

#include <algorithm>
#include <cstring>
#include <set>

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
    const std::size_t bytes = ledger::encoded_size(tx->tx);
    if (bytes > bytes_max_ || !txs_.try_emplace(tx->wire_id, tx, bytes).second) return;
    order_.push_back(tx->wire_id);
    bytes_ += bytes;
    while (bytes_ > bytes_max_) {
        const auto oldest = txs_.find(order_.front());
        bytes_ -= oldest->second.second;
        txs_.erase(oldest);
        order_.pop_front();
    }
}

ledger::SharedTx RecentTxs::find(const ledger::WireId& id) const {
    const auto found = txs_.find(id);
    return found == txs_.end() ? nullptr : found->second.first;
}

std::map<std::uint64_t, ledger::SharedTx> RecentTxs::match(const ledger::BlockHash& block,
                                                           const std::vector<std::uint64_t>& short_ids) const {
    std::vector<std::uint64_t> wanted = short_ids;
    std::sort(wanted.begin(), wanted.end());
    std::map<std::uint64_t, ledger::SharedTx> found;
    std::set<std::uint64_t> doubtful;
    for (const auto& [id, tx] : txs_) {
        const std::uint64_t name = short_id(block, id);
        if (!std::binary_search(wanted.begin(), wanted.end(), name)) continue;
        if (!found.emplace(name, tx.first).second) doubtful.insert(name);
    }
    for (const std::uint64_t name : doubtful) found.erase(name);
    return found;
}

OpenCompact open_compact(PeerId from, const CompactBlock& compact, const ledger::BlockHash& hash,
                         const RecentTxs& recent) {
    OpenCompact open{.from = from};
    open.block = {.header = compact.sealed.header, .signature = compact.sealed.signature, .seal = compact.sealed.seal};
    open.block.txs.resize(compact.short_ids.size());
    const auto known = recent.match(hash, compact.short_ids);
    auto given = compact.given.begin();
    for (std::uint32_t place = 0; place < compact.short_ids.size(); ++place) {
        if (given != compact.given.end() && given->place == place) {
            open.block.txs[place] = given->tx;
            ++given;
        } else if (const auto here = known.find(compact.short_ids[place]); here != known.end()) {
            open.block.txs[place] = here->second->tx;
        } else {
            open.missing.push_back(place);
        }
    }
    return open;
}

}  // namespace rhizome::core::detail
