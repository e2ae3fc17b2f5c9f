// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cluster/field_error.h"
#include "cluster/kinds.h"

/// Answers that are no object: Kubernetes' `Status`, with the reasons and sentences that clients and people know.
namespace rhizome::api {

struct Cause {
    std::string reason{};  ///< `FieldValueInvalid`
    std::string message{};
    std::string field{};
    friend bool operator==(const Cause&, const Cause&) = default;
};

struct Status {
    unsigned code = 500;   ///< of HTTP
    std::string reason{};  ///< `NotFound`; empty on success
    std::string message{};
    // details
    std::string name{};
    std::string group{};
    std::string kind{};  ///< the resource, `pods`; of refusals by content the kind, `Pod`
    std::string uid{};
    std::vector<Cause> causes{};
    std::uint32_t retry_after_seconds = 0;  ///< also the header `Retry-After`

    [[nodiscard]] bool success() const { return code < 300; }
    [[nodiscard]] json::Value to_json() const;
    friend bool operator==(const Status&, const Status&) = default;
};

using cluster::Kind;

/// 404: no such object.
Status not_found(const Kind& kind, std::string_view name);
/// 404: no such path.
Status no_such_path();
/// 409: created before.
Status already_exists(const Kind& kind, std::string_view name);
/// 409: `why` ends the sentence; empty for "the object has been modified".
Status conflict(const Kind& kind, std::string_view name, std::string_view why = {});
/// 422: the content breaks rules.
Status invalid(const Kind& kind, std::string_view name, const cluster::FieldErrors& errors);
/// 400
Status bad_request(std::string_view message);
/// 401
Status unauthorized();
/// 403
Status forbidden(const Kind& kind, std::string_view name, std::string_view why);
/// 405
Status method_not_allowed();
/// 406, 415: what the server can speak.
Status not_acceptable(std::string_view accepted);
Status unsupported_media_type(std::string_view accepted);
/// 410: a resource version or continue token that is no longer served: list again.
Status expired(std::string_view message);
/// 413
Status too_large(std::size_t bytes_max);
/// 429
Status too_many_requests(std::string_view message, std::uint32_t retry_after_seconds);
/// 500
Status internal(std::string_view message);
/// 503
Status unavailable(std::string_view message, std::uint32_t retry_after_seconds = 1);
/// 504
Status timed_out(std::string_view message);
/// 200: what was deleted.
Status deleted(const Kind& kind, std::string_view name, std::string_view uid);

/// An error of our own on its way to a client: its kind decides code and reason.
Status from_error(const Error& error);

}  // namespace rhizome::api
