// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <bit>

#include "base/ensure.h"

namespace rhizome {
namespace {

__extension__ using Wide = unsigned __int128;

/// SplitMix64: spreads a seed of few bits over the whole state, as xoshiro's authors advise.
std::uint64_t split_mix(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) {
    for (auto& word : state_) word = split_mix(seed);
}

std::uint64_t Random::next() {
    const std::uint64_t out = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return out;
}

std::uint64_t Random::below(std::uint64_t bound) {
    ensure(bound > 0, "a random number needs a range to fall in");
    // Lemire's method: the high half of a product is uniform once the few low halves that would favour some are
    // redrawn.
    Wide product = Wide{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
        const std::uint64_t unfair = -bound % bound;
        while (static_cast<std::uint64_t>(product) < unfair) product = Wide{next()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
    ensure(low <= high, "a random range has its ends in order");
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t offset = span == UINT64_MAX ? next() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

bool Random::chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }

void Random::fill(std::span<std::uint8_t> out) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i % 8 == 0) word = next();
        out[i] = static_cast<std::uint8_t>(word >> (i % 8 * 8));
    }
}

Random Random::fork(std::string_view purpose) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a: purposes are a few words of ours, nobody attacks them
    for (const char c : purpose) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
    return Random{hash ^ next()};
}

}  // namespace rhizome
