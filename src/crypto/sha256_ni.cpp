// SPDX-License-Identifier: Apache-2.0
// SHA-256 on the SHA instructions of x86. Compiled with -msse4.1 -msha and nothing newer: SHA instructions have no VEX
// form, so with AVX enabled the compiler mixes VEX and legacy encodings, and a processor may charge dearly for every
// change between them (docs/spec/dependencies.md: 200 times slower; on others it makes no difference). Calls no inline
// function from elsewhere, because the copy compiled here could be the one the linker keeps, and would then run on
// processors without these instructions.
#include "crypto/detail/sha256_engine.h"

#if defined(__SHA__) && defined(__SSE4_1__)

#include <immintrin.h>

#include <utility>

namespace rhizome::crypto::detail {
namespace {

#define RHIZOME_INLINE [[gnu::always_inline]] static inline

alignas(16) constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// The working variables in the order the instructions want them.
struct State {
    __m128i abef, cdgh;
};

RHIZOME_INLINE __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
RHIZOME_INLINE void store(void* to, __m128i words) { _mm_storeu_si128(static_cast<__m128i*>(to), words); }

RHIZOME_INLINE State load_state(const std::uint32_t* words) {
    const __m128i cdab = _mm_shuffle_epi32(load(words), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(load(words + 4), 0x1b);
    return {_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0)};
}

RHIZOME_INLINE void store_state(std::uint32_t* words, State state) {
    const __m128i feba = _mm_shuffle_epi32(state.abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(state.cdgh, 0xb1);
    store(words, _mm_blend_epi16(feba, dchg, 0xf0));
    store(words + 4, _mm_alignr_epi8(dchg, feba, 8));
}

/// Rounds 4·Step … 4·Step + 3 of every lane. Quarters of the message schedule live in a ring of four; each step runs
/// its rounds with one and prepares another. The lanes' instructions alternate, so that one lane's rounds fill the
/// time the other's wait for their results.
template <unsigned Step, unsigned Lanes>
RHIZOME_INLINE void step(State (&state)[Lanes], __m128i (&ring)[Lanes][4]) {
    constexpr unsigned now = Step % 4, next = (Step + 1) % 4, last = (Step + 3) % 4;
    const __m128i constants = _mm_load_si128(reinterpret_cast<const __m128i*>(kRound + 4 * Step));
    __m128i words[Lanes];
    for (unsigned i = 0; i < Lanes; ++i) words[i] = _mm_add_epi32(ring[i][now], constants);
    for (unsigned i = 0; i < Lanes; ++i) {
        state[i].cdgh = _mm_sha256rnds2_epu32(state[i].cdgh, state[i].abef, words[i]);
    }
    if constexpr (Step >= 3 && Step < 15) {
        for (unsigned i = 0; i < Lanes; ++i) {
            const __m128i middle = _mm_alignr_epi8(ring[i][now], ring[i][last], 4);
            ring[i][next] = _mm_sha256msg2_epu32(_mm_add_epi32(ring[i][next], middle), ring[i][now]);
        }
    }
    for (unsigned i = 0; i < Lanes; ++i) {
        state[i].abef = _mm_sha256rnds2_epu32(state[i].abef, state[i].cdgh, _mm_shuffle_epi32(words[i], 0x0e));
    }
    if constexpr (Step >= 1 && Step < 13) {
        for (unsigned i = 0; i < Lanes; ++i) ring[i][last] = _mm_sha256msg1_epu32(ring[i][last], ring[i][now]);
    }
}

template <unsigned Lanes, unsigned... Steps>
RHIZOME_INLINE void all_steps(State (&state)[Lanes], __m128i (&ring)[Lanes][4],
                              std::integer_sequence<unsigned, Steps...>) {
    (step<Steps>(state, ring), ...);
}

template <unsigned Lanes>
RHIZOME_INLINE void compress_lanes(std::uint32_t* const (&states)[Lanes], const std::uint8_t* const (&data)[Lanes],
                                   std::size_t blocks) {
    const __m128i swap_bytes = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    State state[Lanes];
    for (unsigned i = 0; i < Lanes; ++i) state[i] = load_state(states[i]);
    for (std::size_t block = 0; block < blocks; ++block) {
        State before[Lanes];
        __m128i ring[Lanes][4];
        for (unsigned i = 0; i < Lanes; ++i) {
            before[i] = state[i];
            const std::uint8_t* from = data[i] + 64 * block;
            ring[i][0] = _mm_shuffle_epi8(load(from), swap_bytes);
            ring[i][1] = _mm_shuffle_epi8(load(from + 16), swap_bytes);
            ring[i][2] = _mm_shuffle_epi8(load(from + 32), swap_bytes);
            ring[i][3] = _mm_shuffle_epi8(load(from + 48), swap_bytes);
        }
        all_steps(state, ring, std::make_integer_sequence<unsigned, 16>{});
        for (unsigned i = 0; i < Lanes; ++i) {
            state[i].abef = _mm_add_epi32(state[i].abef, before[i].abef);
            state[i].cdgh = _mm_add_epi32(state[i].cdgh, before[i].cdgh);
        }
    }
    for (unsigned i = 0; i < Lanes; ++i) store_state(states[i], state[i]);
}

void compress(std::uint32_t* state, const std::uint8_t* data, std::size_t blocks) {
    compress_lanes<1>({state}, {data}, blocks);
}

void compress_two(std::uint32_t* state_a, const std::uint8_t* data_a, std::uint32_t* state_b,
                  const std::uint8_t* data_b, std::size_t blocks) {
    compress_lanes<2>({state_a, state_b}, {data_a, data_b}, blocks);
}

constexpr Sha256Engine kEngine{"sha-ni", compress, compress_two};

}  // namespace

const Sha256Engine* sha_ni_engine_of_build() { return &kEngine; }

}  // namespace rhizome::crypto::detail

#else

namespace rhizome::crypto::detail {

const Sha256Engine* sha_ni_engine_of_build() { return nullptr; }

}  // namespace rhizome::crypto::detail

#endif
