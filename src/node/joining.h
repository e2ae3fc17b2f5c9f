// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/time.h"
#include "crypto/derive.h"
#include "ledger/apply.h"
#include "ledger/check.h"
#include "node/machine.h"
#include "stream/tcp.h"

/// How a machine becomes a member of a cluster that exists: with a ticket from its owner (docs/spec/chain.md section 2,
/// JoinToken).
namespace rhizome::node {

/// What a new machine is told: which chain, a block on it that it may believe, and the staging key that opens a
/// JoinToken there. Whoever has it can make one machine a member, until the token is used, expires or is revoked.
struct JoinTicket {
    ledger::ChainId chain{};
    ledger::Height height{};    ///< of a final block,
    ledger::BlockHash block{};  ///< this one
    std::string name{};         ///< of the JoinToken
    SecretArray<32> staging{};  ///< secret of the staging key

    /// `rz1-` and hexadecimal digits, with a checksum: it is copied by hand.
    [[nodiscard]] std::string text() const;
    /// Invalid when it is none, or a letter of it was lost.
    static Result<JoinTicket> parse(std::string_view text);
    [[nodiscard]] crypto::SecretKey key() const;
};

/// The lock of a JoinToken that this key opens.
Bytes staging_lock(const crypto::PublicKey& staging);
std::string join_token_document(std::string_view name, std::uint64_t count, Time expires);

/// The transaction that makes the machine with these keys a member: writes its Node, under its own lock and those
/// above, and uses the token up by one. NotFound when the token is not in the state: used, revoked, or not known there
/// yet.
Result<ledger::SharedTx> make_join_tx(const JoinTicket& ticket, const std::string& node, const crypto::NodeKeys& keys,
                                      const NodeTraits& traits, const state::StateView& view);

/// Asks a node for the first block of its chain. Denied when it is on another chain, NotFound when it does not have its
/// first blocks, Unavailable when it does not answer in time.
Result<ledger::Block> fetch_genesis(stream::IoContext& io, const stream::Address& address, const crypto::NodeKeys& keys,
                                    const ledger::ChainId& chain, milliseconds most);

}  // namespace rhizome::node
