// SPDX-License-Identifier: Apache-2.0
#include "http/detail/http1_exchange.h"

#include <algorithm>

#include <fmt/core.h>

#include "http/detail/gzip.h"

namespace rhizome::http::detail {

using stream::after;
using stream::kNever;

namespace {

/// Compressed at a time: a few milliseconds of one thread.
constexpr std::size_t kGzipPiece = 256 * 1024;

constexpr std::size_t kBodyReadBytes = 16 * 1024;
/// The line before a chunk, or the fields behind the last: nobody needs that much.
constexpr std::size_t kBetweenChunksMax = 8 * 1024;

/// A wait that fails, for both of its reasons: what the peer did not do.
Error late(Error error, std::string_view what) { return with_context(what, std::move(error)); }

}  // namespace

/// What is left of the connection after an upgrade: the bytes read ahead, then the stream itself.
class Http1Exchange::UpgradedStream final : public stream::Stream {
public:
    explicit UpgradedStream(Connection& connection) : connection_(connection) {}

    Task<Result<void>> readable() override {
        if (!connection_.buffer_.empty()) co_return ok();
        co_return co_await connection_.stream_->readable();
    }
    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        std::string& ahead = connection_.buffer_;
        if (ahead.empty()) co_return co_await connection_.stream_->read_some(into);
        const std::size_t size = std::min(into.size(), ahead.size());
        std::copy_n(ahead.begin(), size, into.begin());
        ahead.erase(0, size);
        co_return size;
    }
    Task<Result<void>> write(std::span<const ByteView> parts) override { return connection_.stream_->write(parts); }
    Task<Result<void>> shutdown() override { return connection_.stream_->shutdown(); }
    void close() override { connection_.stream_->close(); }
    void set_read_deadline(stream::Deadline deadline) override { connection_.stream_->set_read_deadline(deadline); }
    void set_write_deadline(stream::Deadline deadline) override { connection_.stream_->set_write_deadline(deadline); }
    [[nodiscard]] const stream::Address& peer() const override { return connection_.stream_->peer(); }
    [[nodiscard]] const stream::Strand& strand() const override { return connection_.stream_->strand(); }
    [[nodiscard]] const stream::TlsSession* tls() const override { return connection_.stream_->tls(); }

private:
    Connection& connection_;
};

Http1Exchange::Http1Exchange(Connection& connection, Parser parser)
    : connection_(connection),
      parser_(std::move(parser)),
      request_(std::move(parser_.request())),
      body_deadline_(after(connection.serving_->options.limits.body_time)),
      continue_owed_(!parser_.done() && request_.minor_version > 0 && request_.headers.contains("Expect")),
      silent_(request_.method == "HEAD") {}

Http1Exchange::~Http1Exchange() = default;

Task<Result<std::size_t>> Http1Exchange::read_some(std::span<std::uint8_t> into) {
    const Limits& limits = connection_.serving_->options.limits;
    if (into.empty()) co_return fail(ErrorKind::Usage, "a read needs room for a byte");
    while (body_at_ == body_.size()) {
        body_.clear();
        body_at_ = 0;
        auto taken = parser_.body(connection_.buffer_, body_);
        if (!taken) {
            connection_.close_ = true;
            co_return Fail{to_error(taken.error())};
        }
        connection_.buffer_.erase(0, *taken);
        if (!body_.empty()) break;
        if (parser_.done()) co_return 0;
        if (*taken > 0) continue;
        if (connection_.buffer_.size() >= kBetweenChunksMax) {
            connection_.close_ = true;
            co_return fail(ErrorKind::Invalid, "the lines between chunks are too long");
        }
        if (continue_owed_ && state_ == State::Open) {
            continue_owed_ = false;
            CO_TRY(co_await connection_.send("HTTP/1.1 100 Continue\r\n\r\n", {}));
        }
        connection_.stream_->set_read_deadline(std::min(body_deadline_, after(limits.body_gap)));
        auto more = co_await connection_.fetch(kBodyReadBytes);
        if (!more || !*more) {
            connection_.close_ = true;
            if (!more) co_return Fail{late(std::move(more).error(), "the body did not come")};
            co_return fail(ErrorKind::Unavailable, "the client ended the connection inside the body");
        }
    }
    const std::size_t size = std::min(into.size(), body_.size() - body_at_);
    std::copy_n(body_.begin() + static_cast<std::ptrdiff_t>(body_at_), size, into.begin());
    body_at_ += size;
    co_return size;
}

bool Http1Exchange::has_no_body(unsigned status) const { return status < 200 || status == 204 || status == 304; }

Result<void> Http1Exchange::check_can_answer(const Response& response) const {
    if (state_ != State::Open) return fail(ErrorKind::Usage, "this request has been answered already");
    if (response.status < 100 || response.status > 999) return fail(ErrorKind::Usage, "a status is 100 to 999");
    for (const auto& [name, value] : response.headers)
        if (!is_token(name) || !is_header_value(value))
            return fail(ErrorKind::Invalid,
                        "a header of the answer holds a line break or another character that no header may hold");
    return {};
}

void Http1Exchange::decide_keeping() {
    const Limits& limits = connection_.serving_->options.limits;
    const bool unread_much = !parser_.done() && parser_.body_left().value_or(UINT64_MAX) > limits.body_discard_max;
    // A client that still waits for `100 Continue` may or may not send the body: nobody can tell where the next request
    // begins.
    if (!parser_.keep_alive() || connection_.draining_ || unread_much || continue_owed_) connection_.close_ = true;
}

Task<Result<void>> Http1Exchange::send_pieces(std::string_view head, ByteView body) {
    ByteView piece = body.first(std::min(body.size(), kWritePiece));
    CO_TRY(co_await connection_.send(head, piece));
    for (body = body.subspan(piece.size()); !body.empty(); body = body.subspan(piece.size())) {
        piece = body.first(std::min(body.size(), kWritePiece));
        CO_TRY(co_await connection_.send({}, piece));
    }
    co_return ok();
}

Task<Result<void>> Http1Exchange::respond(Response response) {
    CO_TRY(check_can_answer(response));
    if (response.status < 200) co_return fail(ErrorKind::Usage, "an answer has a status of at least 200");
    const Limits& limits = connection_.serving_->options.limits;
    if (limits.gzip_bytes_min > 0 && response.body.size() >= limits.gzip_bytes_min && !silent_ &&
        request_.minor_version > 0 && !response.headers.contains("Content-Encoding") &&
        accepts(request_.headers, "Accept-Encoding", "gzip"))
        co_return co_await respond_packed(std::move(response));
    decide_keeping();
    state_ = State::Done;
    response.headers.remove("Transfer-Encoding");
    response.headers.remove("Connection");
    if (has_no_body(response.status)) {
        response.headers.remove("Content-Length");
        response.body.clear();
    } else if (!silent_ || !response.headers.contains("Content-Length")) {
        response.headers.set("Content-Length", std::to_string(response.body.size()));
    }
    const std::string head = head_text(response, !connection_.close_, request_.minor_version);
    co_return co_await send_pieces(head, silent_ ? ByteView{} : as_bytes(response.body));
}

Task<Result<void>> Http1Exchange::respond_packed(Response response) {
    const std::string body = std::move(response.body);
    response.body.clear();
    response.headers.set("Content-Encoding", "gzip");
    response.headers.add("Vary", "Accept-Encoding");
    CO_TRY(co_await start(std::move(response)));
    Gzip gzip;
    for (std::size_t at = 0; at < body.size(); at += kGzipPiece) {
        const std::string packed =
            gzip.add(std::string_view(body).substr(at, kGzipPiece), at + kGzipPiece >= body.size());
        CO_TRY(co_await write(as_bytes(packed)));
        co_await stream::yield();
    }
    co_return co_await finish();
}

Task<Result<void>> Http1Exchange::start(Response head) {
    CO_TRY(check_can_answer(head));
    if (head.status < 200) co_return fail(ErrorKind::Usage, "an answer has a status of at least 200");
    decide_keeping();
    state_ = State::Streaming;
    silent_ = silent_ || has_no_body(head.status);
    head.headers.remove("Content-Length");
    head.headers.remove("Connection");
    head.headers.remove("Transfer-Encoding");
    chunked_ = request_.minor_version > 0;
    if (!chunked_) connection_.close_ = true;  // the end of the connection is the end of the body
    if (chunked_ && !has_no_body(head.status)) head.headers.add("Transfer-Encoding", "chunked");
    const std::string body = std::move(head.body);
    const std::string lines = head_text(head, !connection_.close_, request_.minor_version);
    CO_TRY(co_await connection_.send(lines, {}));
    if (body.empty()) co_return ok();
    co_return co_await write(as_bytes(body));
}

Task<Result<void>> Http1Exchange::write(ByteView bytes) {
    if (state_ != State::Streaming) co_return fail(ErrorKind::Usage, "a piece is written between start and finish");
    if (connection_.left_) co_return fail(ErrorKind::Unavailable, "the client has left");
    if (bytes.empty() || silent_) co_return ok();  // a chunk of no bytes would end the answer
    while (!bytes.empty()) {
        const ByteView piece = bytes.first(std::min(bytes.size(), kWritePiece));
        bytes = bytes.subspan(piece.size());
        if (!chunked_) {
            CO_TRY(co_await connection_.send({}, piece));
            continue;
        }
        const std::string size = fmt::format("{:x}\r\n", piece.size());
        connection_.stream_->set_write_deadline(after(connection_.serving_->options.limits.write_gap));
        const ByteView parts[] = {as_bytes(size), piece, as_bytes("\r\n")};
        auto sent = co_await connection_.stream_->write(parts);
        if (!sent) connection_.note_left();
        if (!sent) co_return Fail{std::move(sent).error()};
    }
    co_return ok();
}

Task<Result<void>> Http1Exchange::finish() {
    if (state_ != State::Streaming) co_return fail(ErrorKind::Usage, "an answer is finished once, after start");
    state_ = State::Done;
    if (!chunked_ || silent_) co_return ok();
    co_return co_await connection_.send("0\r\n\r\n", {});
}

void Http1Exchange::when_ending(std::function<void(Ending)> call) {
    ending_ = std::move(call);
    if (connection_.left_) return tell(Ending::ClientLeft);
    if (parser_.done() && state_ != State::Upgraded) connection_.watch_peer();
    if (connection_.draining_) tell(Ending::Draining);
}

void Http1Exchange::tell(Ending ending) {
    const auto call = ending_;  // it may set another one
    if (call) call(ending);
}

Task<Result<stream::Stream*>> Http1Exchange::upgrade(Response head) {
    CO_TRY(check_can_answer(head));
    if (!parser_.done() || !request_.headers.has_word("Connection", "upgrade") || !request_.headers.contains("Upgrade"))
        co_return fail(ErrorKind::Invalid, "the request asks for no upgrade, or has a body");
    co_await connection_.stop_watching();
    state_ = State::Upgraded;
    connection_.close_ = true;
    head.status = 101;
    const std::string lines = head_text(head, true, 1);
    CO_TRY(co_await connection_.send(lines, {}));
    connection_.stream_->set_write_deadline(kNever);
    stream_ = std::make_unique<UpgradedStream>(connection_);
    co_return stream_.get();
}

Task<void> Http1Exchange::wrap_up() {
    ending_ = {};
    co_await connection_.stop_watching();
    if (state_ == State::Upgraded) co_return;
    if (state_ == State::Open) {
        connection_.serving_->options.log.error("a handler answered nothing", {{"target", request_.path()}});
        auto ignored = co_await respond_error(500, "the server could not answer this request");
    }
    if (state_ == State::Streaming) {  // the client must see that the answer is not whole
        connection_.note_left();
        co_return;
    }
    if (connection_.close_ || connection_.left_) co_return;
    std::array<std::uint8_t, 4096> sink{};
    while (!parser_.done()) {  // at most `body_discard_max`: decided when the answer began
        const auto got = co_await read_some(sink);
        if (!got || *got == 0) break;
    }
    connection_.stream_->set_read_deadline(kNever);
}

}  // namespace rhizome::http::detail
