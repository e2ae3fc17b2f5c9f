// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/log.h"
#include "http/exchange.h"
#include "http/limits.h"
#include "stream/tcp.h"
#include "stream/tls.h"

namespace rhizome::http {

struct ServerOptions {
    std::vector<stream::ListenOptions> listen{};
    std::shared_ptr<const stream::TlsContext> tls{};  ///< none: plain
    Limits limits{};
    /// Connections beyond these, in all or of one address, are answered once (429, by `refuse`) and closed. 0: no
    /// bound.
    /// (`ListenOptions::connections_max` is where the rest waits unseen.)
    std::size_t connections_max = 0;
    std::size_t address_connections_max = 0;
    /// The answer to what never reaches a handler (malformed, too large, too slow); none: `error_response`.
    std::function<Response(unsigned status, std::string_view message, const Headers* asked)> refuse{};
    Log log{};
};

/// Answers HTTP/1.1 on its listeners until it is stopped.
///
/// Connections are kept alive and served one request after another, also when a client sends several at once; each has
/// a strand of its own. The version of HTTP is the connection's business: handlers see an `Exchange`.
class Server {
public:
    /// Listens and serves. `context` outlives the server.
    static Result<std::unique_ptr<Server>> start(stream::IoContext& context, ServerOptions options, Handler handler);
    /// Stops without grace when nobody stopped it. Not from a task.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Where it listens, with the ports chosen, in the order of the options.
    [[nodiscard]] std::vector<stream::Address> addresses() const;
    [[nodiscard]] std::size_t connections_now() const;

    /// Takes no more connections, closes idle ones, tells long answers to end, and returns when the last request is
    /// answered; what is not done by the deadline is cut. From any task.
    Task<void> drain(stream::Deadline deadline);
    /// The same from outside of tasks.
    void stop(milliseconds grace);

    struct Inside;

private:
    explicit Server(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

/// Serves one stream until it ends: what `Server` does with each connection, for pipes, tests and fuzzing.
Task<void> serve_stream(std::unique_ptr<stream::Stream> stream, ServerOptions options, Handler handler);

}  // namespace rhizome::http
