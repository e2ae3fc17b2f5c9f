// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "stream/address.h"
#include "stream/strand.h"
#include "stream/timers.h"

namespace rhizome::stream {

class TlsSession;  // stream/tls.h

/// Bytes both ways, in order: TCP, a local socket, TLS on top of another stream, or a pipe in memory.
///
/// Confined to its strand. At most one read (`readable` or `read_some`) and one write (`write` or `shutdown`) wait at
/// the same time. A stream outlives what waits on it: `close` makes everything end soon.
///
/// A deadline fails what waits at that moment and what is begun later, until it is moved; it breaks nothing. After a
/// failed read one may still write (to say why) and the other way round. Failures are `Unavailable`: deadline passed,
/// peer gone, closed here.
class Stream {
public:
    virtual ~Stream() = default;

    /// Waits until a read would find something: bytes, or the end. Holds no buffer meanwhile, which is what keeps idle
    /// connections small. May come too early; then `read_some` waits on.
    virtual Task<Result<void>> readable() = 0;
    /// At least one byte, at most what fits; 0 when the peer has ended its side in order.
    virtual Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) = 0;
    /// All bytes of all parts. When it fails, some may have been sent.
    virtual Task<Result<void>> write(std::span<const ByteView> parts) = 0;
    /// Ends our side; the peer reads the end, we may still read.
    virtual Task<Result<void>> shutdown() = 0;
    /// Ends both sides at once. Waiting reads and writes fail soon. Twice is once.
    virtual void close() = 0;

    virtual void set_read_deadline(Deadline deadline) = 0;
    virtual void set_write_deadline(Deadline deadline) = 0;

    [[nodiscard]] virtual const Address& peer() const = 0;
    [[nodiscard]] virtual const Strand& strand() const = 0;
    /// What TLS knows of the peer; none on a plain stream. Good as long as the stream.
    [[nodiscard]] virtual const TlsSession* tls() const { return nullptr; }
};

/// One piece.
inline Task<Result<void>> write_all(Stream& stream, ByteView bytes) {
    co_return co_await stream.write(std::span{&bytes, 1});
}

/// Exactly as many bytes as `into` has; `Unavailable` when the peer ends before.
Task<Result<void>> read_exactly(Stream& stream, std::span<std::uint8_t> into);

}  // namespace rhizome::stream
