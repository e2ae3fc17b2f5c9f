// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/server.h"

namespace rhizome::http::detail {

/// What all connections of one server share.
struct Serving {
    ServerOptions options;
    Handler handler;
};

class Http1Exchange;

/// One connection of HTTP/1.1. Confined to its stream's strand; kept alive by `run`.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(std::unique_ptr<stream::Stream> stream, std::shared_ptr<const Serving> serving);
    ~Connection();

    /// Serves requests until the connection ends, then closes it.
    Task<void> run();
    /// No further request after the present one; an idle connection ends at once, a long answer is told.
    void drain();
    /// Ends now.
    void cut();

    [[nodiscard]] const stream::Strand& strand() const { return stream_->strand(); }

private:
    friend class Http1Exchange;

    /// At most `bytes` more into `buffer_`; false at the peer's end.
    Task<Result<bool>> fetch(std::size_t bytes);
    /// The next request's head, or what to answer instead. Nothing when the connection ends here.
    Task<bool> serve_one();
    Task<void> refuse(unsigned status, std::string_view message, const Headers* asked);
    /// `head` and `body` outlive the await.
    Task<Result<void>> send(std::string_view head, ByteView body);
    /// Lets the peer read our last words before the connection goes: closing with unread bytes resets it.
    Task<void> end_in_order();

    void watch_peer();
    Task<void> watch();
    Task<void> stop_watching();
    void note_left();

    std::unique_ptr<stream::Stream> stream_;
    std::shared_ptr<const Serving> serving_;
    std::string buffer_;  ///< read and not yet parsed; gone while idle
    bool draining_ = false;
    bool idle_ = true;
    bool close_ = false;
    bool peer_ended_ = false;
    bool left_ = false;
    bool watching_ = false;
    bool stop_watching_ = false;
    stream::Event watch_ended_;
    Http1Exchange* exchange_ = nullptr;
};

/// The lines of a response up to the body. `length` of nothing is chunked (or until the end, before HTTP/1.1).
std::string head_text(const Response& response, bool keep_alive, int minor_version);

}  // namespace rhizome::http::detail
