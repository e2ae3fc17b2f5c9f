// SPDX-License-Identifier: Apache-2.0
#include "http/detail/connection.h"

#include <time.h>

#include <algorithm>

#include <fmt/core.h>

#include "http/detail/http1_exchange.h"

namespace rhizome::http::detail {

using stream::after;
using stream::kNever;

namespace {

/// Most heads have less than a kilobyte; more comes with the next read.
constexpr std::size_t kHeadReadBytes = 4 * 1024;
constexpr std::size_t kLingerReadBytes = 16 * 1024;
/// Of requests sent ahead while an answer is under way; then the client waits, and is not watched.
constexpr std::size_t kAheadBytesMax = 16 * 1024;
/// How long and how much a closing connection still reads, so that our last words arrive.
constexpr milliseconds kLingerTime{2'000};
constexpr std::size_t kLingerBytes = 1024 * 1024;

/// `Sun, 06 Nov 1994 08:49:37 GMT`, made once a second and thread.
std::string_view date_text() {
    thread_local time_t of = 0;
    thread_local std::string text;
    const time_t now = ::time(nullptr);
    if (now != of) {
        of = now;
        tm parts{};
        ::gmtime_r(&now, &parts);
        constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        text = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday], parts.tm_mday,
                           kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    }
    return text;
}

}  // namespace

std::string head_text(const Response& response, bool keep_alive, int minor_version) {
    std::string out;
    out.reserve(256);
    out += "HTTP/1.1 ";
    out += std::to_string(response.status);
    out += ' ';
    out += reason(response.status);
    out += "\r\nDate: ";
    out += date_text();
    out += "\r\n";
    for (const auto& [name, value] : response.headers) {
        out += name;
        out += ": ";
        out += value;
        out += "\r\n";
    }
    if (response.status >= 200) {
        if (!keep_alive)
            out += "Connection: close\r\n";
        else if (minor_version == 0)
            out += "Connection: keep-alive\r\n";
    }
    out += "\r\n";
    return out;
}

Connection::Connection(std::unique_ptr<stream::Stream> stream, std::shared_ptr<const Serving> serving)
    : stream_(std::move(stream)), serving_(std::move(serving)), watch_ended_(stream_->strand()) {}
Connection::~Connection() = default;

Task<void> Connection::run() {
    const auto self = shared_from_this();
    const Limits& limits = serving_->options.limits;
    for (std::uint64_t served = 0; served < limits.requests_max && !close_ && !draining_; ++served) {
        const bool going_on = co_await serve_one();
        if (!going_on) break;
    }
    if (!left_) co_await end_in_order();
    stream_->close();
}

void Connection::drain() {
    draining_ = true;
    if (idle_) stream_->set_read_deadline(stream::Clock::now());
    if (exchange_ != nullptr) exchange_->tell(Ending::Draining);
}

void Connection::cut() {
    draining_ = true;
    note_left();
    stream_->close();
}

Task<Result<bool>> Connection::fetch(std::size_t bytes) {
    if (peer_ended_) co_return false;
    CO_TRY(co_await stream_->readable());
    const std::size_t before = buffer_.size();
    buffer_.resize(before + bytes);
    auto got = co_await stream_->read_some({reinterpret_cast<std::uint8_t*>(buffer_.data()) + before, bytes});
    buffer_.resize(before + (got ? *got : 0));
    if (!got) co_return Fail{std::move(got).error()};
    peer_ended_ = *got == 0;
    co_return !peer_ended_;
}

Task<bool> Connection::serve_one() {
    const Limits& limits = serving_->options.limits;
    if (buffer_.empty()) {
        buffer_ = std::string{};  // nothing is held while nothing happens
        idle_ = true;
        stream_->set_read_deadline(draining_ ? stream::Clock::now() : after(limits.idle_time));
        const auto woken = co_await stream_->readable();
        idle_ = false;
        if (!woken) co_return false;
    }
    stream_->set_read_deadline(after(limits.head_time));
    Parser parser{Parser::Of::Request, limits};
    for (;;) {
        const auto taken = parser.head(buffer_);
        if (!taken) {
            co_await refuse(taken.error().status, taken.error().message, nullptr);
            co_return false;
        }
        if (*taken > 0) {
            buffer_.erase(0, *taken);
            break;
        }
        const auto more = co_await fetch(kHeadReadBytes);
        if (!more && !buffer_.empty()) co_await refuse(408, "the header did not come in time", nullptr);
        if (!more || !*more) co_return false;
    }
    stream_->set_read_deadline(kNever);
    if (const auto expected = parser.request().headers.find("Expect");
        expected && !equals_ignoring_case(*expected, "100-continue")) {
        co_await refuse(417, "the only expectation met here is 100-continue", &parser.request().headers);
        co_return false;
    }
    Http1Exchange exchange{*this, std::move(parser)};
    exchange_ = &exchange;
    std::string escaped;
    try {
        co_await serving_->handler(exchange);
    } catch (const std::exception& error) {
        escaped = error.what();
    }
    if (!escaped.empty())
        serving_->options.log.error("a handler threw", {{"target", exchange.request().path()}, {"what", escaped}});
    co_await exchange.wrap_up();
    exchange_ = nullptr;
    co_return !exchange.upgraded() && !left_;
}

Task<void> Connection::refuse(unsigned status, std::string_view message, const Headers* asked) {
    const auto& custom = serving_->options.refuse;
    Response response = custom ? custom(status, message, asked) : error_response(status, message, asked);
    response.headers.set("Content-Length", std::to_string(response.body.size()));
    close_ = true;
    const std::string head = head_text(response, false, 1);
    auto ignored = co_await send(head, as_bytes(response.body));
}

Task<Result<void>> Connection::send(std::string_view head, ByteView body) {
    stream_->set_write_deadline(after(serving_->options.limits.write_gap));
    const ByteView parts[] = {as_bytes(head), body};
    auto sent = co_await stream_->write(parts);
    if (!sent) note_left();
    co_return sent;
}

Task<void> Connection::end_in_order() {
    stream_->set_write_deadline(after(kLingerTime));
    const auto ended = co_await stream_->shutdown();
    if (!ended || peer_ended_ || !close_) co_return;  // an idle client has nothing under way
    stream_->set_read_deadline(after(kLingerTime));
    Bytes sink;
    for (std::size_t total = 0; total < kLingerBytes;) {
        const auto some = co_await stream_->readable();
        if (!some) co_return;
        sink.resize(kLingerReadBytes);
        const auto got = co_await stream_->read_some(sink);
        if (!got || *got == 0) co_return;
        total += *got;
    }
}

void Connection::note_left() {
    if (left_) return;
    left_ = true;
    if (exchange_ != nullptr) exchange_->tell(Ending::ClientLeft);
}

void Connection::watch_peer() {
    if (watching_ || peer_ended_) return;
    watching_ = true;
    stop_watching_ = false;
    watch_ended_.reset();
    stream_->set_read_deadline(kNever);
    const auto self = shared_from_this();
    stream::spawn(strand(), watch(), [self] {
        self->watching_ = false;
        self->watch_ended_.set();
    });
}

Task<void> Connection::watch() {
    while (!stop_watching_ && buffer_.size() < kAheadBytesMax) {
        const auto more = co_await fetch(kHeadReadBytes);
        if (more && *more) continue;  // a request sent ahead: it waits its turn
        if (!stop_watching_) note_left();
        co_return;
    }
}

Task<void> Connection::stop_watching() {
    if (!watching_) co_return;
    stop_watching_ = true;
    stream_->set_read_deadline(stream::Clock::now());
    co_await watch_ended_.wait();
    stream_->set_read_deadline(kNever);
}

}  // namespace rhizome::http::detail
