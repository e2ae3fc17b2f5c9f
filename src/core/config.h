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
    milliseconds praise_every{1'000};  ///< more often nobody need hear that a peer is of use
    /// Votes are collected for so long before they go on: with many members most arrive at the same moment.
    milliseconds relay_delay{5};
    /// From so many voters on votes are collected for longer and go along the tree by which the block they are for
    /// came.
    std::size_t tree_from = 65;
    milliseconds tree_delay{30};
    milliseconds tree_patience{400};  ///< where that brings no quorum's votes in so long they go everywhere,
    milliseconds tree_rest{4'000};    ///< and those that a neighbour still lacks by then in any case
    std::size_t late_peers = 2;       ///< as many neighbours at a time
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
    std::size_t message_txs_bytes = 1u << 20;  ///< so much of transactions goes together; a larger one goes alone
    /// A peer that is so many blocks ahead is followed headers first; what is less comes whole, in one answer.
    std::size_t catch_up_from = 64;
    std::size_t answer_headers_max = 512;
    std::size_t answer_headers_bytes = 1u << 20;
    /// Headers whose bodies are not here yet: all that a liar can make a node keep of a chain that is not.
    std::size_t headers_ahead_max = 2'048;
    std::size_t bodies_ahead_max = 1'024;        ///< blocks asked for or waiting for their turn
    std::size_t bodies_ahead_bytes = 32u << 20;  ///< of those that wait; then only the next one is asked for
    std::size_t ask_bodies_max = 128;            ///< in one question
    std::size_t ask_bodies_bytes = 1u << 20;     ///< in one answer, as far as can be guessed
    std::size_t asks_per_peer = 2;               ///< open at the same time
    milliseconds body_timeout{5'000};            ///< then another peer is asked
    milliseconds false_guide_first{10'000};      ///< whoever led nowhere is not followed for so long,
    milliseconds false_guide_most{600'000};      ///< twice as long each time, up to this
    std::size_t state_asks_per_peer = 4;         ///< parts of a state asked of one peer at the same time,
    std::size_t state_asks_max = 16;             ///< and of all
    milliseconds state_timeout{15'000};          ///< then another peer is asked: a part of 1 MiB over 1 Mbit/s
    std::size_t states_open_per_peer = 8;        ///< looked up for one peer at the same time; more is not answered,
    std::size_t states_open_max = 16;            ///< and for all: 16 MiB at most, mostly 1 MiB
    std::size_t recent_txs_bytes = 16u << 20;    ///< transactions at hand by wire id
    /// Blocks with fewer transactions go whole: short ids would save less than a lost round trip costs.
    std::size_t compact_txs_min = 4;
    std::size_t compact_open_max = 16;     ///< blocks of which some transactions are on their way
    std::size_t known_max = 8'192;         ///< things remembered to be known to one peer
    std::size_t recent_bytes = 16u << 20;  ///< of blocks at hand: four full ones, or all of a quiet hour
    std::size_t recent_changes = 256;      ///< what so many of the last blocks changed
    std::size_t headers_kept = 20'000;     ///< below the newest final block
    /// As many more come back from the disk for a branch that leaves the chain below those: 60 MB at most.
    std::size_t headers_deepened_max = 200'000;
    milliseconds state_again{600'000};  ///< an old state that could not be had is asked for again after so long
    std::size_t tips_max = 256;         ///< branches followed at the same time
};

}  // namespace rhizome::core
