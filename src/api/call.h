// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/registry.h"
#include "api/request.h"
#include "api/revisions.h"
#include "api/selection.h"
#include "api/status.h"
#include "api/table.h"
#include "api/users.h"
#include "cluster/kinds.h"
#include "ledger/draft.h"

/// One request about resources and what is to be done about it. The verbs (`verbs/`) are functions from these values to
/// an answer or to a draft; `io/` reads, signs, waits and writes.
namespace rhizome::api {

struct Call {
    Verb verb = Verb::Get;
    ResourcePath path{};
    Query query{};
    Form form = Form::Object;
    SharedRegistry registry{};                          ///< what `kind` points into
    const Kind* kind = nullptr;                         ///< never null
    const cluster::Subresource* subresource = nullptr;  ///< null: the object itself
    std::string body{};
    std::string media{};  ///< of the body, without parameters
    std::string agent{};  ///< `User-Agent`
    User user{};
    Time now{};
    std::array<std::uint8_t, 32> entropy{};  ///< for uid and generated names

    [[nodiscard]] bool is_dry() const { return query.has("dryRun") || dry_by_body; }
    bool dry_by_body = false;  ///< what `asks_for_dry_run` says
    /// Webhooks have a say before the object is validated: `readmit` does that.
    bool judged_later = false;
};

struct Reply {
    unsigned code = 200;
    std::string body{};
    std::string media = "application/json";
    std::vector<std::pair<std::string, std::string>> headers{};
    std::vector<std::string> warnings{};
};
Reply reply_of(const Status& status);

/// What a write finds.
struct Present {
    Standing object{};               ///< none: it does not exist
    bool namespace_is_there = true;  ///< where the kind lives in one
    bool namespace_ends = false;     ///< it is being emptied: nothing new is taken
    /// Of a Namespace: something in it waits for a finalizer.
    std::function<bool()> contents_wait{};
    /// Whether something refers to this uid as its owner.
    std::function<bool(std::string_view uid)> has_dependents{};
};

/// What a write is to become: the changes of one transaction, and the answer once they are made. Planned anew on
/// whatever is there when somebody else was faster.
struct Draft {
    /// What will stand there, without what is only shown; none: it will be gone.
    std::optional<json::Value> object{};
    /// Of a new document: who may change it, in the template language; empty: whoever may change its namespace.
    std::string lock{};
    unsigned code = 200;
    std::vector<std::string> warnings{};
    std::string sealed{};  ///< the document for the chain, where that is not the object in clear
    /// Other documents that change with it or not at all, as they will stand.
    std::vector<json::Value> beside{};
    bool says_success = false;  ///< the answer is a `Status`, not the object
    /// Of what goes with a change (its last finalizer was taken out): how it stood last, which is the answer.
    std::optional<json::Value> last{};
};

/// An answer at once (nothing is to be changed), or a draft.
using Planned = Result<std::variant<Reply, Draft>, Status>;

/// `rhizome.dev/lock`: the annotation of a new object that says who may change it.
inline constexpr std::string_view kLockAnnotation = "rhizome.dev/lock";
/// `rhizome.dev/hold: "2 of 3"`: a change of this object that one signature is not enough for is held until others have
/// signed, where somebody holds (`rhizome proxy`). How many are needed the lock says; the value is for people.
inline constexpr std::string_view kHoldAnnotation = "rhizome.dev/hold";
/// Of a Namespace: the lock of objects that are created in it and name none.
inline constexpr std::string_view kDefaultLockAnnotation = "rhizome.dev/default-lock";

/// The parsed body of a request: JSON, YAML or protobuf. Nothing of it is checked against a kind.
Result<json::Value, Status> read_object(const Call& call);
/// `value` as an object of the call's kind: types, unknown fields by `fieldValidation`. Adds to the warnings.
Result<void, Status> decode_object(const Call& call, json::Value& value, std::vector<std::string>& warnings);

/// Whether the body wants a dry run: the DeleteOptions of a deletion, and those in an Eviction.
Result<bool, Status> asks_for_dry_run(const Call& call);

/// `labelSelector` and `fieldSelector` of the query, with namespace and name.
Result<Selection, Status> selection_of(const Call& call);

// ---- the verbs, a file each -----------------------------------------------------------------------------------------

Reply get_verb(const Call& call, const Standing& object, const HeardOf& heard_of);
Reply list_verb(const Call& call, const Selection& selection, const Listing& listing, const HeardOf& heard_of);
Planned create_verb(const Call& call, const Present& present, const std::string& name);
Planned update_verb(const Call& call, const Present& present, const HeardOf& heard_of);
Planned patch_verb(const Call& call, const Present& present, const HeardOf& heard_of);
/// PATCH that applies.
Planned apply_verb(const Call& call, const Present& present, const HeardOf& heard_of);
Planned delete_verb(const Call& call, const Present& present, const HeardOf& heard_of);

/// Parts of a pod with verbs of their own: `eviction` (budgets are those of the pod's namespace, as shown), `binding`
/// and `ephemeralcontainers`.
Planned eviction_verb(const Call& call, const Present& present, const std::vector<json::Value>& budgets,
                      const HeardOf& heard_of);
Planned binding_verb(const Call& call, const Present& present, const HeardOf& heard_of);
Planned ephemeral_verb(const Call& call, const Present& present, const HeardOf& heard_of);
/// PUT of a Namespace's `finalize`.
Planned finalize_verb(const Call& call, const Present& present, const HeardOf& heard_of);

/// PUT and PATCH of `scale`.
Planned scale_verb(const Call& call, const Present& present, const HeardOf& heard_of);
/// The `autoscaling/v1 Scale` of a workload.
json::Value scale_of(const Kind& kind, const json::Value& object);
/// What the body of an apply says: JSON or YAML, of this version and kind, without entries of managers.
Result<json::Value, Status> read_applied(const Call& call, std::string_view api_version, std::string_view kind);
/// A value with the patch of the request's body applied; not for applies.
Result<json::Value, Status> patched_value(const Call& call, const json::Value& before);

/// `log`, `exec`, `attach` and `portforward` of a pod, by whichever method they are asked for.
bool is_pod_stream(const Call& call);
Reply pod_stream_verb(const Call& call, const Standing& object, const HeardOf& heard_of);

/// The draft that creates `object`. `entries` are those of its managers; none: its creator wrote all of it.
Planned draft_creation(const Call& call, const Present& present, json::Value object, const std::string& name,
                       std::optional<json::Array> entries, std::vector<std::string> warnings);

/// The draft that makes `object` of what is shown as `before`: nothing to do when they are the same, a deletion when it
/// only waited for its last finalizer.
Planned change_to(const Call& call, const Present& present, const json::Value& before, json::Value object,
                  std::vector<std::string> warnings, const HeardOf& heard_of);

/// The name that a creation is for: of the path, the body, or made from `generateName`.
Result<std::string, Status> name_of_creation(const Call& call, const json::Value& object);

/// The answer that shows an object, in the form the client wants.
Reply object_reply(const Call& call, unsigned code, const Standing& object, const HeardOf& heard_of);
/// The same for one that is not stored (dry run): it shows what would be.
Reply value_reply(const Call& call, unsigned code, json::Value object);

/// What the rows of a table are to carry (`includeObject`).
Result<RowObject, Status> row_object(const Call& call);

/// Warnings that every write of this kind carries: that it is kept but not acted on yet.
std::vector<std::string> standing_warnings(const Kind& kind);

}  // namespace rhizome::api
