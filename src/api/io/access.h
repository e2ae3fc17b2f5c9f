// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "api/access.h"
#include "api/io/backend.h"

/// Whether keys open locks, by trying: a change is drafted, signed with the user's keys and thrown away, so the answer
/// is the one that a write would get now.
namespace rhizome::api {

struct Service;

/// By whose lock a change of this path may be decided: its own or its nearest ancestor's first (nothing), then those of
/// the ancestors that have one, nearest first.
std::vector<std::optional<state::Path>> deciders_of(const state::Path& path, const state::StateView& chain);

/// Whether `user`'s keys open the lock of the document at `path`, of the one that would be created there, or of one
/// above it.
Access could_change(Backend& backend, const User& user, const state::Path& path, const state::StateView& chain);

Access access_of(const Service& service, const User& user, const Asked& asked);
/// What answering reviews needs, by this service.
ReviewHelp review_help(const Service& service);

/// 403 unless the user may do this to the object that the call is about.
Result<void, Status> require_access(const Service& service, const Call& call, std::string_view verb);

/// Whose token it is: one of the token file, or a service account's. Denied with the reason.
Result<ReviewHelp::Known> authenticate(const Service& service, std::string_view token,
                                       const std::vector<std::string>& audiences);
/// POST of `serviceaccounts/NAME/token`.
Planned token_verb(const Service& service, const Call& call, const Present& present);

/// Certificates that are asked for: whether the request can be read, its approval, and the certificate.
Result<void, Status> check_signing_request(const Call& call, const json::Value& object);
Planned approval_verb(const Service& service, const Call& call, const Present& present);

}  // namespace rhizome::api
