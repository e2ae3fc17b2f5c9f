// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <algorithm>
#include <charconv>
#include <list>

#include <fmt/core.h>

#include "http/detail/gzip.h"
#include "http/detail/parser.h"
#include "stream/tcp.h"

namespace rhizome::http {

using detail::Parser;
using stream::Deadline;
using stream::Stream;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;

/// A connection that may be used again belongs to whoever asks the same. Its TLS context lives as long as the stream.
struct Key {
    stream::Address address;
    const stream::TlsContext* tls;
    std::string server_name;
    friend bool operator==(const Key&, const Key&) = default;
};

}  // namespace

struct Client::Pool {
    struct Idle {
        Key key;
        std::unique_ptr<Stream> stream;
        Deadline until;
    };

    explicit Pool(ClientOptions options_in) : options(options_in) {}

    std::unique_ptr<Stream> take(const Key& key) {
        drop_old();
        for (auto at = idle.begin(); at != idle.end(); ++at) {
            if (at->key != key) continue;
            auto stream = std::move(at->stream);
            idle.erase(at);
            return stream;
        }
        return nullptr;
    }
    void keep(Key key, std::unique_ptr<Stream> stream) {
        drop_old();
        if (options.idle_max == 0) return;
        if (idle.size() >= options.idle_max) idle.pop_back();
        idle.push_front({std::move(key), std::move(stream), stream::after(options.idle_time)});  // the freshest first
    }
    void drop_old() {
        idle.remove_if([](const Idle& each) { return stream::passed(each.until); });
    }

    ClientOptions options;
    std::list<Idle> idle;
};

/// The connection under an answer.
struct Answer::Link {
    std::shared_ptr<Client::Pool> pool;
    Key key;
    std::unique_ptr<Stream> stream{};
    std::string buffer{};
    std::optional<Parser> parser{};
    std::string body{};
    std::size_t body_at = 0;
    bool peer_ended = false;

    [[nodiscard]] const Limits& limits() const { return pool->options.limits; }

    Task<Result<bool>> fetch() {
        if (peer_ended) co_return false;
        CO_TRY(co_await stream->readable());
        const std::size_t before = buffer.size();
        buffer.resize(before + kReadBytes);
        auto got = co_await stream->read_some({reinterpret_cast<std::uint8_t*>(buffer.data()) + before, kReadBytes});
        buffer.resize(before + (got ? *got : 0));
        if (!got) co_return Fail{std::move(got).error()};
        peer_ended = *got == 0;
        co_return !peer_ended;
    }

    /// The connection goes back to the pool, if it can carry another answer.
    void release() {
        if (!stream || !parser || !parser->done() || !parser->keep_alive() || !buffer.empty() || peer_ended) return;
        stream->set_read_deadline(stream::kNever);
        stream->set_write_deadline(stream::kNever);
        pool->keep(std::move(key), std::move(stream));
    }
};

Result<Origin> Origin::parse(std::string_view url, std::string* path) {
    Origin origin;
    const bool secure = url.starts_with("https://");
    if (!secure && !url.starts_with("http://"))
        return fail(
            ErrorKind::Invalid,
            fmt::format("\"{}\" is no address of a server; it begins with http:// or https://", url.substr(0, 80)));
    url.remove_prefix(secure ? 8 : 7);
    const std::size_t slash = std::min(url.find('/'), url.size());
    std::string place{url.substr(0, slash)};
    if (path != nullptr) *path = slash == url.size() ? "/" : std::string(url.substr(slash));
    const std::size_t bracket = place.rfind(']');
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket))
        place += secure ? ":443" : ":80";
    TRY(origin.address, stream::Address::parse(place));
    origin.wants_tls = secure;
    origin.server_name = origin.address.host;
    return origin;
}

std::string Origin::host_field() const {
    const std::string& host = server_name.empty() && !address.is_local ? address.host : server_name;
    if (host.empty()) return "localhost";
    const bool usual = address.is_local || address.port == (tls ? 443 : 80);
    const std::string shown = host.find(':') != std::string::npos ? "[" + host + "]" : host;
    return usual ? shown : fmt::format("{}:{}", shown, address.port);
}

Answer::Answer(std::unique_ptr<Link> link, Response head) : link_(std::move(link)), head_(std::move(head)) {}
Answer::~Answer() {
    if (link_) link_->release();
}

const stream::TlsSession* Answer::tls() const { return link_->stream->tls(); }

void Answer::set_deadline(Deadline deadline) {
    link_->stream->set_read_deadline(deadline);
    link_->stream->set_write_deadline(deadline);
}

void Answer::cancel() { link_->stream->close(); }

Task<Result<std::size_t>> Answer::read_some(std::span<std::uint8_t> into) {
    Link& link = *link_;
    if (into.empty()) co_return fail(ErrorKind::Usage, "a read needs room for a byte");
    while (link.body_at == link.body.size()) {
        link.body.clear();
        link.body_at = 0;
        auto taken = link.parser->body(link.buffer, link.body);
        if (!taken) co_return Fail{to_error(taken.error())};
        link.buffer.erase(0, *taken);
        if (!link.body.empty()) break;
        if (link.parser->done()) co_return 0;
        if (*taken > 0) continue;
        if (link.buffer.size() >= link.limits().head_bytes_max)
            co_return fail(ErrorKind::Invalid, "the lines between the answer's chunks are too long");
        CO_TRY(const bool more, co_await link.fetch());
        if (!more && link.parser->ends_with_connection()) {
            auto ended = link.parser->end();
            if (!ended) co_return Fail{to_error(ended.error())};
            co_return 0;
        }
        if (!more) co_return fail(ErrorKind::Unavailable, "the server ended the connection inside its answer");
    }
    const std::size_t size = std::min(into.size(), link.body.size() - link.body_at);
    std::copy_n(link.body.begin() + static_cast<std::ptrdiff_t>(link.body_at), size, into.begin());
    link.body_at += size;
    co_return size;
}

Task<Result<std::string>> Answer::read_body(std::size_t bytes_max) {
    std::string out;
    Bytes piece(kReadBytes);
    for (;;) {
        CO_TRY(const std::size_t got, co_await read_some(piece));
        if (got == 0) break;
        if (got > bytes_max - out.size())
            co_return fail(ErrorKind::Exhausted,
                           fmt::format("the answer is larger than the {} bytes that were asked for", bytes_max));
        out.append(as_text(ByteView{piece.data(), got}));
    }
    if (head_.headers.has_word("Content-Encoding", "gzip")) co_return detail::gunzip(out, bytes_max);
    co_return out;
}

namespace {

/// The bytes read too far, then the connection.
class AheadStream final : public Stream {
public:
    AheadStream(std::string ahead, std::unique_ptr<Stream> lower)
        : ahead_(std::move(ahead)), lower_(std::move(lower)) {}

    Task<Result<void>> readable() override {
        if (!ahead_.empty()) co_return ok();
        co_return co_await lower_->readable();
    }
    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        if (ahead_.empty()) co_return co_await lower_->read_some(into);
        const std::size_t size = std::min(into.size(), ahead_.size());
        std::copy_n(ahead_.begin(), size, into.begin());
        ahead_.erase(0, size);
        co_return size;
    }
    Task<Result<void>> write(std::span<const ByteView> parts) override { return lower_->write(parts); }
    Task<Result<void>> shutdown() override { return lower_->shutdown(); }
    void close() override { lower_->close(); }
    void set_read_deadline(Deadline deadline) override { lower_->set_read_deadline(deadline); }
    void set_write_deadline(Deadline deadline) override { lower_->set_write_deadline(deadline); }
    [[nodiscard]] const stream::Address& peer() const override { return lower_->peer(); }
    [[nodiscard]] const stream::Strand& strand() const override { return lower_->strand(); }
    [[nodiscard]] const stream::TlsSession* tls() const override { return lower_->tls(); }

private:
    std::string ahead_;
    std::unique_ptr<Stream> lower_;
};

bool may_repeat(const std::string& method) {
    return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" || method == "OPTIONS";
}

Result<void> check(const Request& request) {
    if (!is_token(request.method)) return fail(ErrorKind::Usage, "a method is a word");
    const bool clean = std::all_of(request.target.begin(), request.target.end(),
                                   [](char c) { return static_cast<unsigned char>(c) > 32 && c != 127; });
    if (!clean || !request.target.starts_with('/'))
        return fail(ErrorKind::Usage, "a target begins with a slash and has its blanks escaped (percent_encode)");
    for (const auto& [name, value] : request.headers)
        if (!is_token(name) || !is_header_value(value))
            return fail(ErrorKind::Usage, "a header of the request holds a character that no header may hold");
    return {};
}

std::string head_of(const Origin& origin, const Request& request, bool chunked) {
    std::string out = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
    if (!request.headers.contains("Host")) out += fmt::format("Host: {}\r\n", origin.host_field());
    for (const auto& [name, value] : request.headers) out += fmt::format("{}: {}\r\n", name, value);
    const bool has_length = request.headers.contains("Content-Length");
    if (chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    } else if (!has_length && (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
                               request.method == "PATCH")) {
        out += fmt::format("Content-Length: {}\r\n", request.body.size());
    }
    out += "\r\n";
    return out;
}

Task<Result<void>> send_chunks(Stream& stream, const Client::BodySource* source) {
    Bytes piece(kReadBytes);
    for (;;) {
        CO_TRY(const std::size_t got, co_await (*source)(piece));
        const std::string size = fmt::format("{:x}\r\n", got);
        const ByteView parts[] = {as_bytes(size), ByteView{piece.data(), got}, as_bytes("\r\n")};
        CO_TRY(co_await stream.write(parts));
        if (got == 0) co_return ok();
    }
}

/// The same for a body whose length was said before: a piece more or less would be read as part of the next request.
Task<Result<void>> send_length(Stream& stream, std::string_view said, const Client::BodySource* source) {
    std::uint64_t left = 0;
    const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), left);
    if (error != std::errc{} || end != said.data() + said.size())
        co_return fail(ErrorKind::Usage, "Content-Length is a number");
    Bytes piece(kReadBytes);
    for (;;) {
        CO_TRY(const std::size_t got, co_await (*source)(piece));
        if (got > left || (got == 0 && left > 0))
            co_return fail(ErrorKind::Usage, "the body is not as long as its Content-Length");
        if (got == 0) co_return ok();
        left -= got;
        const ByteView parts[] = {ByteView{piece.data(), got}};
        CO_TRY(co_await stream.write(parts));
    }
}

/// The head of the answer, behind those of status 1xx. 101 is an answer.
Task<Result<Response>> read_head(Answer::Link* link, bool bodyless, std::size_t early_max) {
    for (std::size_t early = 0; early <= early_max; ++early) {
        link->parser.emplace(Parser::Of::Response, link->limits(), bodyless);
        for (;;) {
            auto taken = link->parser->head(link->buffer);
            if (!taken) co_return Fail{with_context("the server's answer", to_error(taken.error()))};
            link->buffer.erase(0, *taken);
            if (*taken > 0) break;
            CO_TRY(const bool more, co_await link->fetch());
            if (!more) co_return fail(ErrorKind::Unavailable, "the server ended the connection without an answer");
        }
        const unsigned status = link->parser->response().status;
        if (status >= 200 || status == 101) co_return std::move(link->parser->response());
    }
    co_return fail(ErrorKind::Invalid, "the server announced its answer too often (status 1xx)");
}

/// Sends on the link's connection and reads the head of the answer.
Task<Result<Response>> ask(Answer::Link* link, const Origin* origin, const Request* request,
                           const Client::BodySource* source, std::size_t early_max) {
    const auto length = request->headers.find("Content-Length");
    const std::string head = head_of(*origin, *request, *source && !length);
    const ByteView parts[] = {as_bytes(head), as_bytes(request->body)};
    CO_TRY(co_await link->stream->write(parts));
    if (*source && length) CO_TRY(co_await send_length(*link->stream, *length, source));
    if (*source && !length) CO_TRY(co_await send_chunks(*link->stream, source));
    co_return co_await read_head(link, request->method == "HEAD", early_max);
}

}  // namespace

std::unique_ptr<Stream> Answer::take_stream() {
    auto stream = std::make_unique<AheadStream>(std::move(link_->buffer), std::move(link_->stream));
    stream->set_read_deadline(stream::kNever);
    stream->set_write_deadline(stream::kNever);
    link_.reset();
    return stream;
}

Client::Client(ClientOptions options) : pool_(std::make_shared<Pool>(options)) {}
Client::~Client() { pool_->idle.clear(); }

std::size_t Client::idle_now() const { return pool_->idle.size(); }

Task<Result<std::unique_ptr<Answer>>> Client::send(Origin origin, Request request, Deadline deadline,
                                                   BodySource source) {
    const auto pool = pool_;
    CO_TRY(check(request));
    if (origin.wants_tls && !origin.tls)
        co_return fail(ErrorKind::Usage, "https needs a TLS context that says whom to trust");
    const Key key{origin.address, origin.tls.get(), origin.server_name};
    for (bool repeated = false;; repeated = true) {
        auto link = std::make_unique<Answer::Link>(Answer::Link{.pool = pool, .key = key});
        if (!repeated) link->stream = pool->take(key);
        const bool kept = link->stream != nullptr;
        if (!kept) {
            CO_TRY(link->stream, co_await stream::connect(origin.address, deadline));
            if (origin.tls) {
                CO_TRY(link->stream,
                       co_await stream::tls_connect(std::move(link->stream), origin.tls, origin.server_name, deadline));
            }
        }
        link->stream->set_read_deadline(deadline);
        link->stream->set_write_deadline(deadline);
        auto head = co_await ask(link.get(), &origin, &request, &source, pool->options.early_answers_max);
        if (head) co_return std::unique_ptr<Answer>(new Answer(std::move(link), std::move(*head)));
        const bool gone = kept && link->buffer.empty() && !stream::passed(deadline);
        if (!gone || source || !may_repeat(request.method))
            co_return Fail{with_context("asking " + origin.address.text(), std::move(head).error())};
    }
}

}  // namespace rhizome::http
