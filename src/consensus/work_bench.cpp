// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>

#include "base/random.h"
#include "consensus/miner.h"
#include "ledger/codec.h"
#include "support/bench.h"

namespace rhizome::consensus {
namespace {

/// Bits that nothing will ever meet, so that every hash asked for is made.
const ledger::Header kHeader{.height = ledger::Height{1}, .consensus = ledger::ConsensusId::Work, .bits = 0x03000001};

// In steps as a host does them: a few milliseconds each.
void mine(std::uint64_t times) {
    Miner miner{kHeader, 0};
    while (times > 0) {
        const auto progress = miner.step(std::min<std::uint64_t>(times, 50'000));
        bench::keep(progress);
        times -= progress.tried;
    }
}

// Bare hashing as in the benchmark crypto.header_hash_midstate: nobody looks at the hashes.
void bare(std::uint64_t times) {
    const Bytes header = ledger::encode(kHeader);
    std::array<crypto::Hash256, 256> hashes;
    for (std::uint64_t nonce = 0; nonce < times;) {
        const std::size_t batch = std::min<std::uint64_t>(hashes.size(), times - nonce);
        const crypto::Sha256Midstate midstate{ByteView{header}.first(128)};
        midstate.finish_nonces(ByteView{header}.subspan(128), nonce, std::span{hashes}.first(batch));
        bench::keep(hashes);
        nonce += batch;
    }
}

const bool registered = bench::add({"consensus.mine_1_core", "hashes", mine, bare, 0.85});

}  // namespace
}  // namespace rhizome::consensus
