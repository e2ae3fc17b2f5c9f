// SPDX-License-Identifier: Apache-2.0
#include "ledger/tx.h"

#include "base/codec.h"
#include "ledger/codec.h"

namespace rhizome::ledger {

TxId id_of(const Tx& tx) {
    Writer out{encoded_size(tx)};
    encode_bare_front_to(out, tx);
    encode_back_to(out, tx);
    return crypto::sha256(out.view());
}

WireId wire_id_of(const Tx& tx) { return WireId{crypto::sha256(encode(tx)).view()}; }

bool is_genesis(const Tx& tx) {
    return tx.inputs.size() == 1 && tx.inputs[0].previous.change.is_zero() &&
           tx.inputs[0].previous.index == kGenesisIndex;
}

}  // namespace rhizome::ledger
