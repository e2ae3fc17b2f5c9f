// SPDX-License-Identifier: Apache-2.0
#include "crypto/detail/sha256_engine.h"

#include <atomic>
#include <cstring>

#define OPENSSL_SUPPRESS_DEPRECATED  // the successors hide the compression function and cost seven times as much a call
#include <openssl/sha.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace rhizome::crypto::detail {
namespace {

void compress(std::uint32_t* state, const std::uint8_t* data, std::size_t blocks) {
    SHA256_CTX context{};
    static_assert(sizeof context.h == 32);
    std::memcpy(context.h, state, sizeof context.h);
    for (std::size_t block = 0; block < blocks; ++block) SHA256_Transform(&context, data + 64 * block);
    std::memcpy(state, context.h, sizeof context.h);
}

void compress_two(std::uint32_t* state_a, const std::uint8_t* data_a, std::uint32_t* state_b,
                  const std::uint8_t* data_b, std::size_t blocks) {
    compress(state_a, data_a, blocks);
    compress(state_b, data_b, blocks);
}

constexpr Sha256Engine kOpenSsl{"openssl", compress, compress_two};

/// gcc 12's __builtin_cpu_supports does not know "sha", so the processor is asked itself.
bool processor_has_sha() {
#if defined(__x86_64__) || defined(__i386__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
    if ((ecx & bit_SSSE3) == 0 || (ecx & bit_SSE4_1) == 0) return false;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
    return (ebx & (1u << 29)) != 0;  // leaf 7, EBX bit 29: SHA
#else
    return false;
#endif
}

/// Null until the first use. Set without a lock: whoever comes second finds the same answer.
constinit std::atomic<const Sha256Engine*> in_use{nullptr};

const Sha256Engine& choose() {
    const Sha256Engine* fast = sha_ni_engine();
    const Sha256Engine* chosen = fast != nullptr ? fast : &kOpenSsl;
    in_use.store(chosen, std::memory_order_relaxed);
    return *chosen;
}

}  // namespace

const Sha256Engine& openssl_engine() { return kOpenSsl; }

const Sha256Engine* sha_ni_engine() { return processor_has_sha() ? sha_ni_engine_of_build() : nullptr; }

const Sha256Engine& engine() {
    // Engines are constants, so seeing the pointer is enough: no ordering needed.
    const Sha256Engine* known = in_use.load(std::memory_order_relaxed);
    return known != nullptr ? *known : choose();
}

EngineForTest::EngineForTest(const Sha256Engine& chosen) : before_(&engine()) { in_use.store(&chosen); }
EngineForTest::~EngineForTest() { in_use.store(before_); }

}  // namespace rhizome::crypto::detail
