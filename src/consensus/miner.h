// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/time.h"
#include "base/u256.h"
#include "crypto/hash.h"
#include "ledger/block.h"

namespace rhizome::consensus {

/// Looks for a nonce that makes a header meet its bits, a step at a time: no clock, no threads, nothing allocated.
///
/// Nonces are tried in order, and the same one is found whatever the sizes of the steps. Whoever mines keeps `nonce()`
/// from header to header (and over restarts): nodes that began alike then drift apart instead of trying the same
/// numbers for ever. Past 2^64 − 1 it goes on from 0; nobody tries them all: 30 million a second would take 19,000
/// years.
///
/// A header that waits long for its nonce should be replaced by one with a newer time, about once a second: it is
/// voted on by its time. `begin` costs two compressions.
///
/// Several cores: one miner each, with first nonces far apart. Each is confined to one thread at a time.
class Miner {
public:
    /// `header.bits` are set. Bits that no block may have (crypto/compact_target.h) are met by no nonce.
    Miner(const ledger::Header& header, std::uint64_t first_nonce);

    struct Progress {
        std::optional<std::uint64_t> found{};  ///< put it into the header: the block is ready to be signed
        std::uint64_t tried = 0;               ///< nonces in this step, the found one included
    };
    /// Tries at most `hashes_max` nonces. After a find it can go on behind it.
    Progress step(std::uint64_t hashes_max);

    /// The next nonce to try.
    [[nodiscard]] std::uint64_t nonce() const { return nonce_; }
    /// Goes on with another header from the present nonce.
    void begin(const ledger::Header& header);

private:
    static constexpr std::size_t kFrontBytes = 128;  ///< two whole blocks of SHA-256
    /// So many hashes are made at once: enough to spread the cost of a call, and 8 KiB stay in the first cache.
    static constexpr std::size_t kBatch = 256;

    crypto::Sha256Midstate midstate_;
    std::array<std::uint8_t, ledger::kHeaderBytes - kFrontBytes> tail_{};
    U256 target_{};  ///< zero where the bits are no target
    std::uint64_t nonce_;
    std::array<crypto::Hash256, kBatch> hashes_{};
};

/// The work that a header asks for, all at once on this core: for tools and tests. `header.bits` must be a target.
[[nodiscard]] std::uint64_t find_nonce(const ledger::Header& header, std::uint64_t first_nonce = 0);

/// How many hashes to try in each slice of time, for a miner that leaves the rest of a core to others: the thesis has
/// nodes give 20 %. The host sleeps for what is left of the slice and decides over how many cores this is done.
///
/// Integers only. What a slice falls short by is added to the next, so that many slices together give exactly the
/// share.
class MiningShare {
public:
    /// `percent` of a core that makes `hash_rate` hashes per second; 0 mines nothing, above 100 counts as 100.
    MiningShare(unsigned percent, std::uint64_t hash_rate);

    /// Hashes to try in the next `slice`; none for one that is not positive.
    std::uint64_t hashes_for(microseconds slice);
    /// What a step really took while it ran. The rate follows by an eighth of the difference each time, so that one
    /// step that was interrupted does not upset it. A time that is not positive says nothing.
    void measured(std::uint64_t hashes, microseconds took);

    [[nodiscard]] unsigned percent() const { return percent_; }
    [[nodiscard]] std::uint64_t hash_rate() const { return hash_rate_; }  ///< of the whole core

private:
    unsigned percent_;
    std::uint64_t hash_rate_;
    std::uint64_t carried_ = 0;  ///< hundred-millionths of a hash left from slices before
};

}  // namespace rhizome::consensus
