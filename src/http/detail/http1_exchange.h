// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "http/detail/connection.h"
#include "http/detail/parser.h"

namespace rhizome::http::detail {

/// One request of a `Connection`.
class Http1Exchange final : public Exchange {
public:
    Http1Exchange(Connection& connection, Parser parser);
    ~Http1Exchange() override;

    [[nodiscard]] const Request& request() const override { return request_; }
    [[nodiscard]] const stream::Address& peer() const override { return connection_.stream_->peer(); }
    [[nodiscard]] const stream::TlsSession* tls() const override { return connection_.stream_->tls(); }
    [[nodiscard]] const stream::Strand& strand() const override { return connection_.stream_->strand(); }

    Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override;
    Task<Result<void>> respond(Response response) override;
    Task<Result<void>> start(Response head) override;
    Task<Result<void>> write(ByteView bytes) override;
    Task<Result<void>> finish() override;
    void when_ending(std::function<void(Ending)> call) override;
    [[nodiscard]] bool client_left() const override { return connection_.left_; }
    [[nodiscard]] bool answered() const override { return state_ != State::Open; }
    Task<Result<stream::Stream*>> upgrade(Response head) override;

    // ---- for the connection

    void tell(Ending ending);
    /// Ends what the handler left open; the connection may be used again unless it says `close_`.
    Task<void> wrap_up();
    [[nodiscard]] bool upgraded() const { return state_ == State::Upgraded; }

private:
    enum class State : unsigned char { Open, Streaming, Done, Upgraded };

    Result<void> check_can_answer(const Response& response) const;
    /// What the connection does after this answer, decided when its head is written.
    void decide_keeping();
    Task<Result<void>> respond_packed(Response response);
    [[nodiscard]] bool has_no_body(unsigned status) const;
    Task<Result<void>> send_pieces(std::string_view head, ByteView body);

    Connection& connection_;
    Parser parser_;
    Request request_;
    std::string body_;  ///< read, not yet given to the handler
    std::size_t body_at_ = 0;
    stream::Deadline body_deadline_;
    bool continue_owed_ = false;
    bool chunked_ = false;
    bool silent_ = false;  ///< the body of the answer is not sent (HEAD)
    State state_ = State::Open;
    std::function<void(Ending)> ending_;
    class UpgradedStream;
    std::unique_ptr<UpgradedStream> stream_;
};

}  // namespace rhizome::http::detail
