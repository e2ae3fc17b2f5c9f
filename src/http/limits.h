// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace rhizome::http {

/// What a stranger may make us hold or wait for. Both sides of HTTP use the same bounds for what they read.
struct Limits {
    std::size_t target_bytes_max = 8 * 1024;      ///< method, target and version: else 414
    std::size_t head_bytes_max = 64 * 1024;       ///< all lines before the body: else 431
    std::size_t fields_max = 128;                 ///< header fields: else 431
    std::uint64_t body_bytes_max = 64ull << 20;   ///< else 413; a handler may ask for less
    std::uint64_t body_discard_max = 256 * 1024;  ///< of a body nobody read; beyond it the connection is closed
    milliseconds head_time{10'000};               ///< from its first byte to its last: else 408
    milliseconds body_gap{30'000};                ///< between two pieces of a body: else 408
    milliseconds body_time{600'000};              ///< for a whole body
    milliseconds write_gap{30'000};               ///< for the peer to take `kWritePiece` bytes
    milliseconds idle_time{120'000};              ///< between two requests
    milliseconds handshake_time{10'000};          ///< of TLS
    std::uint64_t requests_max = 100'000;         ///< on one connection
    std::size_t gzip_bytes_min = 128 * 1024;      ///< smaller bodies are not worth it (as kube-apiserver); 0: never
};

/// Writes are cut into such pieces, each with its own deadline, so that a long answer to a slow but living client goes
/// through.
constexpr std::size_t kWritePiece = 256 * 1024;

}  // namespace rhizome::http
