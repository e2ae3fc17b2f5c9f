// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "ledger/tx.h"

/// A transaction as JSON that people read and write: docs/spec/chain.md section 1. Scripts are assembly; a draft that
/// nobody signed yet is the same form with empty unlocking scripts.
///
/// A document is part of what is signed, so its bytes stand in the form as they are and are taken out as they stand:
/// another indentation of the same document is another document. A value that is not one JSON object (no honest
/// transaction has one) is kept as `valueBytes` in hexadecimal, so that every transaction has a form.
namespace rhizome::ledger {

/// A byte of script takes at most 23 letters (`OP_CHECKLOCKTIMEVERIFY `), and there are 4 MiB of them: 92 MiB, and room
/// for the frames of 20,000 inputs and outputs.
inline constexpr std::size_t kTxJsonBytesMax = 128u << 20;

/// `{"version","txid","vin":[{"txid","vout","scriptSig","sequence"}],"vout":[{"value","scriptPubKey"}],
/// "locktime","expiry"}`.
json::Object to_json(const Tx& tx);

/// The transaction that `text` is. Errors name the member: `vin[1].sequence: …`. `txid` may be left out, else it must
/// be right; a member `about` is for people and not looked at; others are refused, so that no misspelt one is lost.
///
/// Form and limits only, as with `decode_tx`: that a document names a resource is `check_tx`'s business.
Result<Tx> tx_from_json(std::string_view text);

}  // namespace rhizome::ledger
