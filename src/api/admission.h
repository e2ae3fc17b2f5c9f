// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/call.h"

/// From what a client sends to what is stored: identity, defaults, rules. What a write must pass, whichever verb it
/// comes by.
namespace rhizome::api {

/// Fills in and checks a new object: identity against the path, namespace, uid, generation; status is not the client's.
/// Gives warnings.
Result<std::vector<std::string>, Status> admit_new(const Call& call, json::Value& object, const std::string& name);

/// The object that a write builds on, as it is shown. The ledger asks of a document only that it is JSON and names its
/// path, so what stands there may be no document of its kind: 422 then, and only a replacement or a deletion helps.
Result<json::Value, Status> standing_value(const Call& call, const Present& present, const HeardOf& heard_of);
/// The same for a deletion: of a malformed document the part that can be read.
json::Value readable_value(const Call& call, const Present& present, const HeardOf& heard_of);

/// Makes `object` the next version of `shown`: what a client may not change is put back or refused. `status`:
/// only that part is taken from the client; else that part is kept. A malformed version is replaced as if the parts of
/// it that cannot be read had never been there.
Result<std::vector<std::string>, Status> admit_change(const Call& call, json::Value& object, const json::Value& shown,
                                                      bool status);

/// 422: the options of the request (`DeleteOptions` and their like) break rules.
Status invalid_options(const Call& call, const cluster::FieldErrors& errors);

/// 400: the object that was sent is called otherwise than its path.
Status names_another(const Call& call, std::string_view name);
/// The same where a changed object names another than the path, or none.
Result<void, Status> check_name(const Call& call, const json::Value& object);

/// The answer to a change that leaves everything as it stands, after webhooks had their say; nothing where it changes
/// something.
std::optional<Reply> reply_if_same(const Call& call, const Present& present, const Draft& draft,
                                   const HeardOf& heard_of);

/// Brings an admitted object, as webhooks left it, into form again and validates it. `shown`: the version it replaces;
/// null: it is new. `status` as above.
Result<void, Status> readmit(const Call& call, json::Value& object, const json::Value* shown, bool status);

/// Whether the object has only been waiting for its last finalizer; of a Namespace, that nothing in it waits either.
bool is_ready_to_go(const Call& call, const Present& present, const json::Value& object);
/// The object with its end in sight: it goes when its last finalizer does.
void begin_to_end(json::Value& object, Time now, std::int64_t grace_seconds);

}  // namespace rhizome::api
