// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "cluster/kinds.h"

/// May somebody do something? There are no roles here that would say so: reads are open to everybody who is known, and
/// a write is decided by the lock of the document or of what is above it (docs/DESIGN.md section 8). This is the
/// question and how it is answered in Kubernetes' review kinds; whether keys open locks, the signer is asked
/// (`io/access.h`).
namespace rhizome::api {

/// What somebody would do. `*` means any.
struct Asked {
    std::string verb{};
    std::string group{};
    std::string version{};
    std::string resource{};  ///< the plural
    std::string subresource{};
    std::string name_space{};  ///< empty: of all, or of none
    std::string name{};        ///< empty: of any
    std::string url{};         ///< of what is no resource; empty: it is one
};

struct Access {
    bool allowed = false;
    std::string reason{};  ///< names the lock
};

/// How a question is decided, before any lock is looked at.
enum class Ground : unsigned char {
    Open,     ///< to everybody who is known
    Masters,  ///< to the group `system:masters` only
    Lock,     ///< of the document, or of what is above it
};
Ground ground_of(const Asked& asked, const cluster::Kind* kind);
/// The sentence for those that no lock decides.
Access without_lock(Ground ground, const User& user);

/// What is asked in a review's `spec`, and about whom.
struct ReviewQuestion {
    Asked asked{};
    User user{};
};
/// Of SubjectAccessReview and its like; 400 and 422 as Kubernetes has them.
Result<ReviewQuestion, Status> review_question(const Call& call, const json::Value& object);

/// One thing that a user may do, as SelfSubjectRulesReview lists it.
struct AccessRule {
    std::vector<std::string> verbs{};
    std::vector<std::string> groups{};
    std::vector<std::string> resources{};
    std::vector<std::string> names{};  ///< empty: any
};

/// What answering a review needs of the outside.
struct ReviewHelp {
    std::function<Access(const User&, const Asked&)> access{};
    /// Whose token it is, and for which of the audiences.
    struct Known {
        User user{};
        std::vector<std::string> audiences{};
    };
    std::function<Result<Known>(std::string_view token, const std::vector<std::string>& audiences)> authenticate{};
    struct Rules {
        std::vector<AccessRule> rules{};
        bool incomplete = false;
    };
    std::function<Rules(const User&, std::string_view name_space)> rules{};
};

/// Reviews: answered and forgotten (`cluster::Keeping::Nowhere`).
Planned review_verb(const Call& call, const ReviewHelp& help);

}  // namespace rhizome::api
