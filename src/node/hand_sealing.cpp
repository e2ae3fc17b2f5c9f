// SPDX-License-Identifier: Apache-2.0
#include "node/hand_sealing.h"

#include <algorithm>

#include "consensus/miner.h"

namespace rhizome::node {

Result<HandSealing, ledger::Reject> prepare_by_hand(const ledger::LedgerState& parent,
                                                    const ledger::Header& parent_header, Time now,
                                                    const consensus::Judge& judge, const consensus::Signer& signer) {
    const auto electorate = consensus::Electorate::of(parent.view(), parent.parameters());
    const consensus::Engine* engine = consensus::engine_of(parent.parameters().consensus);
    if (engine == nullptr)
        return ledger::reject(ledger::RejectCode::BadSeal, "this program does not know the chain's engine");
    const auto wait = engine->earliest({parent, parent_header, electorate, signer.key(), now});
    if (!wait)
        return ledger::reject(ledger::RejectCode::NotYourTurn, "the proposer is no member, or is under evidence");
    HandSealing hand;
    // Blocks have whole milliseconds.
    const Time earliest = parent_header.time + std::max(milliseconds{1}, *wait);
    hand.next = {.parent = hash_of(parent_header),
                 .height = parent_header.height + 1,
                 .time = std::max(earliest, Time::from_unix_millis(now.unix_millis())),
                 .parent_time = parent_header.time};
    TRY(hand.sealing, judge.prepare(parent, parent_header, hand.next.time, {}, signer));
    return hand;
}

ledger::Block seal_by_hand(ledger::BlockDraft draft, const HandSealing& hand, const consensus::Signer& signer,
                           std::uint64_t first_nonce) {
    ledger::Block block = consensus::assemble(std::move(draft), hand.sealing);
    if (block.header.bits != 0) block.header.nonce = consensus::find_nonce(block.header, first_nonce);
    consensus::sign(block, signer);
    return block;
}

}  // namespace rhizome::node
