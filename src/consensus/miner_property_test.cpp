// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "consensus/miner.h"
#include "consensus/work.h"
#include "crypto/compact_target.h"

namespace rhizome::consensus {
namespace {

ledger::Header random_header(std::uint32_t bits) {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    const auto id = [&]<class T>(T& into) {
        std::array<std::uint8_t, 32> bytes;
        random.fill(bytes);
        into = T{bytes};
    };
    ledger::Header header{.time = Time::from_unix_millis(static_cast<std::int64_t>(random.below(1ull << 42))),
                          .height = ledger::Height{random.next()},
                          .consensus = ledger::ConsensusId::Work,
                          .bits = bits,
                          .nonce = random.next()};
    id(header.previous);
    id(header.merkle_root);
    id(header.state_root);
    id(header.seal_root);
    return header;
}

/// Up to about 4,000 hashes.
std::uint32_t random_bits() { return crypto::encode_compact(U256::power_of_two(*rc::gen::inRange(244u, 255u))); }

RC_GTEST_PROP(MinerProperty, FindsTheFirstNonceThatMeetsTheTarget, ()) {
    ledger::Header header = random_header(random_bits());
    const U256 target = crypto::decode_compact(header.bits).target;
    const std::uint64_t first = *rc::gen::arbitrary<bool>()
                                    ? *rc::gen::arbitrary<std::uint64_t>()
                                    : UINT64_MAX - *rc::gen::inRange<std::uint64_t>(0, 100);  // goes on from 0
    Miner miner{header, first};
    const auto progress = miner.step(100'000);
    RC_ASSERT(progress.found.has_value());
    RC_ASSERT(progress.tried == *progress.found - first + 1);
    for (std::uint64_t i = 0; i < progress.tried; ++i) {
        header.nonce = first + i;
        RC_ASSERT(meets(hash_of(header), target) == (i + 1 == progress.tried));
    }
}

RC_GTEST_PROP(MinerProperty, StepsOfAnySizesFindTheSame, ()) {
    const ledger::Header header = random_header(random_bits());
    const auto first = *rc::gen::arbitrary<std::uint64_t>();
    Miner whole{header, first};
    Miner stepped{header, first};
    for (int found = 0; found < 3; ++found) {
        const auto at_once = whole.step(UINT64_MAX);
        std::uint64_t tried = 0;
        Miner::Progress progress;
        while (!progress.found) {
            const auto size = *rc::gen::inRange<std::uint64_t>(1, 2'000);
            progress = stepped.step(size);
            tried += progress.tried;
            RC_ASSERT(progress.tried <= size);
            RC_ASSERT(progress.found || progress.tried == size);
        }
        RC_ASSERT(progress.found == at_once.found);
        RC_ASSERT(tried == at_once.tried);
        RC_ASSERT(stepped.nonce() == whole.nonce());
    }
}

RC_GTEST_PROP(MinerProperty, AnotherHeaderGoesOnFromTheLastNonce, ()) {
    const ledger::Header header = random_header(random_bits());
    const ledger::Header next = random_header(random_bits());
    Miner miner{header, *rc::gen::arbitrary<std::uint64_t>()};
    miner.step(*rc::gen::inRange<std::uint64_t>(0, 1'000));
    const auto nonce = miner.nonce();
    miner.begin(next);
    RC_ASSERT(miner.nonce() == nonce);
    RC_ASSERT(miner.step(100'000).found == (Miner{next, nonce}.step(100'000).found));
}

RC_GTEST_PROP(MinerProperty, SharesAddUpExactly, ()) {
    const auto percent = *rc::gen::inRange(0u, 101u);
    const auto rate = *rc::gen::inRange<std::uint64_t>(1, 1'000'000'000);
    MiningShare share{percent, rate};
    std::uint64_t hashes = 0, length = 0;
    for (int i = 0; i < 50; ++i) {
        const auto slice = *rc::gen::inRange<std::uint64_t>(0, 200'000);
        hashes += share.hashes_for(microseconds{static_cast<std::int64_t>(slice)});
        length += slice;
    }
    RC_ASSERT(U256{hashes} == multiply_divide(U256{rate * percent}, length, 100'000'000).value);
}

}  // namespace
}  // namespace rhizome::consensus
