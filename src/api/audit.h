// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/request.h"
#include "api/users.h"
#include "base/time.h"

/// Who asked for what and what became of it, in the form of Kubernetes' `audit.k8s.io/v1 Event` at the level
/// `Metadata`: no bodies, neither what was sent nor what was answered, so that no secret can get into it.
namespace rhizome::api {

enum class AuditStage : unsigned char {
    ResponseStarted,   ///< of long answers: the head was sent
    ResponseComplete,  ///< nothing more is sent
};

struct AuditRecord {
    std::string id{};  ///< `auditID`, the same for both stages
    AuditStage stage = AuditStage::ResponseComplete;
    std::string uri{};     ///< path and query, as sent
    std::string method{};  ///< what the verb is called where the path names no resource
    std::optional<ResourcePath> path{};
    std::optional<Verb> verb{};
    std::optional<User> user{};  ///< none: nobody whom this node knows
    std::optional<User> impersonated{};
    std::string source{};
    std::string agent{};
    unsigned code = 0;     ///< 0: the client left before there was an answer
    std::string reason{};  ///< of a refusal
    std::string txid{};    ///< of a write that was submitted
    Time received{};
    Time at{};
};

/// One line of JSON, with its end. Bounded, whatever was sent: long texts are cut.
std::string audit_line(const AuditRecord& record);

}  // namespace rhizome::api
