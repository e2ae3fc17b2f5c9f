// SPDX-License-Identifier: Apache-2.0
#include "consensus/miner.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/ensure.h"
#include "crypto/compact_target.h"
#include "ledger/codec.h"

namespace rhizome::consensus {
namespace {

/// A rate beyond this is a fault of whoever measured; with it no product below leaves 256 bits, nor a sum 64.
constexpr std::uint64_t kRateMax = UINT64_MAX / 16;
constexpr std::uint64_t kShareParts = 100 * 1'000'000;  // percent × microseconds of a second

}  // namespace

Miner::Miner(const ledger::Header& header, std::uint64_t first_nonce)
    : midstate_(ByteView{ledger::encode(header)}.first(kFrontBytes)), nonce_(first_nonce) {
    begin(header);
}

void Miner::begin(const ledger::Header& header) {
    const Bytes bytes = ledger::encode(header);
    ensure(bytes.size() == ledger::kHeaderBytes, "a header has one size");
    midstate_ = crypto::Sha256Midstate{ByteView{bytes}.first(kFrontBytes)};
    std::copy(bytes.begin() + kFrontBytes, bytes.end(), tail_.begin());
    const auto target = crypto::work_target(header.bits, U256::max());
    target_ = target ? *target : U256{};
}

Miner::Progress Miner::step(std::uint64_t hashes_max) {
    Progress progress;
    // The high bytes decide nearly always; a hash is turned into a number only where they do not.
    const std::uint64_t high = (target_ >> 192).low64();
    while (progress.tried < hashes_max) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, hashes_max - progress.tried));
        const std::span batch = std::span{hashes_}.first(count);
        midstate_.finish_nonces(tail_, nonce_, batch);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t first = 0;
            std::memcpy(&first, batch[i].view().data(), sizeof first);
            first = __builtin_bswap64(first);  // the hosts we build for are little-endian
            if (first > high || U256::from_big_endian(batch[i].view()) > target_) continue;
            progress.found = nonce_ + i;
            progress.tried += i + 1;
            nonce_ += i + 1;
            return progress;
        }
        progress.tried += count;
        nonce_ += count;
    }
    return progress;
}

std::uint64_t find_nonce(const ledger::Header& header, std::uint64_t first_nonce) {
    constexpr std::uint64_t kStep = 1u << 20;
    ensure(crypto::work_target(header.bits, U256::max()).has_value(), "the bits are a target");
    Miner miner{header, first_nonce};
    for (;;)
        if (const auto progress = miner.step(kStep); progress.found) return *progress.found;
}

MiningShare::MiningShare(unsigned percent, std::uint64_t hash_rate)
    : percent_(std::min(percent, 100u)), hash_rate_(std::min(hash_rate, kRateMax)) {}

std::uint64_t MiningShare::hashes_for(microseconds slice) {
    if (slice <= microseconds{0}) return 0;
    // A slice of years is none; an hour keeps the products small.
    const auto length = static_cast<std::uint64_t>(std::min<microseconds>(slice, hours{1}).count());
    const U256 parts = add(multiply(multiply(U256{hash_rate_}, percent_).value, length).value, U256{carried_}).value;
    const auto [hashes, rest] = divide(parts, U256{kShareParts});
    carried_ = rest.low64();
    return hashes > U256{UINT64_MAX} ? UINT64_MAX : hashes.low64();
}

void MiningShare::measured(std::uint64_t hashes, microseconds took) {
    if (took <= microseconds{0}) return;
    const U256 rate = multiply_divide(U256{hashes}, 1'000'000, static_cast<std::uint64_t>(took.count())).value;
    const std::uint64_t now = rate > U256{kRateMax} ? kRateMax : rate.low64();
    hash_rate_ = (hash_rate_ * 7 + now) / 8;
}

}  // namespace rhizome::consensus
