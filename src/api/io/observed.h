// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "api/audit.h"
#include "api/request_metrics.h"
#include "http/exchange.h"
#include "stream/timers.h"

namespace rhizome::api {

/// Where requests are counted and written down. From any thread.
class Observer {
public:
    /// Takes a line of the audit log; false when it could not be written.
    using AuditSink = std::function<bool(const std::string& line)>;
    explicit Observer(AuditSink audit) : audit_(std::move(audit)) {}

    [[nodiscard]] bool is_auditing() const { return static_cast<bool>(audit_); }
    void begin(const RequestLabels& labels);
    /// It turned out to be another kind of request.
    void move(const RequestLabels& from, const RequestLabels& to);
    void end(const RequestLabels& labels, unsigned code, microseconds took);
    void write(const AuditRecord& record);
    [[nodiscard]] std::string metrics() const;

private:
    AuditSink audit_;
    mutable std::mutex mutex_{};
    RequestMetrics metrics_{};
};

/// One exchange, seen from the side: passes everything on and remembers what was answered. Counts and audits the
/// request when it goes.
class ObservedExchange final : public http::Exchange {
public:
    /// `now` and `id` are for the audit log; both unused without one.
    ObservedExchange(Observer& observer, http::Exchange& inner, std::function<Time()> now, std::string id);
    ~ObservedExchange() override;

    /// Who asks, and for whom.
    void note_user(const User& asks, const User& counts);
    /// What is asked for, once that is known. Until then it is a path.
    void note_request(Verb verb, const ResourcePath& path, std::string_view media, bool dry_run);

    [[nodiscard]] const http::Request& request() const override { return inner_.request(); }
    [[nodiscard]] const stream::Address& peer() const override { return inner_.peer(); }
    [[nodiscard]] const stream::TlsSession* tls() const override { return inner_.tls(); }
    [[nodiscard]] const stream::Strand& strand() const override { return inner_.strand(); }
    stream::Task<Result<std::size_t>> read_some(std::span<std::uint8_t> into) override {
        return inner_.read_some(into);
    }
    stream::Task<Result<void>> respond(http::Response response) override;
    stream::Task<Result<void>> start(http::Response head) override;
    stream::Task<Result<void>> write(ByteView bytes) override { return inner_.write(bytes); }
    stream::Task<Result<void>> finish() override { return inner_.finish(); }
    void when_ending(std::function<void(http::Ending)> call) override { inner_.when_ending(std::move(call)); }
    [[nodiscard]] bool client_left() const override { return inner_.client_left(); }
    [[nodiscard]] bool answered() const override { return inner_.answered(); }
    stream::Task<Result<stream::Stream*>> upgrade(http::Response head) override;

private:
    void note_answer(http::Response& response, bool is_long);
    void write_audit(AuditStage stage);

    Observer& observer_;
    http::Exchange& inner_;
    std::function<Time()> now_;
    stream::Deadline started_ = stream::Clock::now();
    RequestLabels labels_;
    unsigned code_ = 0;
    AuditRecord record_{};
};

}  // namespace rhizome::api
