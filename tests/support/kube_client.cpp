// SPDX-License-Identifier: Apache-2.0
#include "support/kube_client.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "base/yaml.h"
#include "http/client.h"
#include "stream/tcp.h"

namespace rhizome::test {
namespace {

using stream::Task;

constexpr seconds kAnswerMax{120};
constexpr std::size_t kReadBytes = 32u << 10;

std::optional<std::size_t> number_in(std::string_view text, int base) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{} || end == text.data()) return std::nullopt;
    return number;
}

Error broken(std::string_view why) { return {ErrorKind::Failed, fmt::format("the server's answer {}", why)}; }

/// The member `of` of the entry of that name in one of a kubeconfig's lists.
const json::Value* named(const json::Value& file, std::string_view list, std::string_view name, std::string_view of) {
    const json::Value* all = file.find(list);
    if (all == nullptr || !all->is_array()) return nullptr;
    for (const json::Value& one : *all->if_array())
        if (one.text_at({"name"}) == name) return one.find(of);
    return nullptr;
}

/// RFC 4648; what is no letter of it is passed over.
std::string decoded(const json::Value* entry, std::string_view key) {
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned held = 0, bits = 0;
    for (const char c : entry == nullptr ? std::string_view{} : entry->text_at({key})) {
        const std::size_t value = kLetters.find(c);
        if (value == std::string_view::npos) continue;
        held = held << 6 | static_cast<unsigned>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out += static_cast<char>(held >> bits & 0xff);
    }
    return out;
}

}  // namespace

Result<KubeAccess> KubeAccess::make(const Given& given) {
    KubeAccess access{.token = given.token};
    TRY(const auto origin, http::Origin::parse(given.url, &access.path));
    access.address = origin.address;
    while (access.path.ends_with('/')) access.path.pop_back();
    if (!origin.wants_tls) return access;
    stream::TlsClientOptions options{.version_min = stream::TlsVersion::Tls12, .protocols = {"http/1.1"}};
    if (!given.certificate_pem.empty()) {
        TRY(options.identity, stream::Identity::from_pem(given.certificate_pem, given.key_pem));
    }
    if (given.authority_pem.empty()) {
        options.trust.verify = [](const stream::Certificate&) -> Result<void> { return ok(); };
    } else {
        TRY(options.trust.authorities, stream::Certificate::chain_from_pem(given.authority_pem));
    }
    TRY(access.tls, stream::TlsContext::client(std::move(options)));
    return access;
}

Result<KubeAccess> KubeAccess::from_kubeconfig(std::string_view text) {
    const auto file = yaml::parse(text);
    if (!file) return Fail{to_error(file.error())};
    const std::string current{file->text_at({"current-context"})};
    const json::Value* context = named(*file, "contexts", current, "context");
    if (context == nullptr) return fail(ErrorKind::Invalid, "the kubeconfig has no current context");
    const json::Value* cluster = named(*file, "clusters", context->text_at({"cluster"}), "cluster");
    const json::Value* user = named(*file, "users", context->text_at({"user"}), "user");
    if (cluster == nullptr || user == nullptr) return fail(ErrorKind::Invalid, "the kubeconfig is not whole");
    return make({.url = std::string{cluster->text_at({"server"})},
                 .authority_pem = decoded(cluster, "certificate-authority-data"),
                 .certificate_pem = decoded(user, "client-certificate-data"),
                 .key_pem = decoded(user, "client-key-data"),
                 .token = std::string{user->text_at({"token"})}});
}

json::Value KubeReply::value() const {
    auto parsed = json::parse(body, {.bytes = 1u << 30, .depth = 1'000});
    return parsed ? *std::move(parsed) : json::Value{};
}

std::string KubeReply::header(std::string_view name) const {
    std::string_view rest = head;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find("\r\n"), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(rest.size(), end + 2));
        const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
        if (line.size() <= name.size() || line[name.size()] != ':' ||
            !std::equal(name.begin(), name.end(), line.begin(), same))
            continue;
        std::string_view value = line.substr(name.size() + 1);
        while (value.starts_with(' ')) value.remove_prefix(1);
        return std::string{value};
    }
    return {};
}

Task<Result<std::unique_ptr<KubeConnection>>> KubeConnection::open(KubeAccess access, stream::Deadline deadline) {
    CO_TRY(auto plain, co_await stream::connect(access.address, deadline));
    if (access.tls) {
        auto secured = co_await stream::tls_connect(std::move(plain), access.tls, access.address.host, deadline);
        if (!secured) co_return Fail{std::move(secured).error()};
        plain = *std::move(secured);
    }
    plain->set_read_deadline(stream::after(kAnswerMax));
    co_return std::unique_ptr<KubeConnection>{new KubeConnection{std::move(access), std::move(plain)}};
}

std::string KubeConnection::request(std::string_view method, std::string_view target, std::string_view body,
                                    std::string_view media, std::string_view more) const {
    std::string out = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n{}", method,
                                  access_.path, target, access_.address.text(), more);
    if (!access_.token.empty()) out += fmt::format("Authorization: Bearer {}\r\n", access_.token);
    if (!body.empty()) out += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", media, body.size());
    out += "\r\n";
    out += body;
    return out;
}

Task<Result<void>> KubeConnection::read_more(std::string* into) {
    scratch_.resize(kReadBytes);
    const auto got = co_await stream_->read_some(scratch_);
    if (!got) co_return Fail{got.error()};
    if (*got == 0) co_return Fail{broken("ended early")};
    into->append(as_text(ByteView{scratch_.data(), *got}));
    co_return ok();
}

Task<Result<void>> KubeConnection::read_more() {
    if (at_ == buffer_.size()) {
        buffer_.clear();
        at_ = 0;
    }
    return read_more(&buffer_);
}

Task<Result<KubeReply>> KubeConnection::read_head() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n", at_)) == std::string::npos) CO_TRY(co_await read_more());
    KubeReply reply{.head = buffer_.substr(at_, end + 2 - at_)};
    at_ = end + 4;
    const auto status =
        reply.head.size() > 12 ? number_in(std::string_view{reply.head}.substr(9, 3), 10) : std::nullopt;
    if (!status) co_return Fail{broken("is no HTTP")};
    reply.status = static_cast<unsigned>(*status);
    co_return reply;
}

Task<Result<bool>> KubeConnection::read_chunk(std::string* into) {
    std::size_t line = 0;
    while ((line = buffer_.find("\r\n", at_)) == std::string::npos) CO_TRY(co_await read_more());
    const auto size = number_in(std::string_view{buffer_}.substr(at_, line - at_), 16);
    if (!size) co_return Fail{broken("has a piece of no size")};
    at_ = line + 2;
    while (buffer_.size() - at_ < *size + 2) CO_TRY(co_await read_more());
    into->append(buffer_, at_, *size);
    at_ += *size + 2;
    co_return *size != 0;
}

Task<Result<KubeReply>> KubeConnection::ask(std::string request) {
    CO_TRY(co_await stream::write_all(*stream_, as_bytes(request)));
    CO_TRY(KubeReply reply, co_await read_head());
    if (request.starts_with("HEAD ")) co_return reply;
    if (const auto length = number_in(reply.header("Content-Length"), 10)) {
        // Nobody sends more than was asked for: the rest of a long body need not go through the buffer.
        reply.body.reserve(*length + kReadBytes);
        reply.body.append(buffer_, at_, *length);
        at_ += reply.body.size();
        while (reply.body.size() < *length) CO_TRY(co_await read_more(&reply.body));
    } else if (reply.header("Transfer-Encoding") == "chunked") {
        for (;;) {
            CO_TRY(const bool more, co_await read_chunk(&reply.body));
            if (!more) break;
        }
    }
    co_return reply;
}

Task<Result<KubeReply>> KubeConnection::begin(std::string request) {
    CO_TRY(co_await stream::write_all(*stream_, as_bytes(request)));
    auto reply = co_await read_head();
    co_return reply;
}

Task<Result<std::string>> KubeConnection::next_line() {
    std::size_t end = 0;
    while ((end = lines_.find('\n')) == std::string::npos && !ended_) {
        CO_TRY(const bool more, co_await read_chunk(&lines_));
        ended_ = !more;
    }
    if (end == std::string::npos) co_return std::string{};
    std::string line = lines_.substr(0, end);
    lines_.erase(0, end + 1);
    co_return line;
}

Result<KubeReply> ask_kube(const KubeAccess& access, std::string_view method, std::string_view target,
                           std::string_view body, std::string_view media, std::string_view more) {
    stream::IoContext io{{.threads = 0}};
    auto task = [](KubeAccess to, std::string_view verb, std::string_view where, std::string_view what,
                   std::string_view type, std::string_view lines) -> Task<Result<KubeReply>> {
        CO_TRY(const auto connection, co_await KubeConnection::open(std::move(to), stream::after(kAnswerMax)));
        auto request = connection->request(verb, where, what, type, lines);
        auto reply = co_await connection->ask(std::move(request));
        co_return reply;
    };
    return stream::block_on(io, task(access, method, target, body, media, more));
}

}  // namespace rhizome::test
