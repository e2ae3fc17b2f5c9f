// SPDX-License-Identifier: Apache-2.0
#include "http/detail/parser.h"

#include <algorithm>
#include <variant>

#include <boost/beast/http/basic_parser.hpp>
#include <fmt/core.h>

namespace rhizome::http::detail {

namespace beast = boost::beast;

Error to_error(const Fault& fault) {
    return {
        fault.status == 413 || fault.status == 431 || fault.status == 414 ? ErrorKind::Exhausted : ErrorKind::Invalid,
        fault.message};
}

namespace {

using Code = boost::system::error_code;
using View = beast::string_view;

std::string_view std_view(View text) { return {text.data(), text.size()}; }

/// What Beast tells, kept in our own values.
template <bool is_request>
class Teller final : public beast::http::basic_parser<is_request> {
public:
    Request request;
    Response response;
    std::string* out = nullptr;

private:
    void on_request_impl(beast::http::verb, View method, View target, int version, Code& /*failed*/) override {
        request.method = std_view(method);
        request.target = std_view(target);
        request.minor_version = version % 10;
    }
    void on_response_impl(int code, View /*reason*/, int version, Code& /*failed*/) override {
        response.status = static_cast<unsigned>(code);
        request.minor_version = version % 10;
    }
    void on_field_impl(beast::http::field, View name, View value, Code& /*failed*/) override {
        if (trailer_) return;  // nothing of ours asks for fields behind a body, and merging them is how holes are made
        (is_request ? request.headers : response.headers).add(std_view(name), std_view(value));
    }
    void on_header_impl(Code& /*failed*/) override { trailer_ = true; }
    void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, Code& /*failed*/) override {}
    std::size_t on_body_impl(View body, Code& /*failed*/) override {
        out->append(body.data(), body.size());
        return body.size();
    }
    void on_chunk_header_impl(std::uint64_t /*size*/, View /*extensions*/, Code& /*failed*/) override {}
    std::size_t on_chunk_body_impl(std::uint64_t /*left*/, View body, Code& /*failed*/) override {
        out->append(body.data(), body.size());
        return body.size();
    }
    void on_finish_impl(Code& /*failed*/) override {}

    bool trailer_ = false;
};

Fault fault_of(const Code& failed) {
    using beast::http::error;
    if (failed == error::body_limit) return {413, "the body is larger than what is taken here"};
    if (failed == error::header_limit) return {431, "the header is larger than what is taken here"};
    if (failed == error::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are spoken here"};
    return {400, fmt::format("the message is malformed: {}", failed.message())};
}

/// The end of the head behind its empty line; 0 when it is not there yet.
std::size_t head_end(std::string_view bytes) {
    const std::size_t at = bytes.find("\r\n\r\n");
    return at == std::string_view::npos ? 0 : at + 4;
}

/// What Beast and others read differently, refused before anybody reads it.
Result<void, Fault> check_lines(std::string_view head, const Limits& limits) {
    std::size_t lines = 0;
    for (std::size_t at = 0; at < head.size(); ++lines) {
        const std::size_t end = head.find('\n', at);
        if (end == std::string_view::npos) break;
        const std::string_view line = head.substr(at, end - at);
        if (line.empty() || line.back() != '\r') return Fail{Fault{400, "a line of the header ends without CR and LF"}};
        const std::string_view text = line.substr(0, line.size() - 1);
        if (text.find_first_of(std::string_view("\r\0", 2)) != std::string_view::npos)
            return Fail{Fault{400, "a line of the header holds a CR or a zero byte"}};
        if (lines == 0 && text.size() > limits.target_bytes_max)
            return Fail{Fault{414, fmt::format("the first line is longer than {} bytes", limits.target_bytes_max)}};
        if (lines > 0 && (text.starts_with(' ') || text.starts_with('\t')))
            return Fail{Fault{400, "a folded line in the header; write each field on one line"}};
        at = end + 1;
    }
    if (lines > limits.fields_max + 2)  // the first line and the empty one
        return Fail{Fault{431, fmt::format("more than {} header fields", limits.fields_max)}};
    return {};
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 20 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// One length, said once.
Result<void, Fault> check_length(const Headers& headers, int minor_version) {
    const auto lengths = headers.all("Content-Length");
    const auto encodings = headers.all("Transfer-Encoding");
    if (!lengths.empty() && !encodings.empty())
        return Fail{Fault{400, "both Content-Length and Transfer-Encoding: the end of the body is ambiguous"}};
    if (lengths.size() > 1) return Fail{Fault{400, "Content-Length stands twice"}};
    if (!lengths.empty() && !is_number(lengths[0])) return Fail{Fault{400, "Content-Length is no number"}};
    if (encodings.empty()) return {};
    if (minor_version == 0) return Fail{Fault{400, "HTTP/1.0 has no Transfer-Encoding"}};
    if (encodings.size() > 1) return Fail{Fault{400, "Transfer-Encoding stands twice"}};
    if (!equals_ignoring_case(encodings[0], "chunked"))
        return Fail{Fault{501, "the only Transfer-Encoding taken here is chunked"}};
    return {};
}

Result<void, Fault> check_request(const Request& request) {
    const auto hosts = request.headers.all("Host");
    if (hosts.size() > 1) return Fail{Fault{400, "Host stands twice"}};
    if (hosts.empty() && request.minor_version > 0) return Fail{Fault{400, "Host is missing"}};
    if (!request.target.starts_with('/') && request.target != "*")
        return Fail{Fault{400, "the target must begin with a slash"}};
    return {};
}

}  // namespace

struct Parser::Inside {
    template <class Call>
    auto visit(const Call& call) {
        return std::visit(call, teller);
    }

    Inside(Of of, const Limits& limits_in, bool bodyless) : limits(limits_in) {
        if (of == Of::Response) {
            teller.template emplace<Teller<false>>().skip(bodyless);
        }
        visit([&](auto& each) {
            each.header_limit(static_cast<std::uint32_t>(limits.head_bytes_max));
            each.body_limit(limits.body_bytes_max);
            return 0;
        });
    }

    Limits limits;
    std::variant<Teller<true>, Teller<false>> teller;
    bool head_done = false;
};

Parser::Parser(Of of, const Limits& limits, bool bodyless) : inside_(std::make_unique<Inside>(of, limits, bodyless)) {}
Parser::~Parser() = default;
Parser::Parser(Parser&&) noexcept = default;
Parser& Parser::operator=(Parser&&) noexcept = default;

Result<std::size_t, Fault> Parser::head(std::string_view bytes) {
    const bool is_request = inside_->teller.index() == 0;
    // One empty line before a request is an old client's, from behind its last body.
    const std::size_t blank = is_request && bytes.starts_with("\r\n") ? 2 : 0;
    bytes.remove_prefix(blank);
    const std::size_t size = head_end(bytes);
    const Limits& limits = inside_->limits;
    if (size > limits.head_bytes_max || (size == 0 && bytes.size() >= limits.head_bytes_max))
        return Fail{Fault{431, fmt::format("the header is larger than {} bytes", limits.head_bytes_max)}};
    if (size == 0) {
        // Refused early: such a head will never be whole, or costs the whole limit first.
        const std::size_t line = std::min(bytes.find('\n'), bytes.size());
        if (line > limits.target_bytes_max)
            return Fail{Fault{414, fmt::format("the first line is longer than {} bytes", limits.target_bytes_max)}};
        if (line < bytes.size()) TRY(check_lines(bytes.substr(0, line + 1), limits));
        return std::size_t{0};
    }
    TRY(check_lines(bytes.substr(0, size), limits));
    Code failed;
    const std::size_t taken =
        inside_->visit([&](auto& each) { return each.put(boost::asio::const_buffer(bytes.data(), size), failed); });
    if (failed) return Fail{fault_of(failed)};
    if (taken != size) return Fail{Fault{400, "the header is malformed"}};
    inside_->head_done = true;
    TRY(check_length(is_request ? request().headers : response().headers,
                     is_request ? request().minor_version : std::get<1>(inside_->teller).request.minor_version));
    if (is_request) TRY(check_request(request()));
    inside_->visit([](auto& each) {
        each.eager(true);
        return 0;
    });
    return size + blank;
}

Result<std::size_t, Fault> Parser::body(std::string_view bytes, std::string& out) {
    if (done() || bytes.empty()) return std::size_t{0};
    Code failed;
    const std::size_t taken = inside_->visit([&](auto& each) {
        each.out = &out;
        return each.put(boost::asio::const_buffer(bytes.data(), bytes.size()), failed);
    });
    if (failed && failed != beast::http::error::need_more) return Fail{fault_of(failed)};
    return taken;
}

Result<void, Fault> Parser::end() {
    if (!inside_->head_done) return Fail{Fault{400, "the connection ended inside the header"}};
    if (done()) return {};
    Code failed;
    inside_->visit([&](auto& each) {
        each.put_eof(failed);
        return 0;
    });
    if (failed) return Fail{Fault{400, "the connection ended inside the body"}};
    return {};
}

bool Parser::done() const {
    return inside_->head_done && inside_->visit([](auto& each) { return each.is_done(); });
}

std::optional<std::uint64_t> Parser::body_left() const {
    if (done()) return 0;
    return inside_->visit([](auto& each) -> std::optional<std::uint64_t> {
        const auto left = each.content_length_remaining();
        return left ? std::optional<std::uint64_t>(*left) : std::nullopt;
    });
}

bool Parser::keep_alive() const {
    return inside_->visit([](auto& each) { return each.keep_alive(); });
}

bool Parser::ends_with_connection() const {
    return !done() && inside_->visit([](auto& each) { return each.need_eof(); });
}

Request& Parser::request() { return std::get<0>(inside_->teller).request; }
Response& Parser::response() { return std::get<1>(inside_->teller).response; }

}  // namespace rhizome::http::detail
