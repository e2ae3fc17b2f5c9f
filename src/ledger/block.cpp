// SPDX-License-Identifier: Apache-2.0
#include "ledger/block.h"

#include "crypto/merkle.h"
#include "ledger/codec.h"

namespace rhizome::ledger {

BlockHash hash_of(const Header& header) { return BlockHash{crypto::sha256(encode(header)).view()}; }

crypto::Hash256 merkle_root_of(std::span<const WireId> wire_ids) {
    std::vector<crypto::Hash256> leaves;
    leaves.reserve(wire_ids.size());
    for (const WireId& wire_id : wire_ids) leaves.emplace_back(wire_id.view());
    return crypto::merkle_root(leaves);
}

crypto::Hash256 seal_root_of(const Seal& seal) {
    const auto proof = crypto::sha256(seal.proof);
    const auto attestations = crypto::sha256(seal.attestations);
    return crypto::sha256(proof.view(), attestations.view());
}

bool has_its_txs(const Block& block) {
    std::vector<WireId> ids;
    ids.reserve(block.txs.size());
    for (const Tx& tx : block.txs) ids.push_back(wire_id_of(tx));
    return merkle_root_of(ids) == block.header.merkle_root;
}

bool is_whole(const Block& block) { return has_its_txs(block) && seal_root_of(block.seal) == block.header.seal_root; }

}  // namespace rhizome::ledger
