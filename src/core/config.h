// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "ledger/pending_pool.h"

namespace rhizome::core {

/// What a node may choose for itself. Bounds are per node unless they say otherwise.
struct Config {
    ledger::PoolLimits pool{};
    /// A clock that is so far past the newest block is taken for wrong until a member's clock says the same, or the
    /// operator does (`trust_clock`): one block from the year 2036 would be the last for ten years.
    std::chrono::hours clock_leap_max{24 * 365};
    bool trust_clock = false;
    milliseconds status_every{1'000};
    /// Votes are collected for so long before they go on: with many members most arrive at the same moment.
    milliseconds relay_delay{5};
    /// Up to so many votes of an epoch are passed on as they are; of more only their names, and who lacks some asks.
    /// That is less to send and three times the way: with hundreds of members and slow links the votes of one epoch
    /// must all be there before those of the next are signed, so it is for fast networks only.
    std::size_t push_votes_max = 4'096;
    /// A vote that somebody promised to send is asked of another after so long.
    milliseconds vote_timeout{500};
    /// A transaction of this node's own clients that no block has taken is told again after so long.
    milliseconds announce_again{3'000};
    /// A header that nobody has found a nonce for is replaced by one with a newer time, since votes go by it; and
    /// sooner when there is something new to put in.
    milliseconds restamp_every{1'000};
    milliseconds refill_every{100};
    /// A question that a peer has not answered is asked again, of another.
    milliseconds answer_timeout{2'000};
    /// Blocks handled in one step of a long move from branch to branch.
    std::size_t blocks_per_slice = 32;
    std::size_t orphans_max = 128;       ///< blocks whose parents are not here yet
    std::size_t future_max = 32;         ///< blocks ahead of the clock
    std::size_t parked_max = 1'024;      ///< messages whose signatures are being checked
    std::size_t verify_alone_max = 8;    ///< signatures checked at once instead of by the host
    std::size_t answer_blocks_max = 64;  ///< in one answer
    std::size_t answer_bytes_max = 4u << 20;
    std::size_t message_votes_max = 4'096;
    std::size_t message_txs_max = 1'024;
    std::size_t known_max = 8'192;         ///< things remembered to be known to one peer
    std::size_t recent_bytes = 16u << 20;  ///< of blocks at hand: four full ones, or all of a quiet hour
    std::size_t recent_changes = 256;      ///< what so many of the last blocks changed
    std::size_t headers_kept = 20'000;     ///< below the newest final block
    std::size_t tips_max = 256;            ///< branches followed at the same time
};

}  // namespace rhizome::core
