// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "base/bytes.h"
#include "cluster/selector.h"

/// Admission webhooks: programs of the cluster's owners that are asked about a write before it is signed, as
/// Validating- and MutatingWebhookConfigurations say. Here is which are asked, what they are sent and what their answer
/// means; `io/webhooks.cpp` asks them.
///
/// They stand between defaulting and validation, at the gateway that a write came by: a rule for those who write
/// through the API, not of the chain (docs/DESIGN.md section 12).
namespace rhizome::api {

enum class Operation : unsigned char { Create, Update, Delete, Connect };
std::string_view name(Operation operation);

/// One webhook of a configuration.
struct Webhook {
    struct Rule {
        std::vector<std::string> operations{};
        std::vector<std::string> groups{};
        std::vector<std::string> versions{};
        std::vector<std::string> resources{};
        std::string scope{};
    };
    std::string name{};
    bool mutates = false;
    bool ignores_failure = false;    ///< `failurePolicy: Ignore`
    bool again_if_needed = false;    ///< `reinvocationPolicy: IfNeeded`
    bool equivalent = true;          ///< `matchPolicy: Equivalent`: other versions of the resource count
    bool good_for_dry_runs = false;  ///< its side effects do not matter there
    bool speaks_v1 = false;          ///< the only form of the review that is spoken here
    seconds timeout{10};
    std::vector<Rule> rules{};
    cluster::LabelSelector spaces{};  ///< of namespaces
    cluster::LabelSelector objects{};
    json::Value client{};  ///< `clientConfig`: whom to ask
};
/// Those of a configuration that was validated, in its order; a broken one is left out.
std::vector<Webhook> webhooks_of(const json::Value& configuration, bool mutates);

/// What a configuration says that is kept and not done yet.
std::vector<std::string> webhook_warnings(const Kind& kind, const json::Value& configuration);

/// Configurations themselves are never asked about: nobody locks himself out.
bool is_asked_about(const Kind& kind);

/// What is asked about, in one version.
struct AdmissionTarget {
    const Kind* kind = nullptr;
    std::string_view subresource{};
};
/// The version of the resource that the webhook wants to hear of, this write being one to `call`'s; nothing: it is not
/// asked. `kinds` are all there are; labels are those of the namespace and of the object before and after (null: none).
struct Labels {
    const json::Value* space = nullptr;   ///< the namespace's; null where the kind lives in none
    const json::Value* object = nullptr;  ///< the whole objects
    const json::Value* before = nullptr;
};
std::optional<AdmissionTarget> wants(const Webhook& hook, const Call& call, Operation operation,
                                     const cluster::Kinds& kinds, const Labels& labels);

/// The AdmissionReview that is sent. `uid` names the question.
struct AdmissionQuestion {
    std::string uid{};
    Operation operation = Operation::Create;
    AdmissionTarget target{};
    const json::Value* object = nullptr;
    const json::Value* before = nullptr;
};
json::Value admission_review(const Call& call, const AdmissionQuestion& question);

/// What came back.
struct AdmissionAnswer {
    bool allowed = false;
    Status denial{};  ///< where it is not allowed, with Kubernetes' sentence
    std::optional<json::Value> patch{};
    std::vector<std::string> warnings{};
    std::vector<std::pair<std::string, std::string>> audit{};
};
inline constexpr std::size_t kAnswerBytesMax = 4u << 20;
/// What `said` answers to the question `uid`; an error is a failure to call the webhook.
Result<AdmissionAnswer> read_admission(const json::Value& said, std::string_view uid, const Webhook& hook);

/// What a client is told when a webhook cannot be asked and that counts as a refusal.
Status webhook_failed(const Webhook& hook, std::string_view why);

}  // namespace rhizome::api
