// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "crypto/hash.h"
#include "ledger/block.h"
#include "ledger/resource.h"
#include "ledger/tx.h"

namespace rhizome::ledger {

/// A transaction with all that can be known of it without a chain: its ids, what each output names, and the parts of
/// the signature digest that its inputs share. Made once, then passed around by pointer: pool, blocks and caches hold
/// the same one.
struct CheckedTx {
    Tx tx{};
    TxId id{};
    WireId wire_id{};
    std::size_t bytes = 0;
    std::vector<NamedOutput> outputs{};  ///< as many as `tx.outputs`
    crypto::Hash256 outpoints_hash{};
    crypto::Hash256 sequences_hash{};
    crypto::Hash256 outputs_hash{};
};
using SharedTx = std::shared_ptr<const CheckedTx>;

/// Everything about `tx` that needs no chain: sizes, push-only minimal unlocking scripts, no input twice, strict JSON,
/// identities, no two outputs for one resource. Also refuses the null outpoint outside genesis (`allow_genesis`).
Result<SharedTx, Reject> check_tx(Tx tx, bool allow_genesis = false);
/// `tx` with other unlocking scripts, one for each input: what `check_tx` says of it then. Neither what its outputs
/// name nor what its signatures sign depends on them, so nothing of that is looked at again.
Result<SharedTx, Reject> with_unlocking(const CheckedTx& tx, std::vector<Bytes> scripts);

crypto::Hash256 merkle_root_of_txs(std::span<const SharedTx> txs);
/// Whether these are the transactions that the header names, and the seal its seal: `is_whole` (`ledger/block.h`)
/// without hashing them again.
bool is_whole(const Block& block, std::span<const SharedTx> txs);

/// `check_tx` of many, in pieces. Borrows them.
class CheckWork {
public:
    explicit CheckWork(std::span<const Tx> txs) : txs_(txs), checked_(txs.size(), SharedTx{}) {}

    [[nodiscard]] std::size_t size() const { return txs_.size(); }
    /// Checks those of [begin, end). Several threads may do so at once, for ranges that do not overlap.
    void check(std::size_t begin, std::size_t end);
    /// All of them when all are good, or what is wrong with the first that is not. Once, when all were checked.
    Result<std::vector<SharedTx>, Reject> finish() &&;

private:
    std::span<const Tx> txs_;
    std::vector<Result<SharedTx, Reject>> checked_;
};

/// What an input's role adds to its digest: a consumed input binds the document it replaces, an authority binds none.
struct SpentValue {
    crypto::Hash256 hash;
    static SpentValue of_document(const crypto::Hash256& document_hash) { return {document_hash}; }
    static SpentValue of_authority();  ///< H of zero bytes
};

inline constexpr std::uint8_t kHashTypeAll = 1;

/// What a signature of input `index` signs: docs/spec/chain.md section 1.
crypto::Hash256 signature_digest(const CheckedTx& tx, const ChainId& chain, std::size_t index, ByteView script_code,
                                 const SpentValue& spent);

}  // namespace rhizome::ledger
