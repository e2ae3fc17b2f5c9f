// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include <fmt/core.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "stream/detail/tls_inside.h"

namespace rhizome::stream {
namespace {

using detail::openssl_reason;

/// What is read from below at once: a whole record of 16 KiB with its frame.
constexpr std::size_t kReadBytes = 16 * 1024 + 256;
/// What one record holds.
/// Not the 16 KiB that a record may have: a long answer and the buffers it is copied to all begin at pages with some
/// allocators, and a processor that loads from where the last store went, as far as the lowest twelve bits tell, waits
/// for it. So it would with every record; this way with one in eight.
constexpr std::size_t kRecordBytes = 15 * 1024 + 512;
/// Encrypted bytes that wait before they go down.
constexpr std::size_t kFlushBytes = 64 * 1024;

class TlsStream;
TlsStream& stream_of(BIO* bio);
int bio_read(BIO* bio, char* into, int size);
int bio_write(BIO* bio, const char* from, int size);
long bio_control(BIO* bio, int command, long number, void* pointer);

/// Memory on both sides, as OpenSSL's memory BIO, but owned by us: it goes when it is empty, and what was read from
/// below is not copied once more.
const BIO_METHOD* memory_method() {
    static BIO_METHOD* const method = [] {
        BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rhizome");
        BIO_meth_set_read(made, &bio_read);
        BIO_meth_set_write(made, &bio_write);
        BIO_meth_set_ctrl(made, &bio_control);
        return made;
    }();
    return method;
}

class TlsStream final : public Stream {
public:
    TlsStream(std::unique_ptr<Stream> lower, std::shared_ptr<const TlsContext> context)
        : lower_(std::move(lower)), context_(std::move(context)) {
        handshake_.context = &context_->inside();
        ssl_.reset(SSL_new(handshake_.context->context.get()));
        ensure(ssl_ != nullptr, "there is memory for a TLS connection");
        SSL_set_ex_data(ssl_.get(), detail::handshake_index(), &handshake_);
        BIO* bio = BIO_new(memory_method());
        BIO_set_data(bio, this);
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl_.get(), bio, bio);  // takes it
    }

    /// Agrees with the peer; `as_server` says which side we are.
    Task<Result<void>> handshake(bool as_server) {
        as_server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
        for (;;) {
            ERR_clear_error();
            const int result = SSL_do_handshake(ssl_.get());
            const int why = SSL_get_error(ssl_.get(), result);
            std::string reason;
            if (result != 1 && why != SSL_ERROR_WANT_READ) reason = handshake_reason();
            auto sent = co_await flush();  // also the alert that tells the peer what was wrong
            if (result == 1) {
                if (!sent) co_return Fail{std::move(sent).error()};
                break;
            }
            if (!reason.empty()) co_return fail(ErrorKind::Denied, std::move(reason));
            if (!sent) co_return Fail{std::move(sent).error()};
            CO_TRY(const bool more, co_await fetch());
            if (!more) co_return fail(ErrorKind::Unavailable, "the peer ended the connection during the TLS handshake");
        }
        note_session();
        co_return ok();
    }

    Result<void> expect_name(const std::string& name) {
        if (name.empty()) return {};
        std::array<std::uint8_t, 16> number{};
        const bool is_number = inet_pton(AF_INET, name.c_str(), number.data()) == 1 ||
                               inet_pton(AF_INET6, name.c_str(), number.data()) == 1;
        if (is_number) {
            X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str());
        } else if (SSL_set1_host(ssl_.get(), name.c_str()) != 1 ||
                   SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) != 1) {
            return detail::openssl_fail(ErrorKind::Invalid, fmt::format("ask for the server \"{}\"", name));
        }
        session_.server_name = name;
        return {};
    }

    Task<Result<void>> readable() override {
        if (SSL_has_pending(ssl_.get()) == 1 || in_at_ < in_.size() || ended_) co_return ok();
        co_return co_await lower_->readable();
    }

    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        for (;;) {
            if (ended_) co_return 0;
            ERR_clear_error();
            std::size_t got = 0;
            const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
            if (result == 1) co_return got;
            switch (SSL_get_error(ssl_.get(), result)) {
                case SSL_ERROR_WANT_READ: break;
                case SSL_ERROR_ZERO_RETURN: ended_ = true; co_return 0;
                default: broken_ = true; co_return fail(ErrorKind::Unavailable, "TLS broke: " + openssl_reason());
            }
            CO_TRY(const bool more, co_await fetch());
            // Without TLS's own goodbye anybody on the way may have cut the stream.
            if (!more) co_return fail(ErrorKind::Unavailable, "the connection was cut without the goodbye of TLS");
        }
    }

    Task<Result<void>> write(std::span<const ByteView> parts) override {
        Bytes gathered;  // small parts travel in one record
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const ByteView part = parts[i];
            const bool last = i + 1 == parts.size();
            if (gathered.size() + part.size() <= kRecordBytes && (!last || !gathered.empty())) {
                gathered.insert(gathered.end(), part.begin(), part.end());
                if (!last) continue;
                CO_TRY(co_await encrypt(gathered));
                continue;
            }
            CO_TRY(co_await encrypt(gathered));
            gathered.clear();
            CO_TRY(co_await encrypt(part));
        }
        co_return co_await flush();
    }

    Task<Result<void>> shutdown() override {
        if (!broken_) {
            ERR_clear_error();
            SSL_shutdown(ssl_.get());
            CO_TRY(co_await flush());
        }
        co_return co_await lower_->shutdown();
    }

    void close() override { lower_->close(); }
    void set_read_deadline(Deadline deadline) override { lower_->set_read_deadline(deadline); }
    void set_write_deadline(Deadline deadline) override { lower_->set_write_deadline(deadline); }
    [[nodiscard]] const Address& peer() const override { return lower_->peer(); }
    [[nodiscard]] const Strand& strand() const override { return lower_->strand(); }
    [[nodiscard]] const TlsSession* tls() const override { return &session_; }

    // ---- what OpenSSL reads and writes

    int take(char* into, int size) {
        const std::size_t count = std::min(static_cast<std::size_t>(size), in_.size() - in_at_);
        if (count == 0) return 0;
        std::memcpy(into, in_.data() + in_at_, count);
        in_at_ += count;
        if (in_at_ == in_.size()) {
            in_ = Bytes{};
            in_at_ = 0;
        }
        return static_cast<int>(count);
    }
    int put(const char* from, int size) {
        // A long answer fills it again and again: then it is made as large as it gets at once.
        if (out_.empty() && static_cast<std::size_t>(size) > kRecordBytes / 2) out_.reserve(kFlushBytes + kReadBytes);
        const auto* bytes =
            reinterpret_cast<const std::uint8_t*>(from);  // of one type, so that they are copied at once
        out_.insert(out_.end(), bytes, bytes + size);
        return size;
    }

private:
    std::string handshake_reason() {
        const std::string said = openssl_reason("the peer ended the connection");
        if (!handshake_.refusal.empty()) return "the peer was refused: " + handshake_.refusal;
        return "the TLS handshake failed: " + said;
    }

    void note_session() {
        session_.version = SSL_version(ssl_.get()) == TLS1_3_VERSION ? TlsVersion::Tls13 : TlsVersion::Tls12;
        const std::uint8_t* protocol = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
        session_.protocol.assign(reinterpret_cast<const char*>(protocol), size);
        if (const char* name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name); name != nullptr)
            session_.server_name = name;
        if (X509* shown = SSL_get0_peer_certificate(ssl_.get()); shown != nullptr)
            session_.peer = Certificate::share(shown);
    }

    /// More from below; false at its end.
    Task<Result<bool>> fetch() {
        CO_TRY(co_await lower_->readable());
        Bytes buffer(kReadBytes);
        CO_TRY(const std::size_t got, co_await lower_->read_some(buffer));
        buffer.resize(got);
        in_ = std::move(buffer);
        in_at_ = 0;
        co_return got > 0;
    }

    Task<Result<void>> encrypt(ByteView bytes) {
        while (!bytes.empty()) {
            if (broken_) co_return fail(ErrorKind::Unavailable, "TLS broke on this connection before");
            ERR_clear_error();
            std::size_t taken = 0;
            if (SSL_write_ex(ssl_.get(), bytes.data(), std::min(bytes.size(), kRecordBytes), &taken) != 1) {
                broken_ = true;
                co_return fail(ErrorKind::Unavailable, "TLS broke: " + openssl_reason());
            }
            bytes = bytes.subspan(taken);
            if (out_.size() >= kFlushBytes) CO_TRY(co_await flush());
        }
        co_return ok();
    }

    Task<Result<void>> flush() {
        if (out_.empty()) co_return ok();
        const Bytes sending = std::exchange(out_, {});
        co_return co_await write_all(*lower_, sending);
    }

    std::unique_ptr<Stream> lower_;
    std::shared_ptr<const TlsContext> context_;
    detail::Handshake handshake_;
    detail::Owned<ssl_st> ssl_;
    Bytes in_;  ///< encrypted, not yet read by OpenSSL
    std::size_t in_at_ = 0;
    Bytes out_;  ///< encrypted, not yet sent
    bool ended_ = false;
    bool broken_ = false;
    TlsSession session_;
};

TlsStream& stream_of(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

int bio_read(BIO* bio, char* into, int size) {
    BIO_clear_retry_flags(bio);
    const int got = stream_of(bio).take(into, size);
    if (got > 0) return got;
    BIO_set_retry_read(bio);
    return -1;
}

int bio_write(BIO* bio, const char* from, int size) {
    BIO_clear_retry_flags(bio);
    return stream_of(bio).put(from, size);
}

long bio_control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

Task<Result<std::unique_ptr<Stream>>> agree(std::unique_ptr<TlsStream> made, bool as_server, Deadline deadline) {
    made->set_read_deadline(deadline);
    made->set_write_deadline(deadline);
    auto agreed = co_await made->handshake(as_server);
    if (!agreed) {
        // Our side ends in order, so that an alert just sent is not overtaken by a reset.
        auto ignored = co_await made->shutdown();
        made->close();
        co_return Fail{std::move(agreed).error()};
    }
    made->set_read_deadline(kNever);
    made->set_write_deadline(kNever);
    co_return std::unique_ptr<Stream>(std::move(made));
}

}  // namespace

Task<Result<std::unique_ptr<Stream>>> tls_accept(std::unique_ptr<Stream> lower,
                                                 std::shared_ptr<const TlsContext> context, Deadline deadline) {
    auto made = std::make_unique<TlsStream>(std::move(lower), std::move(context));
    co_return co_await agree(std::move(made), true, deadline);
}

Task<Result<std::unique_ptr<Stream>>> tls_connect(std::unique_ptr<Stream> lower,
                                                  std::shared_ptr<const TlsContext> context, std::string server_name,
                                                  Deadline deadline) {
    auto made = std::make_unique<TlsStream>(std::move(lower), std::move(context));
    CO_TRY(made->expect_name(server_name));
    co_return co_await agree(std::move(made), false, deadline);
}

}  // namespace rhizome::stream
