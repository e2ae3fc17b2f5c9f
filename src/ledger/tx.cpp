// SPDX-License-Identifier: Apache-2.0
#include "ledger/tx.h"

#include "base/codec.h"
#include "ledger/codec.h"

namespace rhizome::ledger {
namespace {

/// The bytes that the id covers: as `encode`, with every unlocking script left out.
Bytes encode_for_id(const Tx& tx) {
    Tx bare = tx;
    for (Input& input : bare.inputs) input.unlocking.clear();
    return encode(bare);
}

}  // namespace

TxId id_of(const Tx& tx) { return crypto::sha256(encode_for_id(tx)); }

WireId wire_id_of(const Tx& tx) { return WireId{crypto::sha256(encode(tx)).view()}; }

bool is_genesis(const Tx& tx) {
    return tx.inputs.size() == 1 && tx.inputs[0].previous.change.is_zero() &&
           tx.inputs[0].previous.index == kGenesisIndex;
}

}  // namespace rhizome::ledger
