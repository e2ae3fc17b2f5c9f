// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "crypto/merkle.h"
#include "ledger/block.h"
#include "ledger/json_form.h"
#include "state/proof.h"

/// Small JSON files that one hands to somebody without the chain: docs/spec/chain.md section 4. All are worth as much
/// as the block hash they lead to, which the reader compares with one that he trusts (an anchor, another machine).
namespace rhizome::ledger {

inline constexpr std::size_t kProofFileBytesMax = kTxJsonBytesMax;

/// Where a chain stood once. Kept elsewhere, it shows whether history was rewritten since.
///
///     {"kind":"rhizome-anchor","version":1,"chainId","height","block","stateRoot","historyRoot"}
struct Anchor {
    ChainId chain{};
    Height height{};
    BlockHash block{};
    crypto::Hash256 state_root{};
    crypto::Hash256 history_root{};  ///< over the hashes of all blocks before this one
    friend bool operator==(const Anchor&, const Anchor&) = default;
};
json::Object to_json(const Anchor& anchor);
Result<Anchor> anchor_from_json(std::string_view text);

/// That a block holds a transaction.
///
///     {"kind":"rhizome-tx-proof","version":1,"chainId","block","header","txid","wireId","index","count","path":[…],
///      "transaction":{…},"about":{…}}
struct TxProof {
    ChainId chain{};  ///< as its maker says; not shown by the proof
    Header header{};
    Tx tx{};
    crypto::MerkleProof path{};
    friend bool operator==(const TxProof&, const TxProof&) = default;
};
json::Object to_json(const TxProof& proof);
/// Form only; ids that stand in the file must be those of what stands beside them.
Result<TxProof> tx_proof_from_json(std::string_view text);
/// Whether the path leads from the transaction to the header's Merkle root. Corrupt when it does not.
Result<void> check(const TxProof& proof);

/// What the state after a block has at a path, or that it has nothing there.
///
///     {"kind":"rhizome-state-proof","version":1,"chainId","block","header","path","proof","script","document"|"bytes",
///      "about":{…}}
struct StateProof {
    ChainId chain{};  ///< as its maker says; not shown by the proof
    Header header{};
    state::Path path = state::Path::cluster();
    state::Proof proof{};
    /// What stands there, when something does and its maker sent it along.
    struct Content {
        bool written = false;    ///< a document with its script; else a record's bytes
        Bytes script{};          ///< of a document
        std::string document{};  ///< or the bytes of a record
        friend bool operator==(const Content&, const Content&) = default;
    };
    std::optional<Content> content{};
    friend bool operator==(const StateProof&, const StateProof&) = default;
};
json::Object to_json(const StateProof& proof);
Result<StateProof> state_proof_from_json(std::string_view text);
/// What the proof shows of its path in the state of its header. Corrupt when it shows nothing, or the content that came
/// with it is another.
Result<state::Finding> check(const StateProof& proof);

}  // namespace rhizome::ledger
