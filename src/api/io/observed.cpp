// SPDX-License-Identifier: Apache-2.0
#include "api/io/observed.h"

#include "base/json.h"

namespace rhizome::api {
namespace {

/// The `reason` of a refusal; its message stays out, since it may quote what was sent.
std::string reason_in(const http::Response& response) {
    if (response.status < 400) return {};
    const auto status = json::parse(response.body, {.bytes = 64u << 10});
    return status ? std::string{status->text_at({"reason"})} : std::string{};
}

}  // namespace

void Observer::begin(const RequestLabels& labels) {
    const std::lock_guard hold{mutex_};
    metrics_.begin(labels);
}

void Observer::move(const RequestLabels& from, const RequestLabels& to) {
    const std::lock_guard hold{mutex_};
    metrics_.drop(from);
    metrics_.begin(to);
}

void Observer::end(const RequestLabels& labels, unsigned code, microseconds took) {
    const std::lock_guard hold{mutex_};
    metrics_.end(labels, code, took);
}

void Observer::write(const AuditRecord& record) {
    if (!audit_) return;
    const bool written = audit_(audit_line(record));
    const std::lock_guard hold{mutex_};
    metrics_.audited(written);
}

std::string Observer::metrics() const {
    const std::lock_guard hold{mutex_};
    return metrics_.text();
}

ObservedExchange::ObservedExchange(Observer& observer, http::Exchange& inner, std::function<Time()> now, std::string id)
    : observer_(observer), inner_(inner), now_(std::move(now)), labels_(labels_of(inner.request().method)) {
    observer_.begin(labels_);
    if (!observer_.is_auditing()) return;
    const http::Request& request = inner.request();
    record_.id = std::move(id);
    record_.received = now_();
    record_.uri = request.target;
    record_.method = request.method;
    record_.path = parse_resource_path(request.path());
    record_.source = inner.peer().host;
    record_.agent = request.headers.find("User-Agent").value_or("");
}

ObservedExchange::~ObservedExchange() {
    const auto took = std::chrono::duration_cast<microseconds>(stream::Clock::now() - started_);
    observer_.end(labels_, code_, took);
    write_audit(AuditStage::ResponseComplete);
}

void ObservedExchange::note_user(const User& asks, const User& counts) {
    if (!observer_.is_auditing()) return;
    record_.user = asks;
    if (counts.name != asks.name || counts.groups != asks.groups) record_.impersonated = counts;
}

void ObservedExchange::note_request(Verb verb, const ResourcePath& path, std::string_view media, bool dry_run) {
    RequestLabels known = labels_of(verb, path, media, dry_run);
    observer_.move(labels_, known);
    labels_ = std::move(known);
    if (!observer_.is_auditing()) return;
    record_.verb = verb;
    record_.path = path;
}

void ObservedExchange::note_answer(http::Response& response, bool is_long) {
    code_ = response.status;
    if (!observer_.is_auditing()) return;
    response.headers.set("Audit-Id", record_.id);
    record_.code = response.status;
    record_.reason = reason_in(response);
    record_.txid = response.headers.find("Rhizome-Txid").value_or("");
    if (is_long) write_audit(AuditStage::ResponseStarted);
}

void ObservedExchange::write_audit(AuditStage stage) {
    if (!observer_.is_auditing()) return;
    record_.stage = stage;
    record_.at = now_();
    observer_.write(record_);
}

stream::Task<Result<void>> ObservedExchange::respond(http::Response response) {
    note_answer(response, false);
    return inner_.respond(std::move(response));
}

stream::Task<Result<void>> ObservedExchange::start(http::Response head) {
    note_answer(head, true);
    return inner_.start(std::move(head));
}

stream::Task<Result<stream::Stream*>> ObservedExchange::upgrade(http::Response head) {
    note_answer(head, true);
    return inner_.upgrade(std::move(head));
}

}  // namespace rhizome::api
