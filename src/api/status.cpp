// SPDX-License-Identifier: Apache-2.0
#include "api/status.h"

#include <fmt/core.h>

namespace rhizome::api {
namespace {

Status about(unsigned code, std::string_view reason, std::string message) {
    return {.code = code, .reason = std::string(reason), .message = std::move(message)};
}

Status about(unsigned code, std::string_view reason, std::string message, const Kind& kind, std::string_view name) {
    Status status = about(code, reason, std::move(message));
    status.name = name;
    status.group = kind.group;
    status.kind = kind.plural;
    return status;
}

/// `Deployment.apps`
std::string qualified_kind(const Kind& kind) {
    return kind.group.empty() ? std::string(kind.kind) : fmt::format("{}.{}", kind.kind, kind.group);
}

}  // namespace

json::Value Status::to_json() const {
    json::Object out{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::Object{}}};
    out.set("status", success() ? "Success" : "Failure");
    if (!message.empty()) out.set("message", message);
    if (!reason.empty()) out.set("reason", reason);
    json::Object details;
    const auto set = [&](std::string_view key, const std::string& text) {
        if (!text.empty()) details.set(key, text);
    };
    set("name", name);
    set("group", group);
    set("kind", kind);
    set("uid", uid);
    if (!causes.empty()) {
        json::Array list;
        for (const Cause& cause : causes) {
            json::Object each{{"reason", cause.reason}, {"message", cause.message}};
            if (!cause.field.empty()) each.set("field", cause.field);
            list.emplace_back(std::move(each));
        }
        details.set("causes", std::move(list));
    }
    if (retry_after_seconds != 0) details.set("retryAfterSeconds", retry_after_seconds);
    if (!details.empty()) out.set("details", std::move(details));
    if (!success()) out.set("code", code);
    return out;
}

Status not_found(const Kind& kind, std::string_view name) {
    return about(404, "NotFound", fmt::format("{} {} not found", kind.resource(), json::quote(name)), kind, name);
}

Status no_such_path() { return about(404, "NotFound", "the server could not find the requested resource"); }

Status already_exists(const Kind& kind, std::string_view name) {
    return about(409, "AlreadyExists", fmt::format("{} {} already exists", kind.resource(), json::quote(name)), kind,
                 name);
}

Status conflict(const Kind& kind, std::string_view name, std::string_view why) {
    if (why.empty())
        why = "the object has been modified; please apply your changes to the latest version and try again";
    return about(409, "Conflict",
                 fmt::format("Operation cannot be fulfilled on {} {}: {}", kind.resource(), json::quote(name), why),
                 kind, name);
}

Status invalid(const Kind& kind, std::string_view name, const cluster::FieldErrors& errors) {
    Status status =
        about(422, "Invalid",
              fmt::format("{} {} is invalid: {}", qualified_kind(kind), json::quote(name), cluster::text(errors)), kind,
              name);
    status.kind = kind.kind;
    for (const cluster::FieldError& error : errors)
        status.causes.push_back({std::string(cluster::reason(error.cause)), error.body(), error.field});
    return status;
}

Status bad_request(std::string_view message) { return about(400, "BadRequest", std::string(message)); }

Status unauthorized() { return about(401, "Unauthorized", "Unauthorized"); }

Status forbidden(const Kind& kind, std::string_view name, std::string_view why) {
    return about(403, "Forbidden",
                 name.empty() ? fmt::format("{} is forbidden: {}", kind.resource(), why)
                              : fmt::format("{} {} is forbidden: {}", kind.resource(), json::quote(name), why),
                 kind, name);
}

Status method_not_allowed() {
    return about(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

Status not_acceptable(std::string_view accepted) {
    return about(406, "NotAcceptable", fmt::format("only the following media types are accepted: {}", accepted));
}

Status unsupported_media_type(std::string_view accepted) {
    return about(
        415, "UnsupportedMediaType",
        fmt::format("the body of the request was in an unknown format - accepted media types include: {}", accepted));
}

Status expired(std::string_view message) { return about(410, "Expired", std::string(message)); }

Status too_large(std::size_t bytes_max) {
    return about(413, "RequestEntityTooLarge", fmt::format("Request entity too large: limit is {}", bytes_max));
}

Status too_many_requests(std::string_view message, std::uint32_t retry_after_seconds) {
    Status status = about(429, "TooManyRequests", std::string(message));
    status.retry_after_seconds = retry_after_seconds;
    return status;
}

Status internal(std::string_view message) {
    Status status = about(500, "InternalError", fmt::format("Internal error occurred: {}", message));
    status.causes.push_back({"", std::string(message), ""});
    return status;
}

Status unavailable(std::string_view message, std::uint32_t retry_after_seconds) {
    Status status = about(503, "ServiceUnavailable", std::string(message));
    status.retry_after_seconds = retry_after_seconds;
    return status;
}

Status timed_out(std::string_view message) { return about(504, "Timeout", std::string(message)); }

Status deleted(const Kind& kind, std::string_view name, std::string_view uid) {
    Status status = about(200, "", "", kind, name);
    status.uid = uid;
    return status;
}

Status from_error(const Error& error) {
    switch (error.kind) {
        case ErrorKind::Invalid:
        case ErrorKind::Usage: return bad_request(error.message);
        case ErrorKind::NotFound: return about(404, "NotFound", error.message);
        case ErrorKind::Denied: return about(403, "Forbidden", error.message);
        case ErrorKind::Conflict: return about(409, "Conflict", error.message);
        case ErrorKind::Unavailable: return unavailable(error.message);
        case ErrorKind::Exhausted: return too_many_requests(error.message, 1);
        case ErrorKind::Unsupported: return about(400, "BadRequest", error.message);
        case ErrorKind::Corrupt:
        case ErrorKind::Failed: return internal(error.message);
    }
    return internal(error.message);
}

}  // namespace rhizome::api
