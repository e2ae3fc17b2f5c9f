// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "http/message.h"
#include "stream/stream.h"

namespace rhizome::http {

using stream::Task;

/// Why a long answer should end.
enum class Ending : unsigned char {
    ClientLeft,  ///< nobody reads any more
    Draining,    ///< the server stops; what ends in order now is heard by the client
};
std::string_view name(Ending ending);

/// One request and its answer, whatever version of HTTP carries them. Lives on its connection's strand, as long as the
/// handler runs.
///
/// A handler answers once: `respond`, or `start`, `write`…, `finish`, or `upgrade`. One that answers nothing has a 500
/// sent for it; one that leaves a started answer unfinished has its connection cut, so that the client sees it.
class Exchange {
public:
    virtual ~Exchange() = default;

    [[nodiscard]] virtual const Request& request() const = 0;
    [[nodiscard]] virtual const stream::Address& peer() const = 0;
    /// With the client's certificate; none without TLS.
    [[nodiscard]] virtual const stream::TlsSession* tls() const = 0;
    [[nodiscard]] virtual const stream::Strand& strand() const = 0;

    /// The next bytes of the request's body, 0 at its end. A client that waits for `100 Continue` is told to go on by
    /// the first call. `Exhausted` beyond the limit, `Invalid` when the body is malformed, `Unavailable` when it does
    /// not come: `respond_error` turns these into the right status.
    virtual Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) = 0;
    /// All of it; `Exhausted` beyond `bytes_max`.
    Task<Result<std::string>> read_body(std::size_t bytes_max);

    /// A whole answer. Compressed when it is large and the client asked for it. A response to HEAD is sent without its
    /// body, with the length it would have.
    virtual Task<Result<void>> respond(Response response) = 0;
    /// The first lines of an answer whose length is not known; its `body` is sent with them.
    virtual Task<Result<void>> start(Response head) = 0;
    /// A piece. Returns when the connection has taken it, which is the back pressure; fails once the client is gone.
    virtual Task<Result<void>> write(ByteView bytes) = 0;
    virtual Task<Result<void>> finish() = 0;

    /// A refusal in the client's taste, see `error_response`.
    Task<Result<void>> respond_error(unsigned status, std::string_view message);
    Task<Result<void>> respond_error(Error error);

    /// Calls `call` on this strand when the answer should end before it is complete; at once if that is known already.
    /// From now on the connection is watched for a client that leaves, provided that the body has been read. Replaces
    /// the call given before; dropped when the handler ends.
    virtual void when_ending(std::function<void(Ending)> call) = 0;
    [[nodiscard]] virtual bool client_left() const = 0;

    [[nodiscard]] virtual bool answered() const = 0;

    /// Sends `head` (status 101) and gives the bytes behind it to the handler. The stream is good until the handler
    /// ends and is then closed. `Invalid` when the request asks for no upgrade.
    virtual Task<Result<stream::Stream*>> upgrade(Response head) = 0;
};

/// Answers requests. Called on the connection's strand, for many connections at once from different threads. A refusal
/// is an answer; an exception is answered with 500 and logged.
using Handler = std::function<Task<void>(Exchange& exchange)>;

/// The status that an error has in HTTP: NotFound is 404 and so on.
unsigned status_of(ErrorKind kind);

}  // namespace rhizome::http
