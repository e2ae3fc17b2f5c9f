// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// SHA-256's compression function and who computes it. Private to crypto and its tests.
///
/// This header is included by a file compiled for processors with SHA instructions, so it holds declarations only: an
/// inline function compiled there could be the copy the linker keeps for everybody.
namespace rhizome::crypto::detail {

/// State words in host order, blocks of 64 bytes. Pointers need no alignment.
struct Sha256Engine {
    const char* name;
    /// Absorbs `blocks` blocks.
    void (*compress)(std::uint32_t* state, const std::uint8_t* data, std::size_t blocks);
    /// Absorbs `blocks` blocks into each of two states, side by side.
    void (*compress_two)(std::uint32_t* state_a, const std::uint8_t* data_a, std::uint32_t* state_b,
                         const std::uint8_t* data_b, std::size_t blocks);
};

/// OpenSSL's, which runs everywhere.
const Sha256Engine& openssl_engine();

/// The one on SHA instructions; null when this build or this processor has none.
const Sha256Engine* sha_ni_engine();
/// The same without asking the processor (sha256_ni.cpp); null when the build has none.
const Sha256Engine* sha_ni_engine_of_build();

/// The one in use: the fastest this processor has.
const Sha256Engine& engine();

/// For tests and benchmarks, before they start threads: uses `chosen` until it goes. The hashes are the same with any.
class EngineForTest {
public:
    explicit EngineForTest(const Sha256Engine& chosen);
    ~EngineForTest();
    EngineForTest(const EngineForTest&) = delete;
    EngineForTest& operator=(const EngineForTest&) = delete;

private:
    const Sha256Engine* before_;
};

}  // namespace rhizome::crypto::detail
