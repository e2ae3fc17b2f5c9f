// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "http/exchange.h"
#include "http/limits.h"
#include "http/message.h"
#include "stream/tls.h"

namespace rhizome::http {

/// Whom to ask: an address (also a local socket), and how it is secured.
struct Origin {
    stream::Address address;
    std::shared_ptr<const stream::TlsContext> tls{};  ///< none: plain
    std::string
        server_name{};  ///< for TLS and `Host`; empty: the address's host, and for peers known by their key none
    /// `https://host:port` or `http://host:port` with an optional path behind, which is given back in `path`.
    static Result<Origin> parse(std::string_view url, std::string* path = nullptr);
    bool wants_tls = false;  ///< the address began with https; `tls` must be given then

    [[nodiscard]] std::string host_field() const;
};

struct ClientOptions {
    Limits limits{};
    std::size_t idle_max = 16;          ///< connections kept for later, all origins together
    milliseconds idle_time{30'000};     ///< how long; below what servers grant
    std::size_t early_answers_max = 8;  ///< of status 1xx before an answer
};

/// What comes back: the head, and the body as it arrives. Destroying one that was not read to its end closes its
/// connection, which is also how a long answer is left.
class Answer {
public:
    ~Answer();
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;

    [[nodiscard]] unsigned status() const { return head_.status; }
    [[nodiscard]] const Headers& headers() const { return head_.headers; }
    [[nodiscard]] const stream::TlsSession* tls() const;

    /// The next bytes of the body, 0 at its end. A body that is cut is an error, never an end. The deadline of the
    /// request holds until another is set.
    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into);
    /// All of it; `Exhausted` beyond `bytes_max`. Compressed bodies are unfolded.
    Task<Result<std::string>> read_body(std::size_t bytes_max);
    void set_deadline(stream::Deadline deadline);
    /// Fails what waits; for another task on the same strand.
    void cancel();

    /// After status 101: the bytes behind it, in order. The answer is used up.
    std::unique_ptr<stream::Stream> take_stream();

    struct Link;

private:
    friend class Client;
    Answer(std::unique_ptr<Link> link, Response head);
    std::unique_ptr<Link> link_;
    Response head_;
};

/// Asks servers, and keeps connections for the next question. All its calls and answers belong to tasks of one strand.
class Client {
public:
    explicit Client(ClientOptions options = {});
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Where a request's body comes from piece by piece; 0 at the end. Sent in chunks, or as it is where the request
    /// says `Content-Length`; then the pieces add up to it.
    using BodySource = std::function<Task<Result<std::size_t>>(std::span<std::uint8_t> into)>;

    /// Sends and waits for the head of the answer. `Host` and the length are added. A request that may be repeated
    /// (GET, HEAD, PUT, DELETE, OPTIONS without a source) is sent once more when a kept connection turns out to be
    /// gone.
    Task<Result<std::unique_ptr<Answer>>> send(Origin origin, Request request, stream::Deadline deadline,
                                               BodySource source = {});

    /// Connections kept at the moment.
    [[nodiscard]] std::size_t idle_now() const;

    struct Pool;

private:
    std::shared_ptr<Pool> pool_;
};

}  // namespace rhizome::http
